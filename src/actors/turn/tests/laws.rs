//! What holds in every run of the machine, whatever happens: checked at every effect and after every input.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use super::world::work_of;
use crate::{
    actors::{
        batch::{ABORTED, CUT_OFF, INTERRUPTED},
        resume::{Position, Resume},
        turn::Turn,
        turn_io::{Effect, Input, NewEntry, Note, Ticket, Work},
    },
    protocol::{
        AgentMessage, AssistantMessage, Entry, EntryId, Event, Published, Reply, Seq, StopReason, ToolOutput,
        ToolResultMessage, ask::AskPoint, command::QueueKind, message::text_of, view::View,
    },
};

/// A user's message.
#[derive(Debug)]
struct Sent {
    text: String,
    ticket: Option<Ticket>,
    fate: Fate,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Offered,
    /// Accepted; in a queue, or the prompt of a trace.
    Waits(Option<QueueKind>),
    Published,
    Cleared,
    Refused,
}

/// The books of a run.
#[derive(Default)]
pub struct Laws {
    work: Work,
    tracing: bool,
    in_run: bool,
    in_turn: bool,
    retrying: bool,
    compacting: bool,
    aborted: bool,
    /// An abort came while nothing ran; what came before it may still begin.
    abort_waits: bool,
    /// The disk refused, or an earlier process left calls open: they may be open while idle.
    open_calls: bool,
    open_message: Option<String>,
    tickets: BTreeSet<Ticket>,
    messages: Vec<Sent>,
    shown: (Vec<String>, Vec<String>),
    published: HashSet<EntryId>,
    begun: HashSet<(EntryId, usize)>,
    finished: HashMap<(EntryId, usize), String>,
    ended: HashSet<usize>,
    /// Entries of the messages that were told since the last loop run ended.
    told: Vec<EntryId>,
    /// What a screen makes of it.
    view: View,
}

impl Laws {
    pub fn work(&self) -> Work {
        self.work
    }

    pub fn asks(&mut self, ticket: Ticket) {
        self.tickets.insert(ticket);
    }

    pub fn offers(&mut self, text: &str, ticket: Ticket) {
        self.messages.push(Sent { text: text.to_owned(), ticket: Some(ticket), fate: Fate::Offered });
    }

    pub fn disk_refuses(&mut self) {
        self.open_calls = true;
        self.open_message = None;
    }

    /// A worker died: a message that it had begun is void.
    pub fn dies(&mut self) {
        self.open_message = None;
    }

    pub fn begins(&mut self, entry: &EntryId, place: usize) {
        self.begun.insert((entry.clone(), place));
    }

    pub fn begun(&self, entry: &EntryId) -> Vec<usize> {
        self.begun.iter().filter(|(of, _)| of == entry).map(|(_, place)| *place).collect()
    }

    pub fn has_finished(&self, entry: &EntryId, place: usize) -> bool {
        self.finished.contains_key(&(entry.clone(), place))
    }

    pub fn finishes(&mut self, entry: &EntryId, place: usize, output: &ToolOutput) {
        self.finished.entry((entry.clone(), place)).or_insert_with(|| text_of(&output.content, ""));
    }

    /// Another machine takes over from what is on disk.
    pub fn restarted(&mut self, resume: &Resume, entries: &[Arc<Entry>]) {
        let (steering, follow_up) = resume.queues.texts();
        let prompt = resume.prompt.iter().map(|prompt| (prompt.text.clone(), None));
        let queued = steering.into_iter().map(|text| (text, Some(QueueKind::Steer)));
        let queued = queued.chain(follow_up.into_iter().map(|text| (text, Some(QueueKind::FollowUp))));
        let waits: Vec<_> = prompt.chain(queued).collect();
        for Sent { text, ticket, fate } in &mut self.messages {
            let stored = entries.iter().any(|entry| entry.id.as_str() == format!("id-{text}"));
            let kind = waits.iter().find(|(waiting, _)| waiting == text).map(|(_, kind)| *kind);
            *ticket = None;
            *fate = match (*fate, kind) {
                (Fate::Offered | Fate::Waits(_), _) if stored => Fate::Published,
                (Fate::Offered | Fate::Waits(_), Some(kind)) => Fate::Waits(kind),
                // Its command is answered by the loss of the ticket.
                (Fate::Offered, None) => Fate::Refused,
                (Fate::Waits(_), None) => panic!("{text} is lost"),
                (fate, _) => fate,
            };
        }
        for (text, kind) in waits {
            if !self.messages.iter().any(|sent| sent.text == text) {
                self.messages.push(Sent { text, ticket: None, fate: Fate::Waits(kind) });
            }
        }
        *self = Self {
            tracing: resume.active,
            aborted: resume.active && resume.prompt.is_none() && ends_aborted(&resume.position),
            retrying: resume.active && resume.prompt.is_none() && resume.attempt > 0,
            open_calls: matches!(resume.position, Position::Calls { .. }),
            messages: std::mem::take(&mut self.messages),
            published: entries.iter().map(|entry| entry.id.clone()).collect(),
            begun: std::mem::take(&mut self.begun),
            ..Self::default()
        };
    }

