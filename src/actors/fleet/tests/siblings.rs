//! Siblings in one process: spawned, waited for, spoken to; and what their parents hear.

use std::time::Duration;

use serde_json::json;

use super::family::{bench, call, family, heard, script, spawn, times};
use crate::{
    actors::{fleet::family::STOP_GRACE, testing::within},
    protocol::{
        Event,
        sibling::{Outcome, Receipt, SendMode, SiblingError, SiblingSpec, SiblingState, WaitMode, WorktreeFate},
    },
};

#[tokio::test]
async fn a_program_spawns_a_sibling_and_gets_its_answer() {
    let mut bench = bench(json!("the answer")).await;
    let family = family(&bench);
    let receipt = within("receipt", family.spawn(SiblingSpec::of_task("work"))).await.unwrap();
    assert_eq!((receipt.id.to_string().as_str(), receipt.existing), ("agent-1", false));
    let waited = within("end", family.wait(&[], WaitMode::All, None)).await.unwrap();
    let end = &waited.ends[0];
    assert_eq!((end.task, &end.outcome, end.text.as_str()), (1, &Outcome::Done, "the answer"));
    assert!(end.usage.total_tokens > 0);
    let status = family.status().remove(0);
    assert_eq!((status.state, status.title.as_str(), status.depth), (SiblingState::Idle, "work", 1));
    assert_eq!(
        bench.shared.tree().unwrap().totals().usage.total_tokens,
        end.usage.total_tokens,
        "the parent counts it"
    );
    let ends = within("stop", family.stop(&["agent-1"], "not needed", STOP_GRACE, WorktreeFate::Patch)).await.unwrap();
    assert_eq!(ends[0].outcome, Outcome::Done);
    assert_eq!(family.status()[0].state, SiblingState::Gone);
    bench.run("the parent still works").await;
}

#[tokio::test]
async fn a_model_that_waits_for_its_sibling_gets_the_answer_as_the_result_and_hears_it_once() {
    let turns = json!([{"calls": [spawn(json!({}))]}, "done"]);
    let mut bench = bench(script(turns, json!(["from the child"]))).await;
    bench.run("go").await;
    bench.run("again").await;
    assert_eq!(times(&bench, "from the child"), 1, "{:?}", heard(&bench));
    assert!(heard(&bench)[0].starts_with("agent-1 is done ("), "{:?}", heard(&bench));
}

#[tokio::test(start_paused = true)]
async fn an_idle_parent_is_woken_by_the_end_of_a_background_sibling_and_hears_it_once() {
    let turns = json!([{"calls": [spawn(json!({"background": true}))]}, "waiting", "heard"]);
    let child = json!([{"text": "from the child", "pace": {"delayMs": 50}}]);
    let mut bench = bench(script(turns, child)).await;
    bench.run("go").await;
    while times(&bench, "from the child") == 0 {
        bench.settled().await;
    }
    bench.run("again").await;
    assert_eq!(times(&bench, "from the child"), 1, "{:?}", heard(&bench));
    assert!(heard(&bench).iter().any(|text| text.starts_with("notice: Notice of the program")));
}

#[tokio::test(start_paused = true)]
async fn what_a_wait_told_is_no_news_and_nobody_is_woken_for_it() {
    let turns = json!([
        {"calls": [spawn(json!({"background": true, "name": "ann"})), spawn(json!({"background": true}))]},
        {"calls": [call("agent_wait", json!({}))]},
        {"calls": [call("agent_wait", json!({"ids": ["ann"]}))]},
        {"calls": [call("agent_wait", json!({})), call("agent_list", json!({}))]},
        "done",
    ]);
    let child = json!([{"text": "from the child", "pace": {"delayMs": 100}}]);
    let mut bench = bench(script(turns, child)).await;
    bench.run("go").await;
    bench.run("again").await;
    let heard = heard(&bench);
    assert!(heard[2].contains("agent-1 is done") && heard[2].contains("agent-2 is done"), "{heard:?}");
    assert!(heard[3].contains("agent-1 is done"), "who asks again is told again: {heard:?}");
    assert_eq!(heard[4], "No agent of yours works, and you have heard of all that ended.");
    assert!(heard[5].contains("agent-1 (ann): idle, done") && heard[5].contains("0 of 8 run, 2 of 64"), "{heard:?}");
    assert!(!heard.iter().any(|text| text.starts_with("notice")), "{heard:?}");
}

