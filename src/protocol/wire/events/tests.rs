use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::*;
use crate::protocol::{
    AssistantMessage, Block, Cost, Entry, EntryBody, EntryId, ModelRef, RunMessages, Seq, SystemMessage, TextBlock,
    ThinkingBlock, ThinkingLevel, ToolOutput, ToolResultMessage,
    event::{CompactionReason, CompactionResult, NoticeLevel, SelectSource},
    failure::{Failure, FailureClass},
    run_messages::StoredMessages,
};

/// A run that added one message.
fn run(message: AgentMessage) -> RunMessages {
    struct One(AgentMessage);
    impl StoredMessages for One {
        fn message(&self, _: &EntryId) -> Option<AgentMessage> {
            Some(self.0.clone())
        }
    }
    RunMessages::of(vec!["u1".into()]).read_from(Arc::new(One(message)))
}

fn lines(mode: WireMode, events: impl IntoIterator<Item = Event>) -> Vec<Value> {
    let mut state = WireState::new(mode);
    let mut out = Vec::new();
    for event in events {
        write_event(&Published { seq: Seq::default(), event }, &mut state, &mut out);
    }
    let text = String::from_utf8(out).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "a line is open: {text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn call() -> CallLabel {
    let args = json!({"command": "ls"}).as_object().cloned().unwrap();
    CallLabel { place: 0, tool_call_id: "c1".into(), tool_name: "bash".into(), args: Arc::new(args) }
}

fn assistant() -> AssistantMessage {
    AssistantMessage { content: vec![Block::text("hi")], model: "m1".into(), ..AssistantMessage::default() }
}

fn updates(events: Vec<StreamEvent>) -> Vec<Value> {
    let lines = lines(WireMode::Json, [Event::MessageUpdate { events }]);
    lines
        .into_iter()
        .map(|line| {
            let keys: Vec<_> = line.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["type", "usage", "assistantMessageEvent"]);
            line["assistantMessageEvent"].clone()
        })
        .collect()
}

#[test]
fn each_step_of_a_streaming_message_is_one_line_and_start_and_end_are_none() {
    let message = Arc::new(assistant());
    let call = ToolCall {
        id: "c1".into(),
        name: "bash".into(),
        arguments: json!({"command": "ls"}).as_object().cloned().unwrap(),
        ..ToolCall::default()
    };
    let thinking = ThinkingBlock { thinking: "hm".into(), thinking_signature: Some("s".into()), redacted: None };
    let got = updates(vec![
        StreamEvent::Start(message.clone()),
        StreamEvent::ThinkingStart { index: 0 },
        StreamEvent::ThinkingDelta { index: 0, delta: "hm".into() },
        StreamEvent::TextStart { index: 1 },
        StreamEvent::TextDelta { index: 1, delta: "a\"\n\u{2028}é".into() },
        StreamEvent::ToolCallStart { index: 12, id: "c1".into(), name: "bash".into() },
        StreamEvent::ToolCallDelta { index: 12, delta: "{\"".into() },
        StreamEvent::ThinkingEnd { index: 0, block: thinking },
        StreamEvent::TextEnd { index: 1, block: TextBlock { text: "all".into(), text_signature: Some("x".into()) } },
        StreamEvent::ToolCallEnd { index: 12, call },
        StreamEvent::Done(message.clone()),
        StreamEvent::Failed { message, failure: Failure::new(FailureClass::Network, "x") },
    ]);
    let wanted = json!([
        {"type": "thinking_start", "contentIndex": 0},
        {"type": "thinking_delta", "contentIndex": 0, "delta": "hm"},
        {"type": "text_start", "contentIndex": 1},
        {"type": "text_delta", "contentIndex": 1, "delta": "a\"\n\u{2028}é"},
        {"type": "toolcall_start", "contentIndex": 12, "id": "c1", "toolName": "bash"},
        {"type": "toolcall_delta", "contentIndex": 12, "delta": "{\""},
        {"type": "thinking_end", "contentIndex": 0, "content": "hm"},
        {"type": "text_end", "contentIndex": 1, "content": "all"},
        {"type": "toolcall_end", "contentIndex": 12, "toolCall":
            {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}},
    ]);
    assert_eq!(Value::from(got), wanted);
}

#[test]
fn usage_is_what_the_provider_reported_last_and_zero_again_for_the_next_message() {
    let usage = Usage { input: 100, output: 10, cost: Cost { total: 0.5, ..Cost::default() }, ..Usage::default() };
    let delta = || StreamEvent::TextDelta { index: 0, delta: "x".into() };
    let start = || Event::MessageStart { message: AgentMessage::Assistant(Arc::new(AssistantMessage::default())) };
    let got = lines(
        WireMode::Json,
        [
            start(),
            Event::MessageUpdate { events: vec![delta(), StreamEvent::Usage(usage), delta()] },
            Event::MessageUpdate { events: vec![delta()] },
            start(),
            Event::MessageUpdate { events: vec![delta()] },
        ],
    );
    let seen: Vec<_> = got
        .iter()
        .filter(|line| line["type"] == "message_update")
        .map(|line| (line["usage"]["input"].as_u64().unwrap(), line["usage"]["cost"]["total"].as_f64().unwrap()))
        .collect();
    assert_eq!(seen, [(0, 0.0), (100, 0.5), (100, 0.5), (0, 0.0)]);
}

