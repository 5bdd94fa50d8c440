//! What the front asks of whoever built the process.

use std::path::Path;

use crate::{
    actors::agent_factory::AgentFactory,
    store::{sessions::SessionDir, trash::Trash},
};

/// Makes agents, and knows where their sessions are kept.
pub trait AcpHost: AgentFactory {
    /// Where the sessions of a folder are kept; none: nowhere.
    fn session_dir(&self, cwd: &Path) -> Option<SessionDir>;

    /// Where deleted sessions go.
    fn trash(&self) -> Trash;

    /// Whether there is a model with a key. What was stored meanwhile counts.
    fn has_model(&self) -> bool;
}
