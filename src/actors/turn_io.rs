//! What goes into the turn machine and what comes out of it: plain data.

use std::sync::Arc;

use super::{batch::Finished, queues::Pending, restart::Exit};
use crate::protocol::{
    AssistantMessage, CommandError, Entry, EntryBody, EntryId, Event, Failure, ModelRef, Reply, ThinkingLevel,
    ToolCall,
    ask::{Ask, Verdict},
    command::{DeliverAs, QueueKind, QueueMode},
    event::CompactionReason,
};

/// Numbers a piece of work that the machine waits for. What arrives under an older number is ignored: work of an
/// aborted or restarted step cannot do harm.
pub type Work = u64;

/// Stands for the duty to answer a command.
pub type Ticket = u64;

/// An entry that is to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEntry {
    /// What it says.
    pub body: EntryBody,
    /// The id that was reserved for it.
    pub reserved: Option<EntryId>,
}

impl From<EntryBody> for NewEntry {
    fn from(body: EntryBody) -> Self {
        Self { body, reserved: None }
    }
}

/// A compaction that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    /// The entry.
    pub body: EntryBody,
    /// Estimated tokens of the context behind it.
    pub estimated_tokens_after: u64,
}

/// Something that happened.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a handful a turn, and few of them wait at a time")]
pub enum Input {
    /// A prompt, accepted by the input guards.
    Prompt {
        /// The message.
        pending: Pending,
        /// What to do while a trace runs.
        behavior: Option<QueueKind>,
        /// Who wants to know.
        ticket: Ticket,
    },
    /// A message for a queue.
    Queue {
        /// Which queue.
        kind: QueueKind,
        /// The message.
        pending: Pending,
        /// Who wants to know.
        ticket: Ticket,
    },
    /// A message of an extension; see [`Command::SendMessage`](crate::protocol::Command::SendMessage).
    Message {
        /// The message.
        pending: Pending,
        /// Whether the model is to answer it.
        trigger_turn: Option<bool>,
        /// When it is delivered.
        deliver_as: DeliverAs,
        /// Who wants to know.
        ticket: Ticket,
    },
    /// Take all queued messages back.
    ClearQueue(Ticket),
    /// How a queue is delivered.
    SetQueueMode(QueueKind, QueueMode),
    /// End the trace.
    Abort(Ticket),
    /// Give up the wait before a retry.
    AbortRetry(Ticket),
    /// Answer when idle.
    WaitIdle(Ticket),
    /// Summarise old history.
    Compact {
        /// What the summary should care about.
        instructions: Option<String>,
        /// Who wants to know.
        ticket: Ticket,
    },
    /// Store entries: at once when idle, else when the trace is over.
    Append {
        /// The entries; at least one.
        entries: Vec<NewEntry>,
        /// Who wants to know.
        ticket: Ticket,
    },
    /// The entries of [`Effect::Store`] are on disk, in order; a system message may stand before them.
    Stored {
        /// Whose.
        work: Work,
        /// The entries, or why the disk refused.
        result: Result<Vec<Arc<Entry>>, String>,
    },
    /// The extensions answered; none = nobody wanted to.
    Asked {
        /// Whose.
        work: Work,
        /// What they said.
        verdict: Option<Verdict>,
    },
    /// The request is ready to be sent, or cannot be made.
    Prepared {
        /// Whose.
        work: Work,
        /// What must be stored before it is sent, or why it cannot be made.
        result: Result<Vec<EntryBody>, Failure>,
    },
    /// The model call is over.
    Answered {
        /// Whose.
        work: Work,
        /// The message, also of a failed call.
        message: Arc<AssistantMessage>,
        /// Why it failed.
        failure: Option<Failure>,
        /// Its start has been published.
        started: bool,
        /// It failed, and another model is free to answer the same request at once.
        fallback: bool,
        /// It did not fail, and its numbers say all the same that the conversation is larger than the window.
        overflow: bool,
        /// It was cut off before the model's own limit: more room may help.
        short: bool,
    },
    /// Calls begin: from here on they may have effects.
    CallsStarted {
        /// Whose.
        work: Work,
        /// Which.
        places: Vec<usize>,
    },
    /// A call has a result, and its end has been published.
    CallFinished {
        /// Whose.
        work: Work,
        /// Which.
        place: usize,
        /// The result.
        finished: Finished,
    },
    /// The batch has nothing left to do.
    BatchDone {
        /// Whose.
        work: Work,
    },
    /// A wait is over.
    TimeUp {
        /// Whose.
        work: Work,
    },
    /// The compactor answered.
    Compacted {
        /// Whose.
        work: Work,
        /// What to store, or why there is nothing.
        result: Result<Box<Compacted>, String>,
    },
    /// The worker died before it answered.
    Gone {
        /// Whose.
        work: Work,
        /// Which kind of worker.
        actor: &'static str,
        /// How.
        exit: Exit,
    },
}

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Tell the world.
    Publish(Event),
    /// Answer a command.
    Reply(Ticket, Result<Reply, CommandError>),
    /// Note something in the run state beside the session.
    Journal(Note),
    /// Store entries, in order, in one piece.
    Store {
        /// For the answer.
        work: Work,
        /// The entries; may be empty.
        entries: Vec<NewEntry>,
        /// Put a system message before them when prompt or tools changed.
        declare: bool,
    },
    /// Ask the extensions.
    Ask {
        /// For the answer.
        work: Work,
        /// The question.
        ask: Ask,
    },
    /// Another model or level from here on.
    Select {
        /// The model.
        model: Option<ModelRef>,
        /// The level.
        thinking_level: Option<ThinkingLevel>,
    },
    /// Make the request.
    Prepare {
        /// For the answer.
        work: Work,
        /// Replaces the whole system prompt.
        system_prompt: Option<String>,
    },
    /// Send it.
    Call {
        /// For the answer.
        work: Work,
    },
    /// Run calls of a message.
    RunTools {
        /// For the answers.
        work: Work,
        /// The message's entry.
        entry: EntryId,
        /// All calls of the message.
        calls: Arc<[ToolCall]>,
        /// Those that are to be run.
        places: Vec<usize>,
    },
    /// Summarise.
    Compact {
        /// For the answer.
        work: Work,
        /// Why.
        reason: CompactionReason,
        /// What the summary should care about.
        instructions: Option<String>,
        /// The failed attempt is made again afterwards.
        will_retry: bool,
    },
    /// Wait.
    Wait {
        /// For the answer.
        work: Work,
        /// Milliseconds.
        ms: u64,
    },
    /// Ask the current worker to end with what it has; kill it when it does not.
    Cancel,
    /// The trace is over: make the session durable.
    Settle,
}

/// A note for the run state.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A message was accepted.
    Accepted {
        /// Its queue; none for a prompt that starts a trace.
        kind: Option<QueueKind>,
        /// The message.
        pending: Pending,
    },
    /// Entries were accepted that wait for the end of the trace.
    Held(Vec<NewEntry>),
    /// Messages were taken back.
    Cleared(Vec<String>),
    /// A trace began.
    Started,
    /// It is over.
    Settled,
}
