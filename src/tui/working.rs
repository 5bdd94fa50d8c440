//! The worker that does something for the screen: one piece of work, in a thread where it may block.

use std::{path::PathBuf, sync::Arc};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio_util::sync::CancellationToken;

use super::{
    surroundings::Surroundings,
    work::{Work, WorkDone},
};
use crate::actors::{address::Recipient, shared::AgentShared};

/// What a piece of work may use.
#[derive(Clone)]
pub struct WorkContext {
    /// What does not change.
    pub surroundings: Arc<Surroundings>,
    /// The agent in front.
    pub shared: Arc<AgentShared>,
    /// Where results go: one or more.
    to: Recipient<WorkDone>,
    /// Nobody wants it any more.
    pub cancelled: CancellationToken,
}

impl WorkContext {
    /// A context whose results go to `to`.
    #[must_use]
    pub fn new(surroundings: Arc<Surroundings>, shared: Arc<AgentShared>, to: Recipient<WorkDone>) -> Self {
        Self { surroundings, shared, to, cancelled: CancellationToken::new() }
    }

    /// The folder of the project's own files, where there is one and the project is trusted.
    #[must_use]
    pub fn project_dir(&self) -> Option<PathBuf> {
        let config = &self.shared.config;
        self.surroundings.project_dir(&config.cwd).filter(|_| config.resources.is_trusted())
    }

    /// Gives a result.
    pub fn send(&self, done: WorkDone) {
        // A screen that is gone wants no result.
        let _ = self.to.deliver(done);
    }
}

/// The worker.
pub struct Working;

impl Actor for Working {
    type Msg = Work;
    type State = WorkContext;
    type Arguments = WorkContext;

    async fn pre_start(&self, _: ActorRef<Work>, context: WorkContext) -> Result<WorkContext, ActorProcessingErr> {
        Ok(context)
    }

    async fn handle(
        &self,
        myself: ActorRef<Work>,
        work: Work,
        context: &mut WorkContext,
    ) -> Result<(), ActorProcessingErr> {
        let (context, name) = (context.clone(), work.name());
        let done = tokio::task::spawn_blocking(move || work.run(&context)).await;
        if let Err(error) = done {
            tracing::error!(%error, name, "work for the screen broke off");
        }
        myself.stop(None);
        Ok(())
    }
}
