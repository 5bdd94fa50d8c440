//! Teams whose agents work on workers.

use std::{collections::BTreeMap, path::Path, process::Stdio};

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use tokio::process::Child;

use crate::{stage::*, support::*};

/// Two who work at the same time, and a writer whose work goes back once: agents with one task, and with several.
pub const TEAM: &str = r#"
[team]
name = "t"
[defaults]
model = "mock/m1"
[role.worker]
each = { list = ["one", "two"] }
prompt = "WORK {{item}}"
verify = "test -s effects"
[role.writer]
prompt = "WRITE {{worker.output}}"
system = "You write."
[role.critic]
prompt = "REVIEW {{writer.output}}"
tools = []
[review.text]
writer = "writer"
reviewer = "critic"
until = { contains = "APPROVED" }
revise = "REVISE: {{critic.output}}"
"#;

/// What the models say follows from the request alone. The workers wait for a file, so that a test can come between; one
/// that was interrupted does its work anew.
pub fn script(request: &Request) -> Reply {
    let task = request.texts("user").first().cloned().unwrap_or_default();
    match task.split_whitespace().next().unwrap_or_default() {
        "WORK" => {
            let item = task.split_whitespace().nth(1).unwrap_or_default().to_owned();
            let work = |wait: &str| {
                let command = format!("echo $$ > pid-{item}; {wait} echo {item} >> effects; echo did {item}");
                calls([call("bash", json!({"command": command}))])
            };
            match request.results().last() {
                None => work(&format!("{};", wait_for_file("go"))),
                Some(last) if last.contains("did ") => text(&format!("{item} is done")),
                Some(_) => work(""),
            }
        }
        "WRITE" if request.all_text().contains("REVISE") => text("the final draft"),
        "WRITE" => {
            assert!(request.all_text().contains("You write."));
            text("a draft")
        }
        "REVIEW" => {
            assert!(request.tools().is_empty());
            text(if task.contains("final") { "APPROVED" } else { "more, please" })
        }
        other => panic!("{other}: {task}"),
    }
}

