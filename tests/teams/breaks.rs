//! Teams that are broken off and gone on with: each step is done once, and the result is that of a team that nobody
//! disturbed. `TROUPE_CHAOS_SEED=N` plays one seed alone.

use std::{collections::BTreeMap, process::Stdio, time::Duration};

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use tokio::process::Child;

use crate::{agents, git, repository, support::*};

/// Seeds that are played.
const SEEDS: u64 = 6;

/// A list, an agent for each of its elements, each with a check, and a writer whose work goes back once.
const TEAM: &str = r#"
[team]
name = "t"
[defaults]
model = "mock/m1"
[role.planner]
prompt = "PLAN"
output_schema = { type = "object", required = ["items"] }
[role.worker]
each = { output = "planner.output.items" }
prompt = "WORK {{item}}"
verify = "grep -qx {{item}} effects || true"
[role.writer]
prompt = "WRITE {{worker.output}}"
[role.critic]
prompt = "REVIEW {{writer.output}}"
[review.text]
writer = "writer"
reviewer = "critic"
until = { contains = "APPROVED" }
revise = "REVISE: {{critic.output}}"
"#;

/// What the models of the team say: it follows from the request alone. Whoever was interrupted in a call looks whether it
/// had its effect before it repeats it.
fn script(request: &Request) -> Reply {
    let task = request.texts("user").first().cloned().unwrap_or_default();
    let effect = |name: &str, answer: &str| {
        let (results, told) = (request.results(), request.last_user());
        let is_new = !results.iter().any(|result| result.contains("did ")) || told.contains("interrupted");
        match results.last() {
            None => calls([call("bash", json!({"command": format!("echo {name} >> effects; echo did {name}")}))]),
            Some(last) if !last.contains("did ") && is_new => {
                let command = format!("grep -qx {name} effects || echo {name} >> effects; echo did {name}");
                calls([call("bash", json!({"command": command}))])
            }
            Some(_) => text(answer),
        }
    };
    match task.split_whitespace().next().unwrap_or_default() {
        "PLAN" => text(r#"{"items": ["one", "two", "three"]}"#),
        "WORK" => {
            let item = task.split_whitespace().nth(1).unwrap_or_default();
            effect(item, &format!("{item} is done"))
        }
        "WRITE" if request.all_text().contains("REVISE") => effect("revised", "the final draft"),
        "WRITE" => text("a draft"),
        "REVIEW" if task.contains("final") => text("APPROVED"),
        "REVIEW" => text("more, please"),
        other => panic!("{other}: {task}"),
    }
}

/// Starts a team, or goes on with it.
pub fn start(sandbox: &Sandbox, words: &[&str]) -> Child {
    let mut command = sandbox.command(&[&["team", "run"], words].concat());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub const FRESH: [&str; 3] = ["team.toml", "--out", "out"];
pub const AGAIN: [&str; 2] = ["--resume", "out"];

async fn kill(mut child: Child, signal: Signal) -> Option<i32> {
    kill_process(pid_of(&child), signal).unwrap();
    within("end", child.wait()).await.unwrap().code()
}

pub fn result(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read("out/result.json")).unwrap()
}

/// What must be the same however often a team was broken off.
fn essence(result: &Value) -> Value {
    let agents: BTreeMap<_, _> = result["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| (agent["name"].as_str().unwrap(), (agent["outcome"].clone(), agent["tasks"].clone())))
        .collect();
    json!({"output": result["output"], "steps": result["steps"], "outcome": result["outcome"], "agents": agents})
}

/// Lines of the file that the agents append to, in order of the alphabet.
fn effects(sandbox: &Sandbox) -> Vec<String> {
    let mut lines: Vec<_> = sandbox.read("effects").lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Each agent was given each of its tasks once.
fn tasks_are_given_once(sandbox: &Sandbox, result: &Value, context: &str) {
    for agent in result["agents"].as_array().unwrap() {
        let session = lines(std::path::Path::new(agent["session"].as_str().unwrap()));
        linked(&session);
        let users = session.iter().filter(|line| line["message"]["role"] == "user");
        let tasks: Vec<_> = users.map(|line| text_of(&line["message"])).collect();
        assert_eq!(tasks.len() as u64, agent["tasks"].as_u64().unwrap(), "{context}: {tasks:?}");
    }
    for request in sandbox.server.requests() {
        request.assert_strict();
    }
}

async fn play(seed: u64, undisturbed: &Value) {
    let mut number = numbers(seed);
    let sandbox = Sandbox::new(script).await;
    sandbox.write("team.toml", TEAM);
    let kills = 1 + number(3);
    let mut told = Vec::new();
    let mut words = &FRESH[..];
    for _ in 0..kills {
        let mut team = start(&sandbox, words);
        // A request that is about to be answered, or a little later.
        let (request, pause) = (sandbox.server.count() + usize::try_from(number(5)).unwrap(), number(40));
        told.push((request, pause));
        tokio::select! {
            _ = sandbox.server.request(request) => tokio::time::sleep(Duration::from_millis(pause)).await,
            _ = team.wait() => {}
        }
        if team.id().is_some() {
            kill(team, Signal::KILL).await;
        }
        if sandbox.exists("out/run.json") {
            words = &AGAIN[..];
        }
    }
    let context = format!("seed {seed}, killed at {told:?}");
    let finished = end(start(&sandbox, words)).await;
    assert_eq!(finished.code, Some(0), "{context}: {}", finished.stderr);
    let result = result(&sandbox);
    assert_eq!(essence(&result), *undisturbed, "{context}");
    assert_eq!(effects(&sandbox), ["one", "revised", "three", "two"], "{context}: each effect once");
    tasks_are_given_once(&sandbox, &result, &context);
    // What was answered is not asked for again: a request comes twice only when a kill came before its answer.
    let mut asked: BTreeMap<String, u64> = BTreeMap::new();
    for request in sandbox.server.requests() {
        *asked.entry(request.body["messages"].to_string()).or_default() += 1;
    }
    assert!(asked.values().all(|times| *times <= 1 + kills), "{context}: {asked:?}");
}

#[tokio::test]
async fn whenever_it_is_killed_a_team_that_is_gone_on_with_has_the_result_of_one_that_was_not() {
    let sandbox = Sandbox::new(script).await;
    sandbox.write("team.toml", TEAM);
    let finished = end(start(&sandbox, &FRESH)).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let undisturbed = essence(&result(&sandbox));
    assert_eq!(undisturbed["output"], "the final draft");
    for seed in seeds(SEEDS) {
        play(seed, &undisturbed).await;
    }
}

/// One agent after the other, each with one task.
pub const TWO: &str = r#"
[team]
name = "t"
budget = { tokens = 120000 }
[defaults]
model = "mock/m1"
tools = ["bash"]
[role.a]
prompt = "A"
[role.b]
prompt = "B after {{a.output}}"
"#;

pub fn is_of(request: &Request, letter: &str) -> bool {
    request.texts("user").first().is_some_and(|text| text.starts_with(letter))
}

#[tokio::test]
async fn result_and_timeline_tell_of_the_break_and_the_run_cannot_be_gone_on_with_by_two() {
    let gate = Gate::closed();
    let held = gate.clone();
    let sandbox = Sandbox::new(move |request: &Request| match is_of(request, "B") {
        false => text("first"),
        true => text("second").begin_at(&held),
    })
    .await;
    sandbox.write("team.toml", TWO);
    let team = start(&sandbox, &FRESH);
    sandbox.server.request(1).await;
    let refused = end(start(&sandbox, &AGAIN)).await;
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert_eq!(kill(team, Signal::KILL).await, None);
    gate.open();
    let finished = end(start(&sandbox, &AGAIN)).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "second\n"), "{}", finished.stderr);
    assert!(finished.stderr.contains("goes on after a break"), "{}", finished.stderr);
    assert_eq!(sandbox.server.count(), 3, "the first agent was not asked again");
    let result = result(&sandbox);
    assert_eq!(result["breaks"].as_array().unwrap().len(), 1, "{result:#}");
    assert_eq!(result["usage"]["totalTokens"], 220, "what the first one used counts: {result:#}");
    let timeline: Value = serde_json::from_str(&sandbox.read("out/timeline.json")).unwrap();
    assert_eq!(timeline["breaks"], result["breaks"]);
    assert!(sandbox.read("out/timeline.html").contains("Broken off after"));

    // One that has ended tells its result again, and costs nothing.
    let again = end(start(&sandbox, &AGAIN)).await;
    assert_eq!((again.code, again.stdout.as_str(), sandbox.server.count()), (Some(0), "second\n", 3));
}

#[tokio::test]
async fn what_was_spent_before_a_break_is_not_there_after_it() {
    let sandbox = Sandbox::new(move |request: &Request| match (is_of(request, "A"), request.n) {
        (true, 0) => text("first").usage(100_000, 0),
        // The tokens of a task that has not ended, too.
        (false, 1) => calls([call("bash", json!({"command": "true"}))]).usage(9_000, 0),
        (false, 2) => hang("hm"),
        _ => hang(&"word".repeat(2_500)),
    })
    .await;
    sandbox.write("team.toml", TWO);
    let team = start(&sandbox, &FRESH);
    sandbox.server.request(2).await;
    kill(team, Signal::KILL).await;
    let finished = end(start(&sandbox, &AGAIN)).await;
    assert_eq!(finished.code, Some(11), "{}", finished.stderr);
    assert_eq!((&result(&sandbox)["limit"], sandbox.server.count()), (&json!("tokens"), 4));
}

#[tokio::test]
async fn a_team_that_a_signal_has_stopped_goes_on_where_its_agents_were() {
    let sandbox = Sandbox::new(move |request: &Request| match (is_of(request, "A"), request.last_user()) {
        (false, _) => text("second"),
        (true, told) if told.contains("You were interrupted") => text("first"),
        (true, _) => calls([call("bash", json!({"command": "echo x >> effects; sleep 600"}))]),
    })
    .await;
    sandbox.write("team.toml", TWO);
    let team = start(&sandbox, &FRESH);
    let began = async {
        while !sandbox.exists("effects") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within("effect", began).await;
    assert_eq!(kill(team, Signal::TERM).await, Some(143));
    assert_eq!(result(&sandbox)["outcome"], "stopped");
    let finished = end(start(&sandbox, &AGAIN)).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "second\n"), "{}", finished.stderr);
    let result = result(&sandbox);
    assert_eq!((agents(&result), sandbox.read("effects").as_str()), (vec![("a", "done"), ("b", "done")], "x\n"));
}

