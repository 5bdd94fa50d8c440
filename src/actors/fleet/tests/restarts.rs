//! Families over restarts: of the fleet, of agents, and of the whole process.

use std::path::Path;

use serde_json::{Value, json};

use super::family::{call, family, heard, script, spawn};
use crate::{
    actors::{
        fleet::family::Family,
        session_writer::SessionPlace,
        testing::{Bench, FnTool, Parts, find, moment, within},
    },
    protocol::{
        Command, ToolOutput,
        sibling::{Outcome, SiblingLimits, SiblingSpec, SiblingState, WaitMode},
    },
    store::{NewSession, SessionStore, Sidecar},
    tools::siblings,
};

/// An agent on the session file in this folder, as a process that goes on with it would make it.
async fn process(folder: &Path, turns: Value) -> Bench {
    let file = folder.join("parent.jsonl");
    let store = SessionStore::open(&file, NewSession::in_folder(folder)).unwrap().store;
    let journal = Sidecar::of(&store).unwrap();
    let mut tools = siblings::tools();
    tools.push(std::sync::Arc::new(FnTool::new("hangs", |_| std::future::pending::<ToolOutput>())));
    let parts = Parts { turns, tools, cwd: folder.to_owned(), ..Parts::default() };
    parts.start_in(SessionPlace::new(store, journal).taking_over(), SiblingLimits::default()).await
}

/// Ends everything at once, as a `kill -9` would, and lets go of the files.
async fn kill(bench: Bench) {
    bench.fleet.actor().kill_and_wait(None).await.unwrap();
    let family = Family::of(&bench.shared);
    for sibling in family.status() {
        bench.shared.kin.board.change(&sibling.id, |member| member.closed());
    }
    drop((family, bench));
    // Killed actors let go of what they hold when they are polled for the last time.
    for _ in 0..10 {
        moment().await;
    }
}

async fn until_in_tools(bench: &Bench) {
    within("tool", async {
        while family(bench).status().iter().all(|sibling| sibling.tool.is_none()) {
            moment().await;
        }
    })
    .await;
}

fn child() -> SiblingSpec {
    SiblingSpec { prompt: Some("You are a child".into()), key: Some("k".into()), ..SiblingSpec::of_task("go") }
}

#[tokio::test]
async fn a_process_that_takes_over_goes_on_with_siblings_and_repeats_nothing_that_may_have_had_effects() {
    let folder = tempfile::tempdir().unwrap();
    let turns = || script(json!(["x"]), json!([{"calls": [call("hangs", json!({}))]}, "{{lastToolResult}}"]));
    let bench = process(folder.path(), turns()).await;
    let receipt = family(&bench).spawn(child()).await.unwrap();
    until_in_tools(&bench).await;
    kill(bench).await;

    let bench = process(folder.path(), turns()).await;
    let known = family(&bench).spawn(child()).await.unwrap();
    assert_eq!((known.id, known.existing), (receipt.id, true));
    let waited = within("end", family(&bench).wait(&[], WaitMode::All, None)).await.unwrap();
    assert_eq!(waited.ends[0].outcome, Outcome::Done);
    assert!(waited.ends[0].text.contains("interrupted"), "{}", waited.ends[0].text);
    kill(bench).await;

    // A third one finds the end, and nothing is begun.
    let bench = process(folder.path(), turns()).await;
    let known = family(&bench).spawn(child()).await.unwrap();
    assert_eq!(known.end.map(|end| end.outcome), Some(Outcome::Done));
    assert_eq!(family(&bench).status()[0].state, SiblingState::Idle);
    assert!(bench.fleet.actor().get_children().len() == 1, "an idle one is made when it is needed");
    let usage = bench.shared.tree().unwrap().totals().usage;
    assert_eq!(family(&bench).status()[0].spent.tokens, usage.total_tokens, "counted once");
    let end =
        within("answer", family(&bench).ask("agent-1", "more", std::time::Duration::from_secs(60))).await.unwrap();
    assert_eq!(end.task, 2);
}

/// How the names of the files end that the siblings of the agent in `folder` have.
fn files(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder.join("parent.agents")).into_iter().flatten();
    let ending = |path: std::path::PathBuf| path.extension().unwrap().to_str().unwrap().to_owned();
    files.map(|file| ending(file.unwrap().path())).collect()
}

