//! The worker that puts another session in the place of a front's: asks whether it may, ends the running trace, opens
//! or makes the session, makes an agent on it, and closes the old one. Until the new agent is open nothing of the old
//! one is lost; when that fails, the old one goes on.

use std::{path::Path, sync::Arc};

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef};

use super::{
    address::Recipient,
    agent_factory::{AgentFactory, MadeAgent, OpenSession},
    front::client::AgentClient,
    runtime::Parts,
    shared::AgentShared,
    spawn::spawn_worker,
};
use crate::{
    protocol::{
        Command, Event,
        ask::{Ask, AskPoint},
        event::NoticeLevel,
        session_change::{BeforeForkAsk, BeforeSwitchAsk, ForkPosition, SessionChange, SessionShutdownAsk},
    },
    store::{
        replace,
        session::{ForkPoint, NewSession, SessionStore, Unsaved},
        sessions::resolve::check_folder,
        sidecar::Sidecar,
    },
};

/// What came of it.
pub enum Replaced {
    /// The new agent is open, and the old one closed.
    Done {
        /// The new one.
        agent: MadeAgent,
        /// The text of the message that the session was forked before.
        text: Option<String>,
        /// What is to be told of the new one, by whoever watches it by then.
        notices: Vec<Event>,
    },
    /// An extension objects: everything is as it was.
    Cancelled,
    /// It did not work, and everything is as it was; why, in words for people.
    Failed(String),
}

impl std::fmt::Debug for Replaced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done { agent, .. } => write!(f, "Done({})", agent.shared.id),
            Self::Cancelled => f.write_str("Cancelled"),
            Self::Failed(cause) => write!(f, "Failed({cause})"),
        }
    }
}

/// What the worker needs.
pub struct ReplaceWork {
    /// The agent whose session is replaced.
    pub client: AgentClient,
    /// The parts of the runtime.
    pub parts: Parts,
    /// Who makes the other agent.
    pub factory: Arc<dyn AgentFactory>,
    /// Which session.
    pub change: SessionChange,
    /// Who goes on with it.
    pub to: Recipient<Replaced>,
}

/// The worker.
pub struct Replacing;

impl Actor for Replacing {
    type Msg = ReplaceWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<ReplaceWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<ReplaceWork>,
        work: ReplaceWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let to = work.to.clone();
        let replaced = work.carry_out().await.unwrap_or_else(Replaced::Failed);
        // A front that is gone ends the process.
        let _ = to.deliver(replaced);
        myself.stop(None);
        Ok(())
    }
}

/// A session that was found, made or taken from another.
struct Next {
    session: OpenSession,
    text: Option<String>,
    notices: Vec<String>,
}

impl ReplaceWork {
    /// Has a worker below `supervisor` do it, and says which. When it does not start, whoever waits hears of the failure.
    pub async fn begin(self, supervisor: ActorCell) -> Option<ActorId> {
        let to = self.to.clone();
        match spawn_worker("Replacing", "", Replacing, (), self, supervisor).await {
            Ok(worker) => Some(worker.id()),
            Err(exit) => {
                // A front that is gone ends the process.
                let _ = to.deliver(Replaced::Failed(exit.cause().to_owned()));
                None
            }
        }
    }

    async fn carry_out(&self) -> Result<Replaced, String> {
        let old = &self.client.shared;
        // A file without a name could never be written.
        if matches!(&self.change, SessionChange::Open(path) if path.is_empty()) {
            return Err("The path of the session is empty: name the file of a session.".to_owned());
        }
        if self.objects(old).await {
            return Ok(Replaced::Cancelled);
        }
        self.client.command(Command::Abort).await.map_err(|error| error.to_string())?;
        let Next { session, text, notices } = self.next(old)?;
        let same = session.store.is(&old.place.store);
        let agent = self.factory.make(session, self.change == SessionChange::Reload).await?;
        self.parts.open(&agent.shared, None, &*self.factory).await.map_err(|error| error.to_string())?;
        let lacks = self.close(old, &agent, same).await;
        let reason = self.change.start_reason();
        agent.shared.publish(vec![Event::SessionStart { reason, previous_session_file: old.place.file() }]);
        let told = |level| move |text| Event::Notice { level, text };
        let notices = notices.into_iter().map(told(NoticeLevel::Warning));
        let notices = notices.chain(lacks.map(told(NoticeLevel::Error))).collect();
        Ok(Replaced::Done { agent, text, notices })
    }

