//! The jobs of an agent: shell commands that the user runs. Each runs in a worker of its own; its record is stored
//! when it is over, or at the end of the trace that runs meanwhile.

use std::{collections::HashMap, sync::Arc};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio_util::sync::CancellationToken;

use super::{
    address::Addr,
    chain::Asking,
    reply::ReplyTo,
    shared::AgentShared,
    spawn::{ended, spawn_worker},
    turn_loop::LoopMsg,
};
use crate::{
    protocol::{
        AgentMessage, Command, CommandError, EntryBody, Event, Reply,
        ask::{AskPoint, UserBashAsk, UserBashVerdict},
        command::BashResult,
        message::BashExecution,
        time::now_ms,
    },
    tools::user_bash,
};

/// What the actor is told.
pub enum JobsMsg {
    /// Run a command of the user.
    Run {
        /// The id that its output events carry.
        id: Option<String>,
        /// The command.
        command: String,
        /// Keep it from the model.
        exclude_from_context: bool,
        /// Who asks guards.
        asking: Asking,
        /// Who wants the result.
        reply: ReplyTo,
    },
    /// Cancel all that run.
    AbortAll,
    /// A worker is gone.
    Gone(ActorId),
}

/// State of the actor.
pub struct JobsState {
    shared: Arc<AgentShared>,
    running: HashMap<ActorId, CancellationToken>,
}

/// The actor.
pub struct Jobs;

impl Actor for Jobs {
    type Msg = JobsMsg;
    type State = JobsState;
    type Arguments = Arc<AgentShared>;

    async fn pre_start(&self, _: ActorRef<JobsMsg>, shared: Arc<AgentShared>) -> Result<JobsState, ActorProcessingErr> {
        Ok(JobsState { shared, running: HashMap::new() })
    }

    async fn handle(
        &self,
        myself: ActorRef<JobsMsg>,
        message: JobsMsg,
        state: &mut JobsState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            JobsMsg::Run { id, command, exclude_from_context, asking, reply } => {
                let cancel = CancellationToken::new();
                let work = Job {
                    shared: state.shared.clone(),
                    id,
                    command,
                    exclude_from_context,
                    asking,
                    cancel: cancel.clone(),
                    reply,
                };
                // A worker that does not start drops the duty to answer, which answers.
                if let Ok(worker) = spawn_worker("UserBash", "", UserBash, (), work, myself.get_cell()).await {
                    state.running.insert(worker.id(), cancel);
                }
            }
            JobsMsg::AbortAll => state.running.values().for_each(CancellationToken::cancel),
            JobsMsg::Gone(id) => drop(state.running.remove(&id)),
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<JobsMsg>,
        event: SupervisionEvent,
        _: &mut JobsState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(JobsMsg::Gone(id));
        }
        Ok(())
    }
}

/// One command.
struct Job {
    shared: Arc<AgentShared>,
    id: Option<String>,
    command: String,
    exclude_from_context: bool,
    asking: Asking,
    cancel: CancellationToken,
    reply: ReplyTo,
}

struct UserBash;

impl Actor for UserBash {
    type Msg = Job;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Job>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<Job>, job: Job, (): &mut ()) -> Result<(), ActorProcessingErr> {
        run(job).await;
        myself.stop(None);
        Ok(())
    }
}

async fn run(job: Job) {
    let Job { shared, id, command, exclude_from_context, asking, cancel, reply } = job;
    let config = shared.config.clone();
    let mut verdict = UserBashVerdict::Allow;
    if config.chain.has(AskPoint::UserBash) {
        let cwd = config.cwd.display().to_string();
        let ask = UserBashAsk { command: command.clone(), exclude_from_context, cwd };
        verdict = config.chain.user_bash(&asking, ask).await;
    }
    let result = match verdict {
        UserBashVerdict::Deny { reason } => return reply.send(Err(CommandError::Refused(reason))),
        UserBashVerdict::Result(result) => Ok(result),
        UserBashVerdict::Allow => {
            let events = shared.clone();
            let on_delta = move |delta: &str| {
                let delta = delta.to_owned();
                events.publish(vec![Event::BashExecutionUpdate { id: id.clone(), delta }]);
            };
            user_bash::run(&*config.user_operations, &command, &config.cwd, &config.facts, &cancel, on_delta).await
        }
    };
    let result = match result {
        Ok(result) => result,
        Err(error) => return reply.send(Err(CommandError::Refused(error.to_string()))),
    };
    let record = record(&command, exclude_from_context, &result);
    let body = EntryBody::Message { message: AgentMessage::BashExecution(Arc::new(record)) };
    // The result stands even when the record cannot be stored: the command ran.
    let then = ReplyTo::new(move |_| reply.send(Ok(Reply::Bash(result))));
    let append = LoopMsg::Command(Command::AppendEntry(Box::new(body)), then);
    drop(shared.turn_loop.try_tell(append));
}

fn record(command: &str, exclude_from_context: bool, result: &BashResult) -> BashExecution {
    BashExecution {
        command: command.to_owned(),
        output: result.output.clone(),
        exit_code: result.exit_code,
        cancelled: result.cancelled,
        truncated: result.truncated,
        full_output_path: result.full_output_path.clone(),
        exclude_from_context: exclude_from_context.then_some(true),
        timestamp: now_ms(),
    }
}
