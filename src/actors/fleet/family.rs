//! The agents below one agent, as programs and tools reach them: the Rust interface of siblings.
//!
//! All of it goes through the fleet, which decides and never waits. These methods wait, so they are for workers, tools
//! and programs, not for handlers of actors that hold state.

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::sync::oneshot;

use super::{FleetMsg, family_msg::FamilyMsg};
use crate::{
    actors::{account::Account, shared::AgentShared},
    protocol::sibling::{
        Merged, Receipt, SendMode, SiblingEnd, SiblingError, SiblingId, SiblingSpec, SiblingStatus, SpawnReceipt,
        Transcript, WaitMode, Waited, WorktreeFate,
    },
};

/// How long an agent that is stopped gets to reach its next turn boundary.
pub const STOP_GRACE: Duration = Duration::from_millis(250);

/// The agents below one agent. Cheap to clone. An agent reaches those below itself, its children's children too; each
/// is named by its id or by its own name.
#[derive(Clone)]
pub struct Family {
    agent: Arc<AgentShared>,
}

impl Family {
    /// The agents below `agent`, which must be open in a fleet.
    #[must_use]
    pub fn of(agent: &Arc<AgentShared>) -> Self {
        Self { agent: agent.clone() }
    }

    /// The agent that they are below.
    #[must_use]
    pub fn agent(&self) -> &Arc<AgentShared> {
        &self.agent
    }

    /// What the agent and all below it have used. It can be limited as long as nothing was spawned.
    #[must_use]
    pub fn account(&self) -> &Arc<Account> {
        &self.agent.kin.account
    }

    /// Spawns a child: it is noted in the agent's session, and begins then. Answers when it has begun. With a known
    /// [`SiblingSpec::key`] nothing is begun, and the receipt says how the one that is there stands.
    ///
    /// # Errors
    /// What is not allowed, or did not work; nothing was begun then. [`SiblingError::Lost`]: nobody knows.
    pub async fn spawn(&self, spec: SiblingSpec) -> Result<SpawnReceipt, SiblingError> {
        let spec = Box::new(spec);
        self.tell(|reply| FamilyMsg::Spawn { parent: self.id(), spec, reply }).await
    }

    /// Gives a sibling a message. The receipt says what became of it; an idle one begins its next task with it.
    ///
    /// # Errors
    /// There is no such sibling.
    pub async fn send(&self, id: &str, message: &str, mode: SendMode) -> Result<Receipt, SiblingError> {
        let (id, text) = (id.to_owned(), message.to_owned());
        self.tell(|reply| FamilyMsg::Send { parent: self.id(), id, text, mode, reply }).await
    }

    /// Gives a sibling a message and waits for the end of the task that answers it.
    ///
    /// # Errors
    /// There is no such sibling, it did not take the message, or the time is over ([`SiblingError::Late`]): the end
    /// comes all the same.
    pub async fn ask(&self, id: &str, message: &str, limit: Duration) -> Result<SiblingEnd, SiblingError> {
        let receipt = self.send(id, message, SendMode::FollowUp).await?;
        let Some(task) = receipt.task() else {
            let text = format!("{id} did not take the message: it is {}", receipt.word());
            return Err(SiblingError::Refused(text));
        };
        self.end_of(id, task, limit).await
    }

    /// Waits for the end of a certain task, or of a later one.
    ///
    /// # Errors
    /// As for [`Family::ask`].
    pub async fn end_of(&self, id: &str, task: u32, limit: Duration) -> Result<SiblingEnd, SiblingError> {
        let about = vec![(id.to_owned(), task)];
        let wait = |reply| FamilyMsg::Wait { parent: self.id(), about, mode: WaitMode::All, limit: Some(limit), reply };
        let mut waited = self.tell(wait).await?;
        waited.ends.pop().ok_or_else(|| SiblingError::Late { id: id.to_owned(), seconds: limit.as_secs() })
    }

    /// Waits until all of these, or one of them, have nothing to do; all that the agent has when none is named. Those
    /// that ended before are answered at once: nobody can come too late for an end.
    ///
    /// # Errors
    /// There is no such sibling.
    pub async fn wait(&self, ids: &[&str], mode: WaitMode, limit: Option<Duration>) -> Result<Waited, SiblingError> {
        let about = ids.iter().map(|id| ((*id).to_owned(), 0)).collect();
        self.tell(|reply| FamilyMsg::Wait { parent: self.id(), about, mode, limit, reply }).await
    }

