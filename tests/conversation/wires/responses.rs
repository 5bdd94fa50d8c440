use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::{Wire, arguments, call, is_plain_id, list, named_events, parsed, push_user, signature, text};
use crate::transcript::{CallResult, Said, Thought, Turn};

/// The Responses API and its variants.
pub struct Responses {
    api: &'static str,
    base_path: &'static str,
    model: &'static str,
}

pub const OPENAI: Responses = Responses { api: "openai-responses", base_path: "/v1", model: "m-responses" };
pub const AZURE: Responses = Responses { api: "azure-openai-responses", base_path: "/openai/v1", model: "m-azure" };
pub const CODEX: Responses = Responses { api: "openai-codex-responses", base_path: "/backend-api", model: "m-codex" };

fn message(step: usize, said: &str) -> Value {
    json!({"type": "message", "id": format!("msg_{step}"), "role": "assistant", "status": "completed", "phase": "commentary",
        "content": [{"type": "output_text", "text": said, "annotations": []}]})
}

impl Wire for Responses {
    fn api(&self) -> &'static str {
        self.api
    }

    fn base_path(&self) -> &'static str {
        self.base_path
    }

    fn model(&self) -> &'static str {
        self.model
    }

    fn key(&self) -> String {
        let claims =
            json!({"https://api.openai.com/auth": {"chatgpt_account_id": "account-1"}, "exp": 4_102_444_800u64});
        let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.c2ln", part(json!({"alg": "none"})), part(claims))
    }

    fn call_id(&self, number: usize) -> String {
        format!("call_{number}")
    }

    fn is_call_id(&self, id: &str) -> bool {
        is_plain_id(id, 64)
    }

    fn answer(&self, said: &Said, step: usize) -> Vec<u8> {
        let mut items = Vec::new();
        if let Some(thinking) = &said.thinking {
            let delta = json!({"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": thinking});
            let summary = json!([{"type": "summary_text", "text": thinking}]);
            let item = |summary| json!({"type": "reasoning", "id": format!("rs_{step}"), "summary": summary, "encrypted_content": signature(thinking)});
            items.push((item(json!([])), delta, item(summary)));
        }
        let words = json!({"type": "response.output_text.delta", "content_index": 0, "delta": said.text});
        items.push((
            json!({"type": "message", "id": format!("msg_{step}"), "role": "assistant", "content": []}),
            words,
            message(step, &said.text),
        ));
        for (number, call) in said.calls.iter().enumerate() {
            let item = |text: String| json!({"type": "function_call", "id": format!("fc_{step}_{number}"), "call_id": call.0, "name": call.1, "arguments": text});
            let delta = json!({"type": "response.function_call_arguments.delta", "delta": arguments(call)});
            items.push((item(String::new()), delta, item(arguments(call))));
        }
        let events = items.into_iter().enumerate().flat_map(|(index, (added, mut delta, done))| {
            delta["output_index"] = index.into();
            delta["item_id"] = added["id"].clone();
            [
                json!({"type": "response.output_item.added", "output_index": index, "item": added}),
                delta,
                json!({"type": "response.output_item.done", "output_index": index, "item": done}),
            ]
        });
        let created = json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "model": self.model}});
        let end = json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed",
            "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}});
        named_events(std::iter::once(created).chain(events).chain([end]))
    }

    fn breaking(&self, text: &str) -> Vec<u8> {
        named_events([
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "msg_x", "content": []}}),
            json!({"type": "response.output_text.delta", "item_id": "msg_x", "output_index": 0, "delta": text}),
            json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "It failed"}}}),
        ])
    }

    fn read(&self, body: &Value) -> Vec<Turn> {
        assert_eq!(body["store"], false);
        let mut turns = Vec::new();
        let items = list(&body["input"]);
        for (place, item) in items.iter().enumerate() {
            match (item["type"].as_str(), item["role"].as_str()) {
                (None | Some("message"), Some("system" | "developer")) => {
                    assert!(turns.is_empty(), "a late system message")
                }
                (None | Some("message"), Some("user")) => {
                    let (texts, images) = parts(&item["content"]);
                    push_user(&mut turns, &texts, images);
                }
                (Some("reasoning"), _) => {
                    let thought = text(&item["summary"][0]["text"]);
                    assert_eq!(item["encrypted_content"], signature(&thought), "a thought without its seal");
                    let follower = items.get(place + 1).map(|next| next["id"].clone());
                    assert!(follower.is_some_and(|id| id.is_string()), "reasoning without the item that it led to");
                    assistant(&mut turns, true).0.push(Thought { text: thought, by: self.api.to_owned() });
                }
                (Some("message"), Some("assistant")) => {
                    let follows = matches!(place.checked_sub(1).map(|before| &items[before]["type"]), Some(kind) if kind == "reasoning");
                    *assistant(&mut turns, !follows).1 = parts(&item["content"]).0.join("\n");
                }
                (Some("function_call"), _) => {
                    if let Some(id) = item["id"].as_str() {
                        assert!(id.starts_with("fc_") && id.len() <= 64, "the item id {id}");
                    }
                    assistant(&mut turns, false).2.push(call(
                        &item["call_id"],
                        &item["name"],
                        parsed(&item["arguments"]),
                    ));
                }
                (Some("function_call_output"), _) => {
                    let (texts, images) = parts(&item["output"]);
                    let result = CallResult { id: text(&item["call_id"]), text: texts.join("\n"), images };
                    match turns.last_mut() {
                        Some(Turn::Results(results)) => results.push(result),
                        _ => turns.push(Turn::Results(vec![result])),
                    }
                }
                other => panic!("the item {other:?}"),
            }
        }
        turns
    }
}

/// The open turn of the model, or a new one.
fn assistant(turns: &mut Vec<Turn>, new: bool) -> (&mut Vec<Thought>, &mut String, &mut Vec<crate::transcript::Call>) {
    if new || !matches!(turns.last(), Some(Turn::Assistant { .. })) {
        turns.push(Turn::Assistant { thinking: Vec::new(), text: String::new(), calls: Vec::new() });
    }
    match turns.last_mut() {
        Some(Turn::Assistant { thinking, text, calls }) => (thinking, text, calls),
        _ => unreachable!("it was just pushed"),
    }
}

fn parts(content: &Value) -> (Vec<String>, usize) {
    let Value::Array(parts) = content else { return (vec![text(content)], 0) };
    let texts = parts.iter().filter(|part| part["type"] != "input_image").map(|part| text(&part["text"]));
    (texts.collect(), parts.iter().filter(|part| part["type"] == "input_image").count())
}
