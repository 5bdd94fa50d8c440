//! A run that spends more than it may while an answer streams: it is ended there and then.
//!
//! The streams of these tests never end by themselves, so that only a limit can end them.

use serde_json::{Value, json};

use crate::{stage::*, support::*};

/// Flags for an agent with siblings.
const FAMILY: [&str; 4] = ["--system-prompt", "Be brief.", "--tools", "bash,agent_spawn,agent_wait"];

/// A text of so many tokens, as they are estimated.
fn tokens(count: usize) -> String {
    "word".repeat(count)
}

fn used(result: &Value) -> u64 {
    result["usage"]["totalTokens"].as_u64().unwrap()
}

/// The result of a run that was ended by a limit.
fn over(sandbox: &Sandbox, finished: &Finished, outcome: &str) -> Value {
    assert_eq!(finished.code, Some(11), "{}", finished.stderr);
    let result = file(sandbox, "result.json");
    assert_eq!(result["outcome"], outcome, "{result}");
    assert!(finished.stderr.contains("main has used "), "the words name the limit: {}", finished.stderr);
    result
}

#[tokio::test]
async fn an_answer_that_passes_a_limit_is_cut_off_and_counts_also_for_whoever_goes_on() {
    for (flag, value, outcome) in [("--max-tokens", "2000", "token_limit"), ("--max-cost", "0.004", "cost_limit")] {
        let sandbox = Sandbox::new(|_: &Request| hang(&tokens(2_500))).await;
        let finished = run(&sandbox, &[&SMALL[..], &[flag, value, "go"]].concat()).await;
        let result = over(&sandbox, &finished, outcome);
        results(&sandbox);
        sandbox.server.last().closed().await;
        assert_eq!((sandbox.server.count(), result["restarts"].as_u64()), (1, Some(0)), "nobody tried again");
        assert!(used(&result) >= 2_500, "the estimate is stored: {result}");
        assert_eq!(result["answer"], tokens(2_500), "the partial answer is kept");
        // With the same limit there is nothing left to go on with.
        let again = sandbox.run(&["runs", "resume", ID]).await;
        assert_eq!((again.code, sandbox.server.count()), (Some(11), 1), "{}", again.stderr);
    }
}

#[tokio::test]
async fn what_a_killed_worker_had_spent_is_not_there_for_the_next_one() {
    let sandbox = Sandbox::new(|request: &Request| match request.n {
        0 => calls([call("bash", json!({"command": "true"}))]).usage(1_500, 0),
        1 => hang("hm"),
        _ => hang(&tokens(600)),
    })
    .await;
    let run = start(&sandbox, &[&SMALL[..], &["--max-tokens", "3200", "go"]].concat());
    sandbox.server.request(1).await;
    kill(worker(&sandbox, None).await);
    let finished = end(run).await;
    let result = over(&sandbox, &finished, "token_limit");
    results(&sandbox);
    assert_eq!((sandbox.server.count(), &result["restarts"]), (3, &json!(1)));
}

#[tokio::test]
async fn what_siblings_spend_counts_also_while_they_stream_and_after_a_kill() {
    let is_child = |request: &Request| request.texts("user").iter().any(|text| text == "CHILD");
    let parent = |request: &Request| match request.results().is_empty() {
        true => calls([call("agent_spawn", json!({"task": "CHILD"}))]),
        false => calls([call("agent_wait", json!({}))]),
    };
    let sandbox = Sandbox::new(move |request: &Request| match is_child(request) {
        true => hang(&tokens(25_000)),
        false => parent(request),
    })
    .await;
    let finished = run(&sandbox, &[&FAMILY[..], &["--max-tokens", "20000", "go"]].concat()).await;
    let result = over(&sandbox, &finished, "token_limit");
    assert_eq!(sandbox.server.count(), 2, "nothing more was asked of anybody");
    assert!(used(&result) >= 25_000, "{result}");

    let sandbox = Sandbox::new(move |request: &Request| match (is_child(request), request.n) {
        (false, _) => parent(request),
        (true, 1) => calls([call("bash", json!({"command": "true"}))]).usage(20_000, 0),
        (true, 2) => hang("hm"),
        (true, _) => hang(&tokens(25_000)),
    })
    .await;
    let run = start(&sandbox, &[&FAMILY[..], &["--max-tokens", "60000", "go"]].concat());
    sandbox.server.request(2).await;
    kill(worker(&sandbox, None).await);
    let finished = end(run).await;
    over(&sandbox, &finished, "token_limit");
}