    pub fn input(&mut self, input: &Input) {
        if matches!(input, Input::Abort(_)) {
            self.aborted = self.tracing;
            self.abort_waits = !self.tracing;
        }
        // A compaction that is asked for ends the run first.
        if matches!(input, Input::Compact { .. }) {
            self.aborted |= self.tracing;
            self.abort_waits |= !self.tracing;
        }
    }

    /// An effect, and what the machine waited for when it wanted it.
    pub fn effect(
        &mut self,
        effect: &Effect,
        pending: Option<&Effect>,
        entries: &[Arc<Entry>],
        read_only: &HashSet<String>,
    ) {
        if let Some(work) = work_of(effect) {
            assert!(work > self.work, "work numbers grow");
            self.work = work;
            assert!(!matches!(pending, Some(Effect::Store { .. })), "acts before the entries are stored: {effect:?}");
        }
        let acts = !matches!(
            effect,
            Effect::Publish(_)
                | Effect::Reply(..)
                | Effect::Journal(_)
                | Effect::Store { .. }
                | Effect::Ask { .. }
                | Effect::Cancel
                | Effect::Settle
        );
        assert!(!(acts && self.aborted), "acts after an abort: {effect:?}");
        match effect {
            Effect::Publish(event) => self.event(event, entries),
            Effect::Reply(ticket, result) => {
                assert!(self.tickets.remove(ticket), "ticket {ticket} has its answer: {result:?}");
                if let Ok(Reply::Entry(id)) = result {
                    let named = entries.iter().find(|entry| entry.id == *id);
                    assert_eq!(named.map(|entry| entry.body.kind()), Some("custom"), "the entry that was sent");
                }
                if let Some(sent) = self.messages.iter_mut().find(|sent| sent.ticket == Some(*ticket)) {
                    match result {
                        Ok(_) => assert_ne!(sent.fate, Fate::Offered, "{} is accepted without a note", sent.text),
                        Err(_) => {
                            assert_ne!(sent.fate, Fate::Published, "{} is stored and refused", sent.text);
                            sent.fate = Fate::Refused;
                        }
                    }
                }
            }
            Effect::Journal(note) => self.note(note),
            Effect::Ask { ask, .. } if self.aborted => {
                assert_eq!(ask.point(), AskPoint::TurnEnd, "only the end of a turn is asked about after an abort");
            }
            Effect::Store { entries, declare: true, .. } => {
                let begins = |entry: &NewEntry| {
                    !matches!(entry.body.as_message(), Some(AgentMessage::Assistant(_) | AgentMessage::ToolResult(_)))
                };
                assert!(entries.iter().all(begins), "tools are declared at the beginning of a turn");
            }
            Effect::RunTools { entry, places, .. } => self.run_tools(entry, places, entries, read_only),
            _ => {}
        }
    }

    fn note(&mut self, note: &Note) {
        match note {
            Note::Started => {
                assert!(!self.tracing, "one trace at a time");
                self.tracing = true;
            }
            Note::Settled => assert!(!self.tracing, "settled is noted when it is told"),
            Note::Accepted { kind, pending } => {
                *self.fate(&pending.text) = Fate::Waits(*kind);
                // Messages are delivered in the order in which they were accepted.
                self.messages.sort_by_key(|sent| sent.text == pending.text);
            }
            Note::Held(_) => {}
            Note::Cleared(texts) => texts.iter().for_each(|text| *self.fate(text) = Fate::Cleared),
        }
    }

