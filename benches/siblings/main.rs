//! What siblings cost: `cargo bench --bench siblings`, or a part of it: `… -- spawn idle stream restart stop`.
//!
//! | part | limit |
//! |---|---|
//! | `spawn` | 1 ms from the wish for one until its provider is asked; 1,000 at once in one process |
//! | `idle` | 150 KiB of resident memory each, when they have answered |
//! | `stream` | half of a core for 200 that stream 50 deltas a second each, flat memory, nothing lost |
//! | `restart` | 50 ms from the death of a loop on a session of 10,000 entries to its next answer |
//! | `stop` | 1 s for 100 whose commands ignore that they are asked to end, and no process left |
//!
//! The load of the machine is printed with each time: compare processor time where it is high.

// A benchmark that cannot go on may panic, and prints what it found.
#![allow(clippy::expect_used, clippy::print_stdout, missing_docs)]

mod measure;
mod restarting;
mod spawning;
mod stopping;
mod streaming;
mod world;

use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// A part of the bench: what it is called, and what plays it in a folder of its own.
type Part = (&'static str, fn(&Runtime, &TempDir));

const PARTS: [Part; 5] = [
    ("spawn", |runtime, root| runtime.block_on(spawning::asked(root))),
    ("idle", |runtime, root| runtime.block_on(spawning::idle(root))),
    ("stream", |runtime, root| runtime.block_on(streaming::streaming(root))),
    ("restart", |runtime, root| runtime.block_on(restarting::restart(root))),
    ("stop", |runtime, root| runtime.block_on(stopping::hung(root))),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    match &wanted[..] {
        [name] => {
            let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
            let root = tempfile::tempdir().expect("a folder");
            let (_, play) = PARTS.iter().find(|(known, _)| known == name).expect("a part of this bench");
            play(&runtime, &root);
        }
        // Each in a process of its own: what one has freed, the next one would not have to ask the system for.
        _ => PARTS
            .iter()
            .map(|(name, _)| name)
            .filter(|name| wanted.is_empty() || wanted.iter().any(|wanted| wanted == *name))
            .for_each(|name| {
                let bench = std::env::current_exe().expect("this program");
                assert!(
                    std::process::Command::new(bench).arg(name).status().expect("its end").success(),
                    "{name} failed"
                );
            }),
    }
}
