use serde_json::{Value, json};

use super::{Wire, arguments, call, events, is_plain_id, list, parsed, push_user, text, usage};
use crate::transcript::{CallResult, Said, Thought, Turn};

pub struct Chat;

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "model": "m-chat",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

impl Wire for Chat {
    fn api(&self) -> &'static str {
        "openai-completions"
    }

    fn base_path(&self) -> &'static str {
        "/v1"
    }

    fn model(&self) -> &'static str {
        "m-chat"
    }

    fn call_id(&self, number: usize) -> String {
        format!("call_{number}")
    }

    fn is_call_id(&self, id: &str) -> bool {
        is_plain_id(id, 40)
    }

    fn answer(&self, said: &Said, _: usize) -> Vec<u8> {
        let thinking = said.thinking.iter().map(|text| chunk(json!({"reasoning_content": text}), None));
        let words = [chunk(json!({"content": said.text}), None)];
        let calls = said.calls.iter().enumerate().map(|(index, call)| {
            let function = json!({"name": call.1, "arguments": arguments(call)});
            chunk(
                json!({"tool_calls": [{"index": index, "id": call.0, "type": "function", "function": function}]}),
                None,
            )
        });
        let finish = if said.calls.is_empty() { "stop" } else { "tool_calls" };
        let end = [chunk(json!({}), Some(finish)), json!({"choices": [], "usage": usage()})];
        let mut body = events(thinking.chain(words).chain(calls).chain(end));
        body.extend_from_slice(b"data: [DONE]\n\n");
        body
    }

    fn breaking(&self, text: &str) -> Vec<u8> {
        let error = json!({"error": {"message": "The server had an error", "type": "server_error", "code": null}});
        events([chunk(json!({"content": text}), None), error])
    }

    fn read(&self, body: &Value) -> Vec<Turn> {
        let mut turns = Vec::new();
        for message in list(&body["messages"]) {
            match message["role"].as_str().unwrap() {
                "system" | "developer" => assert!(turns.is_empty(), "a late system message"),
                "user" => {
                    let (texts, images) = content(&message["content"]);
                    push_user(&mut turns, &texts, images);
                }
                "assistant" => {
                    let calls = message["tool_calls"].as_array().into_iter().flatten();
                    let calls =
                        calls.map(|c| call(&c["id"], &c["function"]["name"], parsed(&c["function"]["arguments"])));
                    let thought = |text: &Value| Thought { text: super::text(text), by: self.api().to_owned() };
                    turns.push(Turn::Assistant {
                        thinking: message.get("reasoning_content").map(thought).into_iter().collect(),
                        text: text(&message["content"]),
                        calls: calls.collect(),
                    });
                }
                "tool" => {
                    let result =
                        CallResult { id: text(&message["tool_call_id"]), text: text(&message["content"]), images: 0 };
                    match turns.last_mut() {
                        Some(Turn::Results(results)) => results.push(result),
                        Some(Turn::Assistant { .. }) => turns.push(Turn::Results(vec![result])),
                        other => panic!("a result behind {other:?}"),
                    }
                }
                other => panic!("the role {other}"),
            }
        }
        turns
    }
}

fn content(content: &Value) -> (Vec<String>, usize) {
    let Value::Array(parts) = content else { return (vec![text(content)], 0) };
    let texts = parts.iter().filter(|part| part["type"] == "text").map(|part| text(&part["text"]));
    let images = parts.iter().filter(|part| part["type"] == "image_url").inspect(|part| {
        assert!(text(&part["image_url"]["url"]).starts_with("data:image/png;base64,"), "{part}");
    });
    (texts.collect(), images.count())
}
