//! The model of the script: what it answers follows from the conversation alone, so that a call that is made again
//! gets the same answer.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt;
use serde_json::{Map, Value};
use tokio::time::sleep;
use troupe::{
    protocol::{
        AgentMessage, AssistantMessage, Block, EntryBody, Failure, FailureClass, Message, StopReason, StreamEvent,
        TextBlock, ThinkingBlock, ToolCall,
    },
    providers::{EventStream, Provider, Request},
    store::session::SessionStore,
};

/// Answers of the whole script, failed attempts aside.
pub const TURNS: usize = 50;

/// The tools that answer number `turn` calls, in order; none ends the loop.
pub fn calls(turn: usize) -> &'static [&'static str] {
    match turn % 5 {
        0 => &["effect", "effect", "read"],
        1 => &["ordered", "effect", "ordered"],
        2 => &["fail", "read", "effect"],
        3 => &["panic", "effect"],
        _ => &[],
    }
}

/// The id of a call. It says which answer made it.
pub fn call_id(turn: usize, place: usize) -> String {
    format!("t{turn}-{place}")
}

/// The answer that made the call with this id.
pub fn turn_of(id: &str) -> Option<usize> {
    id.strip_prefix('t')?.split_once('-')?.0.parse().ok()
}

/// Whether the provider is overloaded at the first attempt at this answer.
fn fails_at_first(turn: usize) -> bool {
    turn % 7 == 3
}

/// Answers in a session that did not fail.
pub fn answers(store: &SessionStore) -> usize {
    store.view().path().iter().filter(|entry| is_answer(&entry.entry().body) == Some(true)).count()
}

/// Failed attempts since the last answer that did not fail.
fn attempts(store: &SessionStore) -> usize {
    let view = store.view();
    let path = view.path();
    let answers = path.iter().rev().filter_map(|entry| is_answer(&entry.entry().body));
    answers.take_while(|good| !good).count()
}

/// For an assistant message, whether it is a good one.
fn is_answer(body: &EntryBody) -> Option<bool> {
    match body.as_message() {
        Some(AgentMessage::Assistant(message)) => Some(!message.is_failed()),
        _ => None,
    }
}

/// The provider. It knows the session only to count failed attempts, which are not in the conversation.
pub struct ScriptedModel(pub SessionStore);

impl Provider for ScriptedModel {
    fn api(&self) -> &str {
        "troupe-script"
    }

    fn stream(&self, request: Request) -> EventStream {
        let turn = request.messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
        let base = AssistantMessage {
            api: request.model.api.clone(),
            provider: request.model.provider.clone(),
            model: request.model.id.clone(),
            ..AssistantMessage::default()
        };
        let steps = if fails_at_first(turn) && attempts(&self.0) == 0 { failure(base) } else { answer(base, turn) };
        let paced = futures_util::stream::iter(steps).then(|(seconds, events)| async move {
            sleep(Duration::from_secs(seconds)).await;
            events
        });
        Box::pin(paced)
    }
}

/// Batches of events, each with the seconds that pass before it.
type Steps = Vec<(u64, Vec<StreamEvent>)>;

fn failure(base: AssistantMessage) -> Steps {
    let text = "503: overloaded".to_owned();
    let message =
        AssistantMessage { stop_reason: StopReason::Error, error_message: Some(text.clone()), ..base.clone() };
    let failure = Failure::new(FailureClass::Overloaded, text).with_status(503);
    let failed = StreamEvent::Failed { message: Arc::new(message), failure };
    vec![(1, vec![StreamEvent::Start(Arc::new(base))]), (3, vec![failed])]
}

fn answer(base: AssistantMessage, turn: usize) -> Steps {
    let thinking = ThinkingBlock { thinking: format!("thought {turn}"), ..ThinkingBlock::default() };
    let text = TextBlock { text: format!("answer {turn}"), text_signature: None };
    let mut steps = vec![
        (1, vec![StreamEvent::Start(Arc::new(base.clone()))]),
        (2, vec![StreamEvent::ThinkingStart { index: 0 }]),
        (2, vec![StreamEvent::ThinkingDelta { index: 0, delta: thinking.thinking.clone() }]),
        (0, vec![StreamEvent::ThinkingEnd { index: 0, block: thinking.clone() }]),
        (0, vec![StreamEvent::TextStart { index: 1 }]),
        (2, vec![StreamEvent::TextDelta { index: 1, delta: text.text.clone() }]),
        (0, vec![StreamEvent::TextEnd { index: 1, block: text.clone() }]),
    ];
    let mut content = vec![Block::Thinking(thinking), Block::Text(text)];
    for (place, tool) in calls(turn).iter().enumerate() {
        let arguments = Map::from_iter([("turn".to_owned(), Value::from(turn))]);
        let call = ToolCall { id: call_id(turn, place), name: (*tool).to_owned(), arguments, ..ToolCall::default() };
        let index = content.len();
        let start = StreamEvent::ToolCallStart { index, id: call.id.clone(), name: call.name.clone() };
        steps.push((1, vec![start, StreamEvent::ToolCallEnd { index, call: call.clone() }]));
        content.push(Block::ToolCall(call));
    }
    let stop_reason = if calls(turn).is_empty() { StopReason::Stop } else { StopReason::ToolUse };
    steps.push((1, vec![StreamEvent::Done(Arc::new(AssistantMessage { content, stop_reason, ..base }))]));
    steps
}
