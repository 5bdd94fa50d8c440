//! Stopping and aborting families.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::family::{bench, call, family, hanging_bench, heard, script, spawn};
use crate::{
    actors::{
        family_board::Face,
        family_notes::Note,
        fleet::{
            FleetMsg,
            family::STOP_GRACE,
            family_msg::FamilyMsg,
            group::{self, GroupReport},
            strategy::{GroupEnd, Strategy},
            worktree::repository as repository_lock,
        },
        restart::{RestartKind, RestartPolicy},
        testing::{Bench, Parts, moment, within},
    },
    protocol::{
        Command,
        sibling::{Isolation, Outcome, SiblingLimits, SiblingSpec, SiblingState, WaitMode, WorktreeFate},
    },
};

fn child() -> SiblingSpec {
    SiblingSpec { prompt: Some("You are a child".into()), ..SiblingSpec::of_task("go") }
}

async fn until_in_tools(bench: &Bench, count: usize) {
    let family = family(bench);
    within("tools", async {
        while family.status().iter().filter(|sibling| sibling.tool.is_some()).count() < count {
            moment().await;
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn fc_093_an_abort_of_the_parent_ends_all_below_it_and_no_request_follows() {
    let turns = json!([{"calls": [spawn(json!({})), spawn(json!({"background": true})), spawn(json!({}))]}, "never"]);
    let hangs = json!([{"calls": [call("hangs", json!({}))]}, "never"]);
    let mut bench = hanging_bench(script(turns, hangs)).await;
    bench.prompt("go").await.unwrap();
    until_in_tools(&bench, 3).await;
    let begun = Instant::now();
    bench.command(Command::Abort).await.unwrap();
    let family = family(&bench);
    within("ends", family.wait(&[], WaitMode::All, None)).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    let turns = family.account().spent().turns;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!((turns, family.account().spent().turns), (4, 4), "one each, and none afterwards");
    for sibling in family.status() {
        let stopped = Outcome::Stopped { message: "main was aborted".into() };
        assert_eq!((sibling.state, sibling.outcome), (SiblingState::Idle, Some(stopped)));
    }
    bench.settled().await;
    // The model hears of it with the next request, and nobody was woken for it.
    bench.run("and now?").await;
    let told = heard(&bench).iter().filter(|text| text.contains("was stopped: main was aborted")).count();
    assert_eq!(told, 1, "one notice for all: {:?}", heard(&bench));
}

#[tokio::test(start_paused = true)]
async fn a_family_of_a_hundred_with_hung_tools_is_stopped_within_a_second() {
    let hangs = json!([{"calls": [call("hangs", json!({}))]}, "never"]);
    let bench = {
        let tools = vec![std::sync::Arc::new(crate::actors::testing::FnTool::new("hangs", |_| {
            std::future::pending::<crate::protocol::ToolOutput>()
        })) as std::sync::Arc<dyn crate::tools::Tool>];
        let limits = SiblingLimits { running: 200, total: 200, depth: 1 };
        let parts = crate::actors::testing::Parts { turns: script(json!(["x"]), hangs), tools, ..Default::default() };
        parts.start_with(limits).await
    };
    let family = family(&bench);
    for _ in 0..100 {
        family.spawn(child()).await.unwrap();
    }
    until_in_tools(&bench, 100).await;
    let begun = Instant::now();
    let ends = within("stop", family.stop(&[], "enough", STOP_GRACE, WorktreeFate::Patch)).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(ends.len(), 100);
    assert!(ends.iter().all(|end| end.outcome == Outcome::Stopped { message: "enough".into() }));
    assert!(family.status().iter().all(|sibling| sibling.state == SiblingState::Gone));
    assert_eq!(bench.fleet.actor().get_children().len(), 2, "the parent and the lookout are left");
}

#[tokio::test(start_paused = true)]
async fn a_stop_takes_what_is_below_along_and_a_wait_for_it_ends() {
    let deep =
        json!([{"calls": [call("agent_spawn", json!({"task": "deeper", "prompt": "You are a grandchild"}))]}, "x"]);
    let turns = json!({
        "turns": ["x"],
        "scenes": [
            {"when": {"system": "You are a grandchild"}, "turns": [{"calls": [call("hangs", json!({}))]}]},
            {"when": {"system": "You are a child"}, "turns": deep},
        ],
    });
    let bench = hanging_bench(turns).await;
    let family = family(&bench);
    family.spawn(child()).await.unwrap();
    until_in_tools(&bench, 2).await;
    let waiting = tokio::spawn({
        let family = family.clone();
        async move { family.wait(&["agent-1.1"], WaitMode::All, None).await }
    });
    moment().await;
    within("stop", family.stop(&["agent-1"], "enough", STOP_GRACE, WorktreeFate::Patch)).await.unwrap();
    let waited = within("wait", waiting).await.unwrap().unwrap();
    assert_eq!(waited.ends[0].outcome, Outcome::Stopped { message: "enough".into() });
    assert!(family.status().iter().all(|sibling| sibling.state == SiblingState::Gone));
}

/// A repository with one commit.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"];
    for arguments in [&["init", "--quiet"][..], &["commit", "--quiet", "--allow-empty", "-m", "first"]] {
        let mut git = std::process::Command::new("git");
        let run = git.arg("-C").arg(folder.path()).args(identity).args(arguments).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    folder
}

#[tokio::test]
#[expect(clippy::await_holding_lock, reason = "what clears the worktree away is held up by it")]
async fn stops_of_a_sibling_whose_worktree_is_cleared_away_are_answered_when_that_is_done_and_once() {
    let (folder, sessions) = (repository(), tempfile::tempdir().unwrap());
    let parts =
        Parts { turns: script(json!(["x"]), json!(["done"])), cwd: folder.path().to_owned(), ..Parts::default() };
    let bench = parts.start().await;
    let family = family(&bench);
    let session_file = Some(sessions.path().join("a.jsonl"));
    family.spawn(SiblingSpec { isolation: Isolation::Worktree, session_file, ..child() }).await.unwrap();
    within("end", family.wait(&[], WaitMode::All, None)).await.unwrap();
    let worktree = std::path::PathBuf::from(family.status()[0].worktree.clone().unwrap());

    let held = repository_lock();
    let stop = || {
        let (reply, answer) = tokio::sync::oneshot::channel();
        let (parent, ids, reason) = (bench.shared.id.clone(), Vec::new(), "enough".to_owned());
        let (grace, fate) = (Duration::ZERO, WorktreeFate::Drop);
        bench.fleet.tell(FleetMsg::Family(Box::new(FamilyMsg::Stop { parent, ids, reason, grace, fate, reply })));
        answer
    };
    let mut first = stop();
    within("clearing", async {
        while bench.find("ClearWorktree").is_none() {
            moment().await;
        }
    })
    .await;
    let mut second = stop();
    // Answered behind the second stop.
    family.pause(&[]).await.unwrap();
    assert!(first.try_recv().is_err() && second.try_recv().is_err() && worktree.exists());
    assert_eq!(family.status()[0].state, SiblingState::Stopping);
    drop(held);
    for answer in [first, second] {
        let ends = within("answer", answer).await.unwrap().unwrap();
        assert_eq!((ends.len(), &ends[0].outcome), (1, &Outcome::Done));
    }
    assert!(!worktree.exists());
    let view = bench.shared.place.store.view();
    let notes = view.entries().filter_map(|entry| Note::of(&entry.entry().body));
    assert_eq!(notes.filter(|note| matches!(note, Note::Gone(_))).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lookout_that_comes_late_sees_the_tools_that_run_already() {
    let hangs = json!([{"calls": [call("hangs", json!({}))]}]);
    let bench = hanging_bench(script(json!(["x"]), hangs)).await;
    family(&bench).spawn(child()).await.unwrap();
    until_in_tools(&bench, 1).await;
    // All that was seen is forgotten with the lookout; another one takes its place.
    let id = family(&bench).status()[0].id.clone();
    bench.shared.kin.board.change(&id, |member| member.face = Face::default());
    bench.find("Lookout").unwrap().kill();
    until_in_tools(&bench, 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_stores_how_siblings_ended_before_their_parent_goes() {
    let hangs = json!([{"calls": [call("hangs", json!({}))]}]);
    let bench = hanging_bench(script(json!(["x"]), hangs)).await;
    let family = family(&bench);
    family.spawn(child()).await.unwrap();
    until_in_tools(&bench, 1).await;
    let (reply, down) = crate::actors::reply::ReplyTo::channel();
    bench.fleet.tell(crate::actors::fleet::FleetMsg::ShutDown(reply));
    within("end", down).await.unwrap().unwrap();
    let view = bench.shared.place.store.view();
    let notes = view.entries().filter_map(|entry| Note::of(&entry.entry().body));
    let kinds: Vec<_> = notes.map(|note| matches!(note, Note::End(_))).collect();
    assert_eq!(kinds, [false, true], "spawned, ended");
}

async fn grouped(
    strategy: Strategy,
    specs: &[SiblingSpec],
    turns: serde_json::Value,
) -> (GroupReport, Vec<SiblingState>) {
    let bench = bench(turns).await;
    let family = family(&bench);
    let policy = RestartPolicy::actors(RestartKind::Transient);
    let report = within("end of the group", group::run(&family, specs, strategy, policy)).await.unwrap();
    let states = family.status().iter().map(|sibling| sibling.state).collect();
    (report, states)
}

fn member(name: &str) -> SiblingSpec {
    SiblingSpec { name: Some(name.into()), prompt: Some(format!("You are {name}")), ..SiblingSpec::of_task("go") }
}

#[tokio::test(start_paused = true)]
async fn the_first_success_of_a_race_stops_the_others() {
    let slow = |ms: u64, text: &str| json!([{"text": text, "pace": {"delayMs": ms}}]);
    let turns = json!({
        "turns": ["x"],
        "scenes": [
            {"when": {"system": "You are slow"}, "turns": slow(60_000, "late")},
            {"when": {"system": "You are quick"}, "turns": slow(100, "first")},
        ],
    });
    let (report, states) = grouped(Strategy::Any, &[member("slow"), member("quick")], turns).await;
    assert_eq!(report.end, GroupEnd::Done { members: vec![1] });
    assert_eq!(report.ends[1].as_ref().unwrap().text, "first");
    assert!(matches!(report.ends[0].as_ref().unwrap().outcome, Outcome::Stopped { .. }));
    assert_eq!(states, [SiblingState::Gone, SiblingState::Idle]);
}

#[tokio::test(start_paused = true)]
async fn members_that_build_on_each_other_are_started_again_together() {
    let fails = json!({"kind": "error", "class": "server_error", "message": "500", "retryable": false});
    let turns = json!({
        "turns": ["x"],
        "scenes": [
            {"when": {"system": "You are first"}, "turns": ["one"]},
            {"when": {"system": "You are second"}, "turns": [{"text": "two", "fault": fails}]},
        ],
    });
    let (report, states) = grouped(Strategy::RestForOne, &[member("first"), member("second")], turns).await;
    let GroupEnd::Failed { member: 1, .. } = report.end else { panic!("{report:?}") };
    assert_eq!(states.len(), 5, "the second was started three times again: {states:?}");
}
