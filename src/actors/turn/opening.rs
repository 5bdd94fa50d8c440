//! The beginning of a trace and of its turns: what is delivered, and in which order it is told.

use std::{mem, sync::Arc};

use super::{After, Leaving, OpenCalls, Then, Turn};
use crate::{
    actors::{batch, queues::Pending, resume::Position, rounds, turn_io::NewEntry},
    protocol::{
        AgentMessage, Block, Content, Entry, EntryBody, Event, ImageBlock, Reply, StopReason,
        ask::{Ask, BeforeAgentStartAsk},
        command::{Disposition, QueueKind},
        message::CustomMessage,
        time::parse_iso,
    },
};

impl Turn {
    /// Goes on with a trace that a crash cut off.
    pub(super) fn go_on(&mut self, position: Position) {
        match position {
            Position::Calls { batch, message, results } => {
                self.recover_open(OpenCalls { batch, message, results });
            }
            _ if self.trace().prompt.is_some() => self.begin_trace(),
            // Queues were looked at when what the answer is owed to was delivered: what waits now is for later.
            Position::NeedsAnswer => {
                self.announce_run();
                self.call_model();
            }
            Position::Retry => self.start_run(None),
            Position::Answered { entry, message, failure } => {
                self.announce_run();
                let trace = self.trace();
                // The user's wish outlives the process that was about to carry it out.
                trace.aborted = message.stop_reason == StopReason::Aborted;
                trace.answer = Some((entry, message));
                trace.failure = failure;
                self.turn_over();
            }
            Position::Nothing => self.flush_held(),
        }
    }

    /// Gives the calls that a crash left open their results.
    pub(super) fn recover_open(&mut self, open: OpenCalls) {
        let trace = self.trace();
        let refusal = batch::refusal(&open.message);
        trace.answer = Some((open.batch.entry.clone(), open.message));
        trace.results = open.results;
        self.announce_run();
        match refusal {
            Some(text) => self.refuse(open.batch, text),
            None => self.recover(open.batch),
        }
    }

    /// The beginning of a trace: makes room first when there is none.
    pub(super) fn begin_trace(&mut self) {
        match self.should_compact() {
            true => self.compact_first(After::Begin),
            false => self.ask_before_start(),
        }
    }

    pub(super) fn ask_before_start(&mut self) {
        if self.is_aborted() {
            return self.open_trace(Vec::new());
        }
        let Some((pending, _)) = &self.trace().prompt else { return self.call_model() };
        let ask = BeforeAgentStartAsk {
            prompt: pending.text.clone(),
            images: images_of(&pending.message),
            system_prompt: String::new(),
        };
        self.ask(Ask::BeforeAgentStart(ask));
    }

    /// Stores the prompt, what was held before it, what waits to steer, and what extensions put behind it.
    pub(super) fn open_trace(&mut self, extra: Vec<AgentMessage>) {
        let Some((prompt, _)) = &self.trace().prompt else { return self.call_model() };
        let prompt = new_entry(prompt);
        let mut entries = self.take_held();
        entries.push(prompt);
        entries.extend(mem::take(&mut self.behind_prompt).into_iter().map(NewEntry::from));
        entries.extend(extra.into_iter().map(|message| NewEntry::from(body_of(message))));
        // What is queued survives an abort.
        let steering = if self.is_aborted() { Vec::new() } else { self.queues.poll(QueueKind::Steer) };
        self.store_delivery(entries, (steering, QueueKind::Steer), Then::Open);
    }

    /// The prompt is stored: the trace has begun.
    pub(super) fn opened(&mut self, entries: &[Arc<Entry>]) {
        let Some((_, ticket)) = self.trace().prompt.take() else { return self.call_model() };
        if let Some(ticket) = ticket {
            self.reply(ticket, Ok(Reply::Input(Disposition::Started)));
        }
        self.announce_run();
        self.publish_delivered(entries);
        self.call_model();
    }

    /// Entries that waited for the end of a trace. They wait until they are stored: the disk may refuse.
    pub(super) fn take_held(&mut self) -> Vec<NewEntry> {
        self.storing_held = self.held.len();
        self.held.clone()
    }

    /// Announces the loop run, once.
    pub(super) fn announce_run(&mut self) {
        let trace = self.trace();
        if !mem::replace(&mut trace.in_run, true) {
            trace.turn = 0;
            self.publish(Event::AgentStart);
            self.publish_turn_start();
        }
    }

