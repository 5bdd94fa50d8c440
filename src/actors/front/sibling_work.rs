//! The worker that carries out what a front wants of siblings: it may wait, the front may not.

use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef};

use crate::{
    actors::{
        fleet::family::{Family, STOP_GRACE},
        reply::{CommandResult, ReplyTo},
    },
    protocol::{
        CommandError, Reply,
        sibling::{SiblingCommand, SiblingError, SiblingReply},
    },
};

/// What the worker needs.
pub struct SiblingJob {
    /// The agents.
    pub family: Family,
    /// What is wanted.
    pub command: SiblingCommand,
    /// Who wants it. When the worker does not start, or dies, they hear that it is lost.
    pub reply: ReplyTo,
}

/// The worker.
pub struct SiblingWork;

impl Actor for SiblingWork {
    type Msg = SiblingJob;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<SiblingJob>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<SiblingJob>,
        job: SiblingJob,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let SiblingJob { family, command, reply } = job;
        reply.send(answer(&family, command).await);
        myself.stop(None);
        Ok(())
    }
}

/// Carries out a command about the agents of a family; the answer for whoever sent it.
///
/// # Errors
/// Why it was not carried out.
pub async fn answer(family: &Family, command: SiblingCommand) -> CommandResult {
    match carry_out(family, command).await {
        Ok(done) => Ok(Reply::Sibling(Box::new(done))),
        Err(SiblingError::Lost) => Err(CommandError::Lost),
        Err(error) => Err(CommandError::Refused(error.to_string())),
    }
}

/// Carries out a command about the agents of a family.
///
/// # Errors
/// Why it was not carried out.
pub async fn carry_out(family: &Family, command: SiblingCommand) -> Result<SiblingReply, SiblingError> {
    Ok(match command {
        SiblingCommand::Spawn(spec) => SiblingReply::Spawned(family.spawn(*spec).await?),
        SiblingCommand::Send { id, message, mode } => {
            let receipt = family.send(&id, &message, mode).await?;
            SiblingReply::Sent { receipt: receipt.word(), task: receipt.task() }
        }
        SiblingCommand::Wait { ids, mode, timeout_s } => {
            SiblingReply::Waited(family.wait(&texts(&ids), mode, seconds(timeout_s)?).await?)
        }
        SiblingCommand::List => {
            let board = &family.agent().kin.board;
            let ((running, total), limits) = (board.counts(), board.limits());
            SiblingReply::Listed {
                agents: family.status(),
                running,
                max_running: limits.running,
                total,
                max_total: limits.total,
                spent: family.account().spent(),
            }
        }
        SiblingCommand::Stop { ids, grace_s, worktree } => {
            let grace = seconds(grace_s)?.unwrap_or(STOP_GRACE);
            SiblingReply::Stopped { ends: family.stop(&texts(&ids), "it was stopped by hand", grace, worktree).await? }
        }
        SiblingCommand::Hold { ids, paused: true } => SiblingReply::Held { agents: family.pause(&texts(&ids)).await? },
        SiblingCommand::Hold { ids, paused: false } => {
            SiblingReply::Held { agents: family.resume(&texts(&ids)).await? }
        }
        SiblingCommand::Transcript { id, from, limit } => {
            SiblingReply::Transcript(family.transcript(&id, from, limit).await?)
        }
        SiblingCommand::Merge { id } => SiblingReply::Merged(family.merge(&id).await?),
    })
}

fn texts(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

fn seconds(seconds: Option<f64>) -> Result<Option<Duration>, SiblingError> {
    let read = |seconds| {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| SiblingError::Refused(format!("{seconds} s is no time to wait")))
    };
    seconds.map(read).transpose()
}
