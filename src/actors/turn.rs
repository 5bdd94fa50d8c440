//! The turn loop's state machine: `Turn::on(input) -> effects`. Pure: no I/O, no clock, no actors.
//!
//! ```text
//! Idle ─prompt→ Storing ─→ Preparing ─→ Streaming ─→ Storing ─┬ calls → RunningTools ─→ Storing ─┐
//!   ▲                          ▲                              └ none ───────────────────────────┤
//!   └ settled ◄─ (asks, queues, retry, compaction) ◄────────────────────────── turn over ◄──────┘
//! ```
//!
//! A *turn* is one model call and its batch of tools; a *loop run* lasts from `agent_start` to `agent_end`; a *trace*
//! from a prompt to `agent_settled`. Retry, overflow recovery and compaction are phases of the same machine, so that
//! nothing can interleave with a turn, and "idle" is never a lie. Nothing acts before the entry that explains it is
//! stored: every step that acts is reached from [`Input::Stored`].
//!
//! This file has the state and the dispatch; the steps are in its submodules, in the order in which a trace takes
//! them: [`commands`], [`opening`], [`answer`], [`settling`].

mod answer;
mod commands;
mod opening;
mod settling;
#[cfg(test)]
mod tests;

use std::{collections::HashSet, mem, sync::Arc};

use super::{
    batch::Batch,
    queues::{Pending, Queues},
    resume::{Position, Resume},
    retry::RetrySettings,
    turn_io::{Effect, Input, NewEntry, Ticket, Work},
};
use crate::protocol::{
    AgentMessage, AssistantMessage, CommandError, Entry, EntryBody, EntryId, Event, Failure, FailureClass, Reply,
    ToolResultMessage,
    ask::{Ask, AskPoint, TurnDecision, Verdict},
    command::QueueKind,
    event::{CompactionReason, NoticeLevel},
    time::Millis,
};

/// How often workers that die are started again within one trace before the turn fails.
const RESPAWNS: u32 = 3;

/// What the machine waits for.
#[derive(Debug)]
enum Phase {
    Idle,
    Asking(AskPoint),
    Storing(Then),
    Preparing,
    Streaming,
    RunningTools,
    RetryWait,
    Compacting(CompactionReason, Option<Ticket>),
}

/// What follows when entries are stored.
#[derive(Debug)]
enum Then {
    /// The prompt: the trace begins.
    Open(Option<Ticket>),
    /// Messages of a later turn.
    Deliver,
    /// The answer.
    Answer { started: bool, failure: Option<Failure> },
    /// Results of the batch.
    Results,
    /// What extensions add at the end of a turn.
    TurnEntries(TurnDecision),
    /// The failed attempt is left out of the context; then wait so many milliseconds and retry, or compact.
    Omit(Option<u64>),
    /// A compaction.
    Compaction(CompactionReason, Option<Ticket>),
    /// What extensions add before settling; then go on or not.
    SettleEntries(bool),
    /// What was held while the trace ran.
    Held,
    /// An entry while idle.
    Append(Ticket),
}

/// Messages that leave a queue.
type Leaving = (Vec<Pending>, QueueKind);

/// What is true from a prompt to the settling.
#[derive(Debug, Default)]
struct Trace {
    aborted: bool,
    abort_waiters: Vec<Ticket>,
    /// The prompt, until it is stored.
    prompt: Option<(Pending, Option<Ticket>)>,
    /// Replaces the system prompt.
    system_prompt: Option<String>,
    /// The loop run has been announced.
    in_run: bool,
    /// Counted from 0 in the loop run.
    turn: u32,
    /// What the loop run added.
    messages: Vec<AgentMessage>,
    /// What the next turn begins with, while extensions are asked about it.
    next: Option<Leaving>,
    /// What is being stored and leaves its queue by that.
    leaving: Option<Leaving>,
    answer: Option<(EntryId, Arc<AssistantMessage>)>,
    failure: Option<Failure>,
    batch: Option<Batch>,
    results: Vec<(EntryId, Arc<ToolResultMessage>)>,
    /// The retry that is under way, from 1.
    attempt: u32,
    /// An overflow was recovered from, and neither a success nor a message of the user came since.
    overflow_tried: bool,
    respawns: u32,
}

/// Calls without results at the end of the branch.
#[derive(Debug)]
struct OpenCalls {
    batch: Batch,
    message: Arc<AssistantMessage>,
    results: Vec<(EntryId, Arc<ToolResultMessage>)>,
}

