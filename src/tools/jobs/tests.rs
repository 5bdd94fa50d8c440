use std::sync::Arc;

use serde_json::{Value, json};

use super::{Job, JobBoard, JobHost, JobSpec, MAX_RUNNING, run};
use crate::{
    protocol::ToolOutput,
    tools::{
        BoxFuture, Failure,
        testing::{Bench, eventually, text},
    },
};

/// Runs jobs without an actor.
#[derive(Debug, Default)]
struct Host(Arc<JobBoard>);

impl JobHost for Host {
    fn start(&self, spec: JobSpec) -> BoxFuture<'_, Result<Arc<Job>, Failure>> {
        Box::pin(async move {
            let (job, orders) = self.0.add(spec.command)?;
            let process = spec.operations.spawn(spec.shell).await.map_err(|error| Failure::new(error.to_string()))?;
            let running = job.clone();
            tokio::spawn(async move { running.ended(run(process, &running, orders).await) });
            Ok(job)
        })
    }

    fn board(&self) -> Arc<JobBoard> {
        self.0.clone()
    }
}

fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.facts.jobs = Some(Arc::new(Host::default()));
    bench
}

async fn ok(bench: &Bench, action: &str, more: Value) -> String {
    bench.ok("jobs", arguments(action, more)).await
}

async fn fails(bench: &Bench, action: &str, more: Value) -> String {
    bench.fails("jobs", arguments(action, more)).await
}

fn arguments(action: &str, more: Value) -> Value {
    let mut arguments = json!({"action": action});
    arguments.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    arguments
}

