//! The workers of the front: they open, close and list sessions, which takes a while.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use agent_client_protocol_schema::v1::{
    Error, ErrorCode, ListSessionsResponse, SessionId, SessionInfo, SessionNotification, SessionUpdate,
};
use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{
    AcpMsg, history,
    host::AcpHost,
    json_rpc::{error, write_call},
    session::Session,
    translation::{Told, Translation},
};
use crate::{
    actors::{
        address::{Addr, Recipient},
        agent_factory::OpenSession,
        event_bus,
        front::{client::AgentClient, complain},
        runtime::Parts,
        subscriber::SubscriberKind,
    },
    protocol::{
        hidden,
        session_change::{SessionEndReason, SessionShutdownAsk, SessionStartReason},
        time::{iso, now_ms},
    },
    store::{
        replace,
        session::{NewSession, SessionStore},
        sessions::{Listing, Scope, SessionDir, remove::Doomed, resolve},
        sidecar::Sidecar,
    },
};

/// Characters of a session's title.
const TITLE: usize = 100;

/// What a worker does.
#[derive(Debug)]
pub(super) enum Job {
    /// Opens a session in a folder.
    Open {
        /// The folder.
        cwd: PathBuf,
        /// Which session; none: a new one.
        which: Option<Existing>,
    },
    /// Closes an open one.
    Close(SessionId),
    /// Lists those of a folder, or all.
    List(Option<PathBuf>),
    /// Puts one that is not open into the trash.
    Delete(SessionId),
}

/// A session that is there.
#[derive(Debug)]
pub(super) struct Existing {
    /// Its id.
    pub id: SessionId,
    /// What was said in it is told again.
    pub tell: bool,
}

/// What a worker works with.
pub(super) struct Work {
    pub job: Job,
    /// The session to close.
    pub client: Option<AgentClient>,
    pub host: Arc<dyn AcpHost>,
    pub parts: Parts,
    pub front: Addr<AcpMsg>,
}

/// What came of it.
pub(super) enum Outcome {
    /// The session takes prompts.
    Opened(SessionId),
    /// The session is closed, or deleted.
    Gone,
    /// The list.
    Listed(Box<ListSessionsResponse>),
}

/// A session that was made, before it is opened: what happens in it comes behind this.
pub(super) struct Made {
    pub worker: ActorId,
    pub session: Session,
    /// What was said in it, as lines for the client.
    pub history: Vec<u8>,
}

/// The worker.
pub(super) struct Worker;

impl Actor for Worker {
    type Msg = Work;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Work>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<Work>, work: Work, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let (front, worker) = (work.front.clone(), myself.get_id());
        let outcome = work.carry_out(worker).await;
        front.tell(AcpMsg::Worked { worker, outcome });
        myself.stop(None);
        Ok(())
    }
}

impl Work {
    async fn carry_out(self, worker: ActorId) -> Result<Outcome, Error> {
        match (&self.job, &self.client) {
            (Job::Open { cwd, which }, _) => self.open(worker, cwd, which.as_ref()).await,
            (Job::Close(_), Some(client)) => {
                self.close(client).await?;
                Ok(Outcome::Gone)
            }
            (Job::Close(id), None) => Err(no_session(id)),
            (Job::List(cwd), _) => self.list(cwd.clone()).await,
            (Job::Delete(id), _) => self.delete(id).await,
        }
    }

    async fn open(&self, worker: ActorId, cwd: &Path, which: Option<&Existing>) -> Result<Outcome, Error> {
        if !cwd.is_absolute() || !cwd.is_dir() {
            let text =
                format!("`cwd` must be the absolute path of a folder that is there, and {} is not", cwd.display());
            return Err(error(ErrorCode::InvalidParams, text));
        }
        let dir = self.host.session_dir(cwd);
        let store = match which {
            None => new_session(dir.as_ref(), cwd)?,
            Some(Existing { id, .. }) => existing_session(dir.as_ref(), cwd, id)?,
        };
        let id = SessionId::new(store.view().header().id.clone());
        let used = store.view().known_tokens().filter(|_| which.is_some()).unwrap_or(0);
        let tell = which.is_some_and(|which| which.tell);
        let (history, already) = match tell {
            true => told(&id, store.clone()).await?,
            false => (Vec::new(), Told::default()),
        };
        let journal = Sidecar::of(&store).map_err(internal)?;
        let made = self.host.make(OpenSession { store, journal }, false).await.map_err(|text| self.failure(text))?;
        let client = AgentClient { shared: made.shared, fleet: self.parts.fleet.clone() };
        // On the list before the bus is there: nothing of what happens from the first moment on is missed.
        let to = Recipient::new(self.front.clone(), AcpMsg::Delivery);
        let subscriber = event_bus::subscriber(SubscriberKind::Lossless, to);
        client.shared.subscribers.add(subscriber.clone());
        let folder = client.shared.config.cwd.clone();
        let translation = Translation::new(folder, Uuid::now_v7().to_string(), already);
        let session = Session::new(id.clone(), client.clone(), subscriber.backlog, translation, used);
        self.front.tell(AcpMsg::Made(Box::new(Made { worker, session, history })));
        let reason = if which.is_some() { SessionStartReason::Resume } else { SessionStartReason::New };
        let opened = self.parts.open(&client.shared, Some(reason), &*self.host).await;
        opened.map_err(internal)?;
        Ok(Outcome::Opened(id))
    }

