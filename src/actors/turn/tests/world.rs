//! A world for the machine: carries out its effects in memory and answers what can be answered at once.

use std::{collections::HashSet, sync::Arc};

use super::{laws::Laws, render, run_state::RunState};
use crate::{
    actors::{
        batch::Finished,
        queues::pending,
        restart::Exit,
        resume::{Position, Resume, position},
        retry::RetrySettings,
        turn::Turn,
        turn_io::{Compacted, Effect, Input, NewEntry, Ticket, Work},
    },
    protocol::{
        AgentMessage, AssistantMessage, Entry, EntryBody, Event, Failure, FailureClass, StopReason, SystemMessage,
        ToolOutput,
        ask::{Ask, AskPoint, Verdict},
        command::QueueKind,
        event::CallLabel,
        time::Millis,
    },
};

/// The machine and everything around it.
pub struct World {
    pub turn: Turn,
    pub entries: Vec<Arc<Entry>>,
    /// What the outside saw, in words.
    pub trace: Vec<String>,
    /// What the machine waits for.
    pub pending: Option<Effect>,
    pub laws: Laws,
    pub notes: RunState,
    /// The questions so far.
    pub asks: Vec<Ask>,
    /// Answers to the next questions at their points.
    pub verdicts: Vec<Verdict>,
    /// Stop answering when the machine waits for this.
    pub stop: Option<&'static str>,
    /// Nothing is answered by itself.
    pub paused: bool,
    /// What the next request wants to have stored before it is sent.
    pub routes: Vec<EntryBody>,
    /// Another model is free when the next call fails.
    pub fallback: bool,
    /// The next good answer says that the window is too small.
    pub overflow: bool,
    /// The next answer was cut off for want of room.
    pub short: bool,
    /// A compaction does not make the context short enough.
    pub stays_full: bool,
    /// A system message is put before the first entries that declare tools.
    pub declares: bool,
    pub now: Millis,
    pub tickets: Ticket,
}

impl Default for World {
    fn default() -> Self {
        Self::resume(Resume::default(), Vec::new())
    }
}

impl World {
    /// A machine that goes on with a session; the first effects are carried out.
    pub fn resume(resume: Resume, entries: Vec<Arc<Entry>>) -> Self {
        let (turn, effects) = machine(Resume::default(), 0);
        debug_assert!(effects.is_empty());
        let mut world = Self {
            turn,
            entries,
            trace: Vec::new(),
            pending: None,
            laws: Laws::default(),
            notes: RunState::default(),
            asks: Vec::new(),
            verdicts: Vec::new(),
            stop: None,
            paused: false,
            routes: Vec::new(),
            fallback: false,
            overflow: false,
            short: false,
            stays_full: false,
            declares: false,
            now: 0,
            tickets: 0,
        };
        world.restart(resume);
        world
    }

    /// Another machine takes over.
    fn restart(&mut self, resume: Resume) {
        self.notes.active = resume.active;
        self.notes.prompt.clone_from(&resume.prompt);
        self.laws.restarted(&resume, &self.entries);
        let (turn, effects) = machine(resume, self.now);
        self.turn = turn;
        self.pending = None;
        self.carry_out(effects);
    }

