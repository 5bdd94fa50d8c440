//! What decoding an answer and writing a request cost.

#![allow(clippy::expect_used, reason = "a benchmark that cannot run can only stop")]

mod support;

use std::{hint::black_box, sync::Arc};

use criterion::{BatchSize, Bencher, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};
use support::{Sample, model};
use troupe::{
    protocol::{
        AssistantMessage, Block, Message, PartialArguments, StopReason, StreamEvent, ToolCall, ToolResultMessage,
        UserMessage, stream::PartialMessage,
    },
    providers::{
        Request,
        assembler::Assembler,
        wire_api::{BodyDecoder, WireApi},
        wire_apis,
    },
};

/// The wire APIs with events of each.
fn samples() -> impl Iterator<Item = (&'static dyn WireApi, Sample)> {
    wire_apis().iter().filter_map(|api| Some((*api, Sample::of(api.name())?)))
}

/// Measures the decoding of an answer, with a new decoder each time.
fn decode(b: &mut Bencher<'_>, api: &dyn WireApi, run: impl Fn(&mut dyn BodyDecoder, &mut Assembler)) {
    let request = Request::new(model(api.name()), Vec::new());
    b.iter_batched(
        || (api.decoder(&request), Assembler::new(&request)),
        |(mut decoder, mut out)| run(&mut *decoder, &mut out),
        BatchSize::LargeInput,
    );
}

/// Deltas as they come: some to each read of the socket, and the events taken after each. Beside it what `serde_json`
/// needs to read the same JSON: a delta may cost 2 microseconds or two and a half times that.
fn one_delta(c: &mut Criterion) {
    const DELTAS: usize = 10_000;
    for (api, sample) in samples() {
        let json = sample.text_json("twelve bytes");
        let mut group = c.benchmark_group(format!("{}, 12-byte text delta", api.name()));
        group.throughput(Throughput::Elements(DELTAS as u64));
        group.bench_function("serde_json alone", |b| {
            b.iter(|| {
                for _ in 0..DELTAS {
                    black_box(serde_json::from_slice::<Value>(black_box(&json)).expect("JSON"));
                }
            });
        });
        let opening = sample.text_opening();
        for per_read in [1, 16] {
            let read = sample.text("twelve bytes").repeat(per_read);
            group.bench_function(format!("decode, {per_read} a read"), |b| {
                decode(b, api, |decoder, out| {
                    decoder.push(&opening, out);
                    for _ in 0..DELTAS / per_read {
                        decoder.push(black_box(&read), out);
                        black_box(out.take_events());
                    }
                });
            });
        }
        group.finish();
    }
}

/// One large event in pieces of the size of a network packet: in linear time the throughput is the same for all sizes.
fn large_event(c: &mut Criterion) {
    for (api, sample) in samples() {
        let opening = sample.text_opening();
        let mut group = c.benchmark_group(format!("{}, one event in 1400-byte chunks", api.name()));
        group.sample_size(20);
        for mebibytes in [1, 4] {
            let event = sample.text(&"x".repeat(mebibytes << 20));
            group.throughput(Throughput::Bytes(event.len() as u64));
            group.bench_function(BenchmarkId::new("decode", format!("{mebibytes} MiB")), |b| {
                decode(b, api, |decoder, out| {
                    decoder.push(&opening, out);
                    for chunk in event.chunks(1400) {
                        decoder.push(chunk, out);
                    }
                    black_box(out.take_events());
                });
            });
        }
        group.finish();
    }
}

/// Arguments of one mebibyte in 10,000 deltas, with a reader that looks at them sixty times a second for the ten
/// seconds that they take. Everything together may cost 100 milliseconds.
fn large_arguments(c: &mut Criterion) {
    const DELTAS: usize = 10_000;
    const LOOKS: usize = 600;
    let line = "    let text = \"twelve\\n\";\n";
    let text = json!({"path": "src/main.rs", "content": line.repeat((1 << 20) / line.len())}).to_string();
    let pieces: Vec<&str> = text
        .as_bytes()
        .chunks(text.len().div_ceil(DELTAS))
        .map(|piece| std::str::from_utf8(piece).expect("ASCII"))
        .collect();
    for (api, sample) in samples() {
        let Some(events) = pieces.iter().map(|piece| sample.fragment(piece)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let opening = sample.call_opening();
        let mut group = c.benchmark_group(format!("{}, 1 MiB of arguments in 10,000 deltas", api.name()));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.sample_size(20);
        for (name, looks) in [("decode", 0), ("decode and show at 60 Hz", LOOKS)] {
            group.bench_function(name, |b| {
                decode(b, api, |decoder, out| {
                    let mut shown = Shown::default();
                    decoder.push(&opening, out);
                    shown.apply(&out.take_events());
                    for (at, event) in events.iter().enumerate() {
                        decoder.push(event, out);
                        shown.apply(&out.take_events());
                        if looks > 0 && at % (DELTAS / looks) == 0 {
                            black_box(shown.look());
                        }
                    }
                });
            });
        }
        group.finish();
    }
}

/// What a screen has of a streaming call.
#[derive(Default)]
struct Shown {
    message: PartialMessage,
    arguments: PartialArguments,
}

impl Shown {
    fn apply(&mut self, events: &[StreamEvent]) {
        events.iter().for_each(|event| self.message.apply(event));
    }

    fn look(&mut self) -> usize {
        let raw = self.message.arguments.first().map_or("", |(_, raw)| raw.as_str());
        self.arguments.read(raw)["content"].as_str().unwrap_or_default().len()
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
    for wire in wire_apis() {
        let request = Request::new(model(wire.name()), conversation(wire.name(), 10_000));
        let mut group = c.benchmark_group(format!("{}, request of 10,000 messages", wire.name()));
        group.throughput(Throughput::Bytes(wire.request(&request).expect("writable").body.len() as u64));
        group.sample_size(20);
        group.bench_function("write", |b| b.iter(|| black_box(wire.request(&request))));
        group.finish();
    }
}

criterion_group!(benches, one_delta, large_event, large_arguments, large_request);
criterion_main!(benches);
