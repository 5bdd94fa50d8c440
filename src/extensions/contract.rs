//! The contract of a native extension.
//!
//! An extension says at which points it intervenes and whether it observes. Each extension runs in an actor of its
//! own: a panic there is a supervision event, not the end of the agent, and while it is being restarted its guards
//! deny. Asks of one agent are put to it one at a time; asks of different agents run side by side, so methods take
//! `&self` and state needs interior mutability.

use std::{
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use crate::{
    protocol::{
        Published,
        ask::{
            Ask, AskPoint, BeforeAgentStartAsk, BeforeAgentStartVerdict, BeforeRequestAsk, BeforeRequestVerdict,
            BeforeSettleAsk, BeforeSettleVerdict, BeforeTurnAsk, BeforeTurnVerdict, ContextAsk, ContextVerdict,
            InputAsk, InputVerdict, MessageEndAsk, MessageEndVerdict, PayloadAsk, PayloadVerdict, ToolCallAsk,
            ToolCallVerdict, ToolResultAsk, ToolResultVerdict, TurnEndAsk, TurnEndVerdict, UserBashAsk,
            UserBashVerdict, Verdict,
        },
        compaction::{BeforeCompactAsk, BeforeCompactVerdict},
        navigation::{BeforeTreeAsk, BeforeTreeVerdict},
        route::{RouteAsk, RouteVerdict},
        section::SectionSource,
        session_change::{BeforeForkAsk, BeforeSwitchAsk, ReplaceVerdict, SessionShutdownAsk},
    },
    tools::Tool,
};

use super::{
    bus::BusMessage,
    commands::{CommandCall, CommandDeclaration, Completion},
    control::{AgentHandle, Control},
    flags::FlagDeclaration,
    models::ModelRegistrar,
};

/// A boxed answer.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ExtensionError>> + Send + 'a>>;

/// What an extension could not do, in words for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExtensionError(pub String);

/// Files and folders that an extension brings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Skills: files, or folders with them.
    pub skills: Vec<PathBuf>,
    /// Prompt templates: files, or folders with them.
    pub prompts: Vec<PathBuf>,
}

/// Events of one agent, in order. Updates may be missing where the extension lagged; a gap event says so.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The agent.
    pub agent: String,
    /// The events.
    pub events: Vec<Arc<Published>>,
}

fn ready<'a, T: Send + 'a>(value: T) -> Answer<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}

