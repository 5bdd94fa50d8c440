//! Walking the chain of interceptors: in order of registration, each sees what the one before made of it.
//!
//! Whoever is about to act walks the chain itself (a worker, which may wait). No answer means no at a guard; at an
//! enricher it is skipped, and told.

mod session;

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tokio::sync::oneshot;

use super::{address::Slot, extension::ExtMsg};
use crate::{
    extensions::{Extension, pause::Pause},
    protocol::{
        AgentMessage, EntryBody, ModelRef, ToolOutput,
        ask::{
            Ask, AskPoint, BeforeAgentStartAsk, BeforeAgentStartVerdict, BeforeRequestAsk, BeforeRequestVerdict,
            BeforeSettleAsk, BeforeSettleVerdict, BeforeTurnAsk, BeforeTurnVerdict, ContextAsk, InputAsk, InputVerdict,
            MessageEndAsk, PayloadAsk, ToolCallAsk, ToolCallVerdict, ToolResultAsk, TurnDecision, TurnEndAsk,
            TurnEndVerdict, UserBashAsk, UserBashVerdict, Verdict,
        },
        event::Seq,
        route::{RouteAsk, RouteVerdict},
        session_change::SessionShutdownAsk,
    },
};

/// What the walker allows on top of an extension's own deadline, for waiting in its queue and for a hung actor.
const QUEUE_ALLOWANCE: Duration = Duration::from_secs(10);

/// One interceptor.
#[derive(Clone)]
pub struct Link {
    /// The extension.
    pub extension: Arc<dyn Extension>,
    /// Its actor.
    pub slot: Slot<ExtMsg>,
}

/// The interceptors of a process at one moment.
#[derive(Clone, Default)]
pub struct Chain(Arc<Vec<Link>>);

/// Who asks, and after which event.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The agent.
    pub agent: Arc<str>,
    /// The last event before the question: extensions see events up to there first.
    pub after: Seq,
}

/// What a walk gave, and who could not be asked.
#[derive(Debug)]
pub struct Walked<T> {
    /// The outcome.
    pub value: T,
    /// Extensions that gave no valid answer, and why.
    pub failures: Vec<(String, String)>,
}

impl Chain {
    /// A chain of these interceptors.
    #[must_use]
    pub fn new(links: Vec<Link>) -> Self {
        Self(Arc::new(links))
    }

    /// Whether anybody intervenes at a point.
    #[must_use]
    pub fn has(&self, point: AskPoint) -> bool {
        self.0.iter().any(|link| link.extension.points().contains(&point))
    }

    fn at(&self, point: AskPoint) -> impl Iterator<Item = &Link> {
        self.0.iter().filter(move |link| link.extension.points().contains(&point))
    }

    /// Asks about a tool call. Any failure denies.
    pub async fn tool_call(&self, by: &Asking, mut ask: ToolCallAsk) -> ToolCallVerdict {
        let mut changed = false;
        for link in self.at(AskPoint::ToolCall) {
            match put(link, by, Ask::ToolCall(ask.clone())).await {
                Ok(Verdict::ToolCall(ToolCallVerdict::Allow { input: Some(input) })) => {
                    ask.input = input;
                    changed = true;
                }
                Ok(Verdict::ToolCall(ToolCallVerdict::Allow { input: None })) => {}
                Ok(Verdict::ToolCall(denied)) => return denied,
                other => return ToolCallVerdict::Deny { reason: denial(link, other), terminate: false },
            }
        }
        ToolCallVerdict::Allow { input: changed.then_some(ask.input) }
    }

    /// Asks about a user's input. Any failure denies.
    pub async fn input(&self, by: &Asking, mut ask: InputAsk) -> InputVerdict {
        let mut changed = false;
        for link in self.at(AskPoint::Input) {
            match put(link, by, Ask::Input(ask.clone())).await {
                Ok(Verdict::Input(InputVerdict::Continue)) => {}
                Ok(Verdict::Input(InputVerdict::Transform { text, images })) => {
                    changed = true;
                    ask.text = text;
                    ask.images = images.unwrap_or(ask.images);
                }
                Ok(Verdict::Input(verdict)) => return verdict,
                other => return InputVerdict::Deny { reason: denial(link, other) },
            }
        }
        if changed {
            InputVerdict::Transform { text: ask.text, images: Some(ask.images) }
        } else {
            InputVerdict::Continue
        }
    }