    /// The process dies, and another one goes on with what is on disk. `written`: the disk got what the machine
    /// waited for, but nobody was told.
    pub fn crash(&mut self, written: bool) {
        if let Some(Effect::Store { entries, declare, .. }) = self.pending.take()
            && written
        {
            self.write(entries, declare);
        }
        let (mut position, attempt) = position(
            || self.entries.iter().rev().cloned(),
            |message| {
                let text = message.error_message.clone().unwrap_or_default();
                let aborted = message.stop_reason == StopReason::Aborted;
                let class = if aborted { FailureClass::Aborted } else { FailureClass::Overloaded };
                Failure::new(class, text)
            },
        );
        if let Position::Calls { batch, .. } = &mut position {
            batch.start(&self.laws.begun(&batch.entry));
        }
        let on_disk: HashSet<_> = self.entries.iter().map(|entry| entry.id.clone()).collect();
        let mut resume = Resume { active: self.notes.active, position, attempt, ..Resume::default() };
        resume.queues.steering_mode = self.turn.queues().steering_mode;
        resume.queues.follow_up_mode = self.turn.queues().follow_up_mode;
        resume.prompt = self.notes.prompt.clone().filter(|prompt| !on_disk.contains(&prompt.entry_id));
        self.notes.held.retain(|held| held.reserved.as_ref().is_none_or(|id| !on_disk.contains(id)));
        resume.held.clone_from(&self.notes.held);
        self.notes.queued.retain(|(_, pending)| !on_disk.contains(&pending.entry_id));
        for (kind, pending) in &self.notes.queued {
            resume.queues.push(*kind, pending.clone());
        }
        self.restart(resume);
    }

