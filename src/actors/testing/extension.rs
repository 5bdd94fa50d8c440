//! An extension made of a closure.

use std::{sync::Arc, time::Duration};

use crate::{
    extensions::{
        AgentHandle, Control, Extension, ExtensionError, ModelRegistrar, Observed,
        bus::BusMessage,
        commands::{CommandCall, CommandDeclaration},
        contract::Answer,
    },
    protocol::{
        ask::{
            Ask, AskPoint, BeforeAgentStartAsk, BeforeAgentStartVerdict, BeforeRequestAsk, BeforeRequestVerdict,
            BeforeSettleAsk, BeforeSettleVerdict, BeforeTurnAsk, BeforeTurnVerdict, ContextAsk, ContextVerdict,
            InputAsk, InputVerdict, MessageEndAsk, MessageEndVerdict, PayloadAsk, PayloadVerdict, ToolCallAsk,
            ToolCallVerdict, ToolResultAsk, ToolResultVerdict, TurnEndAsk, TurnEndVerdict, UserBashAsk,
            UserBashVerdict, Verdict,
        },
        compaction::{BeforeCompactAsk, BeforeCompactVerdict},
        navigation::{BeforeTreeAsk, BeforeTreeVerdict},
        route::{RouteAsk, RouteVerdict, VirtualDescription},
        section::SectionSource,
        session_change::{BeforeForkAsk, BeforeSwitchAsk, ReplaceVerdict, SessionShutdownAsk},
    },
    tools::BoxFuture,
};

/// What an extension does when it is asked.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, in tests")]
pub enum Reaction {
    Say(Verdict),
    Fail(&'static str),
    Panic,
    Hang,
}

/// The extension.
pub struct Ext {
    name: String,
    points: Vec<AskPoint>,
    deadline: Option<Duration>,
    on: Box<dyn Fn(Ask) -> Reaction + Send + Sync>,
    observe: Option<Box<dyn Fn(Observed) + Send + Sync>>,
    chooses_for: Option<VirtualDescription>,
    sections: Vec<Arc<dyn SectionSource>>,
    consult: Option<Consult>,
    command: Option<(&'static str, Run)>,
    hear: Option<(&'static str, Hear)>,
}

/// What a command does.
type Run = Box<dyn Fn(CommandCall, AgentHandle) -> BoxFuture<'static, Result<(), ExtensionError>> + Send + Sync>;

/// How somebody is consulted.
type Consult = Box<dyn Fn(AgentHandle) -> BoxFuture<'static, Result<Verdict, ExtensionError>> + Send + Sync>;

/// What a message of the bus does.
type Hear = Box<dyn Fn(BusMessage) + Send + Sync>;

impl Ext {
    /// An extension that intervenes at these points.
    pub fn new(name: &str, points: &[AskPoint], on: impl Fn(Ask) -> Reaction + Send + Sync + 'static) -> Self {
        let points = points.to_vec();
        Self {
            name: name.into(),
            points,
            deadline: None,
            on: Box::new(on),
            observe: None,
            chooses_for: None,
            sections: Vec::new(),
            consult: None,
            command: None,
            hear: None,
        }
    }

    /// An extension that only watches.
    pub fn watcher(name: &str, observe: impl Fn(Observed) + Send + Sync + 'static) -> Self {
        Self::new(name, &[], |_| Reaction::Panic).observing(observe)
    }

    pub fn observing(self, observe: impl Fn(Observed) + Send + Sync + 'static) -> Self {
        Self { observe: Some(Box::new(observe)), ..self }
    }

    /// It adds these sections to the prompt.
    pub fn telling(self, sections: Vec<Arc<dyn SectionSource>>) -> Self {
        Self { sections, ..self }
    }

    /// It registers a virtual model and is asked which physical one answers.
    pub fn choosing_for(self, model: VirtualDescription) -> Self {
        Self { chooses_for: Some(model), ..self }
    }

    /// It has a command.
    pub fn commanding<F>(
        self,
        name: &'static str,
        run: impl Fn(CommandCall, AgentHandle) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), ExtensionError>> + Send + 'static,
    {
        Self { command: Some((name, Box::new(move |call, agent| Box::pin(run(call, agent))))), ..self }
    }

    /// It listens on a channel.
    pub fn hearing(self, channel: &'static str, hear: impl Fn(BusMessage) + Send + Sync + 'static) -> Self {
        Self { hear: Some((channel, Box::new(hear))), ..self }
    }

    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// It consults somebody at one point.
    pub fn asking<F>(name: &str, point: AskPoint, ask: impl Fn(AgentHandle) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Verdict, ExtensionError>> + Send + 'static,
    {
        let consult: Consult = Box::new(move |agent| Box::pin(ask(agent)));
        Self { consult: Some(consult), ..Self::new(name, &[point], |_| Reaction::Panic) }
    }

    fn react<'a, T: Send + 'a>(
        &'a self,
        ask: Ask,
        agent: AgentHandle,
        pick: fn(Verdict) -> Option<T>,
    ) -> Answer<'a, T> {
        Box::pin(async move {
            if let Some(consult) = &self.consult {
                return consult(agent).await.map(|verdict| pick(verdict).expect("a verdict that fits the question"));
            }
            match (self.on)(ask) {
                Reaction::Say(verdict) => Ok(pick(verdict).expect("a verdict that fits the question")),
                Reaction::Fail(why) => Err(ExtensionError(why.into())),
                Reaction::Panic => panic!("boom"),
                Reaction::Hang => std::future::pending().await,
            }
        })
    }
}

/// The verdict of one point.
macro_rules! pick {
    ($point:ident) => {
        |verdict| match verdict {
            Verdict::$point(verdict) => Some(verdict),
            _ => None,
        }
    };
}

impl Extension for Ext {
    fn name(&self) -> &str {
        &self.name
    }

    fn points(&self) -> &[AskPoint] {
        &self.points
    }

    fn observes(&self) -> bool {
        self.observe.is_some()
    }

    fn commands(&self) -> Vec<CommandDeclaration> {
        self.command.iter().map(|(name, _)| CommandDeclaration::new(*name, "")).collect()
    }

    fn command<'a>(&'a self, call: CommandCall, agent: AgentHandle) -> Answer<'a, ()> {
        let (_, run) = self.command.as_ref().unwrap();
        run(call, agent)
    }

