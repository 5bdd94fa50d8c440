//! Confined files and commands: the same operations on this machine, but only as far as a [`Policy`] goes.
//!
//! - [`mode`], [`policy`]: what is allowed; `secrets`: what is hidden; `git`: which parts of a repository run code.
//! - [`error`]: refusals in words.
//! - `linux`: the walls. Commands run inside of bubblewrap, or of Landlock and a filter of system calls where that is
//!   missing. Files are reached by handle, so that nothing can be exchanged between the check and the use.
//!
//! `docs/sandbox.md` says what holds and what does not.

use std::sync::Arc;

use super::Operations;

pub mod error;
mod git;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod mode;
pub mod policy;
pub mod secrets;

pub use error::SandboxError;
pub use mode::SandboxMode;
pub use policy::{Access, Grants, Policy};
pub use secrets::Home;

/// The operations of a confined agent.
#[derive(Clone)]
pub struct Confined {
    /// As far as the policy goes.
    pub operations: Arc<dyn Operations>,
    /// The same, but nothing can be written except in the private temporary folder.
    pub read_only: Arc<dyn Operations>,
    /// What this system cannot enforce, a sentence each; empty when all is.
    pub gaps: Vec<String>,
    /// What the model is told.
    pub prompt: String,
    /// Ends it all.
    pub closing: Closing,
}

/// Ends a sandbox: for the end of a program, which does not wait until everybody has let go of it.
#[derive(Clone)]
pub struct Closing(Arc<dyn Fn() + Send + Sync>);

impl Closing {
    /// Ends what commands left in the background, where the wall can; puts aside what they made although it is
    /// protected; removes the private temporary folder.
    pub fn close(&self) {
        (self.0)();
    }
}

/// Builds the best walls that this system has.
///
/// For read-only operations beside an unconfined agent, a policy of the mode [`SandboxMode::ReadOnly`] does it. May
/// block for some milliseconds: a child process finds out what works.
///
/// # Errors
/// No wall can be built: the caller must not go on unconfined.
#[cfg(target_os = "linux")]
pub fn confine(policy: Policy) -> Result<Confined, SandboxError> {
    let sandbox = linux::Sandboxed::new(policy)?;
    Ok(Confined {
        closing: Closing(sandbox.closing()),
        gaps: sandbox.gaps(),
        prompt: sandbox.prompt(),
        read_only: Arc::new(sandbox.read_only()?),
        operations: Arc::new(sandbox),
    })
}

/// There are no walls on this system.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn confine(_policy: Policy) -> Result<Confined, SandboxError> {
    Err(SandboxError::Unsupported)
}
