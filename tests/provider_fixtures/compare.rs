//! Compares what came of a recorded body with what must come of it.

use std::collections::HashSet;

use serde_json::{Value, json};
use troupe::{
    protocol::{AssistantMessage, Block, Failure, StreamEvent},
    providers::overflow::{is_context_overflow, is_overflow_text},
};

use crate::{invariants::invariants, manifest::Fixture};

/// Checks all events of one run.
pub fn check(fixture: &Fixture, way: &str, events: &[StreamEvent]) {
    let mut faults = Vec::new();
    match events.last() {
        Some(StreamEvent::Done(message)) => {
            invariants(events, message, true, &mut faults);
            compare(fixture, message, None, &mut faults);
        }
        Some(StreamEvent::Failed { message, failure }) => {
            invariants(events, message, false, &mut faults);
            compare(fixture, message, Some(failure), &mut faults);
        }
        other => faults.push(format!("the last event is {other:?}")),
    }
    assert!(faults.is_empty(), "{} ({way}):\n  {}\n{events:#?}", fixture.file, faults.join("\n  "));
}

fn compare(fixture: &Fixture, message: &AssistantMessage, failure: Option<&Failure>, faults: &mut Vec<String>) {
    let expect = &fixture.expect;
    let mut wanted = expect["message"].clone();
    let wanted_map = wanted.as_object_mut().unwrap();
    let cost = wanted_map.remove("cost");
    let hidden_overflow = wanted_map.remove("contextOverflow").is_some();
    let cut = failure.is_some();
    for block in wanted_map["content"].as_array_mut().unwrap() {
        let block = block.as_object_mut().unwrap();
        // The details hold the text's place too: the name of the field is not needed for the replay.
        if block.contains_key("reasoningDetails") {
            block.remove("reasoningField");
        }
        if cut {
            block.remove("arguments");
            block.remove("argumentsError");
        }
    }
    let mut got = serde_json::to_value(message).unwrap();
    got["content"] = message.content.iter().map(normal).collect();
    subset(&wanted, &got, "message", &mut HashSet::new(), faults);
    if let Some(Value::Object(cost)) = cost {
        for (part, amount) in cost {
            let got = got["usage"]["cost"][&part].as_f64().unwrap_or(f64::NAN);
            if (got - amount.as_f64().unwrap()).abs() > 1e-9 || got.is_nan() {
                faults.push(format!("cost.{part}: {got}, expected {amount}"));
            }
        }
    }
    if hidden_overflow && !is_context_overflow(message, fixture.context_window) {
        faults.push("the overflow is not seen".into());
    }
    match (failure, &expect["error"]) {
        (None, Value::Null) => {}
        (Some(failure), error @ Value::Object(_)) => compare_failure(message, failure, error, faults),
        (failure, error) => faults.push(format!("failure {failure:?}, expected {error}")),
    }
}

fn compare_failure(message: &AssistantMessage, failure: &Failure, error: &Value, faults: &mut Vec<String>) {
    let mut check = |what: &str, got: Value, wanted: &Value| {
        if got != *wanted {
            faults.push(format!("{what}: {got}, expected {wanted} in {failure:?}"));
        }
    };
    check("class", failure.class.name().into(), &error["class"]);
    check("retryAfterMs", json!(failure.retry_after_ms), &error["retryAfterMs"]);
    if !error["retryable"].is_null() {
        check("retryable", failure.retryable.into(), &error["retryable"]);
    }
    if !error["status"].is_null() {
        check("status", json!(failure.status), &error["status"]);
    }
    check("errorMessage", json!(message.error_message), &json!(failure.message));
    let text = failure.message.to_lowercase();
    for part in error["messageContains"].as_array().unwrap() {
        if !text.contains(&part.as_str().unwrap().to_lowercase()) {
            faults.push(format!("the text lacks {part}: {}", failure.message));
        }
    }
    // A stored text must say the same as the live failure.
    let by_text = is_overflow_text(&failure.message, &message.provider);
    if by_text != (error["class"] == "context_overflow") {
        faults.push(format!("overflow by text alone: {by_text}: {}", failure.message));
    }
}

/// A block under the names that the fixtures use.
fn normal(block: &Block) -> Value {
    match block {
        Block::Thinking(block) => {
            let mut normal = json!({"type": "thinking", "thinking": block.thinking});
            if block.redacted == Some(true) {
                normal["redacted"] = true.into();
            }
            if let Some(data) = &block.thinking_signature {
                normal["signature"] = data.as_str().into();
                normal["reasoningField"] = data.as_str().into();
                match serde_json::from_str(data) {
                    Ok(details @ Value::Array(_)) => normal["reasoningDetails"] = details,
                    Ok(item @ Value::Object(_)) => normal["replayItem"] = item,
                    _ => {}
                }
            }
            normal
        }
        Block::ToolCall(call) => {
            let mut normal = serde_json::to_value(block).unwrap();
            normal["argumentsError"] = call.arguments_error.is_some().into();
            signed(&mut normal, call.thought_signature.as_deref());
            normal
        }
        Block::Text(text) => {
            let mut normal = serde_json::to_value(block).unwrap();
            signed(&mut normal, text.text_signature.as_deref());
            let item = text.text_signature.as_deref().and_then(|data| serde_json::from_str::<Value>(data).ok());
            if let Some(item) = item.filter(Value::is_object) {
                normal["itemId"] = item["id"].clone();
                normal["phase"] = item["phase"].clone();
            }
            normal
        }
        other => serde_json::to_value(other).unwrap(),
    }
}

fn signed(block: &mut Value, signature: Option<&str>) {
    if let Some(signature) = signature {
        block["signature"] = signature.into();
    }
}

/// `wanted` is in `got`: objects as subsets, lists exactly, `$match` as the fixtures' README says.
fn subset(wanted: &Value, got: &Value, path: &str, ids: &mut HashSet<String>, faults: &mut Vec<String>) {
    match (wanted, got) {
        (Value::Object(map), _) if map.contains_key("$match") => {
            let id = got.as_str().unwrap_or_default();
            if map["$match"] == "unique-nonempty" && (id.is_empty() || ids.contains(id)) {
                faults.push(format!("{path}: {got} is not a new id"));
            }
            ids.insert(id.to_owned());
        }
        (Value::Object(map), Value::Object(other)) => {
            for (key, value) in map {
                let path = format!("{path}.{key}");
                match other.get(key) {
                    Some(got) => subset(value, got, &path, ids, faults),
                    None => faults.push(format!("{path} is missing")),
                }
                if key == "id" {
                    ids.extend(other.get(key).and_then(Value::as_str).map(str::to_owned));
                }
            }
        }
        (Value::Array(list), Value::Array(other)) if list.len() == other.len() => {
            for (at, (value, got)) in list.iter().zip(other).enumerate() {
                subset(value, got, &format!("{path}[{at}]"), ids, faults);
            }
        }
        _ if wanted == got => {}
        _ => faults.push(format!("{path}: {got}, expected {wanted}")),
    }
}