impl Stage {
    pub fn team(&self, words: &[&str]) -> Child {
        let mut command = self.sandbox.command(&[&["team", "run"], words, &["--on", &self.nats.url]].concat());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub fn result(&self) -> Value {
        serde_json::from_str(&self.sandbox.read("out/result.json")).unwrap()
    }
}

pub const FRESH: [&str; 3] = ["team.toml", "--out", "out"];

/// What each agent came to: its outcome, its tasks, whether its session is there.
fn agents(result: &Value) -> BTreeMap<String, (String, u64, bool)> {
    let agents = result["agents"].as_array().unwrap().iter();
    let one = |agent: &Value| {
        let session =
            agent["session"].as_str().is_some_and(|path| path.contains("out/sessions/") && Path::new(path).exists());
        let outcome = agent["outcome"].as_str().unwrap().to_owned();
        (agent["name"].as_str().unwrap().to_owned(), (outcome, agent["tasks"].as_u64().unwrap(), session))
    };
    agents.map(one).collect()
}

pub fn check(stage: &Stage, finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{}{}", finished.stdout, finished.stderr);
    assert_eq!(finished.stdout, "the final draft\n");
    let result = stage.result();
    let done = |tasks| ("done".to_owned(), tasks, true);
    let wanted = [("critic", 1), ("critic-round2", 1), ("worker-1", 1), ("worker-2", 1), ("writer", 2)];
    let wanted = wanted.map(|(name, tasks)| (name.to_owned(), done(tasks)));
    assert_eq!(agents(&result), BTreeMap::from(wanted), "{result:#}");
    let mut effects: Vec<String> = stage.sandbox.read("effects").lines().map(str::to_owned).collect();
    effects.sort_unstable();
    assert_eq!(effects, ["one", "two"]);
    let tokens = |usage: &Value| usage["totalTokens"].as_u64().unwrap();
    let parts: u64 = result["agents"].as_array().unwrap().iter().map(|agent| tokens(&agent["usage"])).sum();
    assert!(parts > 0 && tokens(&result["usage"]) == parts, "{result:#}");
}

#[tokio::test]
async fn a_team_works_on_two_workers_and_outlives_one_of_them() {
    let Some(stage) = Stage::new(script).await else { return };
    stage.sandbox.write("team.toml", TEAM);
    let first = stage.worker_with("a", &["--lease", "2s", "--slots", "1"]).await;
    let second = stage.worker_with("b", &["--lease", "2s", "--slots", "1"]).await;
    let team = stage.team(&FRESH);
    // Each worker has one of them.
    stage.pid_in("pid-one").await;
    stage.pid_in("pid-two").await;
    first.kill().await;
    stage.sandbox.write("go", "");
    let finished = end(team).await;
    check(&stage, &finished);
    assert!(finished.stderr.contains("goes on on worker b"), "{}", finished.stderr);
    let listed = stage.runs(&["list", "--json"]).await.stdout;
    let runs: Vec<Value> = serde_json::from_str(&listed).unwrap();
    assert_eq!(runs.len(), 5, "{listed}");
    assert!(stage.sandbox.session_files().is_empty(), "the agents' sessions are in the result");
    drop(second);
}

#[tokio::test]
async fn a_team_whose_process_dies_is_gone_on_with_while_its_agents_work_on() {
    let Some(stage) = Stage::new(script).await else { return };
    stage.sandbox.write("team.toml", TEAM);
    let _worker = stage.worker("a").await;
    let mut team = stage.team(&FRESH);
    stage.pid_in("pid-one").await;
    stage.pid_in("pid-two").await;
    kill_process(pid_of(&team), Signal::KILL).unwrap();
    within("end of the team", team.wait()).await.unwrap();
    stage.sandbox.write("go", "");
    let here = stage.sandbox.run(&["team", "run", "--resume", "out"]).await;
    assert!(here.code == Some(2) && here.stderr.contains("--on URL"), "{}", here.stderr);
    // Another server would have all tasks done again.
    let on = ["--nats-prefix", "other", "--resume", "out"];
    let elsewhere = end(stage.team(&on)).await;
    assert!(elsewhere.code == Some(1) && elsewhere.stderr.contains("another server"), "{}", elsewhere.stderr);
    check(&stage, &end(stage.team(&["--resume", "out"])).await);
}

#[tokio::test]
async fn a_team_that_is_stopped_stops_its_agents_and_they_go_on_with_it() {
    let Some(stage) = Stage::new(script).await else { return };
    stage.sandbox.write("team.toml", TEAM);
    let _worker = stage.worker("a").await;
    let team = stage.team(&FRESH);
    let pids = [stage.pid_in("pid-one").await, stage.pid_in("pid-two").await];
    kill_process(pid_of(&team), Signal::TERM).unwrap();
    let stopped = end(team).await;
    assert_eq!(stopped.code, Some(143), "{}", stopped.stderr);
    for pid in pids {
        until("end of a command", || rustix::process::test_kill_process(pid).is_err().then_some(())).await;
    }
    assert!(!stage.sandbox.exists("effects"));
    stage.sandbox.write("go", "");
    check(&stage, &end(stage.team(&["--resume", "out"])).await);
}

#[tokio::test]
async fn a_budget_of_the_team_holds_for_agents_on_workers() {
    let usage = |request: &Request| script(request).usage(600, 0);
    let Some(stage) = Stage::new(usage).await else { return };
    let team = TEAM.replace("name = \"t\"", "name = \"t\"\nmax_parallel = 1\nbudget = { tokens = 1500 }");
    stage.sandbox.write("team.toml", team);
    stage.sandbox.write("go", "");
    let _worker = stage.worker("a").await;
    let finished = end(stage.team(&FRESH)).await;
    assert_eq!(finished.code, Some(11), "{}{}", finished.stdout, finished.stderr);
    let result = stage.result();
    assert_eq!(result["outcome"], "limit", "{result:#}");
    // The call that passes the limit is the last one, and is counted whole.
    assert!(result["usage"]["totalTokens"].as_u64().unwrap() <= 1_500 + 600, "{result:#}");
}
