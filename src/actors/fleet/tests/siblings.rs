//! Siblings in one process: spawned, waited for, stopped; and what their parents hear.

use serde_json::{Value, json};

use super::*;
use crate::{
    actors::{
        fleet::family::{Family, STOP_GRACE},
        testing::text_of,
    },
    protocol::{
        AgentMessage,
        sibling::{Outcome, SiblingSpec, SiblingState, WaitMode, WorktreeFate},
    },
    tools::siblings,
};

/// An agent whose family plays this script, and whose model has the tools for siblings.
async fn bench(turns: Value) -> Bench {
    Parts { turns, tools: siblings::tools(), ..Parts::default() }.start().await
}

fn family(bench: &Bench) -> Family {
    Family::of(&bench.shared)
}

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
    assert_eq!(bench.shared.tree().unwrap().totals().usage.total_tokens, end.usage.total_tokens, "the parent counts it");
    let ends = within("stop", family.stop(&["agent-1"], "not needed", STOP_GRACE, WorktreeFate::Patch)).await.unwrap();
    assert_eq!(ends[0].outcome, Outcome::Done);
    assert_eq!(family.status()[0].state, SiblingState::Gone);
    bench.run("the parent still works").await;
}

/// A script in which the parent plays `turns`, and whoever has the role `child` plays `child`.
fn script(turns: Value, child: Value) -> Value {
    json!({
        "turns": turns,
        "end": "repeat",
        "scenes": [{"when": {"system": "You are a child"}, "end": "repeat", "turns": child}],
    })
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

fn spawn(more: Value) -> Value {
    let mut arguments = json!({"task": "go", "prompt": "You are a child"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call("agent_spawn", arguments)
}

/// Everything that the model was told of its siblings: results, and notices.
fn heard(bench: &Bench) -> Vec<String> {
    let messages = bench.shared.tree().unwrap().context().messages;
    let text = |message: &AgentMessage| match message {
        AgentMessage::ToolResult(result) => Some(text_of(&result.content)),
        AgentMessage::Custom(custom) => Some(format!("notice: {}", custom.content.text(""))),
        _ => None,
    };
    messages.iter().filter_map(text).collect()
}

fn times(bench: &Bench, what: &str) -> usize {
    heard(bench).iter().map(|text| text.matches(what).count()).sum()
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

#[tokio::test]
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

#[tokio::test]
async fn what_a_wait_told_is_no_news_and_nobody_is_woken_for_it() {
    let turns = json!([
        {"calls": [spawn(json!({"background": true, "name": "ann"})), spawn(json!({"background": true}))]},
        {"calls": [call("agent_wait", json!({}))]},
        {"calls": [call("agent_wait", json!({"ids": ["ann"]}))]},
        {"calls": [call("agent_wait", json!({})), call("agent_list", json!({}))]},
        "done",
    ]);
    let mut bench = bench(script(turns, json!(["from the child"]))).await;
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
