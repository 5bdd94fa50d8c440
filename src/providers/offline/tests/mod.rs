//! Tests of the offline model: its tasks, and that it says only what its tools found.

mod table;
mod tree;
mod workshop;
