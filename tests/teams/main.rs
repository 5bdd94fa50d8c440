//! `troupe team …`: the examples do what their heads say, results are complete, failures and signals leave a result.

#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod breaks;
mod early;
mod folder;
mod outside;

use std::{fs, path::Path, process::Stdio};

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use support::{agent::Finished, *};
use tokio::io::{AsyncBufReadExt as _, BufReader};

async fn sandbox() -> Sandbox {
    Sandbox::new(replies([text("nobody asks the server")])).await
}

/// A sandbox with the examples where they are in the project.
async fn with_examples() -> Sandbox {
    let sandbox = sandbox().await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    copy(&root.join("examples/teams"), &sandbox.project.join("examples/teams"));
    fs::copy(root.join("Cargo.toml"), sandbox.project.join("Cargo.toml")).unwrap();
    sandbox
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(path, copied).unwrap();
        }
    }
}

/// Makes the project a git repository with one commit.
fn repository(sandbox: &Sandbox) {
    git(sandbox, &["init", "-q"]);
    git(sandbox, &["add", "-A"]);
    git(sandbox, &["commit", "-q", "-m", "begin"]);
}

/// What git prints in the project.
fn git(sandbox: &Sandbox, words: &[&str]) -> String {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(words).current_dir(&sandbox.project);
    let output = git.env("HOME", &sandbox.home).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a team file into `out`, which is to end with `code`; its result.
async fn run(sandbox: &Sandbox, file: &str, more: &[&str], code: i32) -> Value {
    let finished = sandbox.run(&[&["team", "run", file, "--out", "out"], more].concat()).await;
    assert_eq!(finished.code, Some(code), "{}{}", finished.stdout, finished.stderr);
    let result: Value = serde_json::from_str(&sandbox.read("out/result.json")).unwrap();
    assert_eq!(result["exit"], code);
    result
}

/// The example of that name, run to its end.
async fn example(sandbox: &Sandbox, name: &str) -> Value {
    run(sandbox, &format!("examples/teams/{name}/team.toml"), &[], 0).await
}

/// Names and outcomes of the agents.
fn agents(result: &Value) -> Vec<(&str, &str)> {
    let agents = result["agents"].as_array().unwrap().iter();
    let mut agents: Vec<_> = agents.map(|a| (a["name"].as_str().unwrap(), a["outcome"].as_str().unwrap())).collect();
    agents.sort_unstable();
    agents
}

#[tokio::test]
async fn map_reduce_reads_all_notes_and_leaves_a_whole_result() {
    let sandbox = with_examples().await;
    let result = example(&sandbox, "map-reduce").await;
    assert_eq!(agents(&result), [("editor", "done"), ("reader-1", "done"), ("reader-2", "done"), ("reader-3", "done")]);
    assert!(result["output"].as_str().unwrap().starts_with("1. The crane"), "{result:#}");
    assert_eq!(result["steps"][0]["output"][1], "The stalls move to the north side in May.");

    // The sum of the agents is the whole, and each session is there to be read.
    let tokens = |usage: &Value| usage["totalTokens"].as_u64().unwrap();
    let parts: u64 = result["agents"].as_array().unwrap().iter().map(|agent| tokens(&agent["usage"])).sum();
    assert_eq!(tokens(&result["usage"]), parts);
    assert!(parts > 0);
    for agent in result["agents"].as_array().unwrap() {
        let session = lines(Path::new(agent["session"].as_str().unwrap()));
        assert_eq!(session[0]["type"], "session", "{agent}");
        assert!(agent["session"].as_str().unwrap().contains("out/sessions/"), "{agent}");
    }
    let timeline: Value = serde_json::from_str(&sandbox.read("out/timeline.json")).unwrap();
    let spans = timeline["spans"].as_array().unwrap();
    let kinds: Vec<_> = spans.iter().map(|span| span["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["list", "work", "work", "work", "work"]);
    for span in spans {
        assert!(span["toMs"].as_u64().unwrap() >= span["fromMs"].as_u64().unwrap(), "{span}");
    }
    let page = sandbox.read("out/timeline.html");
    assert!(page.contains("reader-2") && !page.contains("<script"), "{page}");
    assert_eq!(sandbox.read("out/team.toml"), sandbox.read("examples/teams/map-reduce/team.toml"));
    assert_eq!(sandbox.server.count(), 0, "nothing goes to the network");
    assert!(sandbox.session_files().is_empty(), "sessions of a team are in its result");
}

#[tokio::test]
async fn a_planner_says_what_workers_look_for() {
    let sandbox = with_examples().await;
    let result = example(&sandbox, "planner-workers").await;
    assert_eq!(agents(&result), [("author", "done"), ("planner", "done"), ("worker-1", "done"), ("worker-2", "done")]);
    assert!(result["output"].as_str().unwrap().contains("MIT licence"), "{result:#}");
    assert_eq!(result["steps"][0]["output"]["searches"][0]["what"], "the licence");
}

#[tokio::test]
async fn a_writer_is_reviewed_by_fresh_agents_until_one_accepts() {
    let sandbox = with_examples().await;
    let result = example(&sandbox, "writer-reviewer").await;
    assert_eq!(agents(&result), [("reviewer", "done"), ("reviewer-round2", "done"), ("writer", "done")]);
    assert!(result["output"].as_str().unwrap().contains("failure is a sentence"), "{result:#}");
    let writer = result["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "writer").unwrap();
    assert_eq!(writer["tasks"], 2);
}

#[tokio::test]
async fn of_three_in_worktrees_the_first_that_passes_the_test_is_chosen() {
    let sandbox = with_examples().await;
    repository(&sandbox);
    let result = example(&sandbox, "best-of-three").await;
    let greeting = result["steps"].as_array().unwrap().iter().find(|step| step["name"] == "greeting").unwrap();
    assert_eq!(greeting["chosen"], 2, "{result:#}");
    assert!(!sandbox.exists("greet.sh"), "the team's folder is as it was");
    let programmer = |name: &str| {
        let agents = result["agents"].as_array().unwrap();
        agents.iter().find(|agent| agent["name"] == name).unwrap().clone()
    };
    let patch = fs::read_to_string(programmer("programmer-2")["patch"].as_str().unwrap()).unwrap();
    assert!(patch.contains("${1:-world}"), "{patch}");
    assert_eq!(git(&sandbox, &["worktree", "list"]).lines().count(), 1, "no worktree is left");
    assert_eq!(git(&sandbox, &["branch", "--list", "troupe/*"]), "", "nor a branch");
}

#[tokio::test]
async fn three_debate_and_a_chair_decides() {
    let sandbox = with_examples().await;
    let result = example(&sandbox, "debate").await;
    assert_eq!(result["output"]["decision"], "yes", "{result:#}");
    let council = &result["steps"].as_array().unwrap().iter().find(|step| step["name"] == "council").unwrap()["output"];
    let speakers: Vec<_> = council.as_array().unwrap().iter().map(|said| (&said["round"], &said["speaker"])).collect();
    let expected: Vec<_> = [1, 2]
        .iter()
        .flat_map(|round| ["reader", "staff", "treasurer"].map(|who| (json!(round), json!(who))))
        .collect();
    assert_eq!(speakers, expected.iter().map(|(round, who)| (round, who)).collect::<Vec<_>>());
}

/// Writes a team with one script for all roles.
fn team(sandbox: &Sandbox, file: &str, script: &Value) {
    sandbox.write("script.json", script.to_string());
    let head = "[defaults]\nmodel = \"troupe/script\"\nscript = \"script.json\"\n";
    sandbox.write("team.toml", format!("{file}\n{head}"));
}

#[tokio::test]
async fn the_best_work_is_merged_into_the_folder_when_the_file_says_so() {
    let sandbox = sandbox().await;
    sandbox.write("a.txt", "old\n");
    repository(&sandbox);
    let write = |text: &str| json!({"calls": [{"name": "write", "arguments": {"path": "a.txt", "content": text}}]});
    let script = json!({
        "scenes": [{"when": {"lastUser": "try 1"}, "turns": [write("bad\n"), "one"]}],
        "turns": [write("good\n"), "two"],
    });
    let file = "[team]\nname = \"t\"\n[role.worker]\ncount = 2\nworktree = true\nprompt = \"try {{number}}\"\n\
                [best.fix]\nof = \"worker\"\ncommand = \"grep good a.txt\"\nmerge = true\n";
    team(&sandbox, file, &script);
    let result = run(&sandbox, "team.toml", &[], 0).await;
    assert_eq!((&result["output"], sandbox.read("a.txt").as_str()), (&json!("two"), "good\n"));
}

#[tokio::test]
async fn changes_that_conflict_change_nothing_and_the_message_says_where_they_are() {
    let sandbox = sandbox().await;
    sandbox.write("a.txt", "old\n");
    repository(&sandbox);
    let write = json!({"calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "new\n"}}]});
    let there = sandbox.project.join("a.txt");
    let verify = format!("echo other > {}", there.display());
    let file = format!(
        "[team]\nname = \"t\"\n[role.a]\nworktree = true\nmerge = true\nprompt = \"x\"\nverify = \"{verify}\"\n"
    );
    team(&sandbox, &file, &json!({"turns": [write, "done"]}));
    let result = run(&sandbox, "team.toml", &[], 1).await;
    let patch = result["agents"][0]["patch"].as_str().unwrap();
    let message = result["message"].as_str().unwrap();
    assert_eq!(message, format!("its changes could not be merged: conflicts in a.txt; the work is in {patch}"));
    assert_eq!(sandbox.read("a.txt"), "other\n");
    assert!(fs::read_to_string(patch).unwrap().contains("+new"));
}

#[tokio::test]
async fn fc_095_a_worktree_where_there_is_no_repository_is_an_error_and_nothing_is_written_elsewhere() {
    let sandbox = sandbox().await;
    let write = json!({"calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "new"}}]});
    let file = "[team]\nname = \"t\"\n[role.worker]\nworktree = true\nprompt = \"x\"\n";
    team(&sandbox, file, &json!({"turns": [write, "done"]}));
    let result = run(&sandbox, "team.toml", &[], 1).await;
    assert!(result["message"].as_str().unwrap().contains("git repository"), "{result:#}");
    assert!(!sandbox.exists("a.txt"));
}

#[tokio::test]
async fn a_failed_check_goes_back_to_the_agent() {
    let sandbox = sandbox().await;
    let write = |text: &str| json!({"calls": [{"name": "write", "arguments": {"path": "a.txt", "content": text}}]});
    let turns = json!([
        write("bad"),
        "done",
        {"expect": {"lastUser": ["The check `grep good a.txt ||", "only bad"]}, "text": "Sorry."},
    ]);
    let file = "[team]\nname = \"t\"\n[role.worker]\nprompt = \"x\"\n\
                verify = { command = \"grep good a.txt || { echo only $(cat a.txt); exit 3; }\", attempts = 1 }\n";
    team(&sandbox, file, &json!({"turns": turns}));
    let result = run(&sandbox, "team.toml", &[], 1).await;
    assert!(result["message"].as_str().unwrap().contains("failed: only bad"), "{result:#}");
    assert_eq!(result["agents"][0]["tasks"], 2);

    let mut turns = turns;
    turns[2] = json!({"expect": {"lastUser": "only bad"}, "calls": write("good")["calls"]});
    turns.as_array_mut().unwrap().push(json!("Better."));
    team(&sandbox, file, &json!({"turns": turns}));
    fs::remove_dir_all(sandbox.project.join("out")).unwrap();
    let result = run(&sandbox, "team.toml", &[], 0).await;
    assert_eq!(result["output"], "Better.");
}

#[tokio::test]
async fn a_provider_that_fails_brings_new_agents_until_the_team_gives_up() {
    let sandbox = sandbox().await;
    sandbox.settings(json!({"retry": {"enabled": false}}));
    let overloaded = json!({"kind": "error", "class": "overloaded", "status": 529, "message": "Overloaded"});
    let file = "[team]\nname = \"t\"\nrestarts = 1\n[role.worker]\nprompt = \"x\"\n";
    team(&sandbox, file, &json!({"turns": [{"fault": overloaded, "text": "y"}]}));
    let result = run(&sandbox, "team.toml", &[], 1).await;
    assert_eq!(agents(&result), [("worker", "failed"), ("worker-try2", "failed")]);
    assert!(result["message"].as_str().unwrap().contains("given up after 1 restarts"), "{result:#}");
    assert_eq!(result["step"], "worker");
}

#[tokio::test]
async fn each_limit_has_its_exit_code() {
    let look = json!({"calls": [{"name": "ls", "arguments": {}}]});
    let table = [
        ("", "budget = { turns = 1 }", json!([look, "done"]), 10, "turns"),
        ("budget = { tokens = 50 }", "", json!([{"text": "x", "usage": {"input": 100}}, "more"]), 11, "tokens"),
        ("budget = { time = \"300ms\" }", "", json!([{"text": "x", "fault": {"kind": "stall"}}]), 12, "time"),
        ("budget = { time = \"1s\" }", "verify = \"sleep 600\"", json!(["done"]), 12, "time"),
    ];
    for (of_team, of_role, turns, code, limit) in table {
        let sandbox = sandbox().await;
        // What the first has used up, the second does not get.
        let file = format!(
            "[team]\nname = \"t\"\n{of_team}\n[role.a]\nprompt = \"x\"\n{of_role}\n[role.b]\nneeds = [\"a\"]\nprompt = \"y\"\n"
        );
        team(&sandbox, &file, &json!({"turns": turns}));
        let result = run(&sandbox, "team.toml", &[], code).await;
        assert_eq!((&result["outcome"], &result["limit"]), (&json!("limit"), &json!(limit)), "{result:#}");
        // People know the team and its agents, and no "main".
        let message = result["message"].as_str().unwrap();
        assert!(!message.contains("main") && !message.contains("agent-"), "{message}");
    }
}

#[tokio::test]
async fn a_signal_stops_all_agents_and_the_result_says_so() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let sandbox = sandbox().await;
        let file = "[team]\nname = \"t\"\n[role.a]\ncount = 3\nprompt = \"x\"\n";
        team(&sandbox, file, &json!({"turns": [{"text": "x", "fault": {"kind": "stall"}}]}));
        let mut command = sandbox.command(&["team", "run", "team.toml", "--out", "out"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
        let begun = async {
            while let Some(line) = told.next_line().await.unwrap() {
                if line.contains("a-3 begins") {
                    break;
                }
            }
        };
        within("start of the agents", begun).await;
        let id = pid_of(&child);
        kill_process(id, signal).unwrap();
        let rest = async {
            while told.next_line().await.unwrap().is_some() {}
            child.wait().await.unwrap()
        };
        assert_eq!(within("end", rest).await.code(), Some(code));
        let result: Value = serde_json::from_str(&sandbox.read("out/result.json")).unwrap();
        assert_eq!((&result["outcome"], &result["exit"]), (&json!("stopped"), &json!(code)), "{result:#}");
        assert_eq!(result["agents"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn repeated_runs_are_summed_up_and_compared() {
    let sandbox = with_examples().await;
    let args = [
        "team",
        "run",
        "examples/teams/writer-reviewer/team.toml",
        "--repeat",
        "2",
        "--seed",
        "5",
        "--out",
        "two",
        "--log-file",
        "log",
    ];
    let Finished { code, stdout, stderr } = sandbox.run(&args).await;
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("all  2 of 2 done"), "{stdout}");
    let summary: Value = serde_json::from_str(&sandbox.read("two/summary.json")).unwrap();
    assert_eq!((&summary["done"], &summary["runs"][1]["seed"]), (&json!(2), &json!(6)));
    assert_eq!(summary["roles"][0]["role"], "writer");
    assert_eq!(summary["tokens"]["min"], summary["tokens"]["max"], "scripts use the same tokens each time");
    for file in ["two/run-1/result.json", "two/run-2/timeline.html", "two/run-2/sessions/writer.jsonl"] {
        assert!(sandbox.exists(file), "{file}");
    }
    example(&sandbox, "debate").await;
    let compared = sandbox.run(&["team", "compare", "two", "out"]).await;
    let lines: Vec<_> = compared.stdout.lines().collect();
    assert!(lines[1].starts_with("two      writer-reviewer  2 of 2"), "{}", compared.stdout);
    assert!(lines[2].starts_with("out      debate           1 of 1"), "{}", compared.stdout);
}

#[tokio::test]
async fn a_model_on_the_command_line_holds_for_all_roles_and_is_paid_for() {
    let sandbox = Sandbox::new(replies([text("one"), text("two")])).await;
    let file = "[team]\nname = \"t\"\n[inputs]\nx = {}\n[role.a]\nprompt = \"say {{input.x}}\"\n[role.b]\nprompt = \"after {{a.output}}\"\n";
    team(&sandbox, file, &json!({"turns": ["never"]}));
    sandbox.write("x.txt", "hello");
    let result = run(&sandbox, "team.toml", &["--model", "mock/m1", "--input", "x=@x.txt", "--json"], 0).await;
    assert_eq!(result["output"], "two");
    assert_eq!(result["agents"][1]["model"], "mock/m1");
    assert!(result["usage"]["cost"]["total"].as_f64().unwrap() > 0.0, "{result:#}");
    assert_eq!(sandbox.server.count(), 2);
    let said: Vec<_> = sandbox.server.requests().iter().map(|request| request.last_user()).collect();
    assert!(said[0].contains("say hello") && said[1].contains("after one"), "{said:?}");
}

#[tokio::test]
async fn wrong_words_and_wrong_files_are_told_before_anything_is_made() {
    let sandbox = with_examples().await;
    sandbox.write("bad.toml", "[team]\nname = \"t\"\n[role.a]\npromt = \"x\"\n");
    let example = "examples/teams/debate/team.toml";
    sandbox.write("tools.toml", "[team]\nname = \"t\"\n[role.a]\nprompt = \"x\"\ntools = [\"greb\"]\n");
    let table: [(&[&str], &str); 8] = [
        (&["team", "check", "tools.toml"], "tools.toml:5:1: role.a.tools: there is no tool greb (did you mean grep?)"),
        (&["team", "run", "none.toml"], "none.toml cannot be read"),
        (&["team", "run", "bad.toml"], "bad.toml:4:1: role.a.promt: unknown field (did you mean prompt?)"),
        (&["team", "check", "bad.toml"], "bad.toml:4:1: role.a.promt: unknown field (did you mean prompt?)"),
        (&["team", "run", example, "--input", "x=y"], "the team has no input x; expected one of question"),
        (
            &["team", "run", example, "--out", "examples"],
            "examples holds files already; name another folder with --out",
        ),
        (&["team", "run", example, "hello"], "takes no prompts and files: the team file says what agents do"),
        (&["team", "compare", "examples"], "examples has no result.json and no run-1"),
    ];
    for (args, expected) in table {
        let finished = sandbox.run(args).await;
        assert_eq!(finished.code, Some(2), "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(expected), "{args:?}: {}", finished.stderr);
    }
    assert!(!sandbox.user_dir.join("teams").exists());
    let checked = sandbox.run(&["team", "check", example]).await;
    assert!(checked.stdout.contains("step chair: one agent, after council"), "{}", checked.stdout);
}
