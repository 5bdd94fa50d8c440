//! What an agent may do: pure rules over calls of tools. Off unless somebody turns them on.
//!
//! | file | what |
//! |---|---|
//! | [`shell`] | which commands and files a script would touch |
//! | [`rule`] | one rule, and how it is written |
//! | [`command_pattern`], [`path_pattern`] | what stands between a rule's parentheses |
//! | [`policy`] | all rules and the mode: what becomes of a call |
//! | [`gather`] | from settings, flags and remembered answers to a policy |
//! | [`read_only`] | commands that only look |
//! | [`plan`] | what plan mode lets through |

pub mod command_pattern;
pub mod gather;
pub mod path_pattern;
pub mod plan;
pub mod policy;
pub mod read_only;
pub mod rule;
pub mod shell;

pub use policy::{Decision, Policy, Reason};
pub use rule::{Action, Rule, RuleError, Source};