    fn fate(&mut self, text: &str) -> &mut Fate {
        let found = self.messages.iter_mut().find(|sent| sent.text == text);
        &mut found.unwrap_or_else(|| panic!("{text} is unknown")).fate
    }

    fn event(&mut self, event: &Event, entries: &[Arc<Entry>]) {
        self.view.apply(&Published { seq: Seq::default(), event: event.clone() });
        match event {
            Event::AgentStart => assert!(self.tracing && !std::mem::replace(&mut self.in_run, true), "agent_start"),
            Event::AgentEnd { messages, .. } => {
                assert_eq!(messages.entries(), std::mem::take(&mut self.told), "agent_end has what was told");
                assert!(!self.in_turn && std::mem::take(&mut self.in_run), "agent_end");
            }
            Event::TurnStart => assert!(self.in_run && !std::mem::replace(&mut self.in_turn, true), "turn_start"),
            Event::TurnEnd { message, tool_results } => {
                assert!(std::mem::take(&mut self.in_turn), "turn_end");
                let ended = std::mem::take(&mut self.ended);
                if !message.is_failed() {
                    let calls: Vec<_> = message.tool_calls().map(|call| &call.id).collect();
                    let results: Vec<_> = tool_results.iter().map(|result| &result.tool_call_id).collect();
                    assert_eq!(results, calls, "turn_end has all results");
                    assert!(self.open_calls || ended.len() == calls.len(), "each call ends: {ended:?}");
                }
            }
            Event::AgentSettled { aborted } => {
                assert!(std::mem::take(&mut self.tracing), "settled twice");
                let expected = std::mem::take(&mut self.aborted);
                assert!(*aborted == expected || self.abort_waits, "aborted: {aborted}");
                self.told.clear();
                assert!(!self.in_run && !self.in_turn && !self.retrying && !self.compacting, "something is left open");
            }
            Event::MessageStart { message } => {
                let open = self.open_message.replace(message.role().to_owned());
                // What a worker began before an abort or a failure cut it off is told whole at once.
                assert!(open.is_none(), "message_start within a message");
            }
            Event::MessageEnd { message, entry_id } => {
                assert_eq!(self.open_message.take().as_deref(), Some(message.role()), "message_end");
                let id = entry_id.as_ref().expect("an entry");
                assert!(entries.iter().any(|entry| entry.id == *id), "told before it is stored: {message:?}");
                self.publishes(id);
                self.told.push(id.clone());
                if matches!(message, AgentMessage::Assistant(_)) {
                    self.ended.clear();
                }
            }
            Event::EntryAppended { entry } => self.publishes(&entry.id),
            Event::ToolExecutionEnd { call, .. } => assert!(self.ended.insert(call.place), "tool_execution_end twice"),
            Event::QueueUpdate { steering, follow_up } => self.shown = (steering.clone(), follow_up.clone()),
            Event::AutoRetryStart { .. } => self.retrying = true,
            Event::AutoRetryEnd { .. } => assert!(std::mem::take(&mut self.retrying), "auto_retry_end"),
            Event::CompactionStart { .. } => assert!(!std::mem::replace(&mut self.compacting, true)),
            Event::CompactionEnd { error_message, .. } => {
                let told = std::mem::take(&mut self.compacting);
                assert!(told || error_message.is_some(), "compaction_end");
            }
            _ => {}
        }
    }

    fn publishes(&mut self, id: &EntryId) {
        assert!(self.published.insert(id.clone()), "{id} is told twice");
        let found = self.messages.iter().position(|sent| id.as_str() == format!("id-{}", sent.text));
        let Some(at) = found else { return };
        let Fate::Waits(kind) = self.messages[at].fate else { panic!("{:?} is delivered", self.messages[at]) };
        let first = kind.and_then(|_| self.messages.iter().position(|sent| sent.fate == Fate::Waits(kind)));
        assert_eq!(first.unwrap_or(at), at, "queues are delivered in order");
        self.messages[at].fate = Fate::Published;
    }

