//! What siblings cost: `cargo bench --bench siblings`.
//!
//! Limits: 1 ms from the wish for a sibling until it could send its request, 150 KiB each when idle, 1,000 at once; and
//! half of a core for 200 that stream 50 deltas a second each.

// A benchmark that cannot go on may panic, and prints what it found.
#![allow(clippy::expect_used, clippy::print_stdout, missing_docs)]

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use troupe::{
    cli::embed::{Session, Troupe},
    protocol::sibling::{SiblingSpec, WaitMode},
};

const MANY: usize = 1_000;
const STREAMING: usize = 200;
/// Deltas of each streaming sibling: ten seconds of fifty a second.
const DELTAS: usize = 500;

/// A session in a folder of its own, whose agents play these turns.
async fn session(root: &TempDir, script: &Value) -> Session {
    for folder in ["user", "project"] {
        fs::create_dir_all(root.path().join(folder)).expect("a folder");
    }
    let settings = json!({"siblings": {"maxRunning": MANY, "maxTotal": 4 * MANY}});
    fs::write(root.path().join("user/settings.json"), settings.to_string()).expect("settings");
    let file = root.path().join("script.json");
    fs::write(&file, script.to_string()).expect("a script");
    let builder = Troupe::builder().user_dir(root.path().join("user")).folder(root.path().join("project"));
    let builder = builder.model("troupe/script").configure(move |args| args.script = Some(file));
    builder.start().await.expect("a session")
}

/// Resident memory of this process in KiB.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("the resident memory");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

/// Processor time that this process has used.
fn processor() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("the times of this process");
    let fields: Vec<_> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<u64>().expect("ticks");
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

async fn spawned(session: &Session, count: usize) {
    let family = session.family();
    for _ in 0..count {
        family.spawn(SiblingSpec::of_task("go")).await.expect("a sibling");
    }
}

async fn many(root: &TempDir) {
    let session = session(root, &json!({"turns": ["ok"], "end": "repeat"})).await;
    // What the first one brings with it is not theirs.
    spawned(&session, 10).await;
    session.family().wait(&[], WaitMode::All, None).await.expect("ends");
    let before = resident();
    let begun = Instant::now();
    spawned(&session, MANY).await;
    let spawning = begun.elapsed();
    session.family().wait(&[], WaitMode::All, None).await.expect("ends");
    let whole = begun.elapsed();
    let after = resident();
    println!("spawn, until it could send its request   {:>8.1} µs each", spawning.as_secs_f64() * 1e6 / MANY as f64);
    println!("spawn, request, answer, end stored       {:>8.1} µs each", whole.as_secs_f64() * 1e6 / MANY as f64);
    println!("memory of an idle one                    {:>8.1} KiB", (after - before) as f64 / MANY as f64);
    session.close().await.expect("the end");
}

async fn streaming(root: &TempDir) {
    let text = json!({"repeat": "four", "times": DELTAS});
    let pace = json!({"deltaChars": 4, "deltaDelayMs": 20});
    let session = session(root, &json!({"turns": [{"text": text, "pace": pace}], "end": "repeat"})).await;
    spawned(&session, STREAMING).await;
    let (begun, used, before) = (Instant::now(), processor(), resident());
    let waited = session.family().wait(&[], WaitMode::All, None).await.expect("ends");
    let (took, used) = (begun.elapsed(), processor() - used);
    let lost = waited.ends.iter().filter(|end| end.text.len() != 4 * DELTAS).count();
    println!(
        "{STREAMING} that stream 50 deltas/s             {:>8.1} % of a core, {:.1} s, {lost} with text lost, {} KiB more",
        100.0 * used.as_secs_f64() / took.as_secs_f64(),
        took.as_secs_f64(),
        resident().saturating_sub(before),
    );
    session.close().await.expect("the end");
}

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let roots = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    runtime.block_on(many(&roots[0]));
    runtime.block_on(streaming(&roots[1]));
}