#[test]
fn events_have_pis_names_and_fields() {
    let user = AgentMessage::user("hi", 5);
    let user_json = json!({"role": "user", "content": [{"type": "text", "text": "hi"}], "timestamp": 5});
    let message = Arc::new(assistant());
    let message_json = serde_json::to_value(AgentMessage::Assistant(message.clone())).unwrap();
    assert_eq!(message_json["role"], "assistant");
    let result = Arc::new(ToolResultMessage { tool_call_id: "c1".into(), ..ToolResultMessage::default() });
    let result_json = serde_json::to_value(AgentMessage::ToolResult(result.clone())).unwrap();
    assert_eq!(result_json["role"], "toolResult");
    let system = AgentMessage::System(Arc::new(SystemMessage::default()));
    let entry = Entry {
        body: EntryBody::ContextEdit { target_id: "b".into(), replacement: None },
        id: "a".into(),
        parent_id: Some("b".into()),
        timestamp: "t".into(),
    };
    let made = CompactionResult {
        summary: "s".into(),
        first_kept_entry_id: "k".into(),
        tokens_before: 9,
        estimated_tokens_after: None,
        usage: None,
        details: None,
    };
    let denied = ToolOutput { terminate: true, ..ToolOutput::error("no") };
    let table = [
        (Event::AgentStart, json!({"type": "agent_start"})),
        (Event::TurnStart, json!({"type": "turn_start"})),
        (Event::MessageStart { message: user.clone() }, json!({"type": "message_start", "message": user_json})),
        (
            Event::MessageEnd { message: user.clone(), entry_id: Some("e".into()) },
            json!({"type": "message_end", "message": user_json}),
        ),
        (
            Event::MessageStart { message: system },
            json!({"type": "message_start", "message": {"role": "system", "content": [], "timestamp": 0}}),
        ),
        (
            Event::ToolExecutionStart { call: call() },
            json!({"type": "tool_execution_start", "toolCallId": "c1", "toolName": "bash", "args": {"command": "ls"}}),
        ),
        (
            Event::ToolExecutionUpdate { call: call(), partial: Arc::default() },
            json!({"type": "tool_execution_update", "toolCallId": "c1", "toolName": "bash",
                "args": {"command": "ls"}, "partialResult": {"content": []}}),
        ),
        (
            Event::ToolExecutionEnd { call: call(), result: Arc::new(ToolOutput::text("ok")), duration_ms: Some(3) },
            json!({"type": "tool_execution_end", "toolCallId": "c1", "toolName": "bash",
                "result": {"content": [{"type": "text", "text": "ok"}]}, "isError": false, "durationMs": 3}),
        ),
        (
            Event::ToolExecutionEnd { call: call(), result: Arc::new(denied), duration_ms: None },
            json!({"type": "tool_execution_end", "toolCallId": "c1", "toolName": "bash", "isError": true,
                "result": {"content": [{"type": "text", "text": "no"}], "details": {}, "terminate": true}}),
        ),
        (
            Event::TurnEnd { message, tool_results: vec![result] },
            json!({"type": "turn_end", "message": message_json, "toolResults": [result_json]}),
        ),
        (
            Event::AgentEnd { messages: run(user), will_retry: true },
            json!({"type": "agent_end", "messages": [user_json], "willRetry": true}),
        ),
        (Event::AgentSettled { aborted: true }, json!({"type": "agent_settled", "aborted": true})),
        (
            Event::QueueUpdate { steering: vec!["A".into()], follow_up: vec![] },
            json!({"type": "queue_update", "steering": ["A"], "followUp": []}),
        ),
        (
            Event::EntryAppended { entry: Arc::new(entry) },
            json!({"type": "entry_appended", "entry": {"type": "context_edit", "targetId": "b",
                "replacement": null, "id": "a", "parentId": "b", "timestamp": "t"}}),
        ),
        (Event::SessionInfoChanged { name: None }, json!({"type": "session_info_changed"})),
        (Event::SessionInfoChanged { name: Some("n".into()) }, json!({"type": "session_info_changed", "name": "n"})),
        (
            Event::ThinkingLevelChanged { level: ThinkingLevel::High },
            json!({"type": "thinking_level_changed", "level": "high"}),
        ),
        (
            Event::CompactionStart { reason: CompactionReason::Overflow },
            json!({"type": "compaction_start", "reason": "overflow"}),
        ),
        (
            Event::CompactionEnd {
                reason: CompactionReason::Manual,
                result: Some(made),
                aborted: false,
                will_retry: true,
                error_message: None,
            },
            json!({"type": "compaction_end", "reason": "manual", "aborted": false, "willRetry": true,
                "result": {"summary": "s", "firstKeptEntryId": "k", "tokensBefore": 9}}),
        ),
        (
            Event::CompactionEnd {
                reason: CompactionReason::Threshold,
                result: None,
                aborted: true,
                will_retry: false,
                error_message: Some("e".into()),
            },
            json!({"type": "compaction_end", "reason": "threshold", "aborted": true, "willRetry": false,
                "errorMessage": "e"}),
        ),
        (
            Event::AutoRetryStart { attempt: 1, max_attempts: 3, delay_ms: 2000, error_message: "503".into() },
            json!({"type": "auto_retry_start", "attempt": 1, "maxAttempts": 3, "delayMs": 2000, "errorMessage": "503"}),
        ),
        (
            Event::AutoRetryEnd { success: true, attempt: 1, final_error: None },
            json!({"type": "auto_retry_end", "success": true, "attempt": 1}),
        ),
        (
            Event::AutoRetryEnd { success: false, attempt: 3, final_error: Some("503".into()) },
            json!({"type": "auto_retry_end", "success": false, "attempt": 3, "finalError": "503"}),
        ),
        (
            Event::SummarizationRetryScheduled {
                attempt: 1,
                max_attempts: 3,
                delay_ms: 30,
                error_message: "503".into(),
            },
            json!({"type": "summarization_retry_scheduled", "attempt": 1, "maxAttempts": 3, "delayMs": 30,
                "errorMessage": "503"}),
        ),
        (
            Event::SummarizationRetryAttemptStart { source: SummarySource::Compaction(CompactionReason::Manual) },
            json!({"type": "summarization_retry_attempt_start", "source": "compaction", "reason": "manual"}),
        ),
        (
            Event::SummarizationRetryAttemptStart { source: SummarySource::BranchSummary },
            json!({"type": "summarization_retry_attempt_start", "source": "branchSummary"}),
        ),
        (Event::SummarizationRetryFinished, json!({"type": "summarization_retry_finished"})),
        (
            Event::Restarted { actor: "TurnLoop".into(), cause: "panic".into() },
            json!({"type": "restart", "actor": "TurnLoop", "cause": "panic"}),
        ),
        (Event::Parked { cause: "too often".into() }, json!({"type": "parked", "cause": "too often"})),
        (
            Event::Gap { from: Seq { epoch: 0, n: 2 }, to: Seq { epoch: 0, n: 5 } },
            json!({"type": "gap", "from": {"epoch": 0, "n": 2}, "to": {"epoch": 0, "n": 5}}),
        ),
    ];
    for (event, wanted) in table {
        for mode in [WireMode::Json, WireMode::Rpc] {
            let got = lines(mode, [event.clone()]);
            assert_eq!(got, std::slice::from_ref(&wanted), "{event:?}");
        }
    }
}

