use serde_json::{Value, json};

use super::{Wire, arguments, call, events, list, parsed, text, usage};
use crate::transcript::{CallResult, Said, Thought, Turn};

pub struct Mistral;

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    let mut chunk =
        json!({"id": "m", "model": "m-mistral", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    if finish.is_some() {
        chunk["usage"] = usage();
    }
    chunk
}

impl Wire for Mistral {
    fn api(&self) -> &'static str {
        "mistral-conversations"
    }

    fn base_path(&self) -> &'static str {
        ""
    }

    fn model(&self) -> &'static str {
        "m-mistral"
    }

    fn call_id(&self, number: usize) -> String {
        format!("mst{number:06}")
    }

    fn is_call_id(&self, id: &str) -> bool {
        id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric())
    }

    fn answer(&self, said: &Said, _: usize) -> Vec<u8> {
        let thinking = said.thinking.iter().map(|text| {
            chunk(json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}), None)
        });
        let words = [chunk(json!({"content": [{"type": "text", "text": said.text}]}), None)];
        let calls = said.calls.iter().enumerate().map(|(index, call)| {
            let function = json!({"name": call.1, "arguments": arguments(call)});
            chunk(json!({"tool_calls": [{"index": index, "id": call.0, "function": function}]}), None)
        });
        let finish = if said.calls.is_empty() { "stop" } else { "tool_calls" };
        let mut body = events(thinking.chain(words).chain(calls).chain([chunk(json!({"content": ""}), Some(finish))]));
        body.extend_from_slice(b"data: [DONE]\n\n");
        body
    }

    fn breaking(&self, text: &str) -> Vec<u8> {
        events([chunk(json!({"content": text}), None), chunk(json!({}), Some("error"))])
    }

    fn read(&self, body: &Value) -> Vec<Turn> {
        let mut turns = Vec::new();
        for message in list(&body["messages"]) {
            match message["role"].as_str().unwrap() {
                "system" => assert!(turns.is_empty(), "a late system message"),
                "user" => {
                    let (_, texts, images) = parts(&message["content"]);
                    turns.push(Turn::User { text: texts.join("\n"), images });
                }
                "assistant" => {
                    assert!(message.get("reasoning_content").is_none(), "an unknown field");
                    let (thoughts, texts, _) = parts(&message["content"]);
                    let calls = message["tool_calls"].as_array().into_iter().flatten();
                    let calls =
                        calls.map(|c| call(&c["id"], &c["function"]["name"], parsed(&c["function"]["arguments"])));
                    let thinking = thoughts.into_iter().map(|text| Thought { text, by: self.api().to_owned() });
                    turns.push(Turn::Assistant {
                        thinking: thinking.collect(),
                        text: texts.join("\n"),
                        calls: calls.collect(),
                    });
                }
                "tool" => {
                    assert_eq!(message["name"], "read");
                    let (_, texts, images) = parts(&message["content"]);
                    // The mark of a failure belongs to the wire.
                    let said = texts.join("\n");
                    let said = said.strip_prefix("[tool error] ").unwrap_or(&said).to_owned();
                    let result = CallResult { id: text(&message["tool_call_id"]), text: said, images };
                    match turns.last_mut() {
                        Some(Turn::Results(results)) => results.push(result),
                        _ => turns.push(Turn::Results(vec![result])),
                    }
                }
                other => panic!("the role {other}"),
            }
        }
        turns
    }
}

/// Thoughts, texts and the number of pictures of a content.
fn parts(content: &Value) -> (Vec<String>, Vec<String>, usize) {
    let Value::Array(parts) = content else { return (Vec::new(), vec![text(content)], 0) };
    let (mut thoughts, mut texts, mut images) = (Vec::new(), Vec::new(), 0);
    for part in parts {
        match part["type"].as_str().unwrap() {
            "thinking" => thoughts.push(text(&part["thinking"][0]["text"])),
            "text" => texts.push(text(&part["text"])),
            "image_url" => {
                assert!(text(&part["image_url"]).starts_with("data:image/png;base64,"), "{part}");
                images += 1;
            }
            other => panic!("the part {other}"),
        }
    }
    (thoughts, texts, images)
}
