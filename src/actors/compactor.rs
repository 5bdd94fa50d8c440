//! The compactor of an agent: summarises old history at the loop's safe points. Its failure never loses history: what
//! it makes is an entry that the loop stores, and everything before stays in the file.
//!
//! A worker does the work, one at a time; the loop that waits hears of its result, or of its death.

use std::sync::Arc;

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio_util::sync::CancellationToken;

use super::{
    address::{Addr, Recipient},
    compaction::{self, conversation, prompts, request::Summariser},
    shared::AgentShared,
    spawn::{ended, spawn_worker},
    turn_io::{Compacted, Input, Work},
};
use crate::protocol::{
    EntryBody,
    event::{CompactionReason, SummarySource},
    time::now_ms,
    tokens,
};

/// What the compactor is told.
#[derive(Debug)]
pub enum CompactorMsg {
    /// Summarise old history.
    Compact {
        /// Why.
        reason: CompactionReason,
        /// What the summary should care about.
        instructions: Option<String>,
        /// The loop that waits.
        to: Recipient<Input>,
        /// The work that it waits for.
        work: Work,
    },
    /// Nobody waits any more.
    Cancel,
    /// The worker is gone.
    Gone(ActorId),
}

/// The summary that is being made.
struct Running {
    id: ActorId,
    cancel: CancellationToken,
    to: Recipient<Input>,
    work: Work,
}

/// State of the compactor.
pub struct CompactorState {
    shared: Arc<AgentShared>,
    running: Option<Running>,
}

/// The actor.
pub struct Compactor;

impl Actor for Compactor {
    type Msg = CompactorMsg;
    type State = CompactorState;
    type Arguments = Arc<AgentShared>;

    async fn pre_start(
        &self,
        _: ActorRef<CompactorMsg>,
        shared: Arc<AgentShared>,
    ) -> Result<CompactorState, ActorProcessingErr> {
        Ok(CompactorState { shared, running: None })
    }

    async fn handle(
        &self,
        myself: ActorRef<CompactorMsg>,
        message: CompactorMsg,
        state: &mut CompactorState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            CompactorMsg::Compact { reason, instructions, to, work } => {
                state.cancel();
                let cancel = CancellationToken::new();
                let job = Job {
                    shared: state.shared.clone(),
                    reason,
                    instructions,
                    cancel: cancel.clone(),
                    to: to.clone(),
                    work,
                };
                match spawn_worker("Summarise", "", Summarise, (), job, myself.get_cell()).await {
                    Ok(worker) => state.running = Some(Running { id: worker.id(), cancel, to, work }),
                    Err(exit) => answer(&to, work, Err(exit.cause().to_owned())),
                }
            }
            CompactorMsg::Cancel => state.cancel(),
            CompactorMsg::Gone(id) => {
                // What it said before it ended has been heard: then this answer comes to nothing.
                if let Some(Running { to, work, .. }) = state.running.take_if(|running| running.id == id) {
                    answer(&to, work, Err("the worker that summarises failed".into()));
                }
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<CompactorMsg>,
        event: SupervisionEvent,
        _: &mut CompactorState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(CompactorMsg::Gone(id));
        }
        Ok(())
    }
}

impl CompactorState {
    fn cancel(&mut self) {
        if let Some(running) = self.running.take() {
            running.cancel.cancel();
        }
    }
}

fn answer(to: &Recipient<Input>, work: Work, result: Result<Box<Compacted>, String>) {
    if !to.deliver(Input::Compacted { work, result }) {
        tracing::debug!("the loop that asked for a compaction is gone");
    }
}

/// One compaction.
struct Job {
    shared: Arc<AgentShared>,
    reason: CompactionReason,
    instructions: Option<String>,
    cancel: CancellationToken,
    to: Recipient<Input>,
    work: Work,
}

struct Summarise;

impl Actor for Summarise {
    type Msg = Job;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Job>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<Job>, job: Job, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let (to, work, cancel) = (job.to.clone(), job.work, job.cancel.clone());
        tokio::select! {
            result = compact(job) => answer(&to, work, result.map(Box::new)),
            () = cancel.cancelled() => {}
        }
        myself.stop(None);
        Ok(())
    }
}

async fn compact(job: Job) -> Result<Compacted, String> {
    let Job { shared, reason, instructions, cancel, .. } = job;
    let tree = shared.tree().ok_or("the session is not open")?;
    let model = shared.selection().model.as_ref().map(|model| model.reference());
    let settings = shared.config.settings.compaction(model.as_ref());
    let room = compaction::room(shared.window(&tree), settings.reserve_tokens);
    let keep = compaction::keep(settings.keep_recent_tokens, room);
    let plan = compaction::plan(&tree, keep).map_err(|refusal| refusal.to_string())?;
    let source = SummarySource::Compaction(reason);
    let mut summariser =
        Summariser::new(shared, source, settings.reserve_tokens, cancel).ok_or("no model is selected")?;
    let history = match plan.history.is_empty() {
        true => plan.previous.clone(),
        false => {
            let text = conversation::texts(&plan.history).join("\n\n");
            let prompt = |piece: &str, so_far: Option<&str>| prompts::history(piece, so_far, instructions.as_deref());
            Some(summariser.summary(&text, plan.previous.clone(), &prompt).await.map_err(|failure| failure.message)?)
        }
    };
    let summary = match plan.prefix.is_empty() {
        true => history.unwrap_or_default(),
        false => {
            let text = conversation::texts(&plan.prefix).join("\n\n");
            let prefix = summariser.summary(&text, None, &prompts::prefix).await.map_err(|failure| failure.message)?;
            prompts::joined(history.as_deref(), &prefix)
        }
    };
    let summary = summary + &plan.files.block();
    let estimated_tokens_after = plan.tokens_kept + tokens::of_text(&summary);
    let body = EntryBody::Compaction {
        summary,
        first_kept_entry_id: plan.first_kept,
        tokens_before: plan.tokens_before,
        system_message: Some(Arc::new(plan.system.to_message(now_ms()))),
        details: Some(plan.files.details()),
        usage: Some(summariser.usage()),
        from_hook: None,
    };
    Ok(Compacted { body, estimated_tokens_after })
}