    /// Asks about a user's shell command. Any failure denies.
    pub async fn user_bash(&self, by: &Asking, ask: UserBashAsk) -> UserBashVerdict {
        for link in self.at(AskPoint::UserBash) {
            match put(link, by, Ask::UserBash(ask.clone())).await {
                Ok(Verdict::UserBash(UserBashVerdict::Allow)) => {}
                Ok(Verdict::UserBash(verdict)) => return verdict,
                other => return UserBashVerdict::Deny { reason: denial(link, other) },
            }
        }
        UserBashVerdict::Allow
    }

    /// Lets extensions change a tool's result.
    pub async fn tool_result(&self, by: &Asking, mut ask: ToolResultAsk) -> Walked<ToolOutput> {
        let mut failures = Vec::new();
        for link in self.at(AskPoint::ToolResult) {
            match put(link, by, Ask::ToolResult(Box::new(ask.clone()))).await {
                Ok(Verdict::ToolResult(verdict)) => ask.output = verdict.apply(ask.output),
                // An after-hook that fails may have meant to hide something: the result is an error, not the output.
                other => {
                    let text = denial(link, other);
                    failures.push((link.extension.name().to_owned(), text.clone()));
                    ask.output = ToolOutput::error(text);
                }
            }
        }
        Walked { value: ask.output, failures }
    }

    /// Lets extensions change the conversation before it becomes a request.
    pub async fn context(&self, by: &Asking, messages: Vec<AgentMessage>) -> Walked<Vec<AgentMessage>> {
        let mut failures = Vec::new();
        let mut messages = Arc::new(messages);
        for link in self.at(AskPoint::Context) {
            match put(link, by, Ask::Context(ContextAsk { messages: messages.clone() })).await {
                Ok(Verdict::Context(verdict)) => {
                    if let Some(changed) = verdict.messages {
                        if has_system(&messages) && !has_system(&changed) {
                            let text = "it left out the system messages: the model has no prompt and no tools";
                            failures.push((link.extension.name().to_owned(), text.to_owned()));
                        }
                        messages = Arc::new(changed);
                    }
                }
                other => failures.push(failure(link, other)),
            }
        }
        Walked { value: Arc::unwrap_or_clone(messages), failures }
    }

    /// Has the extension `owner` choose for its virtual model.
    ///
    /// # Errors
    /// It gave no valid answer: why.
    pub async fn route(&self, by: &Asking, owner: &str, ask: RouteAsk) -> Result<RouteVerdict, String> {
        let Some(link) = self.0.iter().find(|link| link.extension.name() == owner) else {
            return Err("it is not there".into());
        };
        match put(link, by, Ask::Route(Box::new(ask))).await {
            Ok(Verdict::Route(verdict)) => Ok(verdict),
            other => Err(cause(other)),
        }
    }

    /// Lets extensions change how the model is called.
    pub async fn before_request(&self, by: &Asking, mut ask: BeforeRequestAsk) -> Walked<BeforeRequestVerdict> {
        let mut failures = Vec::new();
        let mut value = BeforeRequestVerdict::default();
        for link in self.at(AskPoint::BeforeRequest) {
            match put(link, by, Ask::BeforeRequest(ask.clone())).await {
                Ok(Verdict::BeforeRequest(verdict)) => {
                    if let Some(model) = verdict.model {
                        ask.model = model.clone();
                        value.model = Some(model);
                    }
                    if let Some(level) = verdict.thinking_level {
                        ask.thinking_level = level;
                        value.thinking_level = Some(level);
                    }
                    if let Some(headers) = verdict.headers {
                        ask.headers.extend(headers.clone());
                        value.headers.get_or_insert_default().extend(headers);
                    }
                }
                other => failures.push(failure(link, other)),
            }
        }
        Walked { value, failures }
    }

    /// Lets extensions replace the body of a request.
    pub async fn payload(&self, by: &Asking, model: &ModelRef, payload: Value) -> Walked<Option<Value>> {
        let mut failures = Vec::new();
        let mut ask = PayloadAsk { model: model.clone(), payload: Arc::new(payload) };
        let mut value = None;
        for link in self.at(AskPoint::Payload) {
            match put(link, by, Ask::Payload(ask.clone())).await {
                Ok(Verdict::Payload(verdict)) => {
                    if let Some(changed) = verdict.payload {
                        ask.payload = Arc::new(changed.clone());
                        value = Some(changed);
                    }
                }
                other => failures.push(failure(link, other)),
            }
        }
        Walked { value, failures }
    }

