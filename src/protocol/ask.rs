//! Interception: questions that the runtime puts to extensions before it acts, and the answers they may give.
//!
//! One question type and one verdict type a point, so that an answer that makes no sense there does not compile. The
//! policy for no answer (error, panic, death, time-out, nonsense) belongs to the point: a *guard* denies, an
//! *enricher* is skipped visibly.

mod boundary;

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::boundary::{
    BeforeAgentStartAsk, BeforeAgentStartVerdict, BeforeSettleAsk, BeforeSettleVerdict, BeforeTurnAsk,
    BeforeTurnVerdict, TurnDecision, TurnEndAsk, TurnEndVerdict,
};
use super::{
    command::{BashResult, InputSource, QueueKind},
    compaction::{BeforeCompactAsk, BeforeCompactVerdict},
    message::{AgentMessage, Block, ImageBlock},
    navigation::{BeforeTreeAsk, BeforeTreeVerdict},
    route::{RouteAsk, RouteVerdict},
    session_change::{BeforeForkAsk, BeforeSwitchAsk, ReplaceVerdict, SessionShutdownAsk},
    tool::ToolOutput,
    usage::Usage,
};

pub use super::request_ask::{
    BeforeRequestAsk, BeforeRequestVerdict, ContextAsk, ContextVerdict, PayloadAsk, PayloadVerdict,
};

/// A point at which an extension may intervene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskPoint {
    /// Before a user's input is taken.
    Input,
    /// Before a user's shell command runs.
    UserBash,
    /// Before a trace begins.
    BeforeAgentStart,
    /// Before each turn but the first of a loop run.
    BeforeTurn,
    /// Before the conversation is turned into a request.
    Context,
    /// Before each request of a virtual model: which physical one answers it.
    Route,
    /// Before each model call.
    BeforeRequest,
    /// Before the body of a request goes out, as the provider gets it.
    Payload,
    /// When a message is complete, before it is stored.
    MessageEnd,
    /// Before a tool runs.
    ToolCall,
    /// After a tool ran.
    ToolResult,
    /// When a turn is over, before its end is published.
    TurnEnd,
    /// When nothing is left to do, before the agent settles.
    BeforeSettle,
    /// Before another session takes the place of this one.
    BeforeSwitch,
    /// Before a session that is taken from this one takes its place.
    BeforeFork,
    /// Before the session ends.
    SessionShutdown,
    /// Before old history is summarised. No guard: a compaction that is made all the same loses nothing, and one that a
    /// dead extension prevents would leave a session without room.
    BeforeCompact,
    /// Before the conversation goes on at another entry. No guard: the branch that is left stays in the session.
    BeforeTree,
}

impl AskPoint {
    /// The point's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::UserBash => "user_bash",
            Self::BeforeAgentStart => "before_agent_start",
            Self::BeforeTurn => "before_turn",
            Self::Context => "context",
            Self::Route => "model_route",
            Self::BeforeRequest => "before_request",
            Self::Payload => "before_provider_request",
            Self::MessageEnd => "message_end",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::TurnEnd => "turn_end",
            Self::BeforeSettle => "agent_before_settle",
            Self::BeforeSwitch => "session_before_switch",
            Self::BeforeFork => "session_before_fork",
            Self::SessionShutdown => "session_shutdown",
            Self::BeforeCompact => "session_before_compact",
            Self::BeforeTree => "session_before_tree",
        }
    }

    /// True where no answer means no.
    #[must_use]
    pub fn is_guard(self) -> bool {
        matches!(self, Self::Input | Self::UserBash | Self::ToolCall)
    }

    /// How long an extension may take from the start of handling, unless it says otherwise.
    #[must_use]
    pub fn deadline(self) -> Duration {
        Duration::from_millis(match self {
            Self::Input | Self::Context => 2_000,
            Self::BeforeRequest | Self::Payload | Self::MessageEnd | Self::SessionShutdown => 1_000,
            Self::Route => 10_000,
            // They may have a model write a summary. Whoever waits can abort.
            Self::BeforeCompact | Self::BeforeTree => 120_000,
            _ => 5_000,
        })
    }
}

