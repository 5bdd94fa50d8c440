//! The agent in front and those below it: how they are, what they said, and what a person wants of them.

use std::{path::Path, sync::Arc};

use tokio::runtime::Handle;

use super::WorkDone;
use crate::{
    actors::{
        fleet::family::{Family, STOP_GRACE},
        supervision,
    },
    protocol::{
        sibling::{Receipt, SendMode, SiblingError, SiblingId, WorktreeFate},
        supervision::AgentInfo,
    },
    store::{session::open::read_view, tree::TreeView},
    tui::working::WorkContext,
};

/// What is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentsWork {
    /// How they are.
    List,
    /// The session of one.
    Read(SiblingId),
    /// Do something to one.
    Do(SiblingId, Deed),
}

/// What is done to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Give it this message.
    Steer(String),
    /// End it with all below it.
    Stop,
    /// Start it again from its session's leaf.
    Restart,
    /// Hold it at its next turn boundary.
    Pause,
    /// Let it go on.
    Resume,
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum AgentsDone {
    /// How they are.
    Listed(Arc<[AgentInfo]>),
    /// The session of one, or why it cannot be read.
    Read(SiblingId, Result<TreeView, String>),
    /// What was done, or why not, in words for people.
    Did(Result<String, String>),
}

impl AgentsWork {
    /// Does it. Blocks.
    pub fn run(self, context: &WorkContext) {
        let done = match self {
            Self::List => AgentsDone::Listed(supervision::agents(&context.shared).into()),
            Self::Read(id) => {
                let read = read(context, &id);
                AgentsDone::Read(id, read)
            }
            Self::Do(id, deed) => {
                let family = Family::of(&context.shared);
                AgentsDone::Did(
                    Handle::current().block_on(deed.run(&family, &id.to_string())).map_err(|e| e.to_string()),
                )
            }
        };
        context.send(WorkDone::Agents(done));
    }
}

fn read(context: &WorkContext, id: &SiblingId) -> Result<TreeView, String> {
    let board = &context.shared.kin.board;
    let found = board.look(id, |member| (member.live().cloned(), member.note().session_file.clone()));
    match found {
        Some((Some(live), _)) => Ok(live.tree().unwrap_or_else(|| live.place.store.view())),
        Some((None, Some(file))) => read_view(Path::new(&file)).map_err(|error| error.to_string()),
        Some((None, None)) => Err("its session was in memory, and is gone".to_owned()),
        None => Err(format!("there is no agent {id}")),
    }
}

impl Deed {
    async fn run(self, family: &Family, id: &str) -> Result<String, SiblingError> {
        Ok(match self {
            Self::Steer(text) => match family.send(id, &text, SendMode::Steer).await? {
                Receipt::Delivered { .. } => format!("{id} works on it"),
                Receipt::Queued { .. } => format!("{id} reads it at its next step"),
                Receipt::Missed => {
                    let text = format!("{id} was just starting or ending, and did not take it: send it again");
                    return Err(SiblingError::Refused(text));
                }
                Receipt::Dead => return Err(SiblingError::Refused(format!("{id} is gone"))),
            },
            Self::Stop => {
                family.stop(&[id], "it was stopped by hand", STOP_GRACE, WorktreeFate::Patch).await?;
                format!("{id} is stopped")
            }
            Self::Restart => {
                family.restart(id).await?;
                format!("{id} is started again")
            }
            Self::Pause => {
                family.pause(&[id]).await?;
                format!("{id} pauses at its next step")
            }
            Self::Resume => {
                family.resume(&[id]).await?;
                format!("{id} goes on")
            }
        })
    }
}