    /// Lets extensions replace a message before it is stored. A replacement of another role is no answer.
    pub async fn message_end(&self, by: &Asking, mut message: AgentMessage) -> Walked<AgentMessage> {
        let mut failures = Vec::new();
        for link in self.at(AskPoint::MessageEnd) {
            match put(link, by, Ask::MessageEnd(MessageEndAsk { message: message.clone() })).await {
                Ok(Verdict::MessageEnd(verdict)) => match verdict.message {
                    Some(changed) if changed.role() == message.role() => message = changed,
                    Some(changed) => failures.push((
                        link.extension.name().to_owned(),
                        format!("it replaced a {} message by a {} message", message.role(), changed.role()),
                    )),
                    None => {}
                },
                other => failures.push(failure(link, other)),
            }
        }
        Walked { value: message, failures }
    }

    /// Asks whether the session may be replaced: `ask` is one of the two questions about that. The first that objects
    /// ends it; the value is true then.
    pub async fn objects(&self, by: &Asking, ask: Ask) -> Walked<bool> {
        let mut failures = Vec::new();
        for link in self.at(ask.point()) {
            match put(link, by, ask.clone()).await {
                Ok(Verdict::BeforeSwitch(verdict) | Verdict::BeforeFork(verdict)) if verdict.cancel => {
                    return Walked { value: true, failures };
                }
                Ok(Verdict::BeforeSwitch(_) | Verdict::BeforeFork(_)) => {}
                other => failures.push(failure(link, other)),
            }
        }
        Walked { value: false, failures }
    }

    /// Says that the session ends, and waits for those who want to keep something.
    pub async fn farewell(&self, by: &Asking, ask: SessionShutdownAsk) -> Walked<()> {
        let mut failures = Vec::new();
        for link in self.at(AskPoint::SessionShutdown) {
            match put(link, by, Ask::SessionShutdown(ask.clone())).await {
                Ok(Verdict::SessionShutdown) => {}
                other => failures.push(failure(link, other)),
            }
        }
        Walked { value: (), failures }
    }

    /// Puts one of the machine's own questions; none when nobody intervenes there. `check` judges entries that
    /// extensions want to add: when those at the end make no sense, none is added, the loop goes on as it would by
    /// itself, and the extension that spoilt them is told of.
    pub async fn boundary(&self, by: &Asking, ask: Ask, check: &Check<'_>) -> Walked<Option<Verdict>> {
        match ask {
            Ask::BeforeAgentStart(ask) => self.before_agent_start(by, ask).await,
            Ask::BeforeTurn(ask) => self.before_turn(by, ask).await,
            Ask::TurnEnd(ask) => self.turn_end(by, ask, check).await,
            Ask::BeforeSettle(ask) => self.before_settle(by, ask, check).await,
            _ => Walked { value: None, failures: Vec::new() },
        }
    }

    async fn before_agent_start(&self, by: &Asking, mut ask: BeforeAgentStartAsk) -> Walked<Option<Verdict>> {
        let mut failures = Vec::new();
        let mut value = BeforeAgentStartVerdict::default();
        for link in self.at(AskPoint::BeforeAgentStart) {
            match put(link, by, Ask::BeforeAgentStart(ask.clone())).await {
                Ok(Verdict::BeforeAgentStart(verdict)) => {
                    value.messages.extend(verdict.messages);
                    if let Some(prompt) = verdict.system_prompt {
                        ask.system_prompt.clone_from(&prompt);
                        value.system_prompt = Some(prompt);
                    }
                }
                other => failures.push(failure(link, other)),
            }
        }
        Walked { value: Some(Verdict::BeforeAgentStart(value)), failures }
    }

    async fn before_turn(&self, by: &Asking, ask: BeforeTurnAsk) -> Walked<Option<Verdict>> {
        let mut failures = Vec::new();
        let mut value = BeforeTurnVerdict::default();
        for link in self.at(AskPoint::BeforeTurn) {
            match put(link, by, Ask::BeforeTurn(ask.clone())).await {
                Ok(Verdict::BeforeTurn(verdict)) => {
                    value.model = verdict.model.or(value.model);
                    value.thinking_level = verdict.thinking_level.or(value.thinking_level);
                    value.messages.extend(verdict.messages);
                }
                other => failures.push(failure(link, other)),
            }
        }
        Walked { value: Some(Verdict::BeforeTurn(value)), failures }
    }