    fn run_tools(&self, entry: &EntryId, places: &[usize], entries: &[Arc<Entry>], read_only: &HashSet<String>) {
        let (message, results) = batches(entries).into_iter().find(|(id, ..)| id == entry).expect("stored").1;
        assert!(!message.is_failed() && message.stop_reason != StopReason::Length, "calls of {message:?} run");
        let calls: Vec<_> = message.tool_calls().collect();
        assert!(!places.is_empty() && places.is_sorted_by(|a, b| a < b), "{places:?}");
        for place in places {
            let key = (entry.clone(), *place);
            assert!(*place >= results.len() && !self.finished.contains_key(&key), "call {place} has a result");
            assert!(!self.begun.contains(&key) || read_only.contains(&calls[*place].name), "call {place} is repeated");
        }
    }

    /// An entry is about to be stored.
    pub fn writes(&mut self, new: &Entry, entries: &[Arc<Entry>]) {
        assert!(entries.iter().all(|entry| entry.id != new.id), "{} is stored twice", new.id);
        match new.body.as_message() {
            Some(AgentMessage::Assistant(_)) => assert!(is_whole(entries), "an answer while calls are open"),
            Some(AgentMessage::ToolResult(result)) => self.writes_result(result, entries),
            _ => {}
        }
    }

    fn writes_result(&self, result: &ToolResultMessage, entries: &[Arc<Entry>]) {
        let (entry, (message, results)) = batches(entries).pop().expect("an answer");
        let call = message.tool_calls().nth(results.len()).expect("one result a call");
        assert_eq!(result.tool_call_id, call.id, "results are in call order");
        let text = text_of(&result.content, "");
        match self.finished.get(&(entry, results.len())) {
            Some(finished) => assert_eq!(text, *finished),
            None => assert!([INTERRUPTED, ABORTED, CUT_OFF].contains(&text.as_str()), "{text}"),
        }
    }

    /// After every input.
    pub fn rest(&mut self, turn: &Turn, entries: &[Arc<Entry>]) {
        let waiting = |kind| {
            let waits = self.messages.iter().filter(|sent| sent.fate == Fate::Waits(Some(kind)));
            waits.map(|sent| sent.text.clone()).collect::<Vec<_>>()
        };
        let waiting = (waiting(QueueKind::Steer), waiting(QueueKind::FollowUp));
        assert_eq!(self.shown, waiting, "what is shown as queued is what waits, in {}", turn.phase());
        assert_eq!(self.tracing, turn.is_running());
        if !turn.is_idle() {
            return;
        }
        self.abort_waits = false;
        let resting = View { steering: waiting.0.clone(), follow_up: waiting.1.clone(), ..View::default() };
        assert_eq!(self.view, resting);
        assert_eq!(turn.queues().texts(), waiting);
        assert!(!self.tracing && self.open_message.is_none() && !self.compacting);
        assert!(self.tickets.is_empty(), "idle without an answer to {:?}", self.tickets);
        for sent in &self.messages {
            assert!(!matches!(sent.fate, Fate::Offered | Fate::Waits(None)), "{sent:?} while idle");
        }
        // A compaction is told by its own event.
        let told = |entry: &Entry| self.published.contains(&entry.id) || entry.body.kind() == "compaction";
        let untold = entries.iter().find(|entry| !told(entry));
        assert!(untold.is_none(), "stored and never told: {untold:?}");
        assert!(self.open_calls || is_whole(entries), "idle with open calls");
    }
}

fn ends_aborted(position: &Position) -> bool {
    matches!(position, Position::Answered { message, .. } if message.stop_reason == StopReason::Aborted)
}

type Calls = (EntryId, (Arc<AssistantMessage>, Vec<Arc<ToolResultMessage>>));

/// Answers that call tools, with their results so far.
fn batches(entries: &[Arc<Entry>]) -> Vec<Calls> {
    let mut out: Vec<Calls> = Vec::new();
    for entry in entries {
        match entry.body.as_message() {
            Some(AgentMessage::Assistant(message)) if !message.is_failed() && message.tool_calls().count() > 0 => {
                out.push((entry.id.clone(), (message.clone(), Vec::new())));
            }
            Some(AgentMessage::ToolResult(result)) => out.last_mut().expect("an answer").1.1.push(result.clone()),
            _ => {}
        }
    }
    out
}

/// Whether every call has exactly one result, in call order.
fn is_whole(entries: &[Arc<Entry>]) -> bool {
    batches(entries).iter().all(|(_, (message, results))| {
        let calls = message.tool_calls().map(|call| &call.id);
        calls.eq(results.iter().map(|result| &result.tool_call_id))
    })
}
