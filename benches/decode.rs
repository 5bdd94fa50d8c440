//! What decoding an answer and writing a request cost.

#![allow(clippy::expect_used, reason = "a benchmark that cannot run can only stop")]

use std::{hint::black_box, sync::Arc};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;
use troupe::{
    protocol::{
        AssistantMessage, Block, Message, Model, StopReason, ToolCall, ToolResultMessage, UserMessage,
        model::{InputKind, ModelCost},
    },
    providers::{Request, assembler::Assembler, wire_api},
};

const APIS: [&str; 2] = ["openai-completions", "anthropic-messages"];

fn model(api: &str) -> Arc<Model> {
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

/// One event with a text of `length` bytes, as servers send it.
fn delta(api: &str, length: usize) -> Vec<u8> {
    let text = "x".repeat(length);
    match api {
        "anthropic-messages" => format!(
            "event: content_block_delta\ndata: {}\n\n",
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        ),
        _ => format!(
            "data: {}\n\n",
            json!({"id": "chatcmpl-9", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": "m",
                   "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
        ),
    }
    .into_bytes()
}

fn opening(api: &str) -> &'static [u8] {
    match api {
        "anthropic-messages" => {
            b"data: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\"}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
        }
        _ => b"",
    }
}

/// Deltas as they come: some to each read of the socket, and the events taken after each.
fn one_delta(c: &mut Criterion) {
    const DELTAS: usize = 10_000;
    for api in APIS {
        let request = Request::new(model(api), Vec::new());
        let event = delta(api, 12);
        for per_read in [1, 16] {
            let read = event.repeat(per_read);
            let mut group = c.benchmark_group(format!("{api}, 12-byte text delta, {per_read} a read"));
            group.throughput(Throughput::Elements(DELTAS as u64));
            group.bench_function("decode", |b| {
                b.iter_batched(
                    || (wire_api(api).expect("known").decoder(&request), Assembler::new(&request)),
                    |(mut decoder, mut out)| {
                        decoder.push(opening(api), &mut out);
                        for _ in 0..DELTAS / per_read {
                            decoder.push(black_box(&read), &mut out);
                            black_box(out.take_events());
                        }
                    },
                    BatchSize::LargeInput,
                );
            });
            group.finish();
        }
    }
}

/// One event of four mebibytes in pieces of the size of a network packet.
fn large_event(c: &mut Criterion) {
    for api in APIS {
        let request = Request::new(model(api), Vec::new());
        let event = delta(api, 4 << 20);
        let mut group = c.benchmark_group(format!("{api}, 4 MiB event in 1400-byte chunks"));
        group.throughput(Throughput::Bytes(event.len() as u64));
        group.sample_size(20);
        group.bench_function("decode", |b| {
            b.iter_batched(
                || (wire_api(api).expect("known").decoder(&request), Assembler::new(&request)),
                |(mut decoder, mut out)| {
                    decoder.push(opening(api), &mut out);
                    for chunk in event.chunks(1400) {
                        decoder.push(chunk, &mut out);
                    }
                    black_box(out.take_events())
                },
                BatchSize::LargeInput,
            );
        });
        group.finish();
    }
}

/// A conversation of tool calls: `count` messages, about half a kilobyte each.
fn conversation(api: &str, count: usize) -> Vec<Message> {
    let words = "The quick brown fox jumps over the lazy dog.\n".repeat(10);
    (0..count)
        .map(|at| match at % 4 {
            0 => Message::User(Arc::new(UserMessage { content: words.as_str().into(), timestamp: 1 })),
            1 => {
                let call = ToolCall {
                    id: format!("call_{at}"),
                    name: "read".into(),
                    arguments: json!({"path": format!("src/file_{at}.rs"), "limit": 40})
                        .as_object()
                        .cloned()
                        .unwrap_or_default(),
                    ..ToolCall::default()
                };
                Message::Assistant(Arc::new(AssistantMessage {
                    content: vec![Block::text(words.as_str()), Block::ToolCall(call)],
                    api: api.into(),
                    provider: "custom".into(),
                    model: "m".into(),
                    stop_reason: StopReason::ToolUse,
                    ..AssistantMessage::default()
                }))
            }
            2 => Message::ToolResult(Arc::new(ToolResultMessage {
                tool_call_id: format!("call_{}", at - 1),
                tool_name: "read".into(),
                content: vec![Block::text(words.as_str())],
                ..ToolResultMessage::default()
            })),
            _ => Message::Assistant(Arc::new(AssistantMessage {
                content: vec![Block::text(words.as_str())],
                api: api.into(),
                provider: "custom".into(),
                model: "m".into(),
                ..AssistantMessage::default()
            })),
        })
        .collect()
}

fn large_request(c: &mut Criterion) {
    for api in APIS {
        let request = Request::new(model(api), conversation(api, 10_000));
        let wire = wire_api(api).expect("known");
        let mut group = c.benchmark_group(format!("{api}, request of 10,000 messages"));
        group.throughput(Throughput::Bytes(wire.request(&request).expect("writable").body.len() as u64));
        group.sample_size(20);
        group.bench_function("write", |b| b.iter(|| black_box(wire.request(&request))));
        group.finish();
    }
}

criterion_group!(benches, one_delta, large_event, large_request);
criterion_main!(benches);