    async fn turn_end(&self, by: &Asking, mut ask: TurnEndAsk, check: &Check<'_>) -> Walked<Option<Verdict>> {
        let mut failures = Vec::new();
        let mut decision = TurnDecision::Default;
        let mut drafts = Drafts::new(check);
        for link in self.at(AskPoint::TurnEnd) {
            match put(link, by, Ask::TurnEnd(ask.clone())).await {
                Ok(Verdict::TurnEnd(verdict)) => {
                    drafts.take(link, verdict.entries, &mut ask.entries);
                    if verdict.decision != TurnDecision::Default {
                        decision = verdict.decision;
                    }
                }
                other => failures.push(failure(link, other)),
            }
        }
        let value = match drafts.fault {
            None => TurnEndVerdict { entries: Some(ask.entries), decision },
            Some(fault) => {
                failures.push(fault);
                TurnEndVerdict::default()
            }
        };
        Walked { value: Some(Verdict::TurnEnd(value)), failures }
    }

    async fn before_settle(&self, by: &Asking, mut ask: BeforeSettleAsk, check: &Check<'_>) -> Walked<Option<Verdict>> {
        let mut failures = Vec::new();
        let mut continue_run = false;
        let mut drafts = Drafts::new(check);
        for link in self.at(AskPoint::BeforeSettle) {
            match put(link, by, Ask::BeforeSettle(ask.clone())).await {
                Ok(Verdict::BeforeSettle(verdict)) => {
                    drafts.take(link, verdict.entries, &mut ask.entries);
                    continue_run |= verdict.continue_run;
                }
                other => failures.push(failure(link, other)),
            }
        }
        let value = match drafts.fault {
            None => BeforeSettleVerdict { entries: Some(ask.entries), continue_run },
            Some(fault) => {
                failures.push(fault);
                BeforeSettleVerdict::default()
            }
        };
        Walked { value: Some(Verdict::BeforeSettle(value)), failures }
    }
}

/// Judges entries that extensions want to add; an error says what is wrong with them.
pub type Check<'a> = dyn Fn(&[EntryBody]) -> Result<(), String> + Sync + 'a;

/// Entries that extensions want to add at a boundary.
struct Drafts<'a> {
    check: &'a Check<'a>,
    /// Who spoilt them, and how; none while they make sense.
    fault: Option<(String, String)>,
}

impl<'a> Drafts<'a> {
    fn new(check: &'a Check<'a>) -> Self {
        Self { check, fault: None }
    }

    /// Takes an extension's answer; a later one may put right what an earlier one spoilt.
    fn take(&mut self, link: &Link, answer: Option<Vec<EntryBody>>, entries: &mut Vec<EntryBody>) {
        let Some(answer) = answer else { return };
        *entries = answer;
        let fault = (self.check)(entries).err().map(|why| format!("its entries were not added: {why}"));
        self.fault = fault.map(|fault| (link.extension.name().to_owned(), fault));
    }
}

fn has_system(messages: &[AgentMessage]) -> bool {
    messages.iter().any(|message| matches!(message, AgentMessage::System(_)))
}

/// Puts a question to one extension and waits for its answer, or for the reason why there is none.
async fn put(link: &Link, by: &Asking, ask: Ask) -> Result<Verdict, String> {
    let deadline = link.extension.deadline(ask.point());
    let (reply, answer) = oneshot::channel();
    let pause = Pause::default();
    let message = ExtMsg::Ask { by: by.clone(), ask, deadline, pause: pause.clone(), reply };
    if link.slot.try_tell(message).is_err() {
        return Err("it is not running".into());
    }
    match pause.within(deadline + QUEUE_ALLOWANCE, answer).await {
        Some(Ok(answer)) => answer,
        Some(Err(_)) => Err("it died before it answered".into()),
        None => Err("it did not answer in time".into()),
    }
}

fn failure(link: &Link, answer: Result<Verdict, String>) -> (String, String) {
    (link.extension.name().to_owned(), cause(answer))
}

fn denial(link: &Link, answer: Result<Verdict, String>) -> String {
    format!("Denied: the extension {} could not decide ({})", link.extension.name(), cause(answer))
}

fn cause(answer: Result<Verdict, String>) -> String {
    match answer {
        Ok(_) => "its answer does not fit the question".into(),
        Err(cause) => cause,
    }
}

#[cfg(test)]
mod faults;
#[cfg(test)]
mod tests;