    /// Whether an extension objects.
    async fn objects(&self, old: &AgentShared) -> bool {
        let ask = match &self.change {
            SessionChange::New { .. } => Ask::BeforeSwitch(BeforeSwitchAsk { is_new: true, target_session_file: None }),
            SessionChange::Open(path) => {
                Ask::BeforeSwitch(BeforeSwitchAsk { is_new: false, target_session_file: Some(path.clone()) })
            }
            SessionChange::Fork(entry) => {
                Ask::BeforeFork(BeforeForkAsk { entry_id: Some(entry.clone()), position: ForkPosition::Before })
            }
            SessionChange::Clone => {
                let leaf = old.tree().and_then(|tree| tree.leaf().map(|leaf| leaf.id().clone()));
                Ask::BeforeFork(BeforeForkAsk { entry_id: leaf, position: ForkPosition::At })
            }
            SessionChange::Reload => return false,
        };
        let point: AskPoint = ask.point();
        let asking = old.asking();
        let walked = old.config.chain.objects(&asking, ask).await;
        old.report_failures(point, walked.failures);
        walked.value
    }

    fn next(&self, old: &AgentShared) -> Result<Next, String> {
        let current = &old.place.store;
        let path = current.path();
        let dir = path.as_deref().and_then(Path::parent);
        let view = current.view();
        // A program that only reads goes on to read.
        let read_only = current.writable().err();
        let makes_one =
            matches!(self.change, SessionChange::New { .. } | SessionChange::Fork(_) | SessionChange::Clone);
        if makes_one {
            if let Some(error) = &read_only {
                return Err(error.to_string());
            }
            // It would lie in the same folder: before a file is written that nobody can open.
            let path = path.as_deref().unwrap_or(Path::new(""));
            check_folder(view.header(), path).map_err(|error| error.to_string())?;
        }
        let stays = match &self.change {
            SessionChange::Reload => true,
            SessionChange::Open(path) => is_file_of(Path::new(path), current),
            _ => false,
        };
        // A fork or a clone takes along what is in memory: it is the way out.
        let leaves = !stays && matches!(self.change, SessionChange::New { .. } | SessionChange::Open(_));
        if leaves && let Some(Unsaved { entries, reason }) = current.unsaved() {
            return Err(format!(
                "{entries} entries of this session are not saved yet ({reason}), and would be lost with it. Saving is \
                 tried again every few seconds; clone the session to keep them elsewhere."
            ));
        }
        let new =
            |parent_session| NewSession { cwd: view.header().cwd.clone(), parent_session, ..NewSession::default() };
        let (store, text, notices) = match &self.change {
            SessionChange::Reload => (current.clone(), None, Vec::new()),
            SessionChange::Open(_) if stays => (current.clone(), None, Vec::new()),
            SessionChange::Open(path) => {
                let opened = match &read_only {
                    None => SessionStore::open(Path::new(path), new(None)),
                    Some(_) => SessionStore::open_read_only(Path::new(path)),
                };
                let opened = opened.map_err(|error| error.to_string())?;
                let notices = opened.damage_notice().into_iter().chain(opened.lock_notice).collect();
                (opened.store, None, notices)
            }
            SessionChange::New { parent_session } => {
                let new = new(parent_session.clone());
                let store = match dir {
                    Some(dir) => SessionStore::create_in(dir, new),
                    None => SessionStore::in_memory(new),
                };
                (store.map_err(|error| error.to_string())?, None, Vec::new())
            }
            SessionChange::Fork(entry) => {
                let forked = current.fork(dir, &ForkPoint::Before(entry.clone())).map_err(|error| error.to_string())?;
                (forked.store, forked.text, Vec::new())
            }
            SessionChange::Clone => {
                let forked = current.fork(dir, &ForkPoint::Leaf).map_err(|error| error.to_string())?;
                (forked.store, forked.text, Vec::new())
            }
        };
        if read_only.is_none() {
            store.writable().map_err(|error| error.to_string())?;
        }
        let path = store.path();
        check_folder(store.view().header(), path.as_deref().unwrap_or(Path::new("")))
            .map_err(|error| error.to_string())?;
        let journal = match store.is(current) {
            true => old.place.journal.clone(),
            false => Sidecar::of(&store).map_err(|error| error.to_string())?,
        };
        Ok(Next { session: OpenSession { store, journal }, text, notices })
    }

    /// Closes the old agent and gives its session's file up, unless the new agent has it. What the file lacks.
    async fn close(&self, old: &AgentShared, new: &MadeAgent, same: bool) -> Option<String> {
        let reason = self.change.start_reason().into();
        let target_session_file = (!same).then(|| new.shared.place.file()).flatten();
        let farewell = SessionShutdownAsk { reason, target_session_file };
        self.parts.close(old, farewell).await;
        let unsaved = if same { None } else { old.place.store.close().err() };
        self.parts.let_go(old, &*self.factory).await;
        unsaved.map(|Unsaved { entries, reason }| {
            let reason = reason.trim_end_matches('.');
            format!("The file of the session before this one lacks the last {entries} entries: {reason}.")
        })
    }
}

fn is_file_of(path: &Path, store: &SessionStore) -> bool {
    store.path().is_some_and(|own| replace::is_same(&own, path))
}

#[cfg(test)]
mod tests;
