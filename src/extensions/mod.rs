//! Extensions: code that watches an agent and intervenes in what it does.
//!
//! | file | what it is |
//! |---|---|
//! | [`contract`] | what a native Rust extension implements |
//! | [`control`] | how an extension acts: on the process and on an agent |
//! | [`ui`], [`questions`], [`pause`] | asking people and showing them something; time stands still meanwhile |
//! | [`commands`], [`flags`], [`models`], [`bus`] | what an extension declares and registers |
//! | [`exec`] | programs that extensions run |
//! | [`permissions`] | the guard that applies rules to calls |
//! | [`registry`], [`backstage`] | the extensions of a process, in order; what they share |

pub mod backstage;
pub mod bus;
pub mod commands;
pub mod contract;
pub mod control;
pub mod exec;
pub mod flags;
pub mod models;
pub mod pause;
pub mod permissions;
pub mod questions;
pub mod registry;
pub mod ui;

pub use backstage::Backstage;
pub use contract::{Extension, ExtensionError, Observed};
pub use control::{AgentHandle, Control};
pub use models::ModelRegistrar;
pub use permissions::Permissions;
pub use questions::Questions;
pub use registry::ExtensionRegistry;
