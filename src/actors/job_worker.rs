//! The worker that runs one background job, and the way of a tool's call to the actor that starts it.

use std::{fmt, sync::Arc};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::oneshot;

use super::{address::Slot, jobs::JobsMsg, shared::AgentShared};
use crate::tools::{
    BoxFuture, Failure,
    jobs::{Job, JobBoard, JobHost, JobSpec, Orders, run},
};

/// Whoever wants to know whether a job runs.
pub type Started = oneshot::Sender<Result<Arc<Job>, Failure>>;

/// What the worker needs.
pub struct JobWork {
    /// What to start.
    pub spec: JobSpec,
    /// The job.
    pub job: Arc<Job>,
    /// What it is told.
    pub orders: Orders,
    /// Where it is listed.
    pub board: Arc<JobBoard>,
    /// Who waits for the start.
    pub started: Started,
}

/// The worker. Its death is the job's.
pub struct JobWorker;

impl Actor for JobWorker {
    type Msg = JobWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<JobWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<JobWork>, work: JobWork, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let JobWork { spec, job, orders, board, started } = work;
        // A call that was aborted meanwhile does not want to know; the job is listed.
        match spec.operations.spawn(spec.shell).await {
            Ok(process) => {
                let _ = started.send(Ok(job.clone()));
                let end = run(process, &job, orders).await;
                job.ended(end);
            }
            Err(error) => {
                board.remove(&job);
                let _ = started.send(Err(Failure::new(error.to_string())));
            }
        }
        myself.stop(None);
        Ok(())
    }
}

/// The jobs of an agent, for its tools.
pub struct AgentJobs {
    actor: Slot<JobsMsg>,
    board: Arc<JobBoard>,
}

impl AgentJobs {
    /// Those of this agent.
    #[must_use]
    pub fn of(shared: &AgentShared) -> Self {
        Self { actor: shared.jobs.clone(), board: shared.job_board.clone() }
    }
}

impl fmt::Debug for AgentJobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentJobs").finish_non_exhaustive()
    }
}

impl JobHost for AgentJobs {
    fn start(&self, spec: JobSpec) -> BoxFuture<'_, Result<Arc<Job>, Failure>> {
        Box::pin(async move {
            let (started, answer) = oneshot::channel();
            let lost = || Failure::new("The job was not started: the actor that runs jobs died. Try again.");
            if self.actor.try_tell(JobsMsg::Start { spec: Box::new(spec), started }).is_err() {
                return Err(lost());
            }
            answer.await.map_err(|_| lost())?
        })
    }

    fn board(&self) -> Arc<JobBoard> {
        self.board.clone()
    }
}