/// A native extension. All methods but the name have defaults that change nothing.
pub trait Extension: Send + Sync + 'static {
    /// The name that people see in denials and errors.
    fn name(&self) -> &str;

    /// The points at which it intervenes; only these are asked.
    fn points(&self) -> &[AskPoint] {
        &[]
    }

    /// Whether it wants to see events.
    fn observes(&self) -> bool {
        false
    }

    /// Whether it wants to see the raw events of providers' answers, too.
    fn observes_raw(&self) -> bool {
        false
    }

    /// Whether the project around this folder may bring settings, skills and the like. Asked before anything of it is
    /// read, on a thread of its own and for five seconds at most; the first extension that decides counts, and one that
    /// fails decides against it.
    fn trusts(&self, cwd: &Path) -> Option<bool> {
        let _ = cwd;
        None
    }

    /// Skills and prompt templates that it brings for sessions in this folder. Asked when they are loaded.
    fn resources(&self, cwd: &Path) -> Resources {
        let _ = cwd;
        Resources::default()
    }

    /// Tools that it adds. A tool with a built-in's name replaces it.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// Sections that it adds to the system prompt. They are asked for their text at the beginning of every turn.
    fn sections(&self) -> Vec<Arc<dyn SectionSource>> {
        Vec::new()
    }

    /// Called once, before the first model is chosen: the place to register providers and virtual models. The handle
    /// may be kept; what is registered later counts from then on.
    ///
    /// # Errors
    /// What could not be registered. It is told, and everything else goes on.
    fn register(&self, models: &ModelRegistrar) -> Result<(), ExtensionError> {
        let _ = models;
        Ok(())
    }

    /// Flags of the command line that it has. Asked once, before the command line is judged.
    fn flags(&self) -> Vec<FlagDeclaration> {
        Vec::new()
    }

    /// Slash commands that it has now.
    fn commands(&self) -> Vec<CommandDeclaration> {
        Vec::new()
    }

    /// Channels of the bus on which it listens.
    fn channels(&self) -> &[&str] {
        &[]
    }

    /// Called when its actor starts, and again when that was started again. The handle may be kept.
    fn start(&self, control: &Control) {
        let _ = control;
    }

    /// Somebody gave one of its commands. It has all the time that it needs; the prompt is answered when it is done.
    fn command<'a>(&'a self, call: CommandCall, agent: AgentHandle) -> Answer<'a, ()> {
        drop(agent);
        let text = format!("it has the command {} and does nothing for it", call.name);
        Box::pin(async move { Err(ExtensionError(text)) })
    }

    /// Ways to go on with the arguments of one of its commands.
    fn complete<'a>(&'a self, call: CommandCall, agent: AgentHandle) -> Answer<'a, Vec<Completion>> {
        let _ = (call, agent);
        ready(Vec::new())
    }

    /// A message came on one of its channels. They come one at a time, in order.
    fn heard<'a>(&'a self, message: BusMessage, control: &'a Control) -> Answer<'a, ()> {
        let _ = (message, control);
        ready(())
    }

    /// How long it may take at a point, from the start of handling; the time of its open dialogs does not count.
    fn deadline(&self, point: AskPoint) -> Duration {
        point.deadline()
    }

    /// Sees events. Slow observers lag; they never hold up an agent.
    fn observe<'a>(&'a self, observed: Observed, agent: AgentHandle) -> Answer<'a, ()> {
        let _ = (observed, agent);
        ready(())
    }

    /// A user's input is about to be taken.
    fn input<'a>(&'a self, ask: InputAsk, agent: AgentHandle) -> Answer<'a, InputVerdict> {
        let _ = (ask, agent);
        ready(InputVerdict::default())
    }

    /// A user's shell command is about to run.
    fn user_bash<'a>(&'a self, ask: UserBashAsk, agent: AgentHandle) -> Answer<'a, UserBashVerdict> {
        let _ = (ask, agent);
        ready(UserBashVerdict::default())
    }

    /// A trace is about to begin.
    fn before_agent_start<'a>(
        &'a self,
        ask: BeforeAgentStartAsk,
        agent: AgentHandle,
    ) -> Answer<'a, BeforeAgentStartVerdict> {
        let _ = (ask, agent);
        ready(BeforeAgentStartVerdict::default())
    }

    /// Another turn is about to begin.
    fn before_turn<'a>(&'a self, ask: BeforeTurnAsk, agent: AgentHandle) -> Answer<'a, BeforeTurnVerdict> {
        let _ = (ask, agent);
        ready(BeforeTurnVerdict::default())
    }

    /// The conversation is about to become a request (`transformContext`).
    fn context<'a>(&'a self, ask: ContextAsk, agent: AgentHandle) -> Answer<'a, ContextVerdict> {
        let _ = (ask, agent);
        ready(ContextVerdict::default())
    }

    /// A virtual model that this extension registered is about to be called: which physical model answers. No answer,
    /// or one that names no physical model with credentials, fails the request.
    fn route<'a>(&'a self, ask: RouteAsk, agent: AgentHandle) -> Answer<'a, RouteVerdict> {
        drop(agent);
        let text = format!("it registered the virtual model {} and does not choose for it", ask.model);
        Box::pin(async move { Err(ExtensionError(text)) })
    }

    /// A model is about to be called.
    fn before_request<'a>(&'a self, ask: BeforeRequestAsk, agent: AgentHandle) -> Answer<'a, BeforeRequestVerdict> {
        let _ = (ask, agent);
        ready(BeforeRequestVerdict::default())
    }

    /// The body of a request is about to be sent.
    fn payload<'a>(&'a self, ask: PayloadAsk, agent: AgentHandle) -> Answer<'a, PayloadVerdict> {
        let _ = (ask, agent);
        ready(PayloadVerdict::default())
    }

    /// A message is complete and about to be stored.
    fn message_end<'a>(&'a self, ask: MessageEndAsk, agent: AgentHandle) -> Answer<'a, MessageEndVerdict> {
        let _ = (ask, agent);
        ready(MessageEndVerdict::default())
    }

    /// A tool is about to run.
    fn tool_call<'a>(&'a self, ask: ToolCallAsk, agent: AgentHandle) -> Answer<'a, ToolCallVerdict> {
        let _ = (ask, agent);
        ready(ToolCallVerdict::default())
    }

    /// A tool has run.
    fn tool_result<'a>(&'a self, ask: ToolResultAsk, agent: AgentHandle) -> Answer<'a, ToolResultVerdict> {
        let _ = (ask, agent);
        ready(ToolResultVerdict::default())
    }

    /// A turn is over.
    fn turn_end<'a>(&'a self, ask: TurnEndAsk, agent: AgentHandle) -> Answer<'a, TurnEndVerdict> {
        let _ = (ask, agent);
        ready(TurnEndVerdict::default())
    }

    /// The agent is about to settle.
    fn before_settle<'a>(&'a self, ask: BeforeSettleAsk, agent: AgentHandle) -> Answer<'a, BeforeSettleVerdict> {
        let _ = (ask, agent);
        ready(BeforeSettleVerdict::default())
    }

    /// Another session is about to take the place of this one.
    fn before_switch<'a>(&'a self, ask: BeforeSwitchAsk, agent: AgentHandle) -> Answer<'a, ReplaceVerdict> {
        let _ = (ask, agent);
        ready(ReplaceVerdict::default())
    }

    /// A session that is taken from this one is about to take its place.
    fn before_fork<'a>(&'a self, ask: BeforeForkAsk, agent: AgentHandle) -> Answer<'a, ReplaceVerdict> {
        let _ = (ask, agent);
        ready(ReplaceVerdict::default())
    }

    /// The session is about to end: the last chance to keep something. It is waited for, within the deadline.
    fn session_shutdown<'a>(&'a self, ask: SessionShutdownAsk, agent: AgentHandle) -> Answer<'a, ()> {
        let _ = (ask, agent);
        ready(())
    }

    /// Old history is about to be summarised. An extension that fails here is skipped, visibly.
    fn before_compact<'a>(&'a self, ask: BeforeCompactAsk, agent: AgentHandle) -> Answer<'a, BeforeCompactVerdict> {
        let _ = (ask, agent);
        ready(BeforeCompactVerdict::default())
    }

    /// The conversation is about to go on at another entry. An extension that fails here is skipped, visibly.
    fn before_tree<'a>(&'a self, ask: BeforeTreeAsk, agent: AgentHandle) -> Answer<'a, BeforeTreeVerdict> {
        let _ = (ask, agent);
        ready(BeforeTreeVerdict::default())
    }
}