#[tokio::test]
async fn work_in_worktrees_is_judged_and_merged_after_a_break_and_nothing_is_left() {
    let sandbox = Sandbox::new(|request: &Request| match request.results().is_empty() {
        true => {
            let word = if is_of(request, "try 1") { "bad" } else { "good" };
            calls([call("bash", json!({"command": format!("echo {word} > a.txt")}))])
        }
        false => text("done"),
    })
    .await;
    sandbox.write("a.txt", "old\n");
    repository(&sandbox);
    let go = sandbox.project.join("go").display().to_string();
    let began = sandbox.project.join("began").display().to_string();
    let command = format!("touch {began}; {}; grep good a.txt", wait_for_file(&go));
    sandbox.write(
        "team.toml",
        format!(
            "[team]\nname = \"t\"\n[role.worker]\nmodel = \"mock/m1\"\ncount = 2\nworktree = true\n\
             prompt = \"try {{{{number}}}}\"\n[best.fix]\nof = \"worker\"\ncommand = \"{command}\"\nmerge = true\n"
        ),
    );
    let team = start(&sandbox, &FRESH);
    let judging = async {
        while !sandbox.exists("began") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within("judging", judging).await;
    kill(team, Signal::KILL).await;
    sandbox.write("go", "");
    let finished = end(start(&sandbox, &AGAIN)).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!((sandbox.read("a.txt").as_str(), sandbox.server.count()), ("good\n", 4));
    assert_eq!(result(&sandbox)["steps"][0]["chosen"], 2);
    assert_eq!(git(&sandbox, &["worktree", "list"]).lines().count(), 1, "no worktree is left");
    assert_eq!(git(&sandbox, &["branch", "--list", "troupe/*"]), "", "nor a branch");
}
