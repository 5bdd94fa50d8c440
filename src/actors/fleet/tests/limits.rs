//! Limits of families and budgets of agents.

use std::time::Duration;

use serde_json::{Value, json};

use super::family::{bench, call, family, hanging_bench, heard, script, spawn};
use crate::{
    actors::testing::within,
    protocol::sibling::{Budget, BudgetKind, Outcome, SiblingSpec, WaitMode},
};

#[tokio::test]
async fn fc_092_a_family_in_which_everybody_spawns_three_ends_by_itself() {
    let spawns = call("agent_spawn", json!({"task": "spawn more"}));
    let turns = json!([{"calls": [spawns, spawns, spawns]}, {"calls": [spawns, spawns, spawns]}, "done"]);
    let mut bench = bench(json!({"turns": turns})).await;
    bench.run("go").await;
    let family = family(&bench);
    let all = family.status();
    assert!(all.iter().all(|sibling| sibling.depth <= 2 && !sibling.state.is_active()), "{all:?}");
    assert!(all.len() <= 64, "{}", all.len());
    // Each agent of a generation that may spawn asks six times for one more; only places are short.
    assert!(all.len() >= 8, "{}", all.len());
    let refusals = heard(&bench).into_iter().chain(all.iter().map(|sibling| sibling.last_line.clone()));
    assert!(refusals.count() > 0);
    assert_eq!(family.account().spent().spawns, all.len() as u64);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_tells_the_model_what_to_do() {
    let nine = vec![spawn(json!({"background": true})); 9];
    let turns = json!([{"calls": nine}, "done"]);
    let child = json!([{"calls": [call("hangs", json!({}))]}]);
    let mut bench = hanging_bench(script(turns, child)).await;
    bench.run("go").await;
    let refused = heard(&bench).into_iter().find(|text| text.contains("8 of 8 run; wait for one of ")).unwrap();
    assert!(refused.contains("agent-1, agent-2") && refused.ends_with(", or stop one."), "{refused}");
    let family = family(&bench);
    within("stop", family.kill(&["agent-3"], "test")).await.unwrap();
    within("spawn", family.spawn(SiblingSpec::of_task("x"))).await.unwrap();
}

/// Spawns a child that plays these turns with a budget; how it ended, and what it used.
async fn end_within(budget: Budget, turns: Value) -> (crate::protocol::sibling::SiblingEnd, u64) {
    let bench = hanging_bench(script(json!(["x"]), turns)).await;
    let family = family(&bench);
    let prompt = Some("You are a child".to_owned());
    family.spawn(SiblingSpec { prompt, budget, ..SiblingSpec::of_task("go") }).await.unwrap();
    let waited = within("end", family.wait(&[], WaitMode::All, None)).await.unwrap();
    (waited.ends.into_iter().next().unwrap(), family.account().spent().turns)
}

fn budget_of(end: &crate::protocol::sibling::SiblingEnd) -> Option<BudgetKind> {
    match end.outcome {
        Outcome::Budget { what, .. } => Some(what),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_sibling_that_overspends_in_the_middle_of_a_stream_is_stopped_within_one_batch_and_not_tried_again() {
    let long = json!([{"text": {"repeat": "word", "times": 10_000}, "pace": {"deltaChars": 40, "deltaDelayMs": 10}}]);
    let (end, turns) = end_within(Budget { tokens: Some(2_000), ..Budget::default() }, long).await;
    assert_eq!(budget_of(&end), Some(BudgetKind::Tokens), "{:?}", end.outcome);
    assert_eq!(turns, 1, "no request followed");
    // Ten tokens a batch: what streamed after the limit is one batch at most, and the request's own tokens count too.
    let streamed = end.text.len() / 4;
    assert!(streamed <= 2_010 && streamed > 1_000, "the partial answer is kept: {streamed}");
}

#[tokio::test(start_paused = true)]
async fn turns_time_and_money_are_limits_too() {
    let calls = json!([{"calls": [call("agent_list", json!({}))]}]);
    let (end, turns) = end_within(Budget { turns: Some(3), ..Budget::default() }, calls).await;
    assert_eq!((budget_of(&end), turns), (Some(BudgetKind::Turns), 3));
    let hangs = json!([{"calls": [call("hangs", json!({}))]}]);
    let (end, _) = end_within(Budget { seconds: Some(2.5), ..Budget::default() }, hangs).await;
    assert_eq!(budget_of(&end), Some(BudgetKind::Seconds), "{:?}", end.outcome);
    let paid = json!([{"text": "x", "usage": {"input": 10, "output": 10, "cost": 0.6}, "calls": [call("agent_list", json!({}))]}]);
    let (end, turns) = end_within(Budget { cost: Some(1.0), ..Budget::default() }, paid).await;
    assert_eq!((budget_of(&end), turns), (Some(BudgetKind::Cost), 2), "{:?}", end.outcome);
}

#[tokio::test(start_paused = true)]
async fn the_main_agent_has_an_account_that_counts_the_whole_family_and_can_be_limited() {
    let turns = json!([{"calls": [spawn(json!({}))]}, {"calls": [spawn(json!({}))]}, "never"]);
    let child = json!([{"text": "x", "usage": {"input": 500, "output": 500}}]);
    let mut bench = bench(script(turns, child)).await;
    bench.shared.kin.account.limit(Budget { tokens: Some(1_800), ..Budget::default() });
    bench.run("go").await;
    let last = bench.shared.tree().unwrap().last_message(|message| message.as_assistant().cloned()).unwrap();
    let error = last.error_message.clone().unwrap();
    assert!(error.starts_with("Out of budget (tokens): main has used "), "{error}");
    let before = bench.shared.kin.account.spent().turns;
    bench.run("again").await;
    assert_eq!(bench.shared.kin.account.spent().turns, before, "no further request");
    let more = family(&bench).spawn(SiblingSpec::of_task("x")).await.unwrap_err();
    assert!(more.to_string().starts_with("tokens: 0 tokens of main left"), "{more}");
    tokio::time::sleep(Duration::from_secs(1)).await;
}
