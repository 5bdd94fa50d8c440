//! Lifecycle events: what happens in an agent, in one order.
//!
//! The agent's event bus numbers them. A subscriber that comes late gets a [`crate::protocol::view::View`] and goes
//! on from its sequence number.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    display::Display,
    entry::{Entry, EntryId},
    message::{AgentMessage, AssistantMessage, ToolResultMessage},
    model::{ModelRef, ThinkingLevel},
    question::{Question, QuestionId},
    run_messages::RunMessages,
    session_change::SessionStartReason,
    sibling::{SiblingEnd, SiblingStatus},
    stream::StreamEvent,
    tool::ToolOutput,
    usage::Usage,
};

/// An event's place in the order of its agent. A restart of the bus begins a new epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seq {
    /// Counts incarnations of the agent's bus.
    pub epoch: u32,
    /// Counts events of the epoch, from 1.
    pub n: u64,
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.n)
    }
}

/// An event with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The place.
    pub seq: Seq,
    /// The event.
    pub event: Event,
}

/// Something that happened in an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The agent is open on a session.
    SessionStart {
        /// Why.
        reason: SessionStartReason,
        /// The file of the session whose place it took.
        previous_session_file: Option<String>,
    },
    /// A loop run begins.
    AgentStart,
    /// A turn begins: one model call and its tools.
    TurnStart,
    /// A message begins. An assistant's has no content yet.
    MessageStart {
        /// The message so far.
        message: AgentMessage,
    },
    /// All that one read of the provider's socket brought: one or more steps of the streaming message, in order.
    MessageUpdate {
        /// The steps; never a start or terminal one.
        events: Vec<StreamEvent>,
    },
    /// A message is complete and stored.
    MessageEnd {
        /// The message.
        message: AgentMessage,
        /// Its entry; none when it is not stored yet (a message that a later entry will carry).
        entry_id: Option<EntryId>,
    },
    /// A tool call is being prepared.
    ToolExecutionStart {
        /// Which call.
        call: CallLabel,
    },
    /// What a running tool has so far; replaces earlier updates.
    ToolExecutionUpdate {
        /// Which call.
        call: CallLabel,
        /// All of it so far.
        partial: Arc<ToolOutput>,
    },
    /// A tool call is finished.
    ToolExecutionEnd {
        /// Which call.
        call: CallLabel,
        /// The result.
        result: Arc<ToolOutput>,
        /// Milliseconds that the tool ran; none when it did not run.
        duration_ms: Option<u64>,
    },
    /// A turn is over.
    TurnEnd {
        /// The answer.
        message: Arc<AssistantMessage>,
        /// The results in call order.
        tool_results: Vec<Arc<ToolResultMessage>>,
    },
    /// A loop run is over.
    AgentEnd {
        /// All messages that it added.
        messages: RunMessages,
        /// Another loop run of the same trace follows after a wait.
        will_retry: bool,
    },
    /// The trace is over: the agent is idle.
    AgentSettled {
        /// It was ended by an abort.
        aborted: bool,
    },
    /// What waits to be delivered.
    QueueUpdate {
        /// Texts of steering messages in order.
        steering: Vec<String>,
        /// Texts of follow-ups in order.
        follow_up: Vec<String>,
    },
    /// An entry that is no message was stored.
    EntryAppended {
        /// The entry.
        entry: Arc<Entry>,
    },
    /// The session has another name.
    SessionInfoChanged {
        /// The name; none when cleared.
        name: Option<String>,
    },
    /// The thinking level changed.
    ThinkingLevelChanged {
        /// The level in force from the next request on.
        level: ThinkingLevel,
    },
    /// Another model was selected.
    ModelChanged {
        /// The model in force from the next request on.
        model: ModelRef,
        /// The one before.
        previous: Option<ModelRef>,
        /// How it came to be selected.
        source: SelectSource,
    },
    /// A server answered a request. Only inside the process.
    ProviderResponse {
        /// The HTTP status.
        status: u16,
        /// The headers, names in lower case; cookies are left out.
        headers: Vec<(String, String)>,
    },
    /// An event of a provider's answer, as it came. Only inside the process, and only when an extension wants it.
    ProviderStreamEvent {
        /// The model.
        model: ModelRef,
        /// The wire API.
        api: String,
        /// What came.
        data: String,
    },
    /// A compaction begins.
    CompactionStart {
        /// Why.
        reason: CompactionReason,
    },
    /// A compaction is over.
    CompactionEnd {
        /// Why it was made.
        reason: CompactionReason,
        /// What it made.
        result: Option<CompactionResult>,
        /// It was cancelled.
        aborted: bool,
        /// The run goes on afterwards.
        will_retry: bool,
        /// Why it failed.
        error_message: Option<String>,
    },
    /// A compaction is stored. Told before [`Event::CompactionEnd`].
    SessionCompact {
        /// Its entry.
        entry: Arc<Entry>,
        /// An extension wrote it.
        from_extension: bool,
        /// Why it was made.
        reason: CompactionReason,
        /// The run goes on afterwards.
        will_retry: bool,
    },
    /// A compaction came to nothing. Told behind [`Event::CompactionEnd`].
    SessionCompactFailed {
        /// Why it was to be made.
        reason: CompactionReason,
        /// Why it failed; none when it was cancelled.
        error_message: Option<String>,
        /// It was cancelled.
        aborted: bool,
    },
    /// The conversation goes on at another entry.
    SessionTree {
        /// The entry that the next one hangs on.
        new_leaf: Option<EntryId>,
        /// The last entry of the branch that was left.
        old_leaf: Option<EntryId>,
        /// The summary of what was left behind.
        summary: Option<Arc<Entry>>,
        /// An extension wrote the summary; none when there is no summary.
        from_extension: Option<bool>,
    },
    /// The last model call failed and will be tried again.
    AutoRetryStart {
        /// Counted from 1.
        attempt: u32,
        /// Attempts at most.
        max_attempts: u32,
        /// The wait before it, in milliseconds.
        delay_ms: u64,
        /// Why.
        error_message: String,
    },
    /// The retries are over.
    AutoRetryEnd {
        /// Whether a retry worked.
        success: bool,
        /// The last attempt.
        attempt: u32,
        /// The last error.
        final_error: Option<String>,
    },
    /// A call for a summary failed and will be tried again.
    SummarizationRetryScheduled {
        /// Counted from 1.
        attempt: u32,
        /// Attempts at most.
        max_attempts: u32,
        /// The wait before it, in milliseconds.
        delay_ms: u64,
        /// Why.
        error_message: String,
    },
    /// The wait is over: the call for a summary is tried again.
    SummarizationRetryAttemptStart {
        /// What is summarised.
        source: SummarySource,
    },
    /// The calls for a summary are over, with or without one.
    SummarizationRetryFinished,
    /// Output of a shell command that the user runs.
    BashExecutionUpdate {
        /// The id of the request that runs it.
        id: Option<String>,
        /// What is added.
        delta: String,
    },
    /// An extension failed.
    ExtensionError {
        /// Which.
        extension: String,
        /// At what.
        event: String,
        /// How.
        error: String,
    },
    /// A part of the agent waits for a person's answer.
    QuestionAsked {
        /// The question.
        question: Arc<Question>,
    },
    /// It waits no more: there is an answer, the time is over, or nobody needs it any more.
    QuestionClosed {
        /// Which question.
        id: QuestionId,
    },
    /// An extension shows something to people, or takes it away again.
    Display {
        /// Which.
        extension: String,
        /// What.
        display: Display,
    },
    /// Plan mode was turned on or off.
    PlanModeChanged {
        /// Whether it is on.
        enabled: bool,
    },
    /// The disk began to refuse the session, or takes it again.
    SavingChanged {
        /// Entries that are in memory only.
        unsaved: usize,
        /// What the disk says; none when everything is saved.
        reason: Option<String>,
    },
    /// A subscriber that lags missed updates in this range; nothing else is ever left out.
    Gap {
        /// The first that is missing.
        from: Seq,
        /// The last that is missing.
        to: Seq,
    },
    /// Something that people should know.
    Notice {
        /// How bad it is.
        level: NoticeLevel,
        /// What, and what to do.
        text: String,
    },
    /// An agent below this one was spawned, or goes on after a restart.
    SiblingStart {
        /// As it is now.
        sibling: Arc<SiblingStatus>,
    },
    /// An agent below this one does something else, or went on; told a few times a second at most.
    SiblingUpdate {
        /// As it is now.
        sibling: Arc<SiblingStatus>,
    },
    /// A task of an agent below this one has ended.
    SiblingEnd {
        /// How.
        end: Arc<SiblingEnd>,
        /// The agent, as it is now.
        sibling: Arc<SiblingStatus>,
    },
    /// A part of the agent died and was started again.
    Restarted {
        /// The part.
        actor: String,
        /// Why it died.
        cause: String,
    },
    /// The agent failed too often and is no longer restarted. Its session can be read and resumed.
    Parked {
        /// Why.
        cause: String,
    },
}