#[tokio::test]
async fn fc_097_the_end_of_a_sibling_that_was_faster_than_its_parent_always_arrives() {
    let bench = bench(json!("quick")).await;
    let family = family(&bench);
    for round in 1..=50 {
        let receipt = family.spawn(SiblingSpec::of_task("work")).await.unwrap();
        let id = receipt.id.to_string();
        if round % 2 == 0 {
            tokio::task::yield_now().await;
        }
        let waited = within("end", family.wait(&[&id], WaitMode::All, None)).await.unwrap();
        assert_eq!(waited.ends[0].text, "quick", "{round}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_to_an_idle_sibling_is_its_next_task_and_to_a_working_one_part_of_its_task() {
    let slow = json!([{"text": "{{lastUser}}!", "pace": {"delayMs": 200}}]);
    let bench = bench(script(json!(["x"]), slow)).await;
    let family = family(&bench);
    let spec =
        SiblingSpec { prompt: Some("You are a child".into()), name: Some("ann".into()), ..SiblingSpec::of_task("one") };
    family.spawn(spec).await.unwrap();
    let queued = family.send("ann", "two", SendMode::Steer).await.unwrap();
    assert_eq!(queued, Receipt::Queued { task: 1 });
    let end = within("end", family.end_of("ann", 1, Duration::from_secs(60))).await.unwrap();
    assert_eq!((end.task, end.text.as_str()), (1, "two!"), "the end of the task comes behind the message");
    let end = within("answer", family.ask("agent-1", "three", Duration::from_secs(60))).await.unwrap();
    assert_eq!((end.task, end.text.as_str()), (2, "three!"));
    let late = family.ask("ann", "four", Duration::from_millis(50)).await.unwrap_err();
    assert_eq!(late, SiblingError::Late { id: "ann".into(), seconds: 0 });
    let all = within("broadcast", family.broadcast("five", SendMode::FollowUp)).await.unwrap();
    assert_eq!(all[0].1, Receipt::Queued { task: 3 });
    within("end", family.end_of("ann", 3, Duration::from_secs(60))).await.unwrap();
    family.stop(&["ann"], "enough", STOP_GRACE, WorktreeFate::Patch).await.unwrap();
    assert_eq!(family.send("ann", "six", SendMode::Steer).await.unwrap(), Receipt::Dead);
    let page = family.transcript("ann", 0, 100).await;
    assert!(page.unwrap_err().to_string().contains("was in memory"));
    let unknown = family.send("bob", "x", SendMode::Steer).await.unwrap_err();
    assert_eq!(unknown.to_string(), "there is no agent bob; the agents are agent-1");
}

#[tokio::test]
async fn a_transcript_is_read_in_pages() {
    let bench = bench(json!("ok")).await;
    let family = family(&bench);
    family.spawn(SiblingSpec::of_task("work")).await.unwrap();
    family.wait(&[], WaitMode::All, None).await.unwrap();
    family.ask("agent-1", "more", Duration::from_secs(60)).await.unwrap();
    let page = family.transcript("agent-1", 1, 2).await.unwrap();
    let roles: Vec<_> = page.messages.iter().map(|message| message.role().to_owned()).collect();
    assert_eq!((page.total, page.from, roles), (4, 1, vec!["assistant".to_owned(), "user".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_held_sibling_stops_at_its_next_turn_boundary_and_goes_on_from_there() {
    let slow = json!([{"text": "one", "calls": [call("agent_list", json!({}))], "pace": {"delayMs": 200}}, "two"]);
    let bench = bench(script(json!(["x"]), slow)).await;
    let family = family(&bench);
    let spec = SiblingSpec { prompt: Some("You are a child".into()), ..SiblingSpec::of_task("go") };
    family.spawn(spec).await.unwrap();
    let held = family.pause(&["agent-1"]).await.unwrap();
    assert_eq!(held[0].state, SiblingState::Paused);
    let waited = family.wait(&[], WaitMode::All, Some(Duration::from_secs(5))).await.unwrap();
    assert!(waited.timed_out && waited.running[0].state == SiblingState::Paused);
    assert_eq!(waited.running[0].spent.turns, 1, "the turn that ran came to its end, and no other began");
    family.resume(&[]).await.unwrap();
    let waited = within("end", family.wait(&[], WaitMode::All, None)).await.unwrap();
    assert_eq!((waited.ends[0].text.as_str(), family.status()[0].spent.turns), ("two", 2));
}

#[tokio::test(start_paused = true)]
async fn those_who_watch_the_parent_see_what_its_siblings_do() {
    let slow = json!([{"text": {"repeat": "word ", "times": 200}, "pace": {"deltaDelayMs": 20, "deltaChars": 5}}]);
    let mut bench = bench(script(json!(["x"]), slow)).await;
    let family = family(&bench);
    let spec = SiblingSpec { prompt: Some("You are a child".into()), ..SiblingSpec::of_task("go") };
    family.spawn(spec).await.unwrap();
    within("end", family.wait(&[], WaitMode::All, None)).await.unwrap();
    bench.until("end", |event| matches!(event, Event::SiblingEnd { .. })).await;
    let (mut kinds, mut updates) = (Vec::new(), 0);
    for published in &bench.seen {
        match &published.event {
            Event::SiblingStart { .. } => kinds.push("start"),
            Event::SiblingEnd { end, sibling } => {
                assert_eq!((&end.outcome, sibling.state), (&Outcome::Done, SiblingState::Idle));
                kinds.push("end");
            }
            Event::SiblingUpdate { sibling } => {
                assert!(sibling.last_line.is_empty() || sibling.last_line.starts_with("word"), "{}", sibling.last_line);
                updates += 1;
            }
            _ => {}
        }
    }
    assert_eq!(kinds, ["start", "end"]);
    assert!((3..=15).contains(&updates), "a few a second of four seconds: {updates}");
}