    fn channels(&self) -> &[&str] {
        self.hear.as_slice().first().map_or(&[], |(channel, _)| std::slice::from_ref(channel))
    }

    fn heard<'a>(&'a self, message: BusMessage, _: &'a Control) -> Answer<'a, ()> {
        if let Some((_, hear)) = &self.hear {
            hear(message);
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn deadline(&self, point: AskPoint) -> Duration {
        self.deadline.unwrap_or(point.deadline())
    }

    fn observe<'a>(&'a self, observed: Observed, _: AgentHandle) -> Answer<'a, ()> {
        if let Some(observe) = &self.observe {
            observe(observed);
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn sections(&self) -> Vec<Arc<dyn SectionSource>> {
        self.sections.clone()
    }

    fn register(&self, models: &ModelRegistrar) -> Result<(), ExtensionError> {
        self.chooses_for.clone().map_or(Ok(()), |model| models.register_virtual_model(model))
    }

    fn route<'a>(&'a self, ask: RouteAsk, agent: AgentHandle) -> Answer<'a, RouteVerdict> {
        self.react(Ask::Route(Box::new(ask)), agent, pick!(Route))
    }

    fn input<'a>(&'a self, ask: InputAsk, agent: AgentHandle) -> Answer<'a, InputVerdict> {
        self.react(Ask::Input(ask), agent, pick!(Input))
    }

    fn user_bash<'a>(&'a self, ask: UserBashAsk, agent: AgentHandle) -> Answer<'a, UserBashVerdict> {
        self.react(Ask::UserBash(ask), agent, pick!(UserBash))
    }

    fn context<'a>(&'a self, ask: ContextAsk, agent: AgentHandle) -> Answer<'a, ContextVerdict> {
        self.react(Ask::Context(ask), agent, pick!(Context))
    }

    fn payload<'a>(&'a self, ask: PayloadAsk, agent: AgentHandle) -> Answer<'a, PayloadVerdict> {
        self.react(Ask::Payload(ask), agent, pick!(Payload))
    }

    fn message_end<'a>(&'a self, ask: MessageEndAsk, agent: AgentHandle) -> Answer<'a, MessageEndVerdict> {
        self.react(Ask::MessageEnd(ask), agent, pick!(MessageEnd))
    }

    fn tool_call<'a>(&'a self, ask: ToolCallAsk, agent: AgentHandle) -> Answer<'a, ToolCallVerdict> {
        self.react(Ask::ToolCall(ask), agent, pick!(ToolCall))
    }

    fn tool_result<'a>(&'a self, ask: ToolResultAsk, agent: AgentHandle) -> Answer<'a, ToolResultVerdict> {
        self.react(Ask::ToolResult(Box::new(ask)), agent, pick!(ToolResult))
    }

    fn before_agent_start<'a>(
        &'a self,
        ask: BeforeAgentStartAsk,
        agent: AgentHandle,
    ) -> Answer<'a, BeforeAgentStartVerdict> {
        self.react(Ask::BeforeAgentStart(ask), agent, pick!(BeforeAgentStart))
    }

    fn before_turn<'a>(&'a self, ask: BeforeTurnAsk, agent: AgentHandle) -> Answer<'a, BeforeTurnVerdict> {
        self.react(Ask::BeforeTurn(ask), agent, pick!(BeforeTurn))
    }

    fn before_request<'a>(&'a self, ask: BeforeRequestAsk, agent: AgentHandle) -> Answer<'a, BeforeRequestVerdict> {
        self.react(Ask::BeforeRequest(ask), agent, pick!(BeforeRequest))
    }

    fn turn_end<'a>(&'a self, ask: TurnEndAsk, agent: AgentHandle) -> Answer<'a, TurnEndVerdict> {
        self.react(Ask::TurnEnd(ask), agent, pick!(TurnEnd))
    }

    fn before_settle<'a>(&'a self, ask: BeforeSettleAsk, agent: AgentHandle) -> Answer<'a, BeforeSettleVerdict> {
        self.react(Ask::BeforeSettle(ask), agent, pick!(BeforeSettle))
    }

    fn before_switch<'a>(&'a self, ask: BeforeSwitchAsk, agent: AgentHandle) -> Answer<'a, ReplaceVerdict> {
        self.react(Ask::BeforeSwitch(ask), agent, pick!(BeforeSwitch))
    }

    fn before_fork<'a>(&'a self, ask: BeforeForkAsk, agent: AgentHandle) -> Answer<'a, ReplaceVerdict> {
        self.react(Ask::BeforeFork(ask), agent, pick!(BeforeFork))
    }

    fn session_shutdown<'a>(&'a self, ask: SessionShutdownAsk, agent: AgentHandle) -> Answer<'a, ()> {
        let pick = |verdict| (verdict == Verdict::SessionShutdown).then_some(());
        self.react(Ask::SessionShutdown(ask), agent, pick)
    }

    fn before_compact<'a>(&'a self, ask: BeforeCompactAsk, agent: AgentHandle) -> Answer<'a, BeforeCompactVerdict> {
        self.react(Ask::BeforeCompact(Box::new(ask)), agent, pick!(BeforeCompact))
    }

    fn before_tree<'a>(&'a self, ask: BeforeTreeAsk, agent: AgentHandle) -> Answer<'a, BeforeTreeVerdict> {
        self.react(Ask::BeforeTree(Box::new(ask)), agent, pick!(BeforeTree))
    }
}