/// The machine. One an agent.
#[derive(Debug)]
pub struct Turn {
    phase: Phase,
    work: Work,
    trace: Option<Trace>,
    queues: Queues,
    /// Entries that wait for the end of the trace.
    held: Vec<EntryBody>,
    /// Calls that a crash of an earlier process left without results.
    open: Option<OpenCalls>,
    idle_waiters: Vec<Ticket>,
    now: Millis,
    out: Vec<Effect>,
    /// Retry settings in force.
    pub retry: RetrySettings,
    /// A message without content that names the current model; none without a model.
    pub identity: Option<AssistantMessage>,
    /// Names of tools that only read.
    pub read_only: HashSet<String>,
}

impl Turn {
    /// A machine that goes on where the session and its run state say; the effects are its first steps.
    #[must_use]
    pub fn resume(
        resume: Resume,
        identity: Option<AssistantMessage>,
        read_only: HashSet<String>,
        retry: RetrySettings,
        now: Millis,
    ) -> (Self, Vec<Effect>) {
        let mut turn = Self {
            phase: Phase::Idle,
            work: 0,
            trace: None,
            queues: resume.queues,
            held: Vec::new(),
            open: None,
            idle_waiters: Vec::new(),
            now,
            out: Vec::new(),
            retry,
            identity,
            read_only,
        };
        if !turn.queues.is_empty() {
            turn.publish_queues();
        }
        if resume.active {
            let trace = turn.trace();
            trace.attempt = resume.attempt;
            trace.prompt = resume.prompt.map(|prompt| (prompt, None));
            turn.go_on(resume.position);
        } else if let Position::Calls { batch, message, results } = resume.position
            && !batch.is_complete()
        {
            turn.open = Some(OpenCalls { batch, message, results });
        }
        let effects = mem::take(&mut turn.out);
        (turn, effects)
    }

    /// Takes an input; the effects are to be carried out in order.
    pub fn on(&mut self, now: Millis, input: Input) -> Vec<Effect> {
        self.now = now;
        match input {
            Input::Prompt { pending, behavior, ticket } => self.prompt(pending, behavior, ticket),
            Input::Queue { kind, pending, ticket } => self.enqueue(kind, pending, ticket),
            Input::ClearQueue(ticket) => self.clear_queue(ticket),
            Input::SetQueueMode(kind, mode) => self.queues.set_mode(kind, mode),
            Input::Abort(ticket) => self.abort(ticket),
            Input::AbortRetry(ticket) => self.abort_retry(ticket),
            Input::WaitIdle(ticket) if self.is_idle() => self.reply(ticket, Ok(Reply::Done)),
            Input::WaitIdle(ticket) => self.idle_waiters.push(ticket),
            Input::Compact { instructions, ticket } => self.compact(instructions, ticket),
            Input::Append { bodies, ticket } => self.append(bodies, ticket),
            Input::Stored { work, result } if work == self.work => self.stored(result),
            Input::Asked { work, verdict } if work == self.work => self.asked(verdict),
            Input::Prepared { work, result } if work == self.work => match result {
                Ok(()) => self.call(),
                Err(failure) => self.failed_before_start(failure),
            },
            Input::Answered { work, message, failure, started } if work == self.work => {
                self.answered(message, failure, started);
            }
            Input::CallsStarted { work, places } if work == self.work => {
                if let Some(batch) = self.batch() {
                    batch.start(&places);
                }
            }
            Input::CallFinished { work, place, finished } if work == self.work => {
                if let Some(batch) = self.batch() {
                    batch.finish(place, finished);
                }
            }
            Input::BatchDone { work } if work == self.work => self.batch_done(),
            Input::TimeUp { work } if work == self.work => self.start_run(None),
            Input::Compacted { work, result } if work == self.work => self.compacted(result),
            Input::Gone { work, actor, exit } if work == self.work => self.gone(actor, exit.cause()),
            // Work of an older generation.
            _ => {}
        }
        mem::take(&mut self.out)
    }

