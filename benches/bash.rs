//! What a call of the tool `bash` costs above starting the same shell without it.

#![allow(clippy::expect_used, reason = "a bench that fails should stop")]

use std::{hint::black_box, process::Command, sync::Arc};

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use troupe::tools::{Local, Progress, SessionFacts, ToolContext, ToolSet};

fn calls(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let tools = ToolSet::builtin();
    let bash = tools.get("bash").expect("bash").clone();
    let context = || ToolContext {
        tool_call_id: "call".into(),
        arguments: json!({"command": "true"}).as_object().expect("an object").clone(),
        cwd: std::env::temp_dir(),
        cancel: CancellationToken::new(),
        progress: Arc::new(Progress::default()),
        operations: Arc::new(Local),
        session: Arc::new(SessionFacts::default()),
    };
    let mut group = criterion.benchmark_group("bash");
    group.bench_function("fork, exec and wait for the shell", |b| {
        b.iter(|| black_box(Command::new("/bin/bash").args(["-c", "true"]).status().expect("a shell")));
    });
    group.bench_function("a call", |b| {
        b.iter(|| {
            let output = runtime.block_on(bash.execute(context()));
            assert!(!output.is_error, "{output:?}");
        });
    });
    group.finish();
}

criterion_group!(benches, calls);
criterion_main!(benches);
