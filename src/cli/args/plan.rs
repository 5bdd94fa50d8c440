//! What a command line asks for before anything is loaded.

use std::path::PathBuf;

use super::{
    error::ArgError,
    flags::LowArgs,
    high::{HiArgs, Launch},
};

/// The first fork in a start's road. The version and an export need no settings, no project and no model, and are done
/// before all else; everything else needs them.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Print the version and end.
    Version,
    /// Write a session as HTML and end.
    Export {
        /// The session's file.
        session: PathBuf,
        /// The file to write; named after the session when absent.
        output: Option<PathBuf>,
    },
    /// Load settings and resources and go on with [`HiArgs::task`].
    Start(Box<HiArgs>),
}

impl Plan {
    /// What `low` asks for.
    ///
    /// # Errors
    /// All faults of the command line; those that only matter to a run don't stop `--version` and `--export`.
    pub fn new(low: LowArgs, launch: Launch<'_>) -> Result<Self, Vec<ArgError>> {
        if low.output.version {
            return Ok(Self::Version);
        }
        if let Some(session) = low.output.export.as_deref().filter(|file| !file.is_empty()) {
            let output = low.messages.first().map(|file| launch.path(file));
            return Ok(Self::Export { session: launch.path(session), output });
        }
        HiArgs::new(low, launch).map(|args| Self::Start(Box::new(args)))
    }
}
