//! What a front end, a program or a parent agent can ask of an agent: one vocabulary for all of them.

use serde::{Deserialize, Serialize};

use super::{
    checkpoint::{CheckpointInfo, Undo, UndoReport},
    entry::{EntryBody, EntryId},
    jobs::{JobList, JobOutput, JobsCommand},
    message::{Block, Content, CustomMessage, ImageBlock},
    model::{ModelRef, ThinkingLevel},
    navigation::{Navigate, Navigated},
    permission::PermissionMode,
    question::{Answer, QuestionId},
    sibling::SiblingReply,
};

/// Which queue a message waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QueueKind {
    /// Delivered at the next turn boundary.
    Steer,
    /// Delivered when the loop would stop.
    FollowUp,
}

/// How much of a queue one delivery takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueMode {
    /// The oldest message only.
    #[default]
    OneAtATime,
    /// All messages.
    All,
}

/// Where an input comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputSource {
    /// A person at a terminal, or the command line.
    #[default]
    Interactive,
    /// The RPC wire.
    Rpc,
    /// An extension.
    Extension,
}

/// A user's words on their way in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Recognises a repeated request: the same operation is carried out once.
    pub op: String,
    /// The text.
    pub text: String,
    /// Pictures.
    #[serde(default)]
    pub images: Vec<ImageBlock>,
    /// Where it comes from.
    #[serde(default)]
    pub source: InputSource,
    /// It is taken as it stands: it names no command, skill or template.
    #[serde(default)]
    pub verbatim: bool,
    /// The id that its message is to have in the session, for whoever must find it there: with such an id the operation
    /// is carried out once over all processes that open the session, not only in this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<EntryId>,
}

impl Input {
    /// Plain text with a fresh operation number.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { op: uuid::Uuid::now_v7().to_string(), text: text.into(), ..Self::default() }
    }

    /// The content of the user message that it becomes.
    #[must_use]
    pub fn content(&self) -> Content {
        let mut blocks = Vec::new();
        if !self.text.is_empty() || self.images.is_empty() {
            blocks.push(Block::text(self.text.clone()));
        }
        blocks.extend(self.images.iter().cloned().map(Block::Image));
        Content::Blocks(blocks)
    }
}

/// When a message of an extension reaches the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeliverAs {
    /// At the next turn boundary of the running trace.
    #[default]
    Steer,
    /// When the loop would stop.
    FollowUp,
    /// Behind the next prompt, idle or not.
    NextTurn,
}

impl DeliverAs {
    /// The queue that it means; none for what waits for the next prompt.
    #[must_use]
    pub fn queue(self) -> Option<QueueKind> {
        match self {
            Self::Steer => Some(QueueKind::Steer),
            Self::FollowUp => Some(QueueKind::FollowUp),
            Self::NextTurn => None,
        }
    }
}

