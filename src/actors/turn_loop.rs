//! The turn loop of an agent: drives the [`Turn`] machine. It carries out effects and feeds inputs; it decides
//! nothing by itself and waits for nothing.
//!
//! A new incarnation first asks the session's writer where things stand. The question queues behind everything that
//! the old incarnation sent, so the answer is the truth; commands that come meanwhile wait.

mod commands;
mod effects;
mod intake;
mod moves;
mod navigate;
mod restored;
mod siblings;
mod spans;
mod undo;
mod workers;

use std::{
    collections::{HashMap, VecDeque},
    mem,
    sync::{Arc, atomic::Ordering},
};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio_util::sync::CancellationToken;

use super::{
    address::{Addr, Recipient},
    branch_news::BranchNews,
    compaction,
    compactor::{CompactorMsg, Left},
    event_bus::BusMsg,
    input_guard::Admission,
    job_news::JobNews,
    prepare::{Prepared, ReadyRequest},
    queues::Queues,
    reply::{CommandResult, ReplyTo},
    restart::Exit,
    resume::{self, Resume},
    session_writer::{ResumeFacts, WriterMsg},
    shared::AgentShared,
    sibling_news::SiblingNews,
    spawn::ended,
    turn::Turn,
    turn_io::{Effect, Input, NewEntry, Ticket, Work},
};
use crate::{
    protocol::{
        AgentMessage, AssistantMessage, Command, CommandError, Entry, EntryBody, EntryId, Failure, FailureClass, Model,
        StopReason, ThinkingLevel,
        command::{Disposition, QueueKind},
        system::SystemState,
        time::now_ms,
    },
    providers::error_text::classify_text,
    store::tree::{TreeView, ids::fresh_id},
    tools::checkpoints::Undone,
};

/// Judges a failed answer by its text: the failure itself is not stored.
fn stored_failure(message: &AssistantMessage) -> Failure {
    let text = message.error_message.clone().unwrap_or_default();
    if message.stop_reason == StopReason::Aborted {
        return Failure::new(FailureClass::Aborted, text);
    }
    let verdict = classify_text(&text, &message.provider);
    Failure { retryable: verdict.retryable, ..Failure::new(verdict.class, text) }
}

fn is_full(shared: &AgentShared, tree: &TreeView) -> bool {
    let model = shared.selection().model.as_ref().map(|model| model.reference());
    let settings = shared.config.settings.compaction(model.as_ref());
    let room = compaction::room(shared.window(tree), settings.reserve_tokens);
    room.is_some_and(|room| tree.context_tokens() > room)
}

/// What the loop is told.
pub enum LoopMsg {
    /// Where things stand: the first message of an incarnation.
    Resume(Box<ResumeFacts>),
    /// An input of the machine.
    Input(Input),
    /// A request is ready, or cannot be made.
    Prepared(Prepared),
    /// Entries that extensions have looked at.
    Checked {
        /// The work that stores them.
        work: Work,
        /// The entries.
        entries: Vec<NewEntry>,
    },
    /// What the input guards say about the oldest input that waits.
    Admitted(Admission),
    /// A command.
    Command(Command, ReplyTo),
    /// A sibling's task has ended: when nothing runs, the model is woken to hear of it.
    News,
    /// What became of an undo.
    Undone(Box<Result<Undone, CommandError>>),
    /// What the compactor says about leaving a branch, under the number of the question.
    Left(Ticket, Box<Left>),
    /// The leaf was moved, with these entries below it, or could not be.
    Moved(Result<Vec<Arc<Entry>>, String>),
    /// A worker is gone.
    Gone(ActorId, Exit),
    /// A worker that was asked to end had its time.
    GraceOver(Work),
}

/// The worker that the machine waits for.
struct Worker {
    id: ActorId,
    kind: &'static str,
    work: Work,
    /// Ends it at once.
    kill: Box<dyn Fn() + Send + Sync>,
    /// Asks it to end with what it has; without, it is killed at once.
    cancel: Option<Box<dyn Fn() + Send + Sync>>,
    /// What to store when the worker that looks at it dies.
    entries: Vec<NewEntry>,
}

/// State of the loop.
pub struct LoopState {
    shared: Arc<AgentShared>,
    me: Addr<LoopMsg>,
    /// None until the writer has said where things stand.
    turn: Option<Turn>,
    /// Commands that came before.
    early: Vec<(Command, ReplyTo)>,
    /// Prompt and tools as the branch declares them; none when they are to be read off it.
    declared: Option<SystemState>,
    /// What the branch tells of background jobs.
    job_news: JobNews,
    /// What the branch tells of the ends of siblings.
    sibling_news: SiblingNews,
    /// The last trace was aborted, or failed: nobody is woken right behind it.
    rests: bool,
    ready: Option<Box<ReadyRequest>>,
    worker: Option<Worker>,
    /// A move that is under way; the machine waits in it.
    aside: Option<moves::Aside>,
    tickets: HashMap<Ticket, ReplyTo>,
    last_ticket: Ticket,
    intake: VecDeque<intake::Waiting>,
    /// Who waits for idleness while inputs are still looked at.
    idle_waiters: Vec<ReplyTo>,
    /// Inputs that an earlier incarnation took, whose answers may have been lost.
    taken: HashMap<String, Disposition>,
    spans: spans::Spans,
}

