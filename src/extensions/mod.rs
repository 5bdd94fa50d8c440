//! Extensions: code that watches an agent and intervenes in what it does.
//!
//! | file | what it is |
//! |---|---|
//! | [`contract`] | what a native Rust extension implements |
//! | [`models`] | what an extension registers: providers and virtual models |
//! | [`permissions`] | the guard that applies rules to calls |
//! | [`questions`] | questions to the people in front of agents |
//! | [`registry`] | the extensions of a process, in order |

pub mod contract;
pub mod models;
pub mod permissions;
pub mod questions;
pub mod registry;

pub use contract::{Extension, ExtensionError, Observed};
pub use models::ModelRegistrar;
pub use permissions::Permissions;
pub use questions::Questions;
pub use registry::ExtensionRegistry;
