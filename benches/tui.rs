//! What a frame costs: from what happened to the cells of the screen.
//!
//! A key and a frame must cost the same for every length of the session. Opening a session costs a little for each of
//! its entries.

#![allow(clippy::expect_used, missing_docs, reason = "a benchmark that cannot run can only stop")]

#[path = "../tests/support/terminal/long_session.rs"]
mod long_session;

use std::{fs, hint::black_box, sync::Arc};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use long_session::long_session;
use tempfile::TempDir;
use troupe::{
    protocol::{
        AgentMessage, AssistantMessage, Event, Published, StreamEvent, ThinkingLevel, event::Seq,
        permission::PermissionMode,
    },
    providers::{
        catalogue::{Catalogue, LiveCatalogue},
        environment::Environment,
    },
    resources::markup::markdown::Document,
    store::{session::open::read_view, sessions::SessionDir, settings::Settings, trash::Trash, tree::TreeView},
    tui::{
        facts::AgentFacts,
        keys::{Key, KeyCode, Keymap},
        model::{Model, Msg},
        settings::ScreenSettings,
        surroundings::Surroundings,
        terminal::InputEvent,
        text::{MarkdownOptions, markdown},
        theme::Theme,
        view,
    },
};

/// Lengths of sessions.
const LENGTHS: [usize; 3] = [100, 10_000, 100_000];

/// A session of so many entries.
fn session(folder: &TempDir, entries: usize) -> TreeView {
    let path = folder.path().join(format!("{entries}.jsonl"));
    fs::write(&path, long_session(folder.path(), entries)).expect("a session file");
    read_view(&path).expect("a session")
}

/// A screen of 120 columns and 40 rows.
fn screen(folder: &TempDir, tree: Option<&TreeView>) -> Model {
    let surroundings = Surroundings {
        version: "0",
        user_dir: folder.path().to_owned(),
        home: None,
        sessions: SessionDir::of_project(folder.path(), folder.path()),
        trash: Trash::default(),
        fullscreen: true,
        offline: true,
        notices: Vec::new(),
    };
    let settings = ScreenSettings::of(&Settings::from_value(serde_json::Map::new()));
    let mut model = Model::new(Arc::new(surroundings), facts(folder, None), settings, Keymap::default());
    model.update(Msg::Snapshot(Box::default()), 0);
    model.update(Msg::Facts(Box::new(facts(folder, tree.cloned()))), 0);
    resize(&mut model, 120);
    model
}

fn facts(folder: &TempDir, tree: Option<TreeView>) -> AgentFacts {
    AgentFacts {
        agent: "main".into(),
        cwd: folder.path().to_owned(),
        session_file: None,
        read_only: false,
        tree,
        model: None,
        scope: Arc::default(),
        thinking: ThinkingLevel::Medium,
        window: 200_000,
        auto_compaction: true,
        plan_mode: false,
        permission_mode: PermissionMode::Off,
        jobs: 0,
        catalogue: LiveCatalogue::new(Catalogue::load(folder.path(), Environment::default())),
        commands: Arc::default(),
    }
}

fn resize(model: &mut Model, columns: u16) {
    model.update(Msg::Input(InputEvent::Resize { columns, rows: 40 }), 0);
}

fn press(model: &mut Model, code: KeyCode) {
    model.update(Msg::Input(InputEvent::Key(Key::plain(code))), 0);
}

fn happen(model: &mut Model, event: Event) {
    let seq = Seq { epoch: 1, n: 1 };
    model.update(Msg::Happened(Arc::new(Published { seq, event })), 0);
}

fn sessions(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a folder");
    let mut group = criterion.benchmark_group("session");
    for entries in LENGTHS {
        let tree = session(&folder, entries);
        let mut model = screen(&folder, Some(&tree));
        let mut columns = 120;
        group.bench_function(format!("a screenful anew, {entries} entries"), |b| {
            b.iter(|| {
                // Nothing that was laid out for another width is of use.
                columns = 241 - columns;
                resize(&mut model, columns);
                black_box(view::draw(&mut model))
            });
        });
        group.bench_function(format!("a key and its frame, {entries} entries"), |b| {
            b.iter(|| {
                press(&mut model, KeyCode::Char('x'));
                black_box(view::draw(&mut model));
                press(&mut model, KeyCode::Backspace);
                black_box(view::draw(&mut model))
            });
        });
        group.sample_size(10);
        group.bench_function(format!("from the session to the first frame, {entries} entries"), |b| {
            b.iter(|| {
                let mut model = screen(&folder, Some(&tree));
                black_box(view::draw(&mut model))
            });
        });
    }
}

fn streaming(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a folder");
    let mut group = criterion.benchmark_group("streaming");
    for kilobytes in [1, 100] {
        let begun = || {
            let mut model = screen(&folder, None);
            let message = AgentMessage::Assistant(Arc::new(AssistantMessage::default()));
            happen(&mut model, Event::MessageStart { message });
            happen(&mut model, Event::MessageUpdate { events: vec![StreamEvent::TextStart { index: 0 }] });
            let paragraph = "Some words of an answer, with `code` and **weight**. ".repeat(18) + "\n\n";
            let delta = paragraph.repeat(kilobytes);
            happen(&mut model, Event::MessageUpdate { events: vec![StreamEvent::TextDelta { index: 0, delta }] });
            view::draw(&mut model);
            model
        };
        group.bench_function(format!("a delta and its frame behind {kilobytes} KB"), |b| {
            let step = |mut model: Model| {
                let events = vec![StreamEvent::TextDelta { index: 0, delta: "a few words ".to_owned() }];
                happen(&mut model, Event::MessageUpdate { events });
                black_box(view::draw(&mut model));
                model
            };
            b.iter_batched(begun, step, BatchSize::SmallInput);
        });
    }
}

fn texts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("text");
    group.sample_size(10);
    let block = "# A heading\n\nSome words with `code`, **weight** and [a link](https://example.com).\n\n\
                 1. first\n   - nested\n\n```rust\nfn main() { let x = \"text\"; }\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n";
    let text = block.repeat((1 << 20) / block.len());
    let theme = Theme::plain();
    group.bench_function("1 MB of markdown as lines", |b| {
        b.iter(|| black_box(markdown(&Document::parse(&text), 120, &theme, &MarkdownOptions::default())));
    });
}

criterion_group!(benches, sessions, streaming, texts);
criterion_main!(benches);