    async fn close(&self, client: &AgentClient) -> Result<(), Error> {
        let farewell = SessionShutdownAsk { reason: SessionEndReason::Quit, target_session_file: None };
        self.parts.close(&client.shared, farewell).await;
        let saved = client.shared.place.store.close();
        self.parts.let_go(&client.shared, &*self.host).await;
        saved.map_err(|unsaved| {
            let text =
                format!("the session was not saved whole: {} entries are lost ({})", unsaved.entries, unsaved.reason);
            error(ErrorCode::InternalError, text)
        })
    }

    async fn list(&self, cwd: Option<PathBuf>) -> Result<Outcome, Error> {
        let folder = cwd.clone().unwrap_or_default();
        let Some(dir) = self.host.session_dir(&folder) else {
            return Ok(Outcome::Listed(Box::new(ListSessionsResponse::new(Vec::new()))));
        };
        let scope = if cwd.is_some() { Scope::Project } else { Scope::All };
        let listed = spawn_blocking(move || Listing::open(&dir, scope, None).rest());
        let sessions = listed.await.map_err(internal)?.into_iter().map(|info| {
            let title = info.name.unwrap_or(info.first_message);
            SessionInfo::new(info.id, info.cwd).title(title_of(&title)).updated_at(iso(info.modified))
        });
        Ok(Outcome::Listed(Box::new(ListSessionsResponse::new(sessions.collect()))))
    }

    /// A session that is deleted twice is deleted all the same.
    async fn delete(&self, id: &SessionId) -> Result<Outcome, Error> {
        let dir = self.host.session_dir(&std::env::current_dir().unwrap_or_default());
        let Some(path) = dir.as_ref().map(|dir| find(dir, id)).transpose()?.flatten() else { return Ok(Outcome::Gone) };
        let trash = self.host.trash();
        let deleted = spawn_blocking(move || Doomed::of(&path)?.to_trash(&trash, now_ms()));
        deleted.await.map_err(internal)?.map_err(internal)?;
        Ok(Outcome::Gone)
    }

    /// Why there is no agent. Without any model that has a key, the client may help.
    fn failure(&self, text: String) -> Error {
        let code = if self.host.has_model() { ErrorCode::InternalError } else { ErrorCode::AuthRequired };
        error(code, text)
    }
}

/// There is no such session.
pub(super) fn no_session(id: &SessionId) -> Error {
    error(ErrorCode::ResourceNotFound, format!("there is no session {id}; session/list lists those that can be loaded"))
}

fn internal(fault: impl std::fmt::Display) -> Error {
    error(ErrorCode::InternalError, fault.to_string())
}

fn new_session(dir: Option<&SessionDir>, cwd: &Path) -> Result<SessionStore, Error> {
    let new = NewSession::in_folder(cwd);
    let store = match dir {
        Some(dir) => SessionStore::create_in(&dir.path, new),
        None => SessionStore::in_memory(new),
    };
    store.map_err(internal)
}

/// The file of the session with exactly this id, of this project before others.
fn find(dir: &SessionDir, id: &SessionId) -> Result<Option<PathBuf>, Error> {
    let elsewhere = || dir.sessions_of_all().find(|head| head.header.id == *id.0).map(|head| head.path);
    Ok(resolve::with_id(&id.0, dir).map_err(|_| no_session(id))?.or_else(elsewhere))
}

fn existing_session(dir: Option<&SessionDir>, cwd: &Path, id: &SessionId) -> Result<SessionStore, Error> {
    let dir = dir.ok_or_else(|| no_session(id))?;
    let path = find(dir, id)?.ok_or_else(|| no_session(id))?;
    let opened = SessionStore::open(&path, NewSession::in_folder(cwd)).map_err(internal)?;
    let store = opened.store.clone();
    opened.damage_notice().iter().chain(&opened.lock_notice).for_each(|notice| complain(notice));
    store.writable().map_err(internal)?;
    let view = store.view();
    resolve::check_folder(view.header(), &path).map_err(internal)?;
    let own = Path::new(&view.header().cwd);
    if !replace::is_same(own, cwd) {
        let text = format!("the session {id} belongs to the folder {}; load it with that `cwd`", own.display());
        return Err(error(ErrorCode::InvalidParams, text));
    }
    Ok(store)
}

/// What was said in a session, as lines for the client.
async fn told(id: &SessionId, store: SessionStore) -> Result<(Vec<u8>, Told), Error> {
    let id = id.clone();
    let told = spawn_blocking(move || {
        let (updates, ids) = history::tell(&store.view());
        let mut lines = Vec::new();
        updates.into_iter().for_each(|update| write_update(&id, update, &mut lines));
        (lines, ids)
    });
    told.await.map_err(internal)
}

/// Writes an update of a session.
pub(super) fn write_update(session: &SessionId, update: SessionUpdate, out: &mut Vec<u8>) {
    write_call(None, "session/update", &SessionNotification::new(session.clone(), update), out);
}

/// A title is one line, not a long one, and hides nothing.
fn title_of(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(TITLE).collect();
    hidden::for_terminal(&short).into_owned()
}