/// The actor.
pub struct TurnLoop;

impl Actor for TurnLoop {
    type Msg = LoopMsg;
    type State = LoopState;
    type Arguments = Arc<AgentShared>;

    async fn pre_start(
        &self,
        myself: ActorRef<LoopMsg>,
        shared: Arc<AgentShared>,
    ) -> Result<LoopState, ActorProcessingErr> {
        let me = Addr::of(&myself);
        let to = Recipient::new(me.clone(), LoopMsg::Resume);
        if shared.writer.try_tell(WriterMsg::Resume(to)).is_err() {
            return Err("the session's writer is not running".into());
        }
        Ok(LoopState {
            shared,
            me,
            turn: None,
            early: Vec::new(),
            declared: None,
            job_news: JobNews::default(),
            sibling_news: SiblingNews::default(),
            rests: false,
            ready: None,
            worker: None,
            aside: None,
            tickets: HashMap::new(),
            last_ticket: 0,
            intake: VecDeque::new(),
            idle_waiters: Vec::new(),
            taken: HashMap::new(),
            spans: spans::Spans::default(),
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<LoopMsg>,
        message: LoopMsg,
        state: &mut LoopState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            // An actor keeps room for the largest thing that it may have to wait for, as long as it lives. What comes once
            // or twice in a turn has a place of its own.
            LoopMsg::Resume(facts) => Box::pin(state.begin(&myself, *facts)).await,
            LoopMsg::Command(command, reply) if state.turn.is_none() => {
                Box::pin(state.meanwhile(&myself, command, reply)).await;
            }
            LoopMsg::Command(command, reply) => Box::pin(state.command(&myself, command, reply)).await,
            LoopMsg::Input(input) => state.feed(&myself, input).await,
            LoopMsg::Prepared(prepared) => {
                let result = prepared.result.map(|mut ready| {
                    let entries = mem::take(&mut ready.entries);
                    state.ready = Some(ready);
                    entries
                });
                state.feed(&myself, Input::Prepared { work: prepared.work, result }).await;
            }
            LoopMsg::Checked { work, entries } => {
                state.worker = None;
                state.append(work, entries);
            }
            LoopMsg::Admitted(admission) => Box::pin(state.admitted(&myself, admission)).await,
            LoopMsg::News => Box::pin(state.tell_news(&myself)).await,
            LoopMsg::Undone(result) => Box::pin(state.undone(&myself, *result)).await,
            LoopMsg::Left(number, left) => Box::pin(state.left(&myself, number, *left)).await,
            LoopMsg::Moved(result) => Box::pin(state.moved(&myself, result)).await,
            LoopMsg::Gone(id, exit) => state.gone(&myself, id, exit).await,
            LoopMsg::GraceOver(work) => {
                if let Some(worker) = state.worker.as_ref().filter(|worker| worker.work == work) {
                    (worker.kill)();
                }
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<LoopMsg>,
        event: SupervisionEvent,
        _: &mut LoopState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, exit)) = ended(&event) {
            Addr::of(&myself).tell(LoopMsg::Gone(id, exit));
        }
        Ok(())
    }
}

impl LoopState {
    /// Goes on where the session and its run state say.
    async fn begin(&mut self, myself: &ActorRef<LoopMsg>, facts: ResumeFacts) {
        let arriving = self.arriving();
        // Nobody waits for what an earlier incarnation asked for.
        drop(self.shared.compactor.try_tell(CompactorMsg::Cancel));
        self.declared = None;
        let disposition = |prompt| if prompt { Disposition::Started } else { Disposition::Queued };
        self.taken = facts.accepted.into_iter().map(|(op, prompt)| (op, disposition(prompt))).collect();
        self.job_news = JobNews::of(&facts.tree);
        self.sibling_news = SiblingNews::of(&facts.tree);
        self.shared.job_board.number_after(self.job_news.last_number());
        let branch = || facts.tree.ancestors().map(|entry| entry.entry());
        let (mut position, attempt) = resume::position(branch, stored_failure);
        if let resume::Position::Calls { batch, .. } = &mut position {
            match facts.started.get(&batch.entry).filter(|_| facts.active) {
                Some(places) => batch.start(places),
                None if facts.active => {}
                // Another process ran it: nobody knows what had begun.
                None => batch.start_all(),
            }
        }
        let is_at_rest = !facts.active;
        self.note_rest_of(&facts.tree);
        let selection = self.shared.selection().clone();
        let (kept, arrival) = match arriving {
            Some((turn, reply, arrival, entries)) => (Some(turn.into_queues()), Some((reply, arrival, entries))),
            None => (None, None),
        };
        // What is queued came along; the journal does not know of what no user wrote.
        let queues = kept.unwrap_or_else(|| {
            let mut queues = Queues::default();
            queues.set_mode(QueueKind::Steer, selection.steering_mode);
            queues.set_mode(QueueKind::FollowUp, selection.follow_up_mode);
            facts.queued.into_iter().for_each(|(kind, pending)| queues.push(kind, pending));
            queues
        });
        if !facts.active {
            self.shared.bus.tell(BusMsg::Idle);
            self.shared.kin.tell_idle();
        }
        let resume = Resume { active: facts.active, prompt: facts.prompt, queues, held: facts.held, position, attempt };
        let (retry, compacts) = (selection.retry, selection.auto_compaction);
        let full = compacts && is_full(&self.shared, &facts.tree);
        let (turn, effects) = Turn::resume(resume, self.identity(), self.read_only(), retry, compacts, full, now_ms());
        self.shared.phase.send_replace(turn.phase());
        self.turn = Some(turn);
        self.perform(myself, effects).await;
        if let Some((reply, arrival, entries)) = arrival {
            self.tell_arrival(reply, arrival, &entries);
        }
        self.early_commands(myself).await;
        if is_at_rest {
            self.tell_old_news();
        }
    }

