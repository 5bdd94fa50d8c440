use serde_json::{Value, json};

use super::{Wire, arguments, call, is_plain_id, list, signature, text};
use crate::transcript::{CallResult, Said, Thought, Turn};

pub struct Bedrock;

/// CRC-32 as in zlib, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// A frame of an AWS event stream.
fn frame(kind: &str, name: &str, payload: &Value) -> Vec<u8> {
    let name_header = if kind == "event" { ":event-type" } else { ":exception-type" };
    let mut headers = Vec::new();
    for (header, value) in [(":message-type", kind), (name_header, name), (":content-type", "application/json")] {
        headers.push(u8::try_from(header.len()).unwrap());
        headers.extend_from_slice(header.as_bytes());
        headers.push(7);
        headers.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend_from_slice(value.as_bytes());
    }
    let payload = payload.to_string();
    let mut frame = Vec::new();
    frame.extend_from_slice(&u32::try_from(16 + headers.len() + payload.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(&u32::try_from(headers.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(&crc32(&frame).to_be_bytes());
    frame.extend_from_slice(&headers);
    frame.extend_from_slice(payload.as_bytes());
    frame.extend_from_slice(&crc32(&frame).to_be_bytes());
    frame
}

fn delta(index: usize, delta: Value) -> Vec<u8> {
    frame("event", "contentBlockDelta", &json!({"contentBlockIndex": index, "delta": delta}))
}

impl Wire for Bedrock {
    fn api(&self) -> &'static str {
        "bedrock-converse-stream"
    }

    fn base_path(&self) -> &'static str {
        ""
    }

    fn model(&self) -> &'static str {
        "anthropic.claude-sonnet-5"
    }

    fn call_id(&self, number: usize) -> String {
        format!("tooluse_{number}")
    }

    fn is_call_id(&self, id: &str) -> bool {
        is_plain_id(id, 64)
    }

    fn answer(&self, said: &Said, _: usize) -> Vec<u8> {
        let mut body = frame("event", "messageStart", &json!({"role": "assistant"}));
        let mut index = 0;
        let mut stop = |body: &mut Vec<u8>| {
            body.extend(frame("event", "contentBlockStop", &json!({"contentBlockIndex": index})));
            index += 1;
            index
        };
        let mut next = 0;
        if let Some(thinking) = &said.thinking {
            body.extend(delta(next, json!({"reasoningContent": {"text": thinking}})));
            body.extend(delta(next, json!({"reasoningContent": {"signature": signature(thinking)}})));
            next = stop(&mut body);
        }
        body.extend(delta(next, json!({"text": said.text})));
        next = stop(&mut body);
        for call in &said.calls {
            let start = json!({"toolUse": {"toolUseId": call.0, "name": call.1}});
            body.extend(frame("event", "contentBlockStart", &json!({"contentBlockIndex": next, "start": start})));
            body.extend(delta(next, json!({"toolUse": {"input": arguments(call)}})));
            next = stop(&mut body);
        }
        let reason = if said.calls.is_empty() { "end_turn" } else { "tool_use" };
        body.extend(frame("event", "messageStop", &json!({"stopReason": reason})));
        body.extend(frame(
            "event",
            "metadata",
            &json!({"usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}}),
        ));
        body
    }

    fn breaking(&self, text: &str) -> Vec<u8> {
        let mut body = delta(0, json!({"text": text}));
        body.extend(frame("exception", "internalServerException", &json!({"message": "It failed"})));
        body
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

impl Bedrock {
    fn assistant(&self, blocks: &[Value]) -> Turn {
        let (mut thinking, mut texts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        for block in blocks {
            if let Some(reasoning) = block["reasoningContent"].get("reasoningText") {
                let text = text(&reasoning["text"]);
                assert_eq!(reasoning["signature"], signature(&text));
                thinking.push(Thought { text, by: self.api().to_owned() });
            } else if let Some(tool) = block.get("toolUse") {
                calls.push(call(&tool["toolUseId"], &tool["name"], tool["input"].clone()));
            } else if block.get("cachePoint").is_none() {
                texts.push(text(&block["text"]));
            }
        }
        Turn::Assistant { thinking, text: texts.join("\n"), calls }
    }
}

/// Results, and the prompt behind them where the answer between was lost: roles must alternate.
fn user(blocks: &[Value]) -> Vec<Turn> {
    let blocks = blocks.iter().filter(|block| block.get("cachePoint").is_none());
    let (results, others): (Vec<&Value>, Vec<&Value>) = blocks.partition(|block| block.get("toolResult").is_some());
    let is_image = |block: &&Value| block["image"]["format"] == "png";
    let results = results.iter().map(|block| {
        let result = &block["toolResult"];
        let content = list(&result["content"]);
        let texts: Vec<String> = content.iter().filter_map(|part| part.get("text")).map(text).collect();
        let images = content.iter().filter(is_image).count();
        assert!(result["status"] != "error" || images == 0, "a picture in a failed result");
        CallResult { id: text(&result["toolUseId"]), text: texts.join("\n"), images }
    });
    let texts: Vec<String> = others.iter().filter_map(|block| block.get("text")).map(text).collect();
    let user = Turn::User { text: texts.join("\n"), images: others.iter().copied().filter(is_image).count() };
    let results: Vec<CallResult> = results.collect();
    let results = (!results.is_empty()).then_some(Turn::Results(results));
    results.into_iter().chain((!others.is_empty()).then_some(user)).collect()
}