    /// Gives all that work a message.
    ///
    /// # Errors
    /// The fleet is gone.
    pub async fn broadcast(&self, message: &str, mode: SendMode) -> Result<Vec<(SiblingId, Receipt)>, SiblingError> {
        let mut receipts = Vec::new();
        for sibling in self.status().into_iter().filter(|sibling| sibling.state.is_active()) {
            let receipt = self.send(&sibling.id.to_string(), message, mode).await?;
            receipts.push((sibling.id, receipt));
        }
        Ok(receipts)
    }

    /// Ends siblings with all below them (all when none is named): each gets `grace` to reach a turn boundary, then its
    /// work is aborted, and it is closed. Answers when all are gone, with their last ends. A worktree's patch is saved
    /// before it goes as `fate` says.
    ///
    /// # Errors
    /// There is no such sibling.
    pub async fn stop(
        &self,
        ids: &[&str],
        reason: &str,
        grace: Duration,
        fate: WorktreeFate,
    ) -> Result<Vec<SiblingEnd>, SiblingError> {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let reason = reason.to_owned();
        self.tell(|reply| FamilyMsg::Stop { parent: self.id(), ids, reason, grace, fate, reply }).await
    }

    /// Ends siblings with all below them at once, without a grace.
    ///
    /// # Errors
    /// There is no such sibling.
    pub async fn kill(&self, ids: &[&str], reason: &str) -> Result<Vec<SiblingEnd>, SiblingError> {
        self.stop(ids, reason, Duration::ZERO, WorktreeFate::Patch).await
    }

    /// Holds siblings at their next turn boundary (all when none is named): what runs comes to its end, and no request
    /// follows until they are resumed.
    ///
    /// # Errors
    /// There is no such sibling.
    pub async fn pause(&self, ids: &[&str]) -> Result<Vec<SiblingStatus>, SiblingError> {
        self.hold(ids, true).await
    }

    /// Lets siblings that are held go on from where they are.
    ///
    /// # Errors
    /// There is no such sibling.
    pub async fn resume(&self, ids: &[&str]) -> Result<Vec<SiblingStatus>, SiblingError> {
        self.hold(ids, false).await
    }

    /// All below the agent, as they are now: parents before their children, in the order of their spawns.
    #[must_use]
    pub fn status(&self) -> Vec<SiblingStatus> {
        self.agent.kin.board.below(&self.agent.kin.id)
    }

    /// The last end of a sibling; none while its first task runs.
    ///
    /// # Errors
    /// There is no such sibling.
    pub fn last_end(&self, id: &str) -> Result<Option<SiblingEnd>, SiblingError> {
        let id = self.agent.kin.board.resolve(&self.agent.kin.id, id)?;
        Ok(self.agent.kin.board.last_end(&id))
    }

    /// Messages of a sibling's conversation from a place on, `limit` at most; of one that is gone they are read from
    /// its file.
    ///
    /// # Errors
    /// There is no such sibling, or its file cannot be read.
    pub async fn transcript(&self, id: &str, from: usize, limit: usize) -> Result<Transcript, SiblingError> {
        super::transcript::read(&self.agent.kin, id, from, limit).await
    }

    /// Puts the changes of a sibling's worktree into the agent's folder. With conflicts nothing is changed.
    ///
    /// # Errors
    /// There is no such sibling, it has no worktree, or git failed.
    pub async fn merge(&self, id: &str) -> Result<Merged, SiblingError> {
        super::worktree::merge(&self.agent, id).await
    }

    /// The folder of its own that a sibling works in, also of one whose actors are not there; none when it works in the
    /// agent's.
    ///
    /// # Errors
    /// There is no such sibling, or its worktree cannot be made again.
    pub async fn folder(&self, id: &str) -> Result<Option<PathBuf>, SiblingError> {
        super::worktree::folder(&self.agent, id).await
    }

    async fn hold(&self, ids: &[&str], paused: bool) -> Result<Vec<SiblingStatus>, SiblingError> {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        self.tell(|reply| FamilyMsg::Hold { parent: self.id(), ids, paused, reply }).await
    }

    fn id(&self) -> Arc<str> {
        self.agent.id.clone()
    }

    async fn tell<T>(
        &self,
        message: impl FnOnce(oneshot::Sender<Result<T, SiblingError>>) -> FamilyMsg,
    ) -> Result<T, SiblingError> {
        let (reply, answer) = oneshot::channel();
        // Dropping what could not be delivered answers that it is lost.
        drop(self.agent.kin.fleet.try_tell(FleetMsg::Family(Box::new(message(reply)))));
        answer.await.unwrap_or(Err(SiblingError::Lost))
    }
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Family({})", self.agent.id)
    }
}