/// A question to an extension.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// See [`AskPoint::Input`].
    Input(InputAsk),
    /// See [`AskPoint::UserBash`].
    UserBash(UserBashAsk),
    /// See [`AskPoint::BeforeAgentStart`].
    BeforeAgentStart(BeforeAgentStartAsk),
    /// See [`AskPoint::BeforeTurn`].
    BeforeTurn(BeforeTurnAsk),
    /// See [`AskPoint::Context`].
    Context(ContextAsk),
    /// See [`AskPoint::Route`].
    Route(Box<RouteAsk>),
    /// See [`AskPoint::BeforeRequest`].
    BeforeRequest(BeforeRequestAsk),
    /// See [`AskPoint::Payload`].
    Payload(PayloadAsk),
    /// See [`AskPoint::MessageEnd`].
    MessageEnd(MessageEndAsk),
    /// See [`AskPoint::ToolCall`].
    ToolCall(ToolCallAsk),
    /// See [`AskPoint::ToolResult`].
    ToolResult(Box<ToolResultAsk>),
    /// See [`AskPoint::TurnEnd`].
    TurnEnd(TurnEndAsk),
    /// See [`AskPoint::BeforeSettle`].
    BeforeSettle(BeforeSettleAsk),
    /// See [`AskPoint::BeforeSwitch`].
    BeforeSwitch(BeforeSwitchAsk),
    /// See [`AskPoint::BeforeFork`].
    BeforeFork(BeforeForkAsk),
    /// See [`AskPoint::SessionShutdown`].
    SessionShutdown(SessionShutdownAsk),
    /// See [`AskPoint::BeforeCompact`].
    BeforeCompact(Box<BeforeCompactAsk>),
    /// See [`AskPoint::BeforeTree`].
    BeforeTree(Box<BeforeTreeAsk>),
}

impl Ask {
    /// The point that it belongs to.
    #[must_use]
    pub fn point(&self) -> AskPoint {
        match self {
            Self::Input(_) => AskPoint::Input,
            Self::UserBash(_) => AskPoint::UserBash,
            Self::BeforeAgentStart(_) => AskPoint::BeforeAgentStart,
            Self::BeforeTurn(_) => AskPoint::BeforeTurn,
            Self::Context(_) => AskPoint::Context,
            Self::Route(_) => AskPoint::Route,
            Self::BeforeRequest(_) => AskPoint::BeforeRequest,
            Self::Payload(_) => AskPoint::Payload,
            Self::MessageEnd(_) => AskPoint::MessageEnd,
            Self::ToolCall(_) => AskPoint::ToolCall,
            Self::ToolResult(_) => AskPoint::ToolResult,
            Self::TurnEnd(_) => AskPoint::TurnEnd,
            Self::BeforeSettle(_) => AskPoint::BeforeSettle,
            Self::BeforeSwitch(_) => AskPoint::BeforeSwitch,
            Self::BeforeFork(_) => AskPoint::BeforeFork,
            Self::SessionShutdown(_) => AskPoint::SessionShutdown,
            Self::BeforeCompact(_) => AskPoint::BeforeCompact,
            Self::BeforeTree(_) => AskPoint::BeforeTree,
        }
    }
}

/// An extension's answer; must be of the question's kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// To [`Ask::Input`].
    Input(InputVerdict),
    /// To [`Ask::UserBash`].
    UserBash(UserBashVerdict),
    /// To [`Ask::BeforeAgentStart`].
    BeforeAgentStart(BeforeAgentStartVerdict),
    /// To [`Ask::BeforeTurn`].
    BeforeTurn(BeforeTurnVerdict),
    /// To [`Ask::Context`].
    Context(ContextVerdict),
    /// To [`Ask::Route`].
    Route(RouteVerdict),
    /// To [`Ask::BeforeRequest`].
    BeforeRequest(BeforeRequestVerdict),
    /// To [`Ask::Payload`].
    Payload(PayloadVerdict),
    /// To [`Ask::MessageEnd`].
    MessageEnd(MessageEndVerdict),
    /// To [`Ask::ToolCall`].
    ToolCall(ToolCallVerdict),
    /// To [`Ask::ToolResult`].
    ToolResult(ToolResultVerdict),
    /// To [`Ask::TurnEnd`].
    TurnEnd(TurnEndVerdict),
    /// To [`Ask::BeforeSettle`].
    BeforeSettle(BeforeSettleVerdict),
    /// To [`Ask::BeforeSwitch`].
    BeforeSwitch(ReplaceVerdict),
    /// To [`Ask::BeforeFork`].
    BeforeFork(ReplaceVerdict),
    /// To [`Ask::SessionShutdown`].
    SessionShutdown,
    /// To [`Ask::BeforeCompact`].
    BeforeCompact(BeforeCompactVerdict),
    /// To [`Ask::BeforeTree`].
    BeforeTree(BeforeTreeVerdict),
}

