//! The folder of a run: what it goes on by, what is left of a process that was killed, the last words.

use std::{fs, process::Stdio};

use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::{breaks::*, support::*};

/// Begins a team whose second agent waits, and kills it there.
async fn broken_off(signal: Signal) -> (Sandbox, Gate, String) {
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
    kill_process(pid_of(&team), signal).unwrap();
    let told = end(team).await.stderr;
    (sandbox, gate, told)
}

#[tokio::test]
async fn a_run_goes_on_by_the_file_that_it_began_with_and_by_no_other() {
    let (sandbox, gate, _) = broken_off(Signal::KILL).await;
    gate.open();
    let other = "[team]\nname = \"t\"\n[role.z]\nmodel = \"mock/m1\"\nprompt = \"Z\"\n";
    for (text, expected) in [
        (TWO.replace("B after", "B behind").as_str(), "out/team.toml has changed since the run began"),
        (other, "out/team.toml has changed since the run began"),
        ("[team", "out/team.toml has changed since the run began"),
    ] {
        sandbox.write("out/team.toml", text);
        let refused = end(start(&sandbox, &AGAIN)).await;
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
    assert_eq!(sandbox.server.count(), 2, "nobody was asked");
    // The file where it was does not count: its copy does.
    sandbox.write("team.toml", other);
    sandbox.write("out/team.toml", TWO);
    let finished = end(start(&sandbox, &AGAIN)).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "second\n"), "{}", finished.stderr);
    // What has its result needs nothing any more.
    sandbox.write("out/team.toml", other);
    assert_eq!(end(start(&sandbox, &AGAIN)).await.stdout, "second\n");
}

#[tokio::test]
async fn notes_that_do_not_fit_the_file_are_an_error_and_no_wait_without_end() {
    let (sandbox, gate, _) = broken_off(Signal::KILL).await;
    gate.open();
    // As a program left it that noted no digests.
    let mut record: Value = serde_json::from_str(&sandbox.read("out/run.json")).unwrap();
    record.as_object_mut().unwrap().remove("texts");
    sandbox.write("out/run.json", record.to_string());
    sandbox.write("out/team.toml", TWO.replace("role.a", "role.z").replace("a.output", "z.output"));
    let refused = end(start(&sandbox, &AGAIN)).await;
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("does not fit the team file"), "{}", refused.stderr);
    assert!(refused.stderr.contains("it is about a, and by the file it is z's turn"), "{}", refused.stderr);
    sandbox.write("out/team.toml", "[team]\nname = \"t\"\n[role.a]\nprompt = \"\"\n");
    let refused = end(start(&sandbox, &AGAIN)).await;
    assert!(refused.stderr.contains("out/team.toml:4:1: role.a.prompt: expected"), "{}", refused.stderr);
}

#[tokio::test]
async fn a_signal_ends_with_how_to_go_on_and_others_are_told_in_words_of_teams() {
    let (sandbox, gate, told) = broken_off(Signal::TERM).await;
    let out = sandbox.project.join("out");
    let line = format!("Go on with it: troupe team run --resume {}", out.display());
    assert_eq!(told.lines().last(), Some(line.as_str()), "{told}");
    // The one before holds the run.
    let again = start(&sandbox, &AGAIN);
    sandbox.server.request(2).await;
    let refused = end(start(&sandbox, &AGAIN)).await;
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("carries out the run in") && !refused.stderr.contains("--fork"),
        "{}",
        refused.stderr
    );
    gate.open();
    assert_eq!(end(again).await.stdout, "second\n");
}

#[tokio::test]
async fn what_a_process_left_that_was_killed_at_once_is_in_nobodys_way() {
    let sandbox = Sandbox::new(|request: &Request| text(if is_of(request, "A") { "first" } else { "second" })).await;
    sandbox.write("team.toml", TWO);
    // It was writing its first file.
    sandbox.write("out/.tmpAb3dE9", "{");
    let finished = end(start(&sandbox, &FRESH)).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "second\n"), "{}", finished.stderr);
    // It had written how to go on, and not what.
    fs::create_dir(sandbox.project.join("early")).unwrap();
    let record = sandbox.read("out/run.json").replace("/out\"", "/early\"");
    sandbox.write("early/run.json", record);
    let finished = end(start(&sandbox, &["--resume", "early"])).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "second\n"), "{}", finished.stderr);
    assert_eq!(sandbox.read("early/team.toml"), TWO);
    let mine = end(start(&sandbox, &["team.toml", "--out", "out"])).await;
    assert!(mine.stderr.contains("out holds files already"), "{}", mine.stderr);
}

#[tokio::test]
async fn a_result_that_cannot_be_written_is_a_failure() {
    let sandbox = Sandbox::new(|_: &Request| text("done")).await;
    sandbox.write("team.toml", "[team]\nname = \"t\"\n[role.a]\nmodel = \"mock/m1\"\nprompt = \"A\"\n");
    for words in [&["team", "run", "team.toml", "--out", "out"][..], &["team", "run", "--resume", "out", "--json"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = sandbox.command(words);
        let team = command.stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let finished = end(team).await;
        assert_eq!(finished.code, Some(1), "{}", finished.stderr);
        assert!(finished.stderr.contains("standard output cannot be written"), "{}", finished.stderr);
    }
}