#[test]
fn two_kinds_exist_in_rpc_only() {
    let table = [
        (
            Event::BashExecutionUpdate { id: Some("5".into()), delta: "hi\n".into() },
            json!({"type": "bash_execution_update", "id": "5", "delta": "hi\n"}),
        ),
        (
            Event::BashExecutionUpdate { id: None, delta: "x".into() },
            json!({"type": "bash_execution_update", "delta": "x"}),
        ),
        (
            Event::ExtensionError { extension: "p.ts".into(), event: "tool_call".into(), error: "boom".into() },
            json!({"type": "extension_error", "extensionPath": "p.ts", "event": "tool_call", "error": "boom"}),
        ),
    ];
    for (event, wanted) in table {
        assert_eq!(lines(WireMode::Rpc, [event.clone()]), [wanted]);
        assert_eq!(lines(WireMode::Json, [event]), [] as [Value; 0]);
    }
}

#[test]
fn notices_and_model_changes_are_not_on_the_wire() {
    for event in [
        Event::Notice { level: NoticeLevel::Error, text: "x".into() },
        Event::ModelChanged {
            model: ModelRef { provider: "p".into(), model_id: "m".into() },
            previous: None,
            source: SelectSource::Set,
        },
    ] {
        assert_eq!(lines(WireMode::Rpc, [event]), [] as [Value; 0]);
    }
}

#[test]
fn the_header_is_a_line_of_its_own() {
    let header = SessionHeader {
        agent: None,
        kind: "session".into(),
        version: Some(3),
        id: "i".into(),
        timestamp: "t".into(),
        cwd: "/w".into(),
        parent_session: None,
    };
    let mut out = Vec::new();
    write_header(&header, &mut out);
    let line = "{\"type\":\"session\",\"version\":3,\"id\":\"i\",\"timestamp\":\"t\",\"cwd\":\"/w\"}\n";
    assert_eq!(String::from_utf8(out).unwrap(), line);
}

#[test]
fn arguments_that_are_no_object_appear_as_an_empty_one() {
    let mut call = call();
    call.args = Arc::new(Map::new());
    let got = lines(WireMode::Json, [Event::ToolExecutionStart { call }]);
    assert_eq!(got[0]["args"], json!({}));
}
