//! What ends a run before it is done.

use serde_json::json;

use crate::{stage::*, support::*};

/// A model that always wants another turn. Each costs 3000 tokens in and 10 out: 0.00302 dollars.
async fn endless() -> Sandbox {
    Sandbox::new(|_: &Request| calls([call("bash", json!({"command": "echo again"}))]).usage(3_000, 10)).await
}

#[tokio::test]
async fn each_limit_ends_the_run_with_its_code() {
    for (flag, value, code, outcome, requests) in [
        // Two turns, and perhaps the beginning of a third one, which was stopped.
        ("--max-turns", "2", 10, "turn_limit", 2..=3),
        // What is used up is asked for no more.
        ("--max-cost", "0.003", 11, "cost_limit", 1..=1),
        ("--max-tokens", "3000", 11, "token_limit", 1..=1),
    ] {
        let sandbox = endless().await;
        let finished = run(&sandbox, &[&SMALL[..], &[flag, value, "--output", "json", "go"]].concat()).await;
        assert_eq!(finished.code, Some(code), "{flag}: {}", finished.stderr);
        let result: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!((&result["outcome"], &result["exit"]), (&json!(outcome), &json!(code)));
        assert_eq!(result, file(&sandbox, "result.json"));
        assert_eq!(result["resume"], "troupe runs resume r1");
        assert!(requests.contains(&sandbox.server.count()), "{flag}: {}", sandbox.server.count());
        results(&sandbox);
    }
}

#[tokio::test]
async fn what_was_spent_before_a_crash_counts() {
    let gate = Gate::closed();
    let held = gate.clone();
    let sandbox = Sandbox::new(move |request: &Request| match request.n {
        1 => hang("hm"),
        _ => calls([call("bash", json!({"command": "echo again"}))]).begin_at(&held),
    })
    .await;
    gate.open();
    let run = start(&sandbox, &["--max-turns", "2", "go"]);
    sandbox.server.request(1).await;
    kill(worker(&sandbox, None).await);
    let finished = end(run).await;
    assert_eq!(finished.code, Some(10), "{}", finished.stderr);
    let result = file(&sandbox, "result.json");
    assert!(result["turns"].as_u64().unwrap() >= 2 && result["restarts"] == 1, "{result}");
}

#[tokio::test]
async fn the_time_of_a_run_ends_it_also_in_a_tool_and_more_time_goes_on_with_it() {
    let command = "echo $$ > pid; sleep 600";
    let sandbox = Sandbox::new(replies([calls([call("bash", json!({"command": command}))]), text("done")])).await;
    let finished = run(&sandbox, &["--timeout", "1500ms", "go"]).await;
    assert_eq!(finished.code, Some(12), "{}", finished.stderr);
    gone(pid_in(&sandbox, "pid").await).await;
    let again = run(&sandbox, &["--timeout", "60s"]).await;
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), "done\n"), "{}", again.stderr);
}

#[tokio::test]
async fn a_failure_of_the_provider_is_no_crash() {
    for (status, message) in [(401, "bad key"), (400, "refused")] {
        let sandbox = Sandbox::new(replies([http(status, message), text("done")])).await;
        let finished = run(&sandbox, &["go"]).await;
        assert_eq!(finished.code, Some(1), "{}", finished.stderr);
        assert!(finished.stderr.contains(message), "{}", finished.stderr);
        assert_eq!((sandbox.server.count(), &file(&sandbox, "result.json")["restarts"]), (1, &json!(0)));
        // When it is mended, the same run goes on.
        let again = sandbox.run(&["runs", "resume", "r"]).await;
        assert_eq!((again.code, again.stdout.as_str()), (Some(0), "done\n"), "{}", again.stderr);
    }
}

#[tokio::test]
async fn what_a_worker_cannot_begin_with_is_told_once() {
    let sandbox = Sandbox::new(replies([text("unused")])).await;
    let words = ["run", "--run-id", ID, "--model", "zzz-none", "go"];
    let finished = sandbox.run(&words).await;
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(finished.stderr.contains("none"), "{}", finished.stderr);
    assert_eq!(file(&sandbox, "state.json")["starts"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn words_that_make_no_sense_are_refused_before_anything_is_made() {
    let sandbox = Sandbox::new(replies([text("unused")])).await;
    for (words, why) in [
        (&["run"][..], "no prompt"),
        (&["run", "--no-such-flag", "go"], "--no-such-flag"),
        (&["run", "--mode", "json", "go"], "--output"),
        (&["run", "--run-id", "../x", "go"], "no id"),
        (&["run", "--timeout", "soon", "go"], "length of time"),
        (&["run", "--output-schema", "none.json", "go"], "none.json"),
        (&["runs", "show", "x"], "no run x"),
        (&["runs", "kill"], "Unknown runs command"),
    ] {
        let finished =
            sandbox.run(&[words, &["--model", "mock/m1"][..usize::from(words[0] == "run") * 2]].concat()).await;
        assert_eq!(finished.code, Some(2), "{words:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(why), "{words:?}: {}", finished.stderr);
    }
    assert!(!sandbox.user_dir.join("runs").exists());
}