/// Puts a question to an extension: calls the method of its point.
///
/// # Errors
/// What the extension could not do.
pub async fn answer(extension: &dyn Extension, ask: Ask, agent: AgentHandle) -> Result<Verdict, ExtensionError> {
    Ok(match ask {
        Ask::Input(ask) => Verdict::Input(extension.input(ask, agent).await?),
        Ask::UserBash(ask) => Verdict::UserBash(extension.user_bash(ask, agent).await?),
        Ask::BeforeAgentStart(ask) => Verdict::BeforeAgentStart(extension.before_agent_start(ask, agent).await?),
        Ask::BeforeTurn(ask) => Verdict::BeforeTurn(extension.before_turn(ask, agent).await?),
        Ask::Context(ask) => Verdict::Context(extension.context(ask, agent).await?),
        Ask::Route(ask) => Verdict::Route(extension.route(*ask, agent).await?),
        Ask::BeforeRequest(ask) => Verdict::BeforeRequest(extension.before_request(ask, agent).await?),
        Ask::Payload(ask) => Verdict::Payload(extension.payload(ask, agent).await?),
        Ask::MessageEnd(ask) => Verdict::MessageEnd(extension.message_end(ask, agent).await?),
        Ask::ToolCall(ask) => Verdict::ToolCall(extension.tool_call(ask, agent).await?),
        Ask::ToolResult(ask) => Verdict::ToolResult(extension.tool_result(*ask, agent).await?),
        Ask::TurnEnd(ask) => Verdict::TurnEnd(extension.turn_end(ask, agent).await?),
        Ask::BeforeSettle(ask) => Verdict::BeforeSettle(extension.before_settle(ask, agent).await?),
        Ask::BeforeSwitch(ask) => Verdict::BeforeSwitch(extension.before_switch(ask, agent).await?),
        Ask::BeforeFork(ask) => Verdict::BeforeFork(extension.before_fork(ask, agent).await?),
        Ask::SessionShutdown(ask) => {
            extension.session_shutdown(ask, agent).await?;
            Verdict::SessionShutdown
        }
        Ask::BeforeCompact(ask) => Verdict::BeforeCompact(extension.before_compact(*ask, agent).await?),
        Ask::BeforeTree(ask) => Verdict::BeforeTree(extension.before_tree(*ask, agent).await?),
    })
}