/// A report without the times in it.
fn timeless(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let is_time = |at: usize| words[at].parse::<f64>().is_ok() && words.get(at + 1).is_some_and(|w| w.starts_with('s'));
    (0..words.len()).map(|at| if is_time(at) { "N" } else { words[at] }).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_job_runs_beside_and_is_read_piece_by_piece() {
    let bench = bench();
    let gate = bench.path("gate");
    let command = format!("echo one; until [ -e {} ]; do sleep 0.01; done; echo two; exit 3", gate.display());
    let started = bench.call("jobs", arguments("start", json!({"command": command}))).await;
    assert!(text(&started).starts_with("Started job-1: echo one; until"), "{started:?}");
    assert_eq!(started.details.unwrap()["runningJobs"][0]["id"], "job-1");
    let found = ok(&bench, "wait", json!({"id": "job-1", "pattern": "^o.e$"})).await;
    assert_eq!(timeless(&found), "one\n\n[Found: one. job-1 has run for N s. next place: 4]");
    assert!(ok(&bench, "read", json!({"id": "1"})).await.starts_with("(no new output)\n\n[job-1 has run for "));
    assert!(ok(&bench, "list", json!({})).await.starts_with("job-1 has run for "));
    let waited = ok(&bench, "wait", json!({"id": "job-1", "seconds": 0.01})).await;
    assert!(waited.contains("[Waited 0.0 s in vain. job-1 has run for "), "{waited}");
    bench.write("gate", "");
    let ended = bench.call("jobs", arguments("wait", json!({"id": "job-1"}))).await;
    assert_eq!(timeless(&text(&ended)), "two\n\n[job-1 exited with code 3 after N s. next place: 8]");
    assert_eq!(ended.details, Some(json!({"runningJobs": []})));
    let again = ok(&bench, "read", json!({"id": "job-1", "from": 0})).await;
    assert!(again.starts_with("one\ntwo\n\n["), "{again}");
}

#[tokio::test]
async fn a_job_that_asks_is_recognised_and_can_be_answered_fc_043() {
    let bench = bench();
    let command = "printf 'Name: '; read name; echo \"Hello $name\"; cat";
    ok(&bench, "start", json!({"command": command})).await;
    if cfg!(target_os = "linux") {
        for pattern in [json!({"id": "job-1"}), json!({"id": "job-1", "pattern": "Hello"})] {
            let asks = ok(&bench, "wait", pattern).await;
            assert!(
                asks.starts_with("Name:") && asks.contains(" is waiting for input: use the action write"),
                "{asks}"
            );
        }
    }
    assert_eq!(ok(&bench, "write", json!({"id": "job-1", "text": "Bob\n"})).await, "Wrote 4B to job-1.");
    let answered = ok(&bench, "wait", json!({"id": "job-1", "pattern": "Hello .*"})).await;
    assert!(answered.starts_with("Name: Hello Bob\n\n[Found: Name: Hello Bob."), "{answered}");
    let closed = ok(&bench, "write", json!({"id": "job-1", "text": "rest", "close": true})).await;
    assert_eq!(closed, "Wrote 4B to job-1 and closed the input of job-1.");
    let ended = ok(&bench, "wait", json!({"id": "job-1"})).await;
    assert!(ended.starts_with("rest\n\n[job-1 exited with code 0"), "{ended}");
    assert_eq!(
        fails(&bench, "write", json!({"id": "job-1", "text": "x"})).await,
        "job-1 has ended: nothing can be written to it."
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn processes_that_look_for_input_in_other_ways_are_recognised_too_fc_043() {
    let python = "import select, sys; select.select([sys.stdin], [], [])";
    let poll = "import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()";
    for (program, script) in [("bash -c", "read -t 100 x"), ("python3 -c", python), ("python3 -c", poll)] {
        let name = program.split(' ').next().unwrap();
        if std::process::Command::new(name).arg("--version").output().is_err() {
            eprintln!("skipped: {name} is not installed");
            continue;
        }
        let bench = bench();
        ok(&bench, "start", json!({"command": format!("{program} '{script}'")})).await;
        let asks = ok(&bench, "wait", json!({"id": "job-1"})).await;
        assert!(asks.contains("is waiting for input"), "{script}: {asks}");
    }
}

#[tokio::test]
async fn a_killed_job_ends_with_all_that_it_started_fc_042() {
    let bench = bench();
    let command = "echo $$; (env -i setsid sh -c 'echo $$; exec sleep 300' &); sleep 300 & wait";
    ok(&bench, "start", json!({"command": command})).await;
    let read = ok(&bench, "wait", json!({"id": "job-1", "pattern": "[0-9]+\n[0-9]+"})).await;
    let pids: Vec<i32> = read.lines().map_while(|line| line.parse().ok()).collect();
    let killed = ok(&bench, "kill", json!({"id": "job-1"})).await;
    assert!(killed.contains("[job-1 was killed after "), "{killed}");
    let is_gone = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z")
    };
    if cfg!(target_os = "linux") {
        assert_eq!(pids.len(), 2, "{read}");
        eventually("both processes end", || pids.iter().all(is_gone)).await;
    }
}

#[tokio::test]
async fn a_kept_command_is_on_its_own() {
    let bench = bench();
    let gate = bench.path("gate");
    let command = format!("echo 'it'\"'\"'s on'; until [ -e {} ]; do sleep 0.01; done; echo off", gate.display());
    let started = ok(&bench, "start", json!({"command": command, "keep": true})).await;
    let word = |before: &str| started.split(before).nth(1).unwrap().split([' ', ',']).next().unwrap().to_owned();
    let (pid, file) = (word("process "), word("goes to "));
    let kept = ok(&bench, "list", json!({})).await;
    assert!(kept.starts_with(&format!("Kept process {pid} with its output in {file}: echo")), "{kept}");
    eventually("it prints", || std::fs::read_to_string(&file).is_ok_and(|text| text == "it's on\n")).await;
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    drop(bench.facts.jobs.clone());
    bench.write("gate", "");
    eventually("it ends", || std::fs::read_to_string(&file).unwrap().ends_with("off\n")).await;
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn what_cannot_be_done_is_told() {
    let bench = bench();
    assert_eq!(fails(&bench, "read", json!({"id": "job-1"})).await, "There is no job job-1: none was started yet.");
    assert_eq!(ok(&bench, "list", json!({})).await, "No jobs were started yet.");
    for number in 1..=MAX_RUNNING {
        let started = ok(&bench, "start", json!({"command": "cat"})).await;
        assert_eq!(started, format!("Started job-{number}: cat"));
    }
    let refused = fails(&bench, "start", json!({"command": "cat"})).await;
    assert_eq!(refused, "16 jobs run already, and no more may: end one with the action kill.");
    assert!(
        fails(&bench, "kill", json!({"id": "job-99"})).await.starts_with("There is no job job-99. There are job-1, ")
    );
    assert!(fails(&bench, "wait", json!({"id": "job-1", "pattern": "("})).await.contains("is no regular expression"));
    assert!(fails(&bench, "jump", json!({})).await.contains("Validation failed for tool \"jobs\""));
    bench.cancel.cancel();
    assert_eq!(fails(&bench, "wait", json!({"id": "job-1"})).await, "Operation aborted");
    let without: ToolOutput = Bench::new().call("jobs", json!({"action": "list"})).await;
    assert_eq!(text(&without), "There are no background jobs here: use bash.");
}

#[tokio::test]
async fn the_output_of_a_job_is_bounded_and_all_of_it_is_in_a_file_fc_044() {
    let bench = bench();
    ok(&bench, "start", json!({"command": "seq 1 400000"})).await;
    let ended = ok(&bench, "wait", json!({"id": "job-1"})).await;
    assert!(ended.contains("\n400000\n\n[") && ended.len() < 52_000, "{}", &ended[ended.len().saturating_sub(300)..]);
    assert!(ended.contains(" before this are not in memory any more. Showing the last 2000 of "));
    let path = ended.split("Full output: ").nth(1).unwrap().split(". job-1").next().unwrap();
    assert_eq!(std::fs::metadata(path).unwrap().len(), 2_688_895);
    std::fs::remove_file(path).unwrap();
}
