//! What the store costs: `cargo bench --bench store`.
//!
//! Limits that are kept: an append without sync 5 µs, a session of 100,000 entries opened in 0.3 s, the context of
//! 10,000 parsed entries in 5 ms, a request of them written in 25 ms. Behind a compaction, the context and its length
//! cost the same whatever was folded away.

// A benchmark that cannot go on may panic, and its entry points are made by a macro.
#![allow(clippy::expect_used, missing_docs)]

#[allow(dead_code, reason = "only its model is needed")]
mod support;

use std::{
    fmt::Write as _,
    fs,
    hint::black_box,
    path::{Path, PathBuf},
    time::Instant,
};

use criterion::{Criterion, criterion_group, criterion_main};
use tempfile::TempDir;
use troupe::{
    protocol::{AgentMessage, EntryBody, EntryId, context::convert_to_llm},
    providers::{Request, wire_apis},
    store::{NewSession, SessionStore},
};

/// A session file of `entries` entries: turns of a user, a call, its result of 1 KB and an answer.
fn session(dir: &TempDir, entries: usize) -> PathBuf {
    let mut text = String::from(
        r#"{"type":"session","version":3,"id":"bench","timestamp":"2026-11-29T10:00:00.000Z","cwd":"/srv/app"}"#,
    );
    let usage = r#""usage":{"input":1200,"output":60,"cacheRead":0,"cacheWrite":0,"reasoning":0,"totalTokens":1260,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;
    let model = r#""api":"openai-completions","provider":"mock","model":"oneline""#;
    for n in 0..entries {
        let parent = n.checked_sub(1).map_or("null".to_owned(), |above| format!(r#""{above:08x}""#));
        let message = match n % 4 {
            0 => format!(
                r#""role":"user","content":[{{"type":"text","text":"{}"}}]"#,
                "Please look at the file. ".repeat(4)
            ),
            1 => format!(
                r#""role":"assistant","content":[{{"type":"text","text":"I will read it."}},{{"type":"toolCall","id":"call_{n}","name":"read","arguments":{{"path":"src/{n}.txt"}}}}],{model},{usage},"stopReason":"toolUse""#
            ),
            2 => format!(
                r#""role":"toolResult","toolCallId":"call_{}","toolName":"read","content":[{{"type":"text","text":"{}"}}],"isError":false"#,
                n - 1,
                "a line of the file: the quick brown fox jumps over the dog\\n".repeat(18)
            ),
            _ => format!(
                r#""role":"assistant","content":[{{"type":"text","text":"{}"}}],{model},{usage},"stopReason":"stop""#,
                "The file holds sample text. ".repeat(20)
            ),
        };
        let _ = write!(
            text,
            "\n{{\"type\":\"message\",\"id\":\"{n:08x}\",\"parentId\":{parent},\"timestamp\":\"2026-11-29T10:00:00.000Z\",\"message\":{{{message},\"timestamp\":1795900000000}}}}"
        );
    }
    let path = dir.path().join("session.jsonl");
    fs::write(&path, text + "\n").expect("a session file");
    path
}

fn open(path: &Path) -> SessionStore {
    SessionStore::open(path, NewSession::in_folder(Path::new("/srv/app"))).expect("a session").store
}

fn append(c: &mut Criterion) {
    let dir = TempDir::new().expect("a folder");
    let text = "x".repeat(200);
    for entries in [10, 10_000] {
        let store = open(&session(&dir, entries));
        c.bench_function(&format!("append one entry to {entries}"), |b| {
            b.iter(|| store.append(None, vec![AgentMessage::user(text.as_str(), 1).into()]).expect("appended"));
        });
    }
}

fn row(c: &mut Criterion) {
    let dir = TempDir::new().expect("a folder");
    let text = "x".repeat(200);
    let mut group = c.benchmark_group("in a row");
    group.sample_size(10);
    group.bench_function("append 100,000 entries to a new session", |b| {
        b.iter_custom(|rounds| {
            let of_one = |round: u64| {
                let new = NewSession::in_folder(Path::new("/srv/app"));
                let store = SessionStore::create_in(&dir.path().join(round.to_string()), new).expect("a session");
                time(|| {
                    for _ in 0..100_000 {
                        store.append(None, vec![AgentMessage::user(text.as_str(), 1).into()]).expect("appended");
                    }
                })
            };
            (0..rounds).map(of_one).sum()
        });
    });
    group.finish();
}

fn opening(c: &mut Criterion) {
    let dir = TempDir::new().expect("a folder");
    let path = session(&dir, 100_000);
    let mut group = c.benchmark_group("100,000 entries");
    group.sample_size(10);
    group.bench_function("open", |b| b.iter(|| open(&path)));
    let view = open(&path).view();
    group.bench_function("what the branch says about the session", |b| b.iter(|| view.branch_state()));
    group.bench_function("messages of the context, written to nowhere", |b| {
        b.iter(|| view.write_messages(&mut std::io::sink()).expect("written"));
    });
    group.bench_function("the whole tree, written to nowhere", |b| {
        b.iter(|| view.write_nodes(&mut std::io::sink()).expect("written"));
    });
    group.bench_function("totals of a session that was just opened", |b| {
        b.iter_custom(|rounds| (0..rounds).map(|_| open(&path).view()).map(|view| time(|| view.totals())).sum());
    });
    group.finish();
}

fn context(c: &mut Criterion) {
    let dir = TempDir::new().expect("a folder");
    let path = session(&dir, 10_000);
    let view = open(&path).view();
    black_box(view.context());
    let mut group = c.benchmark_group("10,000 entries");
    group.bench_function("context, parsed", |b| b.iter(|| view.context()));
    group.sample_size(20).bench_function("context, for the first time", |b| {
        b.iter_custom(|rounds| (0..rounds).map(|_| open(&path).view()).map(|view| time(|| view.context())).sum());
    });
    group.bench_function("find an entry", |b| b.iter(|| view.find(&EntryId::from("00001000")).is_some()));
    group.bench_function("a view of a view", |b| b.iter(|| view.clone()));
    group.finish();
}

/// From the session to the body of the request.
fn request(c: &mut Criterion) {
    let dir = TempDir::new().expect("a folder");
    let view = open(&session(&dir, 10_000)).view();
    let api = wire_apis().iter().find(|api| api.name() == "openai-completions").expect("the API");
    let model = support::model(api.name());
    c.bench_function("10,000 entries/request, parsed", |b| {
        b.iter(|| {
            let messages = convert_to_llm(&view.context().messages);
            api.request(&Request::new(model.clone(), messages)).expect("a request")
        });
    });
}

/// What a turn looks at, with the last 20 entries kept by a compaction of all before.
fn compacted(c: &mut Criterion) {
    for entries in [1_000, 100_000] {
        let dir = TempDir::new().expect("a folder");
        let store = open(&session(&dir, entries));
        let compaction = EntryBody::Compaction {
            summary: "What happened. ".repeat(100),
            first_kept_entry_id: EntryId::from(format!("{:08x}", entries - 20)),
            tokens_before: 100_000,
            system_message: None,
            details: None,
            usage: None,
            from_hook: None,
        };
        let view = store.append(None, vec![compaction.into()]).expect("appended").view;
        let mut group = c.benchmark_group(format!("behind a compaction of {entries} entries"));
        group.bench_function("context", |b| b.iter(|| view.context()));
        group.bench_function("its length", |b| b.iter(|| view.context_tokens()));
        group.finish();
    }
}

fn time<T>(work: impl FnOnce() -> T) -> std::time::Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

criterion_group!(benches, append, row, opening, context, request, compacted);
criterion_main!(benches);