    /// A further loop run of the trace; it begins with these messages, or with steering that waits.
    pub(super) fn start_run(&mut self, leaving: Option<Leaving>) {
        self.announce_run();
        let leaving = leaving.unwrap_or_else(|| (self.queues.poll(QueueKind::Steer), QueueKind::Steer));
        self.store_delivery(Vec::new(), leaving, Then::Deliver);
    }

    /// Another turn of the loop run, after extensions were asked about it.
    pub(super) fn begin_turn(&mut self, extra: Vec<AgentMessage>) {
        let (mut pending, kind) = self.trace().next.take().unwrap_or((Vec::new(), QueueKind::Steer));
        if self.is_aborted() {
            self.queues.put_back(kind, pending);
            self.publish_turn_start();
            return self.answer_aborted();
        }
        let mut kind = kind;
        if pending.is_empty() {
            kind = QueueKind::Steer;
            pending = self.queues.poll(kind);
        }
        self.publish_turn_start();
        let mut entries: Vec<_> = extra.into_iter().map(|message| NewEntry::from(body_of(message))).collect();
        if mem::take(&mut self.trace().tell_of_rounds) {
            entries.push(notice_of_rounds().into());
        }
        self.store_delivery(entries, (pending, kind), Then::Deliver);
    }

    fn store_delivery(&mut self, mut entries: Vec<NewEntry>, leaving: Leaving, then: Then) {
        entries.extend(leaving.0.iter().map(new_entry));
        self.trace().leaving = Some(leaving);
        self.store(entries, true, then);
    }

    /// Publishes what was delivered; a message's departure from its queue right before the message itself.
    pub(super) fn publish_delivered(&mut self, entries: &[Arc<Entry>]) {
        let Some((pending, kind)) = self.trace().leaving.take() else { return self.publish_entries(entries) };
        if !pending.is_empty() {
            self.trace().overflow_tried = false;
        }
        // A system message may have been put before everything, so count from the end.
        let (ahead, from_queue) = entries.split_at(entries.len().saturating_sub(pending.len()));
        self.publish_entries(ahead);
        for (place, entry) in from_queue.iter().enumerate() {
            let update = self.queue_update(&pending[place + 1..], kind);
            self.publish(update);
            self.publish_entries(std::slice::from_ref(entry));
        }
    }
}

fn notice_of_rounds() -> EntryBody {
    EntryBody::CustomMessage {
        custom_type: "loop".to_owned(),
        content: Content::Text(rounds::notice()),
        display: true,
        details: None,
    }
}

fn new_entry(pending: &Pending) -> NewEntry {
    NewEntry { body: body_of(pending.message.clone()), reserved: Some(pending.entry_id.clone()) }
}

/// The entry that a message becomes. Custom messages have a kind of their own.
pub(super) fn body_of(message: AgentMessage) -> EntryBody {
    match message {
        AgentMessage::Custom(custom) => EntryBody::CustomMessage {
            custom_type: custom.custom_type.clone(),
            content: custom.content.clone(),
            display: custom.display,
            details: custom.details.clone(),
        },
        message => EntryBody::Message { message },
    }
}

/// What is told of an entry that was stored; nothing where a change has an event of its own.
#[must_use]
pub fn events_of(entry: &Arc<Entry>) -> Vec<Event> {
    match message_of(entry) {
        Some(message) => {
            let end = Event::MessageEnd { message: message.clone(), entry_id: Some(entry.id.clone()) };
            vec![Event::MessageStart { message }, end]
        }
        None if entry.body.has_own_event() => Vec::new(),
        None => vec![Event::EntryAppended { entry: entry.clone() }],
    }
}

/// The message that an entry holds.
#[must_use]
pub fn message_of(entry: &Entry) -> Option<AgentMessage> {
    match &entry.body {
        EntryBody::Message { message } => Some(message.clone()),
        EntryBody::CustomMessage { custom_type, content, display, details } => {
            Some(AgentMessage::Custom(Arc::new(CustomMessage {
                custom_type: custom_type.clone(),
                content: content.clone(),
                display: *display,
                details: details.clone(),
                timestamp: parse_iso(&entry.timestamp).unwrap_or_default(),
            })))
        }
        _ => None,
    }
}

fn images_of(message: &AgentMessage) -> Vec<ImageBlock> {
    let AgentMessage::User(user) = message else { return Vec::new() };
    let Content::Blocks(blocks) = &user.content else { return Vec::new() };
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::Image(image) => Some(image.clone()),
            _ => None,
        })
        .collect()
}
