//! What workers do for the screen: everything that reads files or takes time.

use std::{path::PathBuf, sync::Arc};

use super::working::WorkContext;
use crate::{actors::extension_commands, protocol::wire::CommandInfo, store::tree::Totals};

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

impl Work {
    /// What it is, for logs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Branch(_) => "branch",
            Self::Totals => "totals",
            Self::Commands => "commands",
        }
    }

    /// Does it. May block.
    pub fn run(self, context: &WorkContext) {
        match self {
            Self::Branch(folder) => context.send(WorkDone::Branch(super::git::branch(&folder))),
            Self::Totals => {
                if let Some(tree) = context.shared.tree() {
                    context.send(WorkDone::Totals(Box::new(tree.totals())));
                }
            }
            Self::Commands => {
                context.send(WorkDone::Commands(extension_commands::all(&context.shared).into()));
            }
        }
    }
}