/// A request to an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Start a trace; while one runs, queue it if `behavior` says how, else refuse.
    Prompt {
        /// The words.
        input: Input,
        /// What to do while a trace runs.
        behavior: Option<QueueKind>,
    },
    /// Put a message into a queue, idle or not.
    Queue {
        /// Which queue.
        kind: QueueKind,
        /// The words.
        input: Input,
    },
    /// End the running trace; the reply comes when the agent is idle.
    Abort,
    /// Give up the wait before a retry.
    AbortRetry,
    /// Take all queued messages back.
    ClearQueue,
    /// How the queue is delivered.
    SetQueueMode {
        /// Which queue.
        kind: QueueKind,
        /// How.
        mode: QueueMode,
    },
    /// Retry failed model calls by itself or not.
    SetAutoRetry(bool),
    /// Compact by itself or not.
    SetAutoCompaction(bool),
    /// Another model from the next request on.
    SetModel(ModelRef),
    /// The next model of the scope, or of all available ones.
    CycleModel,
    /// Another thinking level from the next request on; clamped to the model.
    SetThinkingLevel(ThinkingLevel),
    /// The next level that the model supports.
    CycleThinkingLevel,
    /// Name the session.
    SetSessionName(String),
    /// Run a shell command for the user.
    Bash {
        /// The id that its output events carry.
        id: Option<String>,
        /// The command.
        command: String,
        /// Keep it from the model.
        exclude_from_context: bool,
    },
    /// Cancel the user's shell commands.
    AbortBash,
    /// Look at background jobs, or end one.
    Jobs(JobsCommand),
    /// Summarise old history.
    Compact {
        /// What the summary should care about.
        instructions: Option<String>,
    },
    /// Store an entry of an extension or of a front end.
    AppendEntry(Box<EntryBody>),
    /// Take a message of an extension into the conversation.
    SendMessage {
        /// The message.
        message: Box<CustomMessage>,
        /// True: the model is to answer it. False: it is only stored, while a trace runs behind the current turn. None:
        /// the model answers it when a trace runs.
        trigger_turn: Option<bool>,
        /// When it is delivered while a trace runs.
        deliver_as: DeliverAs,
    },
    /// Other active tools from the next request on, in this order; names without a tool are left out.
    SetActiveTools(Vec<String>),
    /// Answer an open question. One that nobody waits for any more is no failure.
    Answer {
        /// Which question.
        id: QuestionId,
        /// The answer.
        answer: Answer,
    },
    /// What becomes of calls that no rule is about, for as long as the program runs.
    SetPermissionMode(PermissionMode),
    /// Only plan and change nothing, or work. The session remembers it.
    SetPlanMode(bool),
    /// Restore files to what they were before changes of this session; refused while a trace runs.
    Undo(Undo),
    /// List what can be undone.
    Checkpoints,
    /// Go on at another entry of the session; refused while a trace or a compaction runs.
    Navigate(Navigate),
    /// Name an entry.
    SetLabel {
        /// The entry.
        target: EntryId,
        /// The name; none, or one of blanks, clears it.
        label: Option<String>,
    },
    /// Reply when no trace runs.
    WaitIdle,
}

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Disposition {
    /// A trace began.
    Started,
    /// It waits in a queue.
    Queued,
    /// An extension took it.
    Handled,
}

/// Result of a user's shell command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BashResult {
    /// The output, possibly cut to its end.
    pub output: String,
    /// The exit code; absent when it had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// It was cancelled.
    pub cancelled: bool,
    /// `output` is not all of it.
    pub truncated: bool,
    /// The file with all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_output_path: Option<String>,
}

/// The answer to a command that worked.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Nothing more to say.
    Done,
    /// What became of an input.
    Input(Disposition),
    /// The messages that were taken back.
    Queue {
        /// Steering texts.
        steering: Vec<String>,
        /// Follow-up texts.
        follow_up: Vec<String>,
    },
    /// The selected model, the level in force with it, and whether it came from a scope; none when there is no other.
    Model(Option<ModelChoice>),
    /// The level in force; none when there is no other.
    Thinking(Option<ThinkingLevel>),
    /// A shell command's result.
    Bash(BashResult),
    /// Background jobs.
    Jobs(JobList),
    /// What a background job printed.
    JobOutput(JobOutput),
    /// A compaction's result.
    Compaction(super::event::CompactionResult),
    /// What an undo did.
    Undone(UndoReport),
    /// What can be undone, the last first.
    Checkpoints(Vec<CheckpointInfo>),
    /// Where the conversation goes on.
    Navigated(Box<Navigated>),
    /// The stored entry's id.
    Entry(super::entry::EntryId),
    /// What a command about siblings gave.
    Sibling(Box<SiblingReply>),
    /// A file that was written.
    Path(std::path::PathBuf),
}

/// A model and the level that goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelChoice {
    /// The model.
    pub model: ModelRef,
    /// The level in force.
    pub level: ThinkingLevel,
    /// It was chosen from a scope.
    pub scoped: bool,
}

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// A trace runs, and the prompt does not say what to do then.
    #[error("Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.")]
    Busy,
    /// There is no model.
    #[error("No model is selected. Choose one with --model, or set a key for a provider.")]
    NoModel,
    /// No such model, or no key for it.
    #[error("Model not found: {0}")]
    ModelNotFound(ModelRef),
    /// The agent went away before it answered; whether the command took effect is not known.
    #[error("the agent restarted before it answered; check its state before repeating the command")]
    Lost,
    /// The agent failed too often and is no longer run.
    #[error("the agent is parked after repeated failures: {0}; its session can be resumed in a new process")]
    Parked(String),
    /// The session cannot be written.
    #[error("{0}")]
    Store(String),
    /// Anything else, in words for people.
    #[error("{0}")]
    Refused(String),
}
