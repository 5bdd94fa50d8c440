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
//! This file has the machine and the dispatch, `state` what it knows; the steps are in its submodules, in the order in
//! which a trace takes them: `commands`, `opening`, `answer`, `settling`; `faults` has what is done about deaths and a
//! full disk.

mod answer;
mod commands;
mod faults;
mod opening;
mod settling;
mod state;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashSet, VecDeque},
    mem,
    sync::Arc,
};

pub use self::opening::{events_of, message_of};
use self::state::{After, Leaving, OpenCalls, Phase, Then, Trace};
use super::{
    batch::Batch,
    queues::{Pending, Queues},
    resume::{Position, Resume},
    retry::RetrySettings,
    turn_io::{Effect, Input, NewEntry, Ticket, Work},
};
use crate::protocol::{
    AgentMessage, AssistantMessage, CommandError, Entry, EntryBody, EntryId, Event, Reply,
    ask::{Ask, AskPoint, TurnDecision, Verdict},
    command::QueueKind,
    time::Millis,
};

/// The machine. One an agent.
#[derive(Debug)]
pub struct Turn {
    phase: Phase,
    work: Work,
    trace: Option<Trace>,
    queues: Queues,
    /// Entries that wait for the end of the trace, and how many of them are being stored.
    held: Vec<NewEntry>,
    storing_held: usize,
    /// The last attempt to store something failed: what is held waits for the next occasion.
    refused: bool,
    /// Messages of extensions that wait for the end of the turn.
    after_turn: Vec<EntryBody>,
    /// Messages of extensions that wait for the next prompt, and come behind it.
    behind_prompt: Vec<EntryBody>,
    /// Commands that wait until an idle agent has stored an entry.
    deferred: VecDeque<Input>,
    /// Calls that a crash of an earlier process left without results.
    open: Option<OpenCalls>,
    idle_waiters: Vec<Ticket>,
    now: Millis,
    out: Vec<Effect>,
    /// Retry settings in force.
    pub retry: RetrySettings,
    /// The history is compacted without being asked to.
    pub auto_compaction: bool,
    /// The context is longer than the model's window less its reserve.
    pub full: bool,
    /// A compaction did not make it short enough: another one would not either.
    pub stays_full: bool,
    /// A compaction that waits for the end of the trace, which was aborted for it.
    next_compaction: Option<(Option<String>, Ticket)>,
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
        auto_compaction: bool,
        full: bool,
        now: Millis,
    ) -> (Self, Vec<Effect>) {
        let mut turn = Self {
            phase: Phase::Idle,
            work: 0,
            trace: None,
            queues: resume.queues,
            held: resume.held,
            storing_held: 0,
            refused: false,
            after_turn: Vec::new(),
            behind_prompt: Vec::new(),
            deferred: VecDeque::new(),
            open: None,
            idle_waiters: Vec::new(),
            now,
            out: Vec::new(),
            retry,
            auto_compaction,
            full,
            stays_full: false,
            next_compaction: None,
            identity,
            read_only,
        };
        if !turn.queues.is_empty() {
            turn.publish_queues();
        }
        if resume.active {
            let trace = turn.trace();
            // With a new prompt, what was retried belongs to the trace before.
            trace.attempt = if resume.prompt.is_some() { 0 } else { resume.attempt };
            trace.prompt = resume.prompt.map(|prompt| (prompt, None));
            turn.go_on(resume.position);
        } else if let Position::Calls { batch, message, results } = resume.position
            && !batch.is_complete()
        {
            turn.open = Some(OpenCalls { batch, message, results });
        }
        if turn.is_idle() && !resume.active && !turn.held.is_empty() {
            turn.idle_again();
        }
        let effects = mem::take(&mut turn.out);
        (turn, effects)
    }

    /// Takes an input; the effects are to be carried out in order.
    pub fn on(&mut self, now: Millis, input: Input) -> Vec<Effect> {
        self.now = now;
        if self.is_saving() && commands::is_command(&input) {
            self.deferred.push_back(input);
        } else {
            self.take(input);
        }
        mem::take(&mut self.out)
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Prompt { pending, behavior, ticket } => self.prompt(pending, behavior, ticket),
            Input::Queue { kind, pending, ticket } => self.enqueue(kind, pending, ticket),
            Input::Message { pending, trigger_turn, deliver_as, ticket } => {
                self.message(pending, trigger_turn, deliver_as, ticket);
            }
            Input::ClearQueue(ticket) => self.clear_queue(ticket),
            Input::SetQueueMode(kind, mode) => self.queues.set_mode(kind, mode),
            Input::Abort(ticket) => self.abort(ticket),
            Input::AbortRetry(ticket) => self.abort_retry(ticket),
            Input::WaitIdle(ticket) if self.is_idle() => self.reply(ticket, Ok(Reply::Done)),
            Input::WaitIdle(ticket) => self.idle_waiters.push(ticket),
            Input::Compact { instructions, ticket } => self.compact(instructions, ticket),
            Input::Append { entries, ticket } => self.append(entries, ticket),
            Input::Stored { work, result } if work == self.work => self.stored(result),
            Input::Asked { work, verdict } if work == self.work => self.asked(verdict),
            Input::Prepared { work, result } if work == self.work => match result {
                Ok(entries) => self.prepared(entries),
                Err(failure) => self.failed_before_start(failure),
            },
            Input::Answered { work, message, failure, started, fallback, overflow, short } if work == self.work => {
                let trace = self.trace();
                trace.fallback = fallback;
                trace.overflow = overflow;
                trace.short = short;
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

    /// The queues of a machine that is no longer needed.
    #[must_use]
    pub fn into_queues(self) -> Queues {
        self.queues
    }

    /// Whether an idle agent stores an entry: too short to be told of as work, so commands wait for its end.
    fn is_saving(&self) -> bool {
        self.trace.is_none() && matches!(self.phase, Phase::Storing(Then::Append(_) | Then::Held))
    }

    fn stored(&mut self, result: Result<Vec<Arc<Entry>>, String>) {
        let then = match mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Storing(then) => then,
            other => {
                self.phase = other;
                return;
            }
        };
        let stored_held = mem::take(&mut self.storing_held);
        self.refused = result.is_err();
        let entries = match result {
            Ok(entries) => entries,
            Err(cause) => return self.store_failed(then, cause),
        };
        self.held.drain(..stored_held);
        match then {
            Then::Open => self.opened(&entries),
            Then::Deliver => {
                self.publish_delivered(&entries);
                self.call_model();
            }
            Then::Route => {
                self.publish_entries(&entries);
                if self.is_aborted() { self.answer_aborted() } else { self.call() }
            }
            Then::Answer { started, failure } => match entries.first() {
                Some(entry) => self.answer_stored(entry, started, failure),
                None => self.before_settle(),
            },
            Then::Results => self.results_stored(&entries),
            Then::TurnEntries(decision) => {
                self.publish_drafts(&entries);
                self.after_turn(decision);
            }
            Then::AfterTurn(decision) => {
                self.publish_entries(&entries);
                self.behind_turn(decision);
            }
            Then::Omit(delay) => {
                self.publish_entries(&entries);
                self.failed_omitted(delay);
            }
            Then::Compaction(reason, ticket, after) => self.compaction_stored(&entries, reason, ticket, after),
            Then::SettleEntries(go_on) => {
                self.publish_drafts(&entries);
                self.settle_or_go_on(go_on);
            }
            Then::Held => {
                self.publish_entries(&entries);
                self.held_stored();
            }
            Then::Append(ticket) => {
                self.publish_entries(&entries);
                let id = entries.first().map(|entry| entry.id.clone());
                self.reply(ticket, Ok(id.map_or(Reply::Done, Reply::Entry)));
                self.idle_again();
            }
        }
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

    fn publish_turn_start(&mut self) {
        self.trace().in_turn = true;
        self.publish(Event::TurnStart);
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
        self.publish(Event::MessageEnd { message, entry_id: Some(entry_id.clone()) });
        if let Some(trace) = self.trace.as_mut() {
            trace.messages.push(entry_id);
        }
    }

    fn publish_entries(&mut self, entries: &[Arc<Entry>]) {
        for entry in entries {
            if opening::message_of(entry).is_some()
                && let Some(trace) = self.trace.as_mut()
            {
                trace.messages.push(entry.id.clone());
            }
            self.out.extend(events_of(entry).into_iter().map(Effect::Publish));
        }
    }

    /// The same for what extensions added at a boundary, where a compaction has no event of its own.
    fn publish_drafts(&mut self, entries: &[Arc<Entry>]) {
        for entry in entries {
            match &entry.body {
                EntryBody::Compaction { .. } => self.publish(Event::EntryAppended { entry: entry.clone() }),
                _ => self.publish_entries(std::slice::from_ref(entry)),
            }
        }
    }
}