/// Which call of the running batch an event is about. Identity is the place; the id is only a label.
#[derive(Clone, Debug, PartialEq)]
pub struct CallLabel {
    /// Place in the batch.
    pub place: usize,
    /// The model's id of the call.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// The arguments as the model sent them.
    pub args: Arc<Map<String, Value>>,
}

/// How a model came to be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SelectSource {
    /// Somebody named it.
    Set,
    /// It was the next one.
    Cycle,
    /// The conversation went to where it was selected.
    Restore,
}

/// Why a compaction is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CompactionReason {
    /// Somebody asked.
    Manual,
    /// The context is near the window.
    Threshold,
    /// The context was over the window.
    Overflow,
}

/// What a summary is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummarySource {
    /// Old history.
    Compaction(CompactionReason),
    /// A branch that is left.
    BranchSummary,
}

/// What a compaction made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionResult {
    /// The summary.
    pub summary: String,
    /// The first entry that stays.
    pub first_kept_entry_id: EntryId,
    /// Tokens before.
    pub tokens_before: u64,
    /// Tokens after, estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_tokens_after: Option<u64>,
    /// Tokens that it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Files read and modified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// How bad a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeLevel {
    /// For information.
    Info,
    /// Something is not as it should be.
    Warning,
    /// Something failed.
    Error,
}

