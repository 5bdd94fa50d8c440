//! What makes agents on sessions while the program runs: whoever built the first one.

use std::{future::Future, path::Path, pin::Pin, sync::Arc};

use super::shared::AgentShared;
use crate::store::{session::SessionStore, sidecar::Sidecar, trust::TrustAnswer};

/// A session that an agent is to be made on.
pub struct OpenSession {
    /// The session.
    pub store: SessionStore,
    /// The journal of its running trace.
    pub journal: Sidecar,
}

/// An agent that was made and is not open yet.
pub struct MadeAgent {
    /// The agent.
    pub shared: Arc<AgentShared>,
}

/// A made agent, or why there is none, in words for people.
pub type Making<'a> = Pin<Box<dyn Future<Output = Result<MadeAgent, String>> + Send + 'a>>;

/// The end of what an agent held beside its actors.
pub type Retiring<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Makes agents. It reads settings, resources and models, so it may take a while: only workers wait for it.
pub trait AgentFactory: Send + Sync {
    /// Makes an agent on a session, in the folder that its header names. With `reload`, extensions are made anew too,
    /// where they can be.
    fn make(&self, session: OpenSession, reload: bool) -> Making<'_>;

    /// Follows a person's decision about the project in `cwd`: the agents that are made from now on do. Blocks for as long
    /// as a small file takes to be written.
    ///
    /// # Errors
    /// It cannot be remembered, in words for people; it holds for as long as the program runs all the same.
    fn trust(&self, cwd: &Path, answer: TrustAnswer) -> Result<(), String> {
        let _ = (cwd, answer);
        Ok(())
    }

    /// An agent that this factory made is closed: what it held beside its actors is not needed any more.
    fn retire<'a>(&'a self, agent: &'a AgentShared) -> Retiring<'a>;
}
