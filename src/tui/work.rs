//! What workers do for the screen: everything that reads files or takes time.

use std::{path::PathBuf, sync::Arc};

use crate::{protocol::wire::CommandInfo, store::tree::Totals};

/// Something for a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Read the git branch of a folder.
    Branch(PathBuf),
    /// Sum tokens and cost of the session.
    Totals,
    /// List the slash commands of skills, templates and extensions.
    Commands,
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum WorkDone {
    /// The branch; none outside of a repository.
    Branch(Option<String>),
    /// Tokens and cost.
    Totals(Box<Totals>),
    /// Slash commands.
    Commands(Arc<[CommandInfo]>),
}
