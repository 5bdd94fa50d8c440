//! The answers that a person may give to the question about a call, word for word.

/// Run this call.
pub const ONCE: &str = "Allow once";
/// Run calls like this one while the program runs.
pub const SESSION: &str = "Allow for this session";
/// Run calls like this one in this project from now on.
pub const ALWAYS: &str = "Always allow in this project";
/// Do not run it.
pub const DENY: &str = "Deny";
/// Do not run it, and tell the model something.
pub const DENY_WHY: &str = "Deny and say why";
