//! What a run has to show at its end.

use serde_json::{Value, json};

use crate::{stage::*, support::*};

#[tokio::test]
async fn the_answer_the_result_or_all_events_are_printed() {
    for form in ["text", "json", "events"] {
        let sandbox = Sandbox::new(replies([text("fine")])).await;
        let finished = run(&sandbox, &["--output", form, "go"]).await;
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        match form {
            "text" => assert_eq!(finished.stdout, "fine\n"),
            "json" => {
                let result: Value = serde_json::from_str(&finished.stdout).unwrap();
                assert_eq!((&result["outcome"], &result["answer"]), (&json!("done"), &json!("fine")));
                assert_eq!((&result["turns"], &result["usage"]["input"]), (&json!(1), &json!(100)));
                assert_eq!(result["session"], sandbox.session_file().to_str().unwrap());
                assert_eq!(result["resume"], Value::Null);
            }
            _ => {
                let printed: Vec<Value> =
                    finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                assert_eq!(printed, events(&sandbox));
                assert_eq!(printed[0]["type"], "session");
                assert_eq!(shape(&printed).last().unwrap(), "agent_settled");
            }
        }
    }
}

#[tokio::test]
async fn a_result_that_cannot_be_written_is_a_failure() {
    for form in ["text", "json", "events"] {
        let sandbox = Sandbox::new(replies([text("fine")])).await;
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = sandbox.command(&words(&["--output", form, "go"]));
        command.stdin(std::process::Stdio::null()).stdout(full).stderr(std::process::Stdio::piped());
        let finished = end(command.spawn().unwrap()).await;
        assert_eq!(finished.code, Some(1), "{form}: {}", finished.stderr);
        assert!(finished.stderr.contains("standard output cannot be written"), "{form}: {}", finished.stderr);
        assert_eq!(file(&sandbox, "result.json")["outcome"], "done", "{form}: the run itself is");
    }
}

#[tokio::test]
async fn several_prompts_follow_one_another_and_piped_text_is_the_first() {
    let sandbox = Sandbox::new(replies([text("one"), text("two")])).await;
    let finished = finish(sandbox.command(&words(&["-", "first", "second"])), "piped ").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "two\n"), "{}", finished.stderr);
    assert_eq!(sandbox.server.last().texts("user"), ["pipedfirst", "second"]);
}

#[tokio::test]
async fn a_failed_check_goes_back_to_the_agent_until_it_succeeds_or_the_retries_are_over() {
    let make = |n: u32| calls([call("bash", json!({"command": format!("echo {n} >> made")}))]);
    let sandbox = Sandbox::new(replies([make(1), text("one"), make(2), text("two")])).await;
    let check = "echo looking; test $(wc -l < made) = 2";
    let finished = run(&sandbox, &["--verify", check, "go"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "two\n"), "{}", finished.stderr);
    let told = sandbox.server.requests()[2].last_user();
    assert!(told.contains("exit code 1") && told.contains("looking") && told.contains(check), "{told}");

    let sandbox = Sandbox::new(replies([text("one"), text("two"), text("three")])).await;
    let finished = run(&sandbox, &["--verify", "echo no; exit 3", "--verify-retries", "1", "go"]).await;
    assert_eq!(finished.code, Some(7), "{}", finished.stderr);
    assert_eq!(sandbox.server.count(), 2);
    let result = file(&sandbox, "result.json");
    assert_eq!((&result["outcome"], &result["answer"]), (&json!("verification_failed"), &json!("two")));
    assert!(result["reason"].as_str().unwrap().contains("exit code 3"));
    // It has its result for good.
    let again = run(&sandbox, &["go"]).await;
    assert_eq!((again.code, sandbox.server.count()), (Some(7), 2));
}

#[tokio::test]
async fn a_check_that_hangs_is_ended() {
    let sandbox = Sandbox::new(replies([text("one")])).await;
    let check = "echo $$ > pid; sleep 600";
    let words = ["--verify", check, "--verify-timeout", "300ms", "--verify-retries", "0", "go"];
    let finished = run(&sandbox, &words).await;
    assert_eq!(finished.code, Some(7), "{}", finished.stderr);
    assert!(finished.stderr.contains("longer than"), "{}", finished.stderr);
    gone(pid_in(&sandbox, "pid").await).await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_its_schema_is_asked_for_once_more() {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}).to_string();
    for (second, code, value) in [("```json\n{\"n\": 7}\n```", 0, json!({"n": 7})), ("seven", 8, Value::Null)] {
        let sandbox = Sandbox::new(replies([text("It is seven."), text(second)])).await;
        sandbox.write("schema.json", &schema);
        let finished = run(&sandbox, &["--output-schema", "schema.json", "--output", "json", "how many?"]).await;
        assert_eq!(finished.code, Some(code), "{}", finished.stderr);
        let result: Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!(result["value"], value);
        assert!(sandbox.server.requests()[0].last_user().contains("JSON schema"));
        assert!(sandbox.server.requests()[1].last_user().contains("not JSON"));
        assert_eq!(sandbox.server.count(), 2);
    }
}

#[tokio::test]
async fn a_run_that_was_to_change_a_file_fails_when_none_changed() {
    for (command, code) in [("echo x", 9), ("echo x > made", 0)] {
        let sandbox = Sandbox::new(replies([calls([call("bash", json!({"command": command}))]), text("done")])).await;
        let finished = run(&sandbox, &["--require-change", "go"]).await;
        assert_eq!(finished.code, Some(code), "{command}: {}", finished.stderr);
        let changed = file(&sandbox, "result.json")["changedFiles"].to_string();
        assert_eq!(changed.contains("made"), code == 0, "{changed}");
    }
    // Without checkpoints the tools that write tell.
    let write = call("write", json!({"path": "made", "content": "x"}));
    let sandbox = Sandbox::new(replies([calls([write]), text("done")])).await;
    sandbox.settings(json!({"checkpoints": {"enabled": false}}));
    assert_eq!(run(&sandbox, &["--require-change", "go"]).await.code, Some(0));
}

#[tokio::test]
async fn fc_096_a_question_is_denied_at_once_and_told() {
    for (on_denied, code) in [("continue", 0), ("fail", 5)] {
        let reply = calls([call("bash", json!({"command": "touch made"}))]);
        let sandbox = Sandbox::new(replies([reply, text("could not")])).await;
        let finished = run(&sandbox, &["--permissions", "ask", "--on-denied", on_denied, "go"]).await;
        assert_eq!(finished.code, Some(code), "{}", finished.stderr);
        assert!(!sandbox.exists("made"));
        let denied = file(&sandbox, "result.json")["denied"].clone();
        assert_eq!(denied.as_array().unwrap().len(), 1, "{denied}");
        assert!(finished.stderr.contains("1 call was denied"), "{}", finished.stderr);
    }
}

#[tokio::test]
async fn the_end_is_told_to_a_command() {
    let sandbox = Sandbox::new(replies([text("fine")])).await;
    let notify = "cat > told.json; echo $TROUPE_RUN_ID $TROUPE_RUN_OUTCOME $TROUPE_RUN_EXIT > told; exit 3";
    let finished = run(&sandbox, &["--notify", notify, "go"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "fine\n"));
    assert!(finished.stderr.contains("--notify failed"), "{}", finished.stderr);
    assert_eq!(sandbox.read("told"), "r1 done 0\n");
    let told: Value = serde_json::from_str(&sandbox.read("told.json")).unwrap();
    assert_eq!(told, file(&sandbox, "result.json"));
}
