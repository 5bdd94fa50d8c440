//! Teams: agents that work by a plan that stands in a file.
//!
//! [`file`] is the plan as it is written, [`template`] the texts in it.

pub mod file;
pub mod template;