impl Event {
    /// True for events that a lagging subscriber can do without: later ones repeat or imply what they say.
    #[must_use]
    pub fn is_update(&self) -> bool {
        matches!(
            self,
            Self::MessageUpdate { .. }
                | Self::ToolExecutionUpdate { .. }
                | Self::BashExecutionUpdate { .. }
                | Self::ProviderStreamEvent { .. }
                | Self::SiblingUpdate { .. }
        )
    }

    /// Bytes that the event holds, roughly: what a queue of events weighs.
    #[must_use]
    pub fn weight(&self) -> usize {
        const FIXED: usize = 128;
        FIXED
            + match self {
                Self::MessageUpdate { events } => events
                    .iter()
                    .map(|event| match event {
                        StreamEvent::TextDelta { delta, .. }
                        | StreamEvent::ThinkingDelta { delta, .. }
                        | StreamEvent::ToolCallDelta { delta, .. } => 64 + delta.len(),
                        _ => 64,
                    })
                    .sum(),
                Self::BashExecutionUpdate { delta, .. } => delta.len(),
                Self::ProviderStreamEvent { data, .. } => data.len(),
                Self::SiblingStart { .. } | Self::SiblingUpdate { .. } => 512,
                Self::SiblingEnd { end, .. } => 512 + end.text.len(),
                _ => 0,
            }
    }
}
