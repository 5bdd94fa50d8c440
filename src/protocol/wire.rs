//! pi wire forms. (written next)