    /// Gives the machine an input and carries out what it wants.
    pub fn feed(&mut self, input: Input) {
        self.now += 1;
        self.laws.input(&input);
        let effects = self.turn.on(self.now, input);
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.laws.effect(&effect, self.pending.as_ref(), &self.entries, &self.turn.read_only);
            render::log(&mut self.trace, &effect);
            match effect {
                Effect::Journal(note) => self.notes.note(&note),
                Effect::Ask { work, ask } => {
                    self.asks.push(ask.clone());
                    self.pending = Some(Effect::Ask { work, ask });
                }
                effect if work_of(&effect).is_some() => self.pending = Some(effect),
                _ => {}
            }
        }
        if self.turn.is_idle() {
            self.pending = None;
        }
        assert_eq!(self.turn.is_idle(), self.pending.is_none(), "waits for nothing in {}", self.turn.phase());
        assert_eq!(self.notes.active, self.turn.is_running(), "the run state knows whether a trace runs");
        self.laws.rest(&self.turn, &self.entries);
    }

    /// Publishes something for a worker.
    pub fn publish(&mut self, event: Event) {
        let effect = Effect::Publish(event);
        self.laws.effect(&effect, self.pending.as_ref(), &self.entries, &self.turn.read_only);
        render::log(&mut self.trace, &effect);
    }

    /// Answers what can be answered at once, until the script has to go on.
    pub fn pump(&mut self) {
        while let Some(pending) = self.pending.as_ref().filter(|_| !self.paused) {
            if self.stop.is_some_and(|stop| render::label(pending) == stop) {
                self.stop = None;
                self.paused = true;
                return;
            }
            match pending {
                Effect::Store { .. } => self.stored(),
                Effect::Ask { .. } => self.asked(),
                Effect::Prepare { .. } => {
                    let entries = std::mem::take(&mut self.routes);
                    self.prepared(Ok(entries));
                }
                _ => return,
            }
        }
    }

    /// Somebody who wants an answer.
    pub fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        self.laws.asks(self.tickets);
        self.tickets
    }

    /// A prompt.
    pub fn prompt(&mut self, text: &str, behavior: Option<QueueKind>) {
        let ticket = self.ticket();
        self.laws.offers(text, ticket);
        self.feed(Input::Prompt { pending: pending(text), behavior, ticket });
    }

    /// A message for a queue.
    pub fn queue(&mut self, text: &str, kind: QueueKind) {
        let ticket = self.ticket();
        self.laws.offers(text, ticket);
        self.feed(Input::Queue { kind, pending: pending(text), ticket });
    }

    fn take(&mut self) -> (Work, Effect) {
        let effect = self.pending.take().expect("the machine waits for something");
        (work_of(&effect).expect("a piece of work"), effect)
    }

    /// Everything that is to be stored is on disk.
    pub fn stored(&mut self) {
        let (work, Effect::Store { entries, declare, .. }) = self.take() else { panic!("no store") };
        let result = Ok(self.write(entries, declare));
        self.feed(Input::Stored { work, result });
    }

    /// The disk refuses.
    pub fn refused(&mut self) {
        let (work, Effect::Store { .. }) = self.take() else { panic!("no store") };
        self.laws.disk_refuses();
        self.feed(Input::Stored { work, result: Err("no space left".into()) });
    }

    fn write(&mut self, new: Vec<NewEntry>, declare: bool) -> Vec<Arc<Entry>> {
        let first = self.entries.len();
        let declared = self.entries.iter().any(|entry| matches!(role(entry), Some("system")));
        let system = EntryBody::Message { message: AgentMessage::System(Arc::new(SystemMessage::default())) };
        let system = (declare && self.declares && !declared).then(|| NewEntry::from(system));
        for NewEntry { body, reserved } in system.into_iter().chain(new) {
            let id = reserved.unwrap_or_else(|| format!("e{}", self.entries.len()).into());
            let parent_id = self.entries.last().map(|entry| entry.id.clone());
            let entry = Arc::new(Entry { body, id, parent_id, timestamp: String::new() });
            self.laws.writes(&entry, &self.entries);
            self.entries.push(entry);
        }
        self.entries[first..].to_vec()
    }

    /// The extensions answer what the script wants, or nothing.
    pub fn asked(&mut self) {
        let (work, Effect::Ask { ask, .. }) = self.take() else { panic!("no question") };
        let found = self.verdicts.iter().position(|verdict| point_of(verdict) == ask.point());
        let verdict = found.map(|at| self.verdicts.remove(at));
        self.feed(Input::Asked { work, verdict });
    }

    /// The request is ready, or cannot be made.
    pub fn prepared(&mut self, result: Result<Vec<EntryBody>, Failure>) {
        let (work, Effect::Prepare { .. }) = self.take() else { panic!("nothing is prepared") };
        self.feed(Input::Prepared { work, result });
    }

    /// The model call is over.
    pub fn answered(&mut self, message: AssistantMessage, failure: Option<Failure>, started: bool) {
        let (work, Effect::Call { .. }) = self.take() else { panic!("no call") };
        if started {
            let message = AgentMessage::Assistant(Arc::default());
            self.publish(Event::MessageStart { message });
        }
        let fallback = std::mem::take(&mut self.fallback) && failure.is_some();
        let overflow = std::mem::take(&mut self.overflow) && failure.is_none();
        let short = std::mem::take(&mut self.short) && failure.is_none();
        self.feed(Input::Answered { work, message: Arc::new(message), failure, started, fallback, overflow, short });
    }

    /// Calls of the batch begin.
    pub fn begin(&mut self, places: &[usize]) {
        let Some(Effect::RunTools { work, entry, calls, .. }) = self.pending.clone() else { panic!("no tools") };
        for place in places {
            self.laws.begins(&entry, *place);
            self.publish(Event::ToolExecutionStart { call: label(&calls[*place].id, *place) });
        }
        self.feed(Input::CallsStarted { work, places: places.to_vec() });
    }

    /// Whether a call of the running batch has its result.
    pub fn has_finished(&self, place: usize) -> bool {
        matches!(&self.pending, Some(Effect::RunTools { entry, .. }) if self.laws.has_finished(entry, place))
    }

    /// A call of the batch has a result.
    pub fn finish(&mut self, place: usize, output: ToolOutput) {
        let Some(Effect::RunTools { work, entry, calls, .. }) = self.pending.clone() else { panic!("no tools") };
        self.laws.finishes(&entry, place, &output);
        let output = Arc::new(output);
        let call = label(&calls[place].id, place);
        self.publish(Event::ToolExecutionEnd { call, result: output.clone(), duration_ms: Some(1) });
        let finished = Finished { output, duration_ms: Some(1), timestamp: self.now };
        self.feed(Input::CallFinished { work, place, finished });
    }

    /// The batch is over.
    pub fn batch_done(&mut self) {
        let (work, Effect::RunTools { .. }) = self.take() else { panic!("no tools") };
        self.feed(Input::BatchDone { work });
    }

    /// The wait is over.
    pub fn time_up(&mut self) {
        let (work, Effect::Wait { .. }) = self.take() else { panic!("no wait") };
        self.feed(Input::TimeUp { work });
    }

    /// The compactor answers.
    pub fn compacted(&mut self, result: Result<EntryBody, String>) {
        let (work, Effect::Compact { .. }) = self.take() else { panic!("no compaction") };
        if result.is_ok() {
            self.turn.full &= self.stays_full;
        }
        let made = |body| Box::new(Compacted { body, estimated_tokens_after: 5 });
        self.feed(Input::Compacted { work, result: result.map(made) });
    }

    /// The worker that the machine waits for dies.
    pub fn gone(&mut self) {
        let (work, effect) = self.take();
        let actor = match effect {
            Effect::Prepare { .. } => "prepare",
            Effect::Call { .. } => "stream",
            Effect::RunTools { .. } => "batch",
            Effect::Compact { .. } => "compactor",
            _ => "ask",
        };
        self.laws.dies();
        self.feed(Input::Gone { work, actor, exit: Exit::Failed("boom".into()) });
    }

    /// Whatever comes late, under any number but the current one, changes nothing.
    pub fn late(&mut self) {
        let current = self.pending.as_ref().and_then(work_of);
        let last = self.laws.work();
        let before = format!("{:?}", self.turn);
        for work in (last.saturating_sub(4).max(1)..=last).filter(|work| Some(*work) != current) {
            for input in late_inputs(work) {
                let shown = format!("{input:?}");
                assert_eq!(self.turn.on(self.now, input), vec![], "{shown}");
            }
        }
        assert_eq!(format!("{:?}", self.turn), before, "something late has changed the machine");
    }
}

