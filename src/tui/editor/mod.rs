//! The text that is being written.
