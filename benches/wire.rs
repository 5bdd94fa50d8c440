//! What a streamed token costs on the wire. The budget is one microsecond a delta of twelve bytes.

use std::{hint::black_box, sync::Arc};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use troupe::protocol::{
    AgentMessage, AssistantMessage, Block, Event, Published, Seq, StreamEvent,
    wire::{WireMode, WireState, parse_line, write_event},
};

fn published(event: Event) -> Published {
    Published { seq: Seq::default(), event }
}

fn deltas(count: usize) -> Published {
    let delta = || StreamEvent::TextDelta { index: 0, delta: "twelve bytes".to_owned() };
    published(Event::MessageUpdate { events: (0..count).map(|_| delta()).collect() })
}

/// Writes `event` again and again into one buffer, as a printer does.
fn write(c: &mut Criterion, name: &str, elements: u64, event: &Published) {
    let mut group = c.benchmark_group("wire");
    group.throughput(Throughput::Elements(elements));
    let mut state = WireState::new(WireMode::Json);
    let mut out = Vec::new();
    group.bench_function(name, |b| {
        b.iter(|| {
            out.clear();
            write_event(black_box(event), &mut state, &mut out);
            black_box(out.len())
        });
    });
    group.finish();
}

fn events(c: &mut Criterion) {
    write(c, "one delta an event", 1, &deltas(1));
    write(c, "64 deltas an event", 64, &deltas(64));
    let message = AssistantMessage { content: vec![Block::text("word ".repeat(800))], ..AssistantMessage::default() };
    let end = Event::MessageEnd { message: AgentMessage::Assistant(Arc::new(message)), entry_id: None };
    write(c, "message of 4,000 bytes", 1, &published(end));
}

fn requests(c: &mut Criterion) {
    let line = br#"{"id":"q17","type":"prompt","message":"What does this function do?","streamingBehavior":"steer"}"#;
    c.bench_function("wire/parse a prompt", |b| b.iter(|| parse_line(black_box(line))));
}

criterion_group!(benches, events, requests);
criterion_main!(benches);
