//! What lists and searches of many sessions cost: `cargo bench --bench sessions`.
//!
//! `TROUPE_BENCH_SESSIONS=5000 TROUPE_BENCH_LARGE=20` makes the corpus that the limits are for, 2 GB in the folder for
//! temporary files: sessions of 64 KiB, and large ones of 80 MB, which are the newest. Limits: the first 50 sessions in
//! 0.3 s, with an index in 30 ms; the first place where a word stands in 0.3 s.

// A benchmark that cannot go on may panic, and its entry points are made by a macro.
#![allow(clippy::expect_used, missing_docs)]

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use criterion::{Criterion, criterion_group, criterion_main};
use tempfile::TempDir;
use troupe::store::sessions::{
    Listing, Scope, SessionDir, index,
    query::Query,
    search::{Search, SearchOptions},
};

const SMALL: usize = 64 << 10;
const LARGE: usize = 80_000_000;

fn from_env(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// A session of about `size` bytes that was changed `age` seconds ago.
fn session(path: &Path, id: usize, size: usize, age: u64) {
    let changed = SystemTime::now() - Duration::from_secs(age);
    let ms = changed.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let mut out = BufWriter::new(File::create(path).expect("a file"));
    let id = format!("0199{id:04x}-0000-7000-8000-{id:012x}");
    writeln!(
        out,
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-10-01T10:00:00.000Z","cwd":"/srv/app"}}"#
    )
    .expect("a line");
    let result = "a line of the file: the quick brown fox jumps over the dog\\n".repeat(size / 2000);
    let mut written = 0;
    for n in 0.. {
        let (role, text) = match n % 3 {
            0 => ("user", format!("Please look at the file number {n} of session {id}.")),
            1 => ("toolResult", result.clone()),
            _ => ("assistant", "The file holds sample text. ".repeat(10)),
        };
        let parent = if n == 0 { "null".to_owned() } else { format!("\"{:08x}\"", n - 1) };
        let line = format!(
            r#"{{"type":"message","id":"{n:08x}","parentId":{parent},"timestamp":"2026-10-01T10:00:00.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"timestamp":{ms}}}}}"#
        );
        written += line.len();
        writeln!(out, "{line}").expect("a line");
        if written >= size {
            break;
        }
    }
    let last = r#"{"type":"message","id":"last","parentId":null,"timestamp":"2026-10-01T10:00:00.000Z","message":{"role":"user","content":"Where is the needle in session ID?","timestamp":1}}"#;
    writeln!(out, "{}", last.replace("ID", &id)).expect("a line");
    let file = out.into_inner().expect("written");
    file.set_modified(changed).expect("a time");
}

/// The corpus: its folder, and the sessions' folder.
fn corpus() -> (TempDir, SessionDir, PathBuf) {
    let root = TempDir::new().expect("a folder");
    let dir = SessionDir::of_project(root.path(), Path::new("/srv/app"));
    fs::create_dir_all(&dir.path).expect("a folder");
    let (small, large) = (from_env("TROUPE_BENCH_SESSIONS", 500), from_env("TROUPE_BENCH_LARGE", 2));
    for n in 0..large {
        session(&dir.path.join(format!("large-{n}.jsonl")), n, LARGE, 3600 + n as u64);
    }
    for n in 0..small {
        session(&dir.path.join(format!("small-{n}.jsonl")), large + n, SMALL, 7200 + 60 * n as u64);
    }
    let index = index::path_in(root.path());
    (root, dir, index)
}

fn sessions(c: &mut Criterion) {
    let (_root, dir, index) = corpus();
    let mut group = c.benchmark_group("sessions");
    group.sample_size(10).warm_up_time(Duration::from_millis(200));
    let page = |size: usize, index: Option<&Path>| Listing::open(&dir, Scope::Project, index).page(size).len();
    group.bench_function("first page, without an index", |b| b.iter(|| page(50, None)));
    group.bench_function("all, without an index", |b| b.iter(|| page(usize::MAX, None)));
    // What was made just now is not noted: this list is of later.
    let mut all = Listing::open_at(&dir, Scope::Project, Some(&index), SystemTime::now() + Duration::from_secs(10));
    all.rest();
    all.save_index().expect("an index");
    group.bench_function("first page, with an index", |b| b.iter(|| page(50, Some(&index))));
    group.bench_function("all, with an index", |b| b.iter(|| page(usize::MAX, Some(&index))));
    let search = |text: &str| {
        let options = SearchOptions { scope: Scope::Project, per_session: None };
        Search::start(&dir, Query::parse(text).expect("a query"), options).expect("a search")
    };
    group.bench_function("search, first place of a word of every session", |b| b.iter(|| search("needle").next()));
    group.bench_function("search, every place of a word of every session", |b| b.iter(|| search("needle").count()));
    group.bench_function("search, a word of no session", |b| b.iter(|| search("haystack").count()));
    group.bench_function("search, words that are everywhere", |b| b.iter(|| search("quick the").count()));
    group.finish();
}

criterion_group!(benches, sessions);
criterion_main!(benches);
