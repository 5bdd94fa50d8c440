//! How long the tools take, next to the work that they cannot avoid.
//!
//! `cargo bench --bench tools` makes its own tree; `TROUPE_BENCH_TREE` names another one for the searches.

#![allow(clippy::expect_used, missing_docs, reason = "a benchmark that cannot run can only stop")]

use std::{fs, hint::black_box, path::PathBuf, sync::Arc, time::Duration};

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use troupe::{
    protocol::{ToolCall, ToolOutput},
    tools::{Local, Progress, SessionFacts, ToolContext, ToolSet, validate},
};

/// Tools in a folder.
struct Bench {
    runtime: Runtime,
    tools: ToolSet,
    cwd: PathBuf,
}

impl Bench {
    fn new(cwd: PathBuf) -> Self {
        Self { runtime: Runtime::new().expect("a runtime"), tools: ToolSet::builtin(), cwd }
    }

    fn call(&self, tool: &str, arguments: &Value) -> ToolOutput {
        let tool = self.tools.get(tool).expect("a built-in tool");
        let arguments = arguments.as_object().expect("an object").clone();
        let call = ToolCall { name: tool.declaration().name.clone(), arguments, ..ToolCall::default() };
        let context = ToolContext {
            tool_call_id: "call".into(),
            arguments: validate(tool.as_ref(), &call).expect("valid arguments"),
            cwd: self.cwd.clone(),
            cancel: CancellationToken::new(),
            progress: Arc::new(Progress::default()),
            operations: Arc::new(Local),
            session: Arc::new(SessionFacts::default()),
        };
        let output = self.runtime.block_on(tool.execute(context));
        assert!(!output.is_error, "{output:?}");
        output
    }
}

fn files(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("small.txt"), "some words in a line\n".repeat(100)).expect("a file");
    let big: String = (0..200_000).map(|n| format!("line {n} of a file with some ordinary words in it\n")).collect();
    let big_path = folder.path().join("big.txt");
    let bench = Bench::new(folder.path().to_owned());

    let mut group = criterion.benchmark_group("files");
    group.bench_function("read 2 KB", |b| b.iter(|| black_box(bench.call("read", &json!({"path": "small.txt"})))));
    group.bench_function("write 2 KB", |b| {
        let text = "some words in a line\n".repeat(100);
        b.iter(|| black_box(bench.call("write", &json!({"path": "written.txt", "content": text}))));
    });
    group.bench_function("read 2 KB without a tool", |b| {
        b.iter(|| black_box(fs::read_to_string(folder.path().join("small.txt")).expect("text")));
    });
    group.sample_size(20);
    let many = folder.path().join("many");
    fs::create_dir(&many).expect("a folder");
    (0..10_000).for_each(|n| fs::write(many.join(format!("entry_{n}.txt")), "").expect("a file"));
    let all = json!({"path": "many", "limit": 10_000});
    group.bench_function("ls of 10,000 entries", |b| b.iter(|| black_box(bench.call("ls", &all))));
    fs::write(&big_path, &big).expect("a file");
    group.bench_function("read the end of 10 MB", |b| {
        b.iter(|| black_box(bench.call("read", &json!({"path": "big.txt", "offset": 199_990}))));
    });
    for (name, edit) in
        [("edit 10 MB", ["line 100000 of", "line 100000 OF"]), ("edit 10 MB back", ["line 7 of", "line 7 OF"])]
    {
        group.bench_function(name, |b| {
            let mut there = true;
            b.iter(|| {
                let [old, new] = if there { edit } else { [edit[1], edit[0]] };
                there = !there;
                let edits = json!([{"oldText": old, "newText": new}]);
                black_box(bench.call("edit", &json!({"path": "big.txt", "edits": edits})))
            });
            fs::write(&big_path, &big).expect("a file");
        });
    }
    group.finish();
}

fn searches(criterion: &mut Criterion) {
    let own = TempDir::new().expect("a folder");
    let tree = std::env::var_os("TROUPE_BENCH_TREE").map(PathBuf::from).unwrap_or_else(|| {
        for folder in 0..50 {
            let path = own.path().join(format!("d{folder:02}"));
            fs::create_dir(&path).expect("a folder");
            for file in 0..100 {
                let number = folder * 100 + file;
                let needle = if number % 50 == 0 { format!("a needle_{} here\n", number / 50) } else { String::new() };
                let text = format!("line of file {number} with some ordinary words\n").repeat(20) + &needle;
                fs::write(path.join(format!("f{number}_{file}.txt")), text).expect("a file");
            }
        }
        own.path().to_owned()
    });
    let bench = Bench::new(tree);
    let mut group = criterion.benchmark_group("searches");
    group.sample_size(10).measurement_time(Duration::from_secs(8));
    for (name, tool, arguments) in [
        ("grep, one match", "grep", json!({"pattern": "needle_77\\b"})),
        ("grep, cut at 100", "grep", json!({"pattern": "needle"})),
        ("find, one name in a hundred", "find", json!({"pattern": "**/*_77.txt"})),
        ("find, cut at 1000", "find", json!({"pattern": "*.txt"})),
    ] {
        group.bench_function(name, |b| b.iter(|| black_box(bench.call(tool, &arguments))));
    }
    group.finish();
}

fn commands(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a folder");
    let bench = Bench::new(folder.path().to_owned());
    let mut group = criterion.benchmark_group("commands");
    group.sample_size(20);
    group.bench_function("bash true", |b| b.iter(|| black_box(bench.call("bash", &json!({"command": "true"})))));
    group.bench_function("bash, 100 MB of output", |b| {
        b.iter(|| {
            let command = "yes 0123456789012345678901234567890123456789 | head -c 100000000";
            let output = bench.call("bash", &json!({"command": command}));
            let details = output.details.expect("details");
            fs::remove_file(details["fullOutputPath"].as_str().expect("a path")).expect("a file");
        });
    });
    group.finish();
}

criterion_group!(benches, files, searches, commands);
criterion_main!(benches);
