//! What checkpoints cost.
//!
//! `cargo bench --bench checkpoints` makes its own trees.

#![allow(clippy::expect_used, missing_docs, reason = "a benchmark that cannot run can only stop")]

use std::{fs, path::Path, sync::Arc, sync::atomic::AtomicBool, time::Duration};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use troupe::{
    protocol::checkpoint::CheckpointCause,
    tools::{
        CheckpointConfig, Checkpoints, Local, Operations,
        checkpoints::{
            Checkpointing,
            workspace::{Patience, index::Index},
        },
        operations::{ProcessEvent, ShellCommand},
    },
};

static GO_ON: AtomicBool = AtomicBool::new(false);

/// A tree of so many files, 25 in a folder, as projects have them.
fn tree(root: &Path, files: usize) {
    for n in 0..files {
        let folder = root.join(format!("d{}/e{}", n / 500, n / 25));
        if n % 25 == 0 {
            fs::create_dir_all(&folder).expect("a folder");
        }
        fs::write(folder.join(format!("file{n}.rs")), format!("fn f{n}() {{}}\n")).expect("a file");
    }
    fs::write(root.join(".gitignore"), "target/\n*.o\n").expect("a file");
}

fn checkpoints(folder: &Path, workspace: &Path) -> Checkpoints {
    let session = folder.join("sessions/s.jsonl");
    Checkpoints::new(CheckpointConfig {
        session,
        parent: None,
        max_size: u64::MAX,
        required: false,
        place: None,
        workspace: Some(workspace.to_owned()),
        patience: Patience::default(),
    })
}

fn operations(checkpoints: &Checkpoints) -> Arc<dyn Operations> {
    Arc::new(Checkpointing::new(Arc::new(Local), checkpoints.turn(None, CheckpointCause::Tools)))
}

/// Writes 20 files of 20 KB in one turn, with and without checkpoints.
fn writes(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a folder");
    let root = folder.path().canonicalize().expect("a folder").join("work");
    fs::create_dir(&root).expect("a folder");
    let runtime = Runtime::new().expect("a runtime");
    let checkpoints = checkpoints(folder.path(), &root);
    let mut round = 0u64;
    let mut write_all = |operations: Arc<dyn Operations>| {
        round += 1;
        runtime.block_on(async {
            for n in 0..20 {
                let content = format!("line {n} of round {round}\n").repeat(1_000).into_bytes();
                operations.write(&root.join(format!("f{n}")), content).await.expect("a write");
            }
        });
    };
    let mut group = criterion.benchmark_group("20 files of 20 KB");
    group.bench_function("written", |b| b.iter(|| write_all(Arc::new(Local))));
    group.bench_function("written with a checkpoint", |b| b.iter(|| write_all(operations(&checkpoints))));
    group.finish();
}

fn looks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("index");
    group.sample_size(20).measurement_time(Duration::from_secs(8));
    for files in [100, 50_000] {
        let folder = TempDir::new().expect("a folder");
        let root = folder.path().canonicalize().expect("a folder");
        tree(&root, files);
        group.bench_function(format!("{files} files, first time"), |b| {
            b.iter_batched(|| (), |()| Index::first(&root, &GO_ON).expect("an index"), BatchSize::PerIteration);
        });
        let mut index = Index::first(&root, &GO_ON).expect("an index");
        std::thread::sleep(Duration::from_millis(50)); // until nothing was written just now
        index.refresh(&root, &GO_ON).expect("a look");
        group.bench_function(format!("{files} files, again"), |b| {
            b.iter(|| index.refresh(&root, &GO_ON).expect("a look"));
        });
    }
    group.finish();
}

async fn run(operations: &Arc<dyn Operations>, cwd: &Path) {
    let command = ShellCommand { script: "umask 022".into(), cwd: cwd.to_owned(), ..ShellCommand::default() };
    let mut process = operations.spawn(command).await.expect("a shell");
    let mut buffer = Vec::new();
    let (mut exited, mut closed) = (false, false);
    while !(exited && closed) {
        match process.next(&mut buffer).await.expect("an event") {
            ProcessEvent::Exited { .. } => exited = true,
            ProcessEvent::Closed => closed = true,
            ProcessEvent::Output => {}
        }
    }
    process.leave();
}

fn commands(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let mut group = criterion.benchmark_group("bash true");
    group.sample_size(30).measurement_time(Duration::from_secs(8));
    for files in [100, 50_000] {
        let folder = TempDir::new().expect("a folder");
        let root = folder.path().canonicalize().expect("a folder").join("work");
        fs::create_dir(&root).expect("a folder");
        tree(&root, files);
        let local: Arc<dyn Operations> = Arc::new(Local);
        group.bench_function(format!("{files} files, without checkpoints"), |b| {
            b.iter(|| runtime.block_on(run(&local, &root)));
        });
        let checkpoints = checkpoints(folder.path(), &root);
        runtime.block_on(run(&operations(&checkpoints), &root));
        runtime.block_on(checkpoints.settled());
        group.bench_function(format!("{files} files, with checkpoints"), |b| {
            b.iter_custom(|rounds| {
                let mut total = Duration::ZERO;
                for _ in 0..rounds {
                    let turn = operations(&checkpoints);
                    let begun = std::time::Instant::now();
                    runtime.block_on(run(&turn, &root));
                    total += begun.elapsed();
                    // What follows a command runs beside the model's answer.
                    runtime.block_on(checkpoints.settled());
                }
                total
            });
        });
    }
    group.finish();
}

criterion_group!(benches, writes, looks, commands);
criterion_main!(benches);
