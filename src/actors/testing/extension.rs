//! An extension made of a closure.

use std::{sync::Arc, time::Duration};

use crate::{
    extensions::{Extension, ExtensionError, ModelRegistrar, Observed, contract::Answer},
    protocol::{
        ask::{
            Ask, AskPoint, BeforeSettleAsk, BeforeSettleVerdict, ContextAsk, ContextVerdict, InputAsk, InputVerdict,
            MessageEndAsk, MessageEndVerdict, ToolCallAsk, ToolCallVerdict, ToolResultAsk, ToolResultVerdict,
            TurnEndAsk, TurnEndVerdict, UserBashAsk, UserBashVerdict, Verdict,
        },
        compaction::{BeforeCompactAsk, BeforeCompactVerdict},
        navigation::{BeforeTreeAsk, BeforeTreeVerdict},
        route::{RouteAsk, RouteVerdict, VirtualDescription},
        section::SectionSource,
        session_change::{BeforeForkAsk, BeforeSwitchAsk, ReplaceVerdict, SessionShutdownAsk},
    },
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
}

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

    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    fn react<'a, T: Send + 'a>(&'a self, ask: Ask, pick: fn(Verdict) -> Option<T>) -> Answer<'a, T> {
        Box::pin(async move {
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

    fn deadline(&self, point: AskPoint) -> Duration {
        self.deadline.unwrap_or(point.deadline())
    }

    fn observe<'a>(&'a self, observed: Observed) -> Answer<'a, ()> {
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

    fn route<'a>(&'a self, ask: RouteAsk) -> Answer<'a, RouteVerdict> {
        self.react(Ask::Route(Box::new(ask)), pick!(Route))
    }

    fn input<'a>(&'a self, ask: InputAsk) -> Answer<'a, InputVerdict> {
        self.react(Ask::Input(ask), pick!(Input))
    }

    fn user_bash<'a>(&'a self, ask: UserBashAsk) -> Answer<'a, UserBashVerdict> {
        self.react(Ask::UserBash(ask), pick!(UserBash))
    }

    fn context<'a>(&'a self, ask: ContextAsk) -> Answer<'a, ContextVerdict> {
        self.react(Ask::Context(ask), pick!(Context))
    }

    fn message_end<'a>(&'a self, ask: MessageEndAsk) -> Answer<'a, MessageEndVerdict> {
        self.react(Ask::MessageEnd(ask), pick!(MessageEnd))
    }

    fn tool_call<'a>(&'a self, ask: ToolCallAsk) -> Answer<'a, ToolCallVerdict> {
        self.react(Ask::ToolCall(ask), pick!(ToolCall))
    }

    fn tool_result<'a>(&'a self, ask: ToolResultAsk) -> Answer<'a, ToolResultVerdict> {
        self.react(Ask::ToolResult(Box::new(ask)), pick!(ToolResult))
    }

    fn before_switch<'a>(&'a self, ask: BeforeSwitchAsk) -> Answer<'a, ReplaceVerdict> {
        self.react(Ask::BeforeSwitch(ask), pick!(BeforeSwitch))
    }

    fn before_fork<'a>(&'a self, ask: BeforeForkAsk) -> Answer<'a, ReplaceVerdict> {
        self.react(Ask::BeforeFork(ask), pick!(BeforeFork))
    }

    fn session_shutdown<'a>(&'a self, ask: SessionShutdownAsk) -> Answer<'a, ()> {
        self.react(Ask::SessionShutdown(ask), |verdict| (verdict == Verdict::SessionShutdown).then_some(()))
    }

    fn turn_end<'a>(&'a self, ask: TurnEndAsk) -> Answer<'a, TurnEndVerdict> {
        self.react(Ask::TurnEnd(ask), pick!(TurnEnd))
    }

    fn before_settle<'a>(&'a self, ask: BeforeSettleAsk) -> Answer<'a, BeforeSettleVerdict> {
        self.react(Ask::BeforeSettle(ask), pick!(BeforeSettle))
    }

    fn before_compact<'a>(&'a self, ask: BeforeCompactAsk) -> Answer<'a, BeforeCompactVerdict> {
        self.react(Ask::BeforeCompact(Box::new(ask)), pick!(BeforeCompact))
    }

    fn before_tree<'a>(&'a self, ask: BeforeTreeAsk) -> Answer<'a, BeforeTreeVerdict> {
        self.react(Ask::BeforeTree(Box::new(ask)), pick!(BeforeTree))
    }
}
