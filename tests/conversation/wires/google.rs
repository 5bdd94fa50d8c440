use serde_json::{Value, json};

use super::{Wire, is_plain_id, list, signature, text};
use crate::transcript::{Call, CallResult, Said, Thought, Turn};

/// Gemini's API, and the cloud's.
pub struct Google {
    api: &'static str,
    base_path: &'static str,
}

pub const GEMINI: Google = Google { api: "google-generative-ai", base_path: "/v1beta" };
pub const VERTEX: Google = Google { api: "google-vertex", base_path: "/v1" };

fn chunk(parts: Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": "gemini-3-test", "responseId": "r"})
}

fn events(chunks: impl IntoIterator<Item = Value>) -> Vec<u8> {
    chunks.into_iter().flat_map(|chunk| format!("data: {chunk}\r\n\r\n").into_bytes()).collect()
}

impl Wire for Google {
    fn api(&self) -> &'static str {
        self.api
    }

    fn base_path(&self) -> &'static str {
        self.base_path
    }

    fn model(&self) -> &'static str {
        "gemini-3-test"
    }

    fn call_id(&self, number: usize) -> String {
        format!("g{number}")
    }

    fn is_call_id(&self, id: &str) -> bool {
        is_plain_id(id, 64)
    }

    fn answer(&self, said: &Said, _: usize) -> Vec<u8> {
        let thinking = said
            .thinking
            .iter()
            .map(|text| chunk(json!([{"text": text, "thought": true, "thoughtSignature": signature(text)}]), None));
        let words = [chunk(json!([{"text": said.text}]), None)];
        let calls = said.calls.iter().enumerate().map(|(place, (id, name, arguments))| {
            let mut part = json!({"functionCall": {"id": id, "name": name, "args": arguments}});
            if place == 0 {
                part["thoughtSignature"] = signature(id).into();
            }
            chunk(json!([part]), None)
        });
        events(thinking.chain(words).chain(calls).chain([chunk(json!([]), Some("STOP"))]))
    }

    fn breaking(&self, text: &str) -> Vec<u8> {
        let error = json!({"error": {"code": 503, "message": "Try again", "status": "UNAVAILABLE"}});
        events([chunk(json!([{"text": text}]), None), error])
    }

    fn read(&self, body: &Value) -> Vec<Turn> {
        list(&body["contents"])
            .iter()
            .map(|content| match content["role"].as_str().unwrap() {
                "user" => user(list(&content["parts"])),
                "model" => self.assistant(list(&content["parts"])),
                other => panic!("the role {other}"),
            })
            .collect()
    }
}

impl Google {
    fn assistant(&self, parts: &[Value]) -> Turn {
        let (mut thinking, mut texts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            if let Some(call) = part.get("functionCall") {
                let id = text(&call["id"]);
                if let Some(seal) = part.get("thoughtSignature") {
                    assert_eq!(*seal, signature(&id), "a signature on another call");
                }
                calls.push(Call { id, name: text(&call["name"]), arguments: call["args"].clone() });
            } else if part["thought"] == true {
                let text = text(&part["text"]);
                assert_eq!(part["thoughtSignature"], signature(&text));
                thinking.push(Thought { text, by: self.api.to_owned() });
            } else {
                texts.push(text(&part["text"]));
            }
        }
        Turn::Assistant { thinking, text: texts.join("\n"), calls }
    }
}

fn user(parts: &[Value]) -> Turn {
    let images = |parts: &[Value]| parts.iter().filter(|part| part["inlineData"]["mimeType"] == "image/png").count();
    if parts.iter().all(|part| part.get("functionResponse").is_none()) {
        let texts: Vec<String> = parts.iter().filter_map(|part| part.get("text")).map(text).collect();
        return Turn::User { text: texts.join("\n"), images: images(parts) };
    }
    let results = parts.iter().map(|part| {
        let response = &part["functionResponse"];
        assert!(response["name"] == "read", "results stand alone: {part}");
        let said = response["response"].get("output").or(response["response"].get("error"));
        let attached = response["parts"].as_array().map_or(0, |parts| images(parts));
        CallResult { id: text(&response["id"]), text: text(said.expect("output or error")), images: attached }
    });
    Turn::Results(results.collect())
}