/// A user's input is about to be taken.
#[derive(Clone, Debug, PartialEq)]
pub struct InputAsk {
    /// The text.
    pub text: String,
    /// Pictures.
    pub images: Vec<ImageBlock>,
    /// Where it comes from.
    pub source: InputSource,
    /// How it would be queued.
    pub behavior: Option<QueueKind>,
}

/// What to do with an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum InputVerdict {
    /// Take it as it is.
    #[default]
    Continue,
    /// Take this instead; later extensions see the change.
    Transform {
        /// The new text.
        text: String,
        /// The new pictures; none keeps them.
        images: Option<Vec<ImageBlock>>,
    },
    /// The extension has dealt with it: nothing is sent.
    Handled,
    /// Refuse it.
    Deny {
        /// Why, for the user.
        reason: String,
    },
}

/// A user's shell command is about to run.
#[derive(Clone, Debug, PartialEq)]
pub struct UserBashAsk {
    /// The command.
    pub command: String,
    /// Whether the model will see it.
    pub exclude_from_context: bool,
    /// Where it would run.
    pub cwd: String,
}

/// What to do with a user's shell command.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum UserBashVerdict {
    /// Run it.
    #[default]
    Allow,
    /// Refuse it.
    Deny {
        /// Why.
        reason: String,
    },
    /// This is its result; do not run it.
    Result(BashResult),
}

/// A message is complete and about to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageEndAsk {
    /// The message.
    pub message: AgentMessage,
}

/// What should be stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageEndVerdict {
    /// Replaces the message; must have its role.
    pub message: Option<AgentMessage>,
}

/// A tool is about to run.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCallAsk {
    /// The agent whose model calls it.
    pub agent: Arc<str>,
    /// The tool.
    pub tool_name: String,
    /// The call's id.
    pub tool_call_id: String,
    /// Its validated arguments.
    pub input: Map<String, Value>,
}

/// Whether and how a tool may run.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolCallVerdict {
    /// It may, with these arguments when given (they are validated again).
    Allow {
        /// Replaces the arguments.
        input: Option<Map<String, Value>>,
    },
    /// It may not.
    Deny {
        /// Why: the text that the model gets.
        reason: String,
        /// Asks the loop to end after the batch.
        terminate: bool,
    },
}

impl Default for ToolCallVerdict {
    fn default() -> Self {
        Self::Allow { input: None }
    }
}

/// A tool has run.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResultAsk {
    /// The tool.
    pub tool_name: String,
    /// The call's id.
    pub tool_call_id: String,
    /// The arguments that it ran with.
    pub input: Map<String, Value>,
    /// What it gave.
    pub output: ToolOutput,
}

/// What should become of a tool's result. Each field replaces the output's; replacing content alone drops the
/// structured content, which would no longer agree with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResultVerdict {
    /// New content.
    pub content: Option<Vec<Block>>,
    /// New details.
    pub details: Option<Value>,
    /// New structured content.
    pub structured_content: Option<Value>,
    /// Whether it is a failure.
    pub is_error: Option<bool>,
    /// New usage.
    pub usage: Option<Usage>,
    /// Whether the loop should end.
    pub terminate: Option<bool>,
}

impl ToolResultVerdict {
    /// The output with the verdict's changes.
    #[must_use]
    pub fn apply(self, mut output: ToolOutput) -> ToolOutput {
        if let Some(content) = self.content {
            output.content = content;
            output.structured_content = None;
        }
        if self.structured_content.is_some() {
            output.structured_content = self.structured_content;
        }
        if self.details.is_some() {
            output.details = self.details;
        }
        if self.usage.is_some() {
            output.usage = self.usage;
        }
        output.is_error = self.is_error.unwrap_or(output.is_error);
        output.terminate = self.terminate.unwrap_or(output.terminate);
        output
    }
}
