//! How far the command line confines the agent.

use std::path::PathBuf;

use super::{flags::SandboxFlags, high::Launch};
use crate::tools::operations::sandbox::SandboxMode;

/// What the command line says about the sandbox; the settings say the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxRequest {
    /// `--sandbox`.
    pub mode: Option<SandboxMode>,
    /// `--sandbox-network`.
    pub network: bool,
    /// `--sandbox-writable`, absolute.
    pub writable: Vec<PathBuf>,
}

pub(super) fn request(flags: &SandboxFlags, launch: Launch<'_>) -> SandboxRequest {
    SandboxRequest {
        mode: flags.sandbox,
        network: flags.sandbox_network,
        writable: flags.sandbox_writable.iter().map(|text| launch.path(text)).collect(),
    }
}
