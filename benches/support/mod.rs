//! What servers send, for every wire API: the same words in each API's own form.

use std::sync::Arc;

use serde_json::{Value, json};
use troupe::protocol::{
    Model,
    model::{InputKind, ModelCost},
};

/// A model of a wire API.
pub fn model(api: &str) -> Arc<Model> {
    Arc::new(Model {
        id: "m".into(),
        name: "M".into(),
        api: api.into(),
        provider: "custom".into(),
        base_url: "http://localhost/v1".into(),
        reasoning: false,
        thinking_level_map: None,
        input: vec![InputKind::Text],
        input_limits: None,
        cost: ModelCost::default(),
        prompt_cache: None,
        context_window: 10_000_000,
        max_tokens: 16_384,
        sampling_params: None,
        sampling_params_by_thinking_level: None,
        headers: None,
        compat: None,
    })
}

/// The events of one wire API.
pub struct Sample {
    api: &'static str,
    text_opening: Vec<Value>,
    text: fn(&str) -> Value,
    call_opening: Vec<Value>,
    /// None where arguments come whole.
    fragment: Option<fn(&str) -> Value>,
}

impl Sample {
    /// The events of an API; `None` for one that this list does not know yet.
    pub fn of(api: &'static str) -> Option<Self> {
        match api {
            "anthropic-messages" => Some(anthropic(api)),
            "openai-completions" | "mistral-conversations" => Some(chat(api)),
            "openai-responses" | "azure-openai-responses" | "openai-codex-responses" => Some(responses(api)),
            "google-generative-ai" | "google-vertex" => Some(google(api)),
            "bedrock-converse-stream" => Some(bedrock(api)),
            _ => None,
        }
    }

    /// What comes before the first text.
    pub fn text_opening(&self) -> Vec<u8> {
        self.text_opening.iter().flat_map(|event| self.frame(event)).collect()
    }

    /// One event with a text.
    pub fn text(&self, text: &str) -> Vec<u8> {
        self.frame(&(self.text)(text))
    }

    /// The JSON of one event with a text, without its frame.
    pub fn text_json(&self, text: &str) -> Vec<u8> {
        payload(&(self.text)(text)).1.to_string().into_bytes()
    }

    /// What comes before the first piece of arguments.
    pub fn call_opening(&self) -> Vec<u8> {
        self.call_opening.iter().flat_map(|event| self.frame(event)).collect()
    }

    /// One event with a piece of arguments.
    pub fn fragment(&self, text: &str) -> Option<Vec<u8>> {
        Some(self.frame(&self.fragment?(text)))
    }

    fn frame(&self, event: &Value) -> Vec<u8> {
        match (self.api, payload(event)) {
            ("bedrock-converse-stream", (name, payload)) => aws_frame(name, payload.to_string().as_bytes()),
            ("anthropic-messages", (name, payload)) => format!("event: {name}\ndata: {payload}\n\n").into_bytes(),
            (_, (_, payload)) => format!("data: {payload}\n\n").into_bytes(),
        }
    }
}

/// The name of an event and what is sent of it. In the tables below an event of one key is named by it.
fn payload(event: &Value) -> (&str, &Value) {
    match event.as_object().map(|members| (members.len(), members.iter().next())) {
        Some((1, Some((name, payload)))) => (name, payload),
        _ => (event["type"].as_str().unwrap_or_default(), event),
    }
}

fn anthropic(api: &'static str) -> Sample {
    let start = json!({"type": "message_start", "message": {"id": "m1"}});
    let block = |block: Value| json!({"type": "content_block_start", "index": 0, "content_block": block});
    Sample {
        api,
        text_opening: vec![start.clone(), block(json!({"type": "text", "text": ""}))],
        text: |text| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        call_opening: vec![start, block(json!({"type": "tool_use", "id": "c1", "name": "write", "input": {}}))],
        fragment: Some(
            |text| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}}),
        ),
    }
}

fn chat_chunk(delta: Value) -> Value {
    json!({"id": "chatcmpl-9", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": "m",
           "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn chat(api: &'static str) -> Sample {
    let call = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "write", "arguments": ""}});
    Sample {
        api,
        text_opening: Vec::new(),
        text: |text| chat_chunk(json!({ "content": text })),
        call_opening: vec![chat_chunk(json!({ "tool_calls": [call] }))],
        fragment: Some(|text| chat_chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}))),
    }
}

fn responses(api: &'static str) -> Sample {
    let created = json!({"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1", "model": "m", "status": "in_progress"}});
    let item = |item: Value| json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item});
    let part = json!({"type": "response.content_part.added", "sequence_number": 2, "item_id": "msg_1", "output_index": 0,
        "content_index": 0, "part": {"type": "output_text", "text": "", "annotations": []}});
    let message =
        json!({"type": "message", "id": "msg_1", "status": "in_progress", "role": "assistant", "content": []});
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "write", "arguments": "", "status": "in_progress"});
    Sample {
        api,
        text_opening: vec![created.clone(), item(message), part],
        text: |text| {
            json!({"type": "response.output_text.delta", "sequence_number": 4, "item_id": "msg_1", "output_index": 0,
                   "content_index": 0, "delta": text, "logprobs": []})
        },
        call_opening: vec![created, item(call)],
        fragment: Some(|text| {
            json!({"type": "response.function_call_arguments.delta", "sequence_number": 4, "item_id": "fc_1",
                   "output_index": 0, "delta": text})
        }),
    }
}

fn google(api: &'static str) -> Sample {
    Sample {
        api,
        text_opening: Vec::new(),
        text: |text| {
            json!({"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}],
                   "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9}, "modelVersion": "m", "responseId": "r"})
        },
        call_opening: Vec::new(),
        fragment: None,
    }
}

fn bedrock(api: &'static str) -> Sample {
    let start = json!({"messageStart": {"role": "assistant"}});
    let call = json!({"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "c1", "name": "write"}}}});
    Sample {
        api,
        text_opening: vec![start.clone()],
        text: |text| json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}, "p": "abcdefgh"}}),
        call_opening: vec![start, call],
        fragment: Some(
            |text| json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": text}}, "p": "abcdefgh"}}),
        ),
    }
}

/// A frame of an AWS event stream.
fn aws_frame(event: &str, payload: &[u8]) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in [(":event-type", event), (":content-type", "application/json"), (":message-type", "event")] {
        headers.push(name.len() as u8);
        headers.extend_from_slice(name.as_bytes());
        // The type of a text.
        headers.push(7);
        headers.extend_from_slice(&(value.len() as u16).to_be_bytes());
        headers.extend_from_slice(value.as_bytes());
    }
    let total = 16 + headers.len() + payload.len();
    let mut frame = Vec::with_capacity(total);
    frame.extend_from_slice(&(total as u32).to_be_bytes());
    frame.extend_from_slice(&(headers.len() as u32).to_be_bytes());
    frame.extend_from_slice(&crc32fast::hash(&frame).to_be_bytes());
    frame.extend_from_slice(&headers);
    frame.extend_from_slice(payload);
    frame.extend_from_slice(&crc32fast::hash(&frame).to_be_bytes());
    frame
}