    /// Whether no trace runs and nothing is being stored.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    /// Whether a trace runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.trace.is_some()
    }

    /// The phase's name, for traces and tests.
    #[must_use]
    pub fn phase(&self) -> &'static str {
        match self.phase {
            Phase::Idle => "idle",
            Phase::Asking(_) => "asking",
            Phase::Storing(_) => "storing",
            Phase::Preparing => "preparing",
            Phase::Streaming => "streaming",
            Phase::RunningTools => "running_tools",
            Phase::RetryWait => "retry_wait",
            Phase::Compacting(..) => "compacting",
        }
    }

    /// The queues.
    #[must_use]
    pub fn queues(&self) -> &Queues {
        &self.queues
    }

    fn stored(&mut self, result: Result<Vec<Arc<Entry>>, String>) {
        let then = match mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Storing(then) => then,
            other => {
                self.phase = other;
                return;
            }
        };
        let entries = match result {
            Ok(entries) => entries,
            Err(cause) => return self.store_failed(then, cause),
        };
        match then {
            Then::Open(ticket) => {
                if let Some(ticket) = ticket {
                    self.reply(ticket, Ok(Reply::Input(crate::protocol::command::Disposition::Started)));
                }
                self.announce_run();
                self.publish_delivered(&entries);
                self.call_model();
            }
            Then::Deliver => {
                self.publish_delivered(&entries);
                self.call_model();
            }
            Then::Answer { started, failure } => match entries.first() {
                Some(entry) => self.answer_stored(entry, started, failure),
                None => self.before_settle(),
            },
            Then::Results => self.results_stored(&entries),
            Then::TurnEntries(decision) => {
                self.publish_entries(&entries);
                self.after_turn(decision);
            }
            Then::Omit(delay) => {
                self.publish_entries(&entries);
                self.failed_omitted(delay);
            }
            Then::Compaction(reason, ticket) => self.compaction_stored(&entries, reason, ticket),
            Then::SettleEntries(go_on) => {
                self.publish_entries(&entries);
                self.settle_or_go_on(go_on);
            }
            Then::Held => {
                self.publish_entries(&entries);
                self.settled();
            }
            Then::Append(ticket) => {
                self.publish_entries(&entries);
                let id = entries.first().map(|entry| entry.id.clone());
                self.reply(ticket, Ok(id.map_or(Reply::Done, Reply::Entry)));
                self.idle_again();
            }
        }
    }

    /// The disk refuses: the trace ends here, visibly, and nothing that was queued is lost.
    fn store_failed(&mut self, then: Then, cause: String) {
        let text = format!("The session could not be saved: {cause}. Nothing was done that is not stored.");
        self.publish(Event::Notice { level: NoticeLevel::Error, text });
        match then {
            Then::Open(Some(ticket)) | Then::Append(ticket) | Then::Compaction(_, Some(ticket)) => {
                self.reply(ticket, Err(CommandError::Store(cause)));
            }
            _ => {}
        }
        let Some(trace) = self.trace.as_mut() else { return self.idle_again() };
        if let Some((pending, kind)) = trace.leaving.take() {
            self.queues.put_back(kind, pending);
        }
        if mem::take(&mut self.trace().in_run) {
            let messages = mem::take(&mut self.trace().messages);
            self.publish(Event::AgentEnd { messages, will_retry: false });
        }
        self.settled();
    }

    fn asked(&mut self, verdict: Option<Verdict>) {
        let Phase::Asking(point) = self.phase else { return };
        match (point, verdict) {
            (AskPoint::BeforeAgentStart, Some(Verdict::BeforeAgentStart(verdict))) => {
                self.trace().system_prompt = verdict.system_prompt;
                self.open_trace(verdict.messages);
            }
            (AskPoint::BeforeAgentStart, _) => self.open_trace(Vec::new()),
            (AskPoint::BeforeTurn, Some(Verdict::BeforeTurn(verdict))) => {
                if verdict.model.is_some() || verdict.thinking_level.is_some() {
                    self.out.push(Effect::Select { model: verdict.model, thinking_level: verdict.thinking_level });
                }
                self.begin_turn(verdict.messages);
            }
            (AskPoint::BeforeTurn, _) => self.begin_turn(Vec::new()),
            (AskPoint::TurnEnd, Some(Verdict::TurnEnd(verdict))) => {
                self.store_or(verdict.entries, Then::TurnEntries(verdict.decision));
            }
            (AskPoint::TurnEnd, _) => self.after_turn(TurnDecision::Default),
            (AskPoint::BeforeSettle, Some(Verdict::BeforeSettle(verdict))) => {
                self.store_or(verdict.entries, Then::SettleEntries(verdict.continue_run));
            }
            // The other points are asked by workers.
            _ => self.settle_or_go_on(false),
        }
    }

    /// Stores what extensions add; without any, what would follow follows at once.
    fn store_or(&mut self, entries: Option<Vec<EntryBody>>, then: Then) {
        let entries: Vec<NewEntry> = entries.unwrap_or_default().into_iter().map(NewEntry::from).collect();
        if entries.is_empty() {
            self.phase = Phase::Storing(then);
            self.stored(Ok(Vec::new()));
        } else {
            self.store(entries, false, then);
        }
    }

    /// A worker died before it answered. What it did is done again where that is safe: the session is the same as if
    /// nothing had happened. Three deaths in a trace are a defect that does not pass, and fail the turn.
    fn gone(&mut self, actor: &'static str, cause: &str) {
        if !matches!(self.phase, Phase::Preparing | Phase::Streaming | Phase::RunningTools) {
            return match self.phase {
                Phase::Asking(_) => self.asked(None),
                Phase::Compacting(..) => self.compacted(Err(format!("the compactor failed: {cause}"))),
                _ => {}
            };
        }
        let trace = self.trace();
        trace.respawns += 1;
        let (spent, aborted) = (trace.respawns > RESPAWNS, trace.aborted);
        if !aborted && !spent {
            self.publish(Event::Restarted { actor: actor.to_owned(), cause: cause.to_owned() });
        }
        match self.phase {
            Phase::RunningTools if aborted || spent => self.batch_done(),
            Phase::RunningTools => match self.trace().batch.take() {
                Some(batch) => self.recover(batch),
                None => self.store_results(),
            },
            _ if aborted => self.answer_aborted(),
            _ if spent => self.failed_before_start(Failure::new(
                FailureClass::Internal,
                format!("the worker for the model call ({actor}) failed repeatedly: {cause}"),
            )),
            _ => self.call_model(),
        }
    }

    // Small steps that everything else is made of.

    fn publish(&mut self, event: Event) {
        self.out.push(Effect::Publish(event));
    }

    fn reply(&mut self, ticket: Ticket, result: Result<Reply, CommandError>) {
        self.out.push(Effect::Reply(ticket, result));
    }

    fn next_work(&mut self) -> Work {
        self.work += 1;
        self.work
    }

    fn trace(&mut self) -> &mut Trace {
        self.trace.get_or_insert_default()
    }

    fn batch(&mut self) -> Option<&mut Batch> {
        self.trace.as_mut().and_then(|trace| trace.batch.as_mut())
    }

    fn is_aborted(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.aborted)
    }

    fn store(&mut self, entries: Vec<NewEntry>, declare: bool, then: Then) {
        let work = self.next_work();
        self.phase = Phase::Storing(then);
        self.out.push(Effect::Store { work, entries, declare });
    }

    fn ask(&mut self, ask: Ask) {
        let work = self.next_work();
        self.phase = Phase::Asking(ask.point());
        self.out.push(Effect::Ask { work, ask });
    }

    fn publish_queues(&mut self) {
        // What has left its queue and is not delivered yet still waits.
        let on_its_way = self.trace.as_ref().and_then(|trace| trace.next.as_ref().or(trace.leaving.as_ref()));
        let event = match on_its_way {
            Some((pending, kind)) => self.queue_update(pending, *kind),
            None => self.queue_update(&[], QueueKind::Steer),
        };
        self.publish(event);
    }

    fn queue_update(&self, ahead: &[Pending], kind: QueueKind) -> Event {
        let (mut steering, mut follow_up) = self.queues.texts();
        let texts = if kind == QueueKind::Steer { &mut steering } else { &mut follow_up };
        texts.splice(0..0, ahead.iter().map(|pending| pending.text.clone()));
        Event::QueueUpdate { steering, follow_up }
    }

    fn publish_message(&mut self, message: AgentMessage, entry_id: EntryId) {
        self.publish(Event::MessageStart { message: message.clone() });
        self.publish(Event::MessageEnd { message: message.clone(), entry_id: Some(entry_id) });
        if let Some(trace) = self.trace.as_mut() {
            trace.messages.push(message);
        }
    }

    fn publish_entries(&mut self, entries: &[Arc<Entry>]) {
        for entry in entries {
            match opening::message_of(entry) {
                Some(message) => self.publish_message(message, entry.id.clone()),
                // A change of the selection or the name has an event of its own.
                None if entry.body.has_own_event() => {}
                None => self.publish(Event::EntryAppended { entry: entry.clone() }),
            }
        }
    }
}