    /// Feeds the machine and carries out what it wants.
    async fn feed(&mut self, myself: &ActorRef<LoopMsg>, input: Input) {
        if let Input::Stored { result: Ok(entries), .. } = &input {
            let compacts = self.shared.selection().auto_compaction;
            let full = compacts && self.is_full();
            if let Some(turn) = &mut self.turn {
                turn.full = full;
            }
            for entry in entries {
                self.job_news.read(&entry.body);
                self.sibling_news.read(&entry.body);
                if matches!(&entry.body, EntryBody::Message { message: AgentMessage::System(_) }) {
                    self.declared = None;
                }
            }
        }
        let Some(effects) = self.step(input) else { return };
        self.perform(myself, effects).await;
    }

    /// What the machine wants after an input; none while it does not know where things stand.
    fn step(&mut self, input: Input) -> Option<Vec<Effect>> {
        let turn = self.turn.as_mut()?;
        let effects = turn.on(now_ms(), input);
        self.shared.waiting.store(turn.queues().len(), Ordering::Relaxed);
        self.shared.phase.send_replace(turn.phase());
        Some(effects)
    }

    async fn gone(&mut self, myself: &ActorRef<LoopMsg>, id: ActorId, exit: Exit) {
        self.undo_lost(myself, id).await;
        let Some(worker) = self.worker.take_if(|worker| worker.id == id) else { return };
        if worker.entries.is_empty() {
            self.feed(myself, Input::Gone { work: worker.work, actor: worker.kind, exit }).await;
        } else {
            // Extensions could not look at the entries: they are stored as they are.
            self.append(worker.work, worker.entries);
        }
    }

    /// Takes over the duty to answer.
    fn ticket(&mut self, reply: ReplyTo) -> Ticket {
        self.last_ticket += 1;
        self.tickets.insert(self.last_ticket, reply);
        self.last_ticket
    }

    /// Answers by way of the writer: "queued" and "idle" stand on notes that must not be lost after they were said, and
    /// answers keep their order.
    fn answer(&self, reply: ReplyTo, result: CommandResult) {
        self.shared.writer.tell(WriterMsg::Answer(reply, Box::new(result)));
    }

    /// An id that no entry has. Two that were given out and not used yet are alike by a chance of one in 2³².
    fn fresh_id(&self) -> EntryId {
        let tree = self.shared.tree();
        fresh_id(|id| tree.as_ref().is_some_and(|tree| tree.find(id).is_some()))
    }

    fn inputs(&self) -> Recipient<Input> {
        Recipient::new(self.me.clone(), LoopMsg::Input)
    }

    /// Whether the context has grown into the reserve of the model's window.
    fn is_full(&self) -> bool {
        self.shared.tree().is_some_and(|tree| is_full(&self.shared, &tree))
    }

    /// A message without content that names the selected model.
    fn identity(&self) -> Option<AssistantMessage> {
        let selection = self.shared.selection();
        let model = selection.model.as_ref()?;
        Some(AssistantMessage {
            api: model.api.clone(),
            provider: model.provider.clone(),
            model: model.id.clone(),
            thinking_level: Some(selection.thinking.as_str().to_owned()),
            ..AssistantMessage::default()
        })
    }

    fn read_only(&self) -> std::collections::HashSet<String> {
        let tools = self.shared.config.tools.now();
        tools.iter().filter(|tool| tool.is_read_only()).map(|tool| tool.declaration().name.clone()).collect()
    }

    /// What is selected for the next request.
    fn selected(&self) -> (Option<Arc<Model>>, ThinkingLevel) {
        let selection = self.shared.selection();
        (selection.model.clone(), selection.thinking)
    }

    /// A fresh token for the next piece of work.
    fn token() -> CancellationToken {
        CancellationToken::new()
    }
}

#[cfg(test)]
mod tests;
