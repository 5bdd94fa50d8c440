//! What the machine knows while it works: its phases, what follows what is being stored, and the trace.

use std::sync::Arc;

use crate::{
    actors::{batch::Batch, queues::Pending, rounds::Rounds, turn_io::Ticket},
    protocol::{
        AssistantMessage, EntryId, Failure, ToolResultMessage,
        ask::{AskPoint, TurnDecision},
        command::QueueKind,
        event::CompactionReason,
    },
};

/// What the machine waits for.
#[derive(Debug)]
pub(super) enum Phase {
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
pub(super) enum Then {
    /// The prompt: the trace begins.
    Open,
    /// Messages of a later turn.
    Deliver,
    /// What explains where the request goes.
    Route,
    /// The answer.
    Answer { started: bool, failure: Option<Failure> },
    /// Results of the batch.
    Results,
    /// What extensions add at the end of a turn.
    TurnEntries(TurnDecision),
    /// What they said during the turn.
    AfterTurn(TurnDecision),
    /// The failed attempt is left out of the context; then wait so many milliseconds and retry, or compact.
    Omit(Option<u64>),
    /// A compaction, and how long the context is behind it.
    Compaction(CompactionReason, Option<Ticket>, u64),
    /// What extensions add before settling; then go on or not.
    SettleEntries(bool),
    /// What was held while the trace ran.
    Held,
    /// An entry while idle.
    Append(Ticket),
}

/// Messages that leave a queue.
pub(super) type Leaving = (Vec<Pending>, QueueKind);

/// What is true from a prompt to the settling.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub aborted: bool,
    /// The abort cut off a question to extensions: whoever hangs is not asked about the end of the trace again.
    pub mute: bool,
    pub abort_waiters: Vec<Ticket>,
    /// The prompt, until it is stored.
    pub prompt: Option<(Pending, Option<Ticket>)>,
    /// Replaces the system prompt.
    pub system_prompt: Option<String>,
    /// The loop run has been announced.
    pub in_run: bool,
    /// The turn has been announced.
    pub in_turn: bool,
    /// Counted from 0 in the loop run.
    pub turn: u32,
    /// The entries of the messages that the loop run added.
    pub messages: Vec<EntryId>,
    /// What the next turn begins with, while extensions are asked about it.
    pub next: Option<Leaving>,
    /// What is being stored and leaves its queue by that.
    pub leaving: Option<Leaving>,
    pub answer: Option<(EntryId, Arc<AssistantMessage>)>,
    pub failure: Option<Failure>,
    /// Another model is free to answer what failed.
    pub fallback: bool,
    pub batch: Option<Batch>,
    pub results: Vec<(EntryId, Arc<ToolResultMessage>)>,
    /// Whether the rounds bring anything new.
    pub rounds: Rounds,
    /// The model is to be told that they do not.
    pub tell_of_rounds: bool,
    /// The retry that is under way, from 1.
    pub attempt: u32,
    /// An overflow was recovered from, and neither a success nor a message of the user came since.
    pub overflow_tried: bool,
    /// The last answer is good, and says that the conversation is larger than the window.
    pub overflow: bool,
    /// The last answer was cut off for want of room.
    pub short: bool,
    /// What follows the compaction that runs.
    pub after_compaction: After,
    /// A compaction by itself came to nothing: it is not tried again before the next prompt.
    pub compaction_failed: bool,
    pub respawns: u32,
}

/// What follows a compaction within a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum After {
    /// The end of the trace, unless something waits.
    #[default]
    Settle,
    /// The prompt, which is not stored yet.
    Begin,
    /// The next turn of the loop run.
    NextTurn,
    /// The failed attempt, which is left out of the context, is made again; when the compaction fails, it is not.
    Retry,
}

/// Calls without results at the end of the branch.
#[derive(Debug)]
pub(super) struct OpenCalls {
    pub batch: Batch,
    pub message: Arc<AssistantMessage>,
    pub results: Vec<(EntryId, Arc<ToolResultMessage>)>,
}