fn machine(resume: Resume, now: Millis) -> (Turn, Vec<Effect>) {
    let identity = AssistantMessage { model: "m".into(), ..AssistantMessage::default() };
    let read_only = HashSet::from(["read".to_owned()]);
    Turn::resume(resume, Some(identity), read_only, RetrySettings::default(), true, false, now)
}

fn late_inputs(work: Work) -> [Input; 10] {
    let finished = Finished { output: Arc::default(), duration_ms: None, timestamp: 0 };
    [
        Input::Stored { work, result: Ok(Vec::new()) },
        Input::Asked { work, verdict: None },
        Input::Prepared { work, result: Ok(Vec::new()) },
        Input::Answered {
            work,
            message: Arc::default(),
            failure: None,
            started: false,
            fallback: false,
            overflow: false,
            short: false,
        },
        Input::CallsStarted { work, places: vec![0, 1] },
        Input::CallFinished { work, place: 0, finished },
        Input::BatchDone { work },
        Input::TimeUp { work },
        Input::Compacted { work, result: Err("late".into()) },
        Input::Gone { work, actor: "late", exit: Exit::Killed },
    ]
}

fn label(id: &str, place: usize) -> CallLabel {
    CallLabel { place, tool_call_id: id.to_owned(), tool_name: String::new(), args: Arc::default() }
}

fn role(entry: &Entry) -> Option<&str> {
    entry.body.as_message().map(AgentMessage::role)
}

fn point_of(verdict: &Verdict) -> AskPoint {
    match verdict {
        Verdict::BeforeAgentStart(_) => AskPoint::BeforeAgentStart,
        Verdict::BeforeTurn(_) => AskPoint::BeforeTurn,
        Verdict::TurnEnd(_) => AskPoint::TurnEnd,
        Verdict::BeforeSettle(_) => AskPoint::BeforeSettle,
        other => panic!("the machine does not ask for {other:?}"),
    }
}

/// The number of the work that an effect asks for.
pub fn work_of(effect: &Effect) -> Option<Work> {
    match effect {
        Effect::Store { work, .. }
        | Effect::Ask { work, .. }
        | Effect::Prepare { work, .. }
        | Effect::Call { work }
        | Effect::RunTools { work, .. }
        | Effect::Compact { work, .. }
        | Effect::Wait { work, .. } => Some(*work),
        _ => None,
    }
}
