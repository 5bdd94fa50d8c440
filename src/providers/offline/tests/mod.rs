mod table;
mod tree;
mod workshop;
