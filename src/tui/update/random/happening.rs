//! What may happen in an agent, in any order.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::steps::text;
use crate::protocol::{
    AgentMessage, Event, RunMessages, StreamEvent,
    display::{Display, WidgetPlacement},
    event::{CallLabel, CompactionReason, NoticeLevel},
    message::{AssistantMessage, Block, ToolCall},
    question::{Dialog, Question, QuestionId},
    session_change::SessionStartReason,
    tool::ToolOutput,
    view::View,
};

/// Something that happens.
pub fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => run(),
        6 => prop::collection::vec(streamed(), 1..4).prop_map(|events| Event::MessageUpdate { events }),
        4 => called(),
        4 => asked(),
        4 => display().prop_map(|display| Event::Display { extension: "x".into(), display }),
        3 => told(),
    ]
}

/// How things may be in an agent.
pub fn view() -> impl Strategy<Value = View> {
    prop::collection::vec(event(), 0..12).prop_map(|events| {
        let mut view = View::default();
        for event in events {
            let seq = crate::protocol::event::Seq { epoch: 2, n: view.seq.n + 1 };
            view.apply(&crate::protocol::Published { seq, event });
        }
        view
    })
}

fn answer(text: String) -> AssistantMessage {
    let call = ToolCall { name: text.clone(), arguments: arguments(&text), ..ToolCall::default() };
    AssistantMessage { content: vec![Block::text(text), Block::ToolCall(call)], ..AssistantMessage::default() }
}

fn arguments(text: &str) -> Map<String, Value> {
    [("command", text), ("path", text), (text, text)]
        .map(|(key, text)| (key.to_owned(), text.into()))
        .into_iter()
        .collect()
}

fn run() -> impl Strategy<Value = Event> {
    let reason = CompactionReason::Threshold;
    let retry = |error_message| Event::AutoRetryStart { attempt: 1, max_attempts: 3, delay_ms: 2_000, error_message };
    let ended = move |error| Event::CompactionEnd {
        reason,
        result: None,
        aborted: false,
        will_retry: false,
        error_message: Some(error),
    };
    prop_oneof![
        Just(Event::SessionStart { reason: SessionStartReason::Startup, previous_session_file: None }),
        Just(Event::AgentStart),
        Just(Event::TurnStart),
        Just(Event::MessageStart { message: AgentMessage::Assistant(Arc::default()) }),
        text().prop_map(|text| Event::MessageStart { message: AgentMessage::Assistant(Arc::new(answer(text))) }),
        text().prop_map(|text| Event::MessageEnd {
            message: AgentMessage::Assistant(Arc::new(answer(text))),
            entry_id: None
        }),
        Just(Event::TurnEnd { message: Arc::default(), tool_results: Vec::new() }),
        Just(Event::AgentEnd { messages: RunMessages::default(), will_retry: true }),
        any::<bool>().prop_map(|aborted| Event::AgentSettled { aborted }),
        (text(), text()).prop_map(|(one, other)| Event::QueueUpdate { steering: vec![one; 9], follow_up: vec![other] }),
        Just(Event::CompactionStart { reason }),
        text().prop_map(ended),
        Just(Event::SessionTree { new_leaf: None, old_leaf: None, summary: None, from_extension: None }),
        text().prop_map(retry),
        text().prop_map(|text| Event::AutoRetryEnd { success: false, attempt: 3, final_error: Some(text) }),
        any::<bool>().prop_map(|enabled| Event::PlanModeChanged { enabled }),
    ]
}

