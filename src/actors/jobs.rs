//! The jobs of an agent. The user's shell commands: each runs in a worker of its own; its record is stored when it is
//! over, or at the end of the trace that runs meanwhile. And the model's background jobs, which end with this actor.

use std::{collections::HashMap, sync::Arc};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio_util::sync::CancellationToken;

use super::{
    address::Addr,
    chain::Asking,
    job_worker::{JobWork, JobWorker, Started},
    reply::{CommandResult, ReplyTo},
    shared::AgentShared,
    spawn::{ended, spawn_worker},
    turn_loop::LoopMsg,
};
use crate::{
    protocol::{
        AgentMessage, Command, CommandError, EntryBody, Event, Reply,
        ask::{AskPoint, UserBashAsk, UserBashVerdict},
        checkpoint::CheckpointCause,
        command::BashResult,
        event::NoticeLevel,
        jobs::{JobInfo, JobList, JobOutput, JobsCommand},
        message::BashExecution,
        time::now_ms,
    },
    tools::{
        jobs::{Job, JobBoard, JobEnd, JobSpec, JobState, described},
        user_bash,
    },
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
    /// Cancel all commands of the user that run.
    AbortAll,
    /// Start a background job.
    Start {
        /// The job.
        spec: Box<JobSpec>,
        /// Who wants to know whether it runs.
        started: Started,
    },
    /// Show background jobs, or end one.
    Look {
        /// What is wanted.
        command: JobsCommand,
        /// Who wants it.
        reply: ReplyTo,
    },
    /// A worker is gone.
    Gone(ActorId),
}

/// State of the actor.
pub struct JobsState {
    shared: Arc<AgentShared>,
    commands: HashMap<ActorId, CancellationToken>,
    jobs: HashMap<ActorId, Arc<Job>>,
}

/// The actor.
pub struct Jobs;

impl Actor for Jobs {
    type Msg = JobsMsg;
    type State = JobsState;
    type Arguments = Arc<AgentShared>;

    async fn pre_start(&self, _: ActorRef<JobsMsg>, shared: Arc<AgentShared>) -> Result<JobsState, ActorProcessingErr> {
        // Their workers died with the incarnation that had started them.
        for job in shared.job_board.running() {
            job.ended(JobEnd::Lost("the actor that ran it was restarted".to_owned()));
        }
        Ok(JobsState { shared, commands: HashMap::new(), jobs: HashMap::new() })
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
                let work = UserCommand {
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
                    state.commands.insert(worker.id(), cancel);
                }
            }
            JobsMsg::AbortAll => state.commands.values().for_each(CancellationToken::cancel),
            JobsMsg::Start { spec, started } => state.start(&myself, *spec, started).await,
            JobsMsg::Look { command, reply } => reply.send(look(&state.shared.job_board, &command)),
            JobsMsg::Gone(id) => {
                state.commands.remove(&id);
                if let Some(job) = state.jobs.remove(&id) {
                    job.ended(JobEnd::Lost("its worker died".to_owned()));
                }
            }
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

    async fn post_stop(&self, _: ActorRef<JobsMsg>, state: &mut JobsState) -> Result<(), ActorProcessingErr> {
        let board = &state.shared.job_board;
        let ending = board.running().into_iter().map(|job| {
            let text = format!("{} ended with the agent that had started it: {}", job.id(), job.command());
            job.kill();
            text
        });
        let notices = ending.chain(board.kept());
        state.shared.publish(notices.map(|text| Event::Notice { level: NoticeLevel::Info, text }).collect());
        // The workers are killed when this returns, and their processes with them.
        Ok(())
    }
}

impl JobsState {
    /// Has a worker run a job. One that does not start drops the duty to answer, which answers.
    async fn start(&mut self, myself: &ActorRef<JobsMsg>, spec: JobSpec, started: Started) {
        let board = self.shared.job_board.clone();
        let (job, orders) = match board.add(spec.command.clone()) {
            Ok(added) => added,
            Err(failure) => return drop(started.send(Err(failure))),
        };
        let work = JobWork { spec, job: job.clone(), orders, board: board.clone(), started };
        match spawn_worker("Job", job.id(), JobWorker, (), work, myself.get_cell()).await {
            Ok(worker) => drop(self.jobs.insert(worker.id(), job)),
            Err(_) => board.remove(&job),
        }
    }
}

/// Answers a person who looks at background jobs. What a model has read is not touched.
fn look(board: &JobBoard, command: &JobsCommand) -> CommandResult {
    let find = |id| board.find(id).map_err(|failure| CommandError::Refused(failure.to_string()));
    Ok(match command {
        JobsCommand::List => Reply::Jobs(list(board)),
        JobsCommand::Read { id, from } => {
            let job = find(id)?;
            let since = job.output().since(*from);
            Reply::JobOutput(JobOutput {
                job: info(&job),
                output: since.text,
                lost: since.lost,
                next: since.end,
                full_output_path: since.path.map(|path| path.display().to_string()),
            })
        }
        JobsCommand::Kill { id } => {
            find(id)?.kill();
            Reply::Jobs(list(board))
        }
    })
}

fn list(board: &JobBoard) -> JobList {
    JobList { jobs: board.all().iter().map(|job| info(job)).collect(), kept: board.kept() }
}

fn info(job: &Job) -> JobInfo {
    let (mut waits_for_input, mut exit_code) = (false, None);
    match job.state() {
        JobState::Running { waits_for_input: waits, .. } => waits_for_input = waits,
        JobState::Ended { end: JobEnd::Exited(code), .. } => exit_code = Some(code),
        JobState::Ended { .. } => {}
    }
    JobInfo {
        id: job.id().to_owned(),
        command: job.command().to_owned(),
        running: job.is_running(),
        waits_for_input,
        exit_code,
        seconds: (job.age().as_secs_f64() * 10.0).round() / 10.0,
        status: described(job),
    }
}

/// One command of the user.
struct UserCommand {
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
    type Msg = UserCommand;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<UserCommand>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<UserCommand>,
        command: UserCommand,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        run(command).await;
        myself.stop(None);
        Ok(())
    }
}

async fn run(command: UserCommand) {
    let UserCommand { shared, id, command, exclude_from_context, asking, cancel, reply } = command;
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
            let leaf = shared.tree().and_then(|tree| tree.leaf().map(|leaf| leaf.id().clone()));
            let operations = shared.operations(leaf, CheckpointCause::User);
            user_bash::run(&*operations, &command, &config.cwd, &config.facts, &cancel, on_delta).await
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

#[cfg(test)]
mod tests;