#[tokio::test]
async fn a_sibling_without_an_answer_has_no_files_and_begins_with_its_task_again() {
    let folder = tempfile::tempdir().unwrap();
    let turns = |delay: u64| {
        let slow = json!([{"text": "from the child", "pace": {"delayMs": delay}}]);
        script(json!(["x"]), slow)
    };
    let hour = 3_600_000;
    let bench = process(folder.path(), turns(hour)).await;
    // Its name stands in its session before its task does.
    let named = SiblingSpec { name: Some("reader".into()), ..child() };
    let receipt = family(&bench).spawn(named).await.unwrap();
    let words = |bench: &Bench| {
        let agent = bench.shared.kin.board.look(&receipt.id, |member| member.live().cloned()).flatten();
        agent.and_then(|agent| agent.tree()).map_or(0, |tree| tree.totals().user_messages)
    };
    within("prompt", async {
        while words(&bench) == 0 {
            moment().await;
        }
    })
    .await;
    assert_eq!(files(folder.path()), <[&str; 0]>::default());
    kill(bench).await;

    let bench = process(folder.path(), turns(0)).await;
    let waited = within("end", family(&bench).wait(&[], WaitMode::All, None)).await.unwrap();
    assert_eq!((&waited.ends[0].outcome, waited.ends[0].text.as_str()), (&Outcome::Done, "from the child"));
    assert_eq!(words(&bench), 1);
    assert_eq!(files(folder.path()), ["jsonl"]);
}

#[tokio::test]
async fn fc_097_an_end_that_a_parent_was_not_told_before_the_process_died_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let slow = json!([{"text": "from the child", "pace": {"delayMs": 100}}]);
    let turns = || {
        let parent = json!([{"calls": [spawn(json!({"background": true}))]}, "waiting", "heard"]);
        script(parent, slow.clone())
    };
    let mut bench = process(folder.path(), turns()).await;
    bench.run("go").await;
    kill(bench).await;
    let mut bench = process(folder.path(), turns()).await;
    within("end", family(&bench).wait(&[], WaitMode::All, None)).await.unwrap();
    bench.settled().await;
    kill(bench).await;
    let mut bench = process(folder.path(), turns()).await;
    bench.run("again").await;
    let told = heard(&bench).iter().filter(|text| text.contains("from the child")).count();
    assert_eq!(told, 1, "{:?}", heard(&bench));
}

#[tokio::test]
async fn fc_097_an_end_that_was_noted_right_before_the_process_died_wakes_the_idle_parent_in_the_next_one_once() {
    let folder = tempfile::tempdir().unwrap();
    let turns = || {
        let parent = json!([{"calls": [spawn(json!({"background": true}))]}, "waiting", "heard"]);
        script(parent, json!([{"text": "from the child", "pace": {"delayMs": 100}}]))
    };
    let mut bench = process(folder.path(), turns()).await;
    bench.run("go").await;
    bench.settled().await;
    kill(bench).await;
    // What the session was when the end was noted, and nobody was told of it.
    let file = folder.path().join("parent.jsonl");
    let lines = std::fs::read_to_string(&file).unwrap();
    let told = lines.lines().position(|line| line.contains("\"customType\":\"agents\"")).unwrap();
    let noted: String = lines.lines().take(told).map(|line| format!("{line}\n")).collect();
    assert!(noted.contains("agent_end"), "{noted}");
    std::fs::write(&file, noted).unwrap();

    let bench = process(folder.path(), turns()).await;
    let answers = |bench: &Bench| bench.shared.tree().map_or(0, |tree| tree.totals().assistant_messages);
    within("answer", async {
        while answers(&bench) < 3 {
            moment().await;
        }
    })
    .await;
    let told = heard(&bench).iter().filter(|text| text.contains("from the child")).count();
    assert_eq!(told, 1, "{:?}", heard(&bench));
    bench.command(Command::WaitIdle).await.unwrap();
    kill(bench).await;
    let bench = process(folder.path(), turns()).await;
    // Whoever would be woken again is at work when this is answered.
    family(&bench).pause(&[]).await.unwrap();
    bench.command(Command::WaitIdle).await.unwrap();
    assert_eq!(answers(&bench), 3, "nobody is woken again");
}

#[tokio::test]
async fn a_fleet_that_dies_takes_nothing_of_a_family_along() {
    let bench = process(tempfile::tempdir().unwrap().path(), script(json!(["x"]), json!(["quick"]))).await;
    let family = family(&bench);
    family.spawn(child()).await.unwrap();
    within("end", family.wait(&[], WaitMode::All, None)).await.unwrap();
    let agent = find(&bench.fleet.actor().get_cell(), "TurnLoop").unwrap();
    agent.kill();
    let again = SiblingSpec { key: None, ..child() };
    family.spawn(again).await.unwrap();
    let waited = within("end", family.wait(&[], WaitMode::All, None)).await.unwrap();
    assert_eq!(waited.ends.len(), 2);
}
