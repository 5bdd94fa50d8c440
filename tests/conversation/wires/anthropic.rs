use serde_json::{Value, json};

use super::{Wire, arguments, call, is_plain_id, list, named_events, signature, text};
use crate::transcript::{CallResult, Said, Thought, Turn};

pub struct Anthropic;

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-claude",
        "content": [], "usage": {"input_tokens": 10, "output_tokens": 1}}})
}

fn block(index: usize, start: Value, deltas: Vec<Value>) -> Vec<Value> {
    let deltas = deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
    std::iter::once(json!({"type": "content_block_start", "index": index, "content_block": start}))
        .chain(deltas)
        .chain([json!({"type": "content_block_stop", "index": index})])
        .collect()
}

impl Wire for Anthropic {
    fn api(&self) -> &'static str {
        "anthropic-messages"
    }

    fn base_path(&self) -> &'static str {
        ""
    }

    fn model(&self) -> &'static str {
        "m-claude"
    }

    fn call_id(&self, number: usize) -> String {
        format!("toolu_{number}")
    }

    fn is_call_id(&self, id: &str) -> bool {
        is_plain_id(id, 64)
    }

    fn answer(&self, said: &Said, _: usize) -> Vec<u8> {
        let mut blocks = Vec::new();
        if let Some(thinking) = &said.thinking {
            let deltas = vec![
                json!({"type": "thinking_delta", "thinking": thinking}),
                json!({"type": "signature_delta", "signature": signature(thinking)}),
            ];
            blocks.push((json!({"type": "thinking", "thinking": "", "signature": ""}), deltas));
        }
        blocks.push((json!({"type": "text", "text": ""}), vec![json!({"type": "text_delta", "text": said.text})]));
        for call in &said.calls {
            let start = json!({"type": "tool_use", "id": call.0, "name": call.1, "input": {}});
            blocks.push((start, vec![json!({"type": "input_json_delta", "partial_json": arguments(call)})]));
        }
        let reason = if said.calls.is_empty() { "end_turn" } else { "tool_use" };
        let end = [
            json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}),
            json!({"type": "message_stop"}),
        ];
        let blocks = blocks.into_iter().enumerate().flat_map(|(index, (start, deltas))| block(index, start, deltas));
        named_events(std::iter::once(start()).chain(blocks).chain(end))
    }

    fn breaking(&self, text: &str) -> Vec<u8> {
        let words = block(0, json!({"type": "text", "text": ""}), vec![json!({"type": "text_delta", "text": text})]);
        let error = json!({"type": "error", "error": {"type": "api_error", "message": "Internal server error"}});
        named_events(std::iter::once(start()).chain(words).chain([error]))
    }

    fn read(&self, body: &Value) -> Vec<Turn> {
        list(&body["messages"])
            .iter()
            .flat_map(|message| match message["role"].as_str().unwrap() {
                "user" => user(list(&message["content"])),
                "assistant" => vec![self.assistant(list(&message["content"]))],
                other => panic!("the role {other}"),
            })
            .collect()
    }
}

impl Anthropic {
    fn assistant(&self, blocks: &[Value]) -> Turn {
        let of_type = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
        let thinking = of_type("thinking").map(|block| {
            let text = text(&block["thinking"]);
            assert_eq!(block["signature"], signature(&text), "a signature that is not its thought's");
            Thought { text, by: self.api().to_owned() }
        });
        let texts: Vec<String> = of_type("text").map(|block| text(&block["text"])).collect();
        assert!(texts.iter().all(|text| !text.trim().is_empty()), "a blank text");
        let calls = of_type("tool_use").map(|block| call(&block["id"], &block["name"], block["input"].clone()));
        Turn::Assistant { thinking: thinking.collect(), text: texts.join("\n"), calls: calls.collect() }
    }
}

fn user(blocks: &[Value]) -> Vec<Turn> {
    if blocks.iter().all(|block| block["type"] != "tool_result") {
        let texts: Vec<String> =
            blocks.iter().filter(|block| block["type"] == "text").map(|b| text(&b["text"])).collect();
        return vec![Turn::User { text: texts.join("\n"), images: images(blocks) }];
    }
    let results = blocks.iter().map(|block| {
        assert_eq!(block["type"], "tool_result", "results stand alone: {blocks:?}");
        let (text, images) = match &block["content"] {
            Value::Array(parts) => {
                assert!(block["is_error"] != true || images(parts) == 0, "a picture in a failed result");
                let texts = parts.iter().filter(|part| part["type"] == "text").map(|part| text(&part["text"]));
                (texts.collect::<Vec<_>>().join("\n"), images(parts))
            }
            content => (text(content), 0),
        };
        CallResult { id: super::text(&block["tool_use_id"]), text, images }
    });
    vec![Turn::Results(results.collect())]
}

fn images(blocks: &[Value]) -> usize {
    blocks.iter().filter(|block| block["type"] == "image" && block["source"]["media_type"] == "image/png").count()
}