fn streamed() -> impl Strategy<Value = StreamEvent> {
    let index = 0..5_usize;
    let call = |text: String| ToolCall { arguments: arguments(&text), name: text, ..ToolCall::default() };
    prop_oneof![
        index.clone().prop_map(|index| StreamEvent::TextStart { index }),
        index.clone().prop_map(|index| StreamEvent::ThinkingStart { index }),
        (index.clone(), text()).prop_map(|(index, name)| StreamEvent::ToolCallStart { index, id: name.clone(), name }),
        (index.clone(), text()).prop_map(|(index, delta)| StreamEvent::TextDelta { index, delta }),
        (index.clone(), text()).prop_map(|(index, delta)| StreamEvent::ThinkingDelta { index, delta }),
        (index.clone(), text()).prop_map(|(index, text)| StreamEvent::ToolCallDelta {
            index,
            delta: format!("{{\"content\": {}", Value::from(text))
        }),
        (index, text()).prop_map(move |(index, text)| StreamEvent::ToolCallEnd { index, call: call(text) }),
        text().prop_map(|text| StreamEvent::Done(Arc::new(answer(text)))),
    ]
}

fn called() -> impl Strategy<Value = Event> {
    let tools = prop::sample::select(&["bash", "read", "write", "edit", "grep", "mine"][..]);
    let label = (0..3_usize, tools, text()).prop_map(|(place, tool, text)| CallLabel {
        place,
        tool_call_id: text.clone(),
        tool_name: tool.to_owned(),
        args: Arc::new(arguments(&text)),
    });
    (label, text(), 0..3).prop_map(|(call, text, what)| match what {
        0 => Event::ToolExecutionStart { call },
        1 => Event::ToolExecutionUpdate { call, partial: Arc::new(ToolOutput::text(text)) },
        _ => Event::ToolExecutionEnd { call, result: Arc::new(ToolOutput::error(text)), duration_ms: Some(5) },
    })
}

fn asked() -> impl Strategy<Value = Event> {
    let dialog = prop_oneof![
        prop::collection::vec(text(), 0..20).prop_map(|options| Dialog::Select { options }),
        text().prop_map(|message| Dialog::Confirm { message }),
        text().prop_map(|text| Dialog::Input { placeholder: Some(text) }),
        text().prop_map(|text| Dialog::Editor { prefill: Some(text) }),
    ];
    let id = || prop::sample::select(&["q1", "q2"][..]).prop_map(|id| QuestionId::from(id.to_owned()));
    let question = (id(), text(), dialog, prop_oneof![Just(None), Just(Some(1_000))]);
    prop_oneof![
        question.prop_map(|(id, title, dialog, timeout_ms)| Event::QuestionAsked {
            question: Arc::new(Question { id, title, dialog, timeout_ms, tool_call_id: None })
        }),
        id().prop_map(|id| Event::QuestionClosed { id }),
    ]
}

fn display() -> impl Strategy<Value = Display> {
    let lines = prop_oneof![
        Just(None),
        prop::collection::vec(text(), 0..3).prop_map(Some),
        text().prop_map(|text| Some(vec![text; 200]))
    ];
    prop_oneof![
        text().prop_map(|message| Display::Notify { message, level: None }),
        (text(), text()).prop_map(|(key, text)| Display::Status { key, text: Some(text) }),
        (lines, any::<bool>()).prop_map(|(lines, below)| Display::Widget {
            key: "w".into(),
            lines,
            placement: below.then_some(WidgetPlacement::BelowEditor)
        }),
        text().prop_map(|title| Display::Title { title }),
        text().prop_map(|text| Display::EditorText { text }),
    ]
}

fn told() -> impl Strategy<Value = Event> {
    prop_oneof![
        text().prop_map(|text| Event::Notice { level: NoticeLevel::Warning, text }),
        text().prop_map(|error| Event::ExtensionError { extension: error.clone(), event: error.clone(), error }),
        text().prop_map(|cause| Event::Restarted { actor: cause.clone(), cause }),
        text().prop_map(|cause| Event::Parked { cause }),
        text().prop_map(|text| Event::SavingChanged { unsaved: 0, reason: Some(text) }),
        Just(Event::SavingChanged { unsaved: 0, reason: None }),
        text().prop_map(|delta| Event::BashExecutionUpdate { id: None, delta }),
    ]
}
