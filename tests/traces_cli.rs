//! Traces of the command line (section 14.10): what becomes of arguments and piped input, and how failures end.

mod support;

use serde_json::{Value, json};
use support::*;

/// A model that answers everything with "ok".
async fn obliging() -> Sandbox {
    Sandbox::new(replies([text("ok")])).await
}

/// A failed start: exit code 1, nothing on stdout, no request, and stderr says why.
async fn assert_refused(sandbox: &Sandbox, args: &[&str], stderr: &str) {
    let before = sandbox.server.count();
    let finished = sandbox.run(args).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{args:?}: {}", finished.stderr);
    assert!(!finished.stderr.is_empty(), "{args:?}: no word about what is wrong");
    assert!(finished.stderr.contains(stderr), "{args:?}: {}", finished.stderr);
    assert_eq!(sandbox.server.count(), before, "{args:?}");
}

#[tokio::test]
async fn print_mode_prints_the_last_reply_and_nothing_else_14_10() {
    let tool = calls([call("bash", json!({"command": "echo tool"}))]).after_text("thinking aloud");
    let sandbox = Sandbox::new(replies([tool, text("final words")])).await;
    let finished = sandbox.run(&["-p", "hi"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "final words\n"));
    assert_eq!(finished.stderr, "");
}

#[tokio::test]
async fn piped_input_and_the_first_message_are_one_message_14_10() {
    let sandbox = obliging().await;
    let finished = sandbox.run_with_input(&["-p", "arg text"], "piped in\n").await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(sandbox.server.last().last_user(), "piped inarg text");
}

#[tokio::test]
async fn piped_input_alone_is_a_prompt_1_4() {
    let sandbox = obliging().await;
    let finished = sandbox.run_with_input(&[], "  just this \n").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "ok\n"), "{}", finished.stderr);
    assert_eq!(sandbox.server.last().last_user(), "just this");
}

#[tokio::test]
async fn input_and_files_join_the_first_message_and_the_second_is_sent_after_it_14_10() {
    let answer = |request: &Request| {
        let user = request.last_user();
        text(&format!("re {}", &user[user.len() - 3..]))
    };
    let sandbox = Sandbox::new(answer).await;
    sandbox.write("a.txt", "\u{feff}FILE\n");
    sandbox.write("empty.txt", "");
    let finished = sandbox.run_with_input(&["-p", "@a.txt", "@empty.txt", "one", "two"], "IN").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "re two\n"), "{}", finished.stderr);
    let path = sandbox.project.join("a.txt");
    let first = format!("IN<file name=\"{}\">\nFILE\n\n</file>\none", path.display());
    assert_eq!(sandbox.server.request(0).await.last_user(), first);
    assert_eq!(sandbox.server.request(1).await.texts("user"), [first.as_str(), "two"]);
}

#[tokio::test]
async fn a_file_that_is_not_there_is_named_14_10() {
    let sandbox = obliging().await;
    let missing = sandbox.project.join("missing.txt");
    assert_refused(&sandbox, &["-p", "@missing.txt", "x"], &format!("Error: File not found: {}", missing.display()))
        .await;
}

#[tokio::test]
async fn a_failed_model_call_is_an_error_in_print_and_json_mode_14_10() {
    let sandbox = Sandbox::new(replies([http(400, "very bad thing")])).await;
    let finished = sandbox.run(&["-p", "hi"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(finished.stderr.contains("very bad thing"), "{}", finished.stderr);
    let events = sandbox.json(&["hi"]).await;
    assert_eq!(one(&events, "agent_settled")["aborted"], false);
}

#[tokio::test]
async fn an_answer_cut_by_the_output_limit_is_printed_and_fails_1_4() {
    let sandbox = Sandbox::new(replies([text("cut off").finish("length").usage(100, 16_384)])).await;
    sandbox.settings(json!({"compaction": {"enabled": false}}));
    let finished = sandbox.run(&["-p", "hi"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), "cut off\n"));
    assert!(!finished.stderr.trim().is_empty());
}

#[tokio::test]
async fn unknown_options_are_named_14_10() {
    let sandbox = obliging().await;
    for option in ["--nosuchflag", "--nosuchflag=3", "-z"] {
        let name = option.split('=').next().unwrap_or(option);
        assert_refused(&sandbox, &["-p", "hi", option], &format!("Unknown option: {name}")).await;
    }
}

#[tokio::test]
async fn a_bad_thinking_level_is_a_warning_14_10() {
    let sandbox = obliging().await;
    let finished = sandbox.run(&["-p", "--thinking", "enormous", "hi"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "ok\n"));
    assert!(finished.stderr.contains("enormous"), "{}", finished.stderr);
}

#[tokio::test]
async fn modes_that_make_no_sense_are_refused_14_10() {
    let sandbox = obliging().await;
    sandbox.write("f", "x");
    for args in [&["--mode", "yaml", "hi"][..], &["--mode"], &["--mode", "rpc", "@f"]] {
        assert_refused(&sandbox, args, "").await;
    }
}

#[tokio::test]
async fn an_unknown_model_is_refused_and_an_unknown_id_of_a_known_provider_is_used_14_10() {
    let sandbox = obliging().await;
    assert_refused(&sandbox, &["-p", "--model", "nosuch", "hi"], "nosuch").await;
    let finished = sandbox.run(&["-p", "--model", "mock/zzz", "hi"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("zzz"), "no warning about an unknown id");
    assert_eq!(sandbox.server.last().body["model"], "zzz");
}

#[tokio::test]
async fn sessions_are_found_by_id_or_made_with_one_14_10() {
    let sandbox = obliging().await;
    assert_refused(&sandbox, &["-p", "--session", "nosuch", "hi"], "No session found matching 'nosuch'").await;
    assert_refused(&sandbox, &["-p", "--session-id", "bad/id", "hi"], "").await;
    let first = sandbox.run(&["-p", "--session-id", "abc-1", "hi"]).await;
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("abc-1"), "no word about a new session: {}", first.stderr);
    let file = sandbox.session_file();
    assert!(file.to_string_lossy().ends_with("_abc-1.jsonl"), "{}", file.display());
    let again = sandbox.run(&["-p", "--session-id", "abc-1", "more"]).await;
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), ""));
    assert_eq!(sandbox.session_file(), file);
    assert_eq!(sandbox.server.last().texts("user"), ["hi", "more"]);
}

#[tokio::test]
async fn conflicting_options_are_refused_1_3() {
    let sandbox = obliging().await;
    sandbox.run(&["-p", "--session-id", "abc-1", "hi"]).await;
    for args in [
        &["--fork", "abc-1", "--session", "abc-1"][..],
        &["--fork", "abc-1", "--continue"],
        &["--fork", "abc-1", "--no-session"],
        &["--session-id", "a", "--session", "abc-1"],
        &["--session-id", "a", "--continue"],
        &["--provider", "mock"],
        &["--name", ""],
    ] {
        assert_refused(&sandbox, &[args, &["-p", "hi"]].concat(), "").await;
    }
}

#[tokio::test]
async fn models_are_listed_in_a_table_14_10() {
    let sandbox = obliging().await;
    let finished = sandbox.run(&["--list-models"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let rows: Vec<Vec<_>> = finished.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["provider", "model", "context", "max-out", "thinking", "images"]);
    for wanted in [
        ["mock", "m1", "200K", "16.4K", "no", "no"],
        ["mock", "r1", "200K", "16.4K", "yes", "no"],
        ["mock", "img", "200K", "16.4K", "no", "yes"],
    ] {
        assert!(rows.iter().any(|row| row == &wanted), "{wanted:?} in\n{}", finished.stdout);
    }
    assert_eq!(sandbox.session_files().len(), 0, "a list makes no session");
    let found = sandbox.run(&["--list-models", "tiny"]).await.stdout;
    assert!(found.contains("tiny") && !found.contains("img"), "{found}");
}

#[tokio::test]
async fn a_first_run_makes_its_files_in_the_users_folder_only_14_10() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = obliging().await;
    let finished = sandbox.run(&["-p", "hi"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "ok\n"));
    assert_eq!(std::fs::read_dir(&sandbox.project).unwrap().count(), 0, "files in the project");
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(sandbox.session_file()), 0o600, "a session is private (FC-011)");
}

#[tokio::test]
async fn the_version_is_one_line_1_3() {
    let sandbox = obliging().await;
    let finished = sandbox.run(&["--version"]).await;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert!(finished.stdout.contains(env!("CARGO_PKG_VERSION")), "{}", finished.stdout);
    assert_eq!(finished.stdout.lines().count(), 1);
}

/// Runs until it fits. All servers of a machine are asked for a moment only: on a busy one they may answer too late.
async fn in_time(run: impl AsyncFn() -> Finished, fits: impl Fn(&Finished) -> bool) -> Finished {
    for _ in 0..20 {
        let finished = run().await;
        if fits(&finished) {
            return finished;
        }
    }
    run().await
}

#[tokio::test]
async fn a_variable_asks_providers_to_keep_prompts_long() {
    for (value, retention) in [("", Value::Null), ("short", Value::Null), ("long", json!("24h"))] {
        let sandbox = Sandbox::new(replies([text("ok")])).await;
        let mut command = sandbox.command(&["-p", "hi"]);
        command.env("TROUPE_CACHE_RETENTION", value);
        assert_eq!(agent::finish(command, "").await.code, Some(0));
        let request = sandbox.server.last();
        assert_eq!(request.body["prompt_cache_retention"], retention, "{value}");
    }
}

#[tokio::test]
async fn fc_035_settings_limit_how_long_a_server_may_be_silent() {
    // One begins an answer and falls silent; the other takes connections and never answers.
    let sandbox = Sandbox::new(replies([hang("first")])).await;
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1", silent.local_addr().unwrap());
    let deaf = json!({"providers": {"mock": {"baseUrl": base_url, "api": "openai-completions", "apiKey": "k", "models": [{"id": "m1"}]}}});
    for (models, settings, words) in [
        (None, json!({"httpIdleTimeoutMs": 300}), "nothing arrived for 0.3 s"),
        (Some(deaf), json!({"retry": {"provider": {"timeoutMs": 300}}}), "no answer within 0.3 s"),
    ] {
        let mut all = json!({"retry": {"enabled": false}});
        all["retry"].as_object_mut().unwrap().extend(settings["retry"].as_object().cloned().unwrap_or_default());
        all["httpIdleTimeoutMs"] = settings.get("httpIdleTimeoutMs").cloned().unwrap_or(json!("disabled"));
        sandbox.settings(all);
        if let Some(models) = models {
            sandbox.write(sandbox.user_dir.join("models.json"), models.to_string());
        }
        let finished = sandbox.run(&["-p", "hi"]).await;
        assert_eq!(finished.code, Some(1));
        assert!(finished.stderr.contains("timed out") && finished.stderr.contains(words), "{}", finished.stderr);
    }
}

#[tokio::test]
async fn a_model_server_on_this_machine_needs_no_configuration() {
    let sandbox = obliging().await;
    let run = async |address: &str, args: &[&str]| {
        let mut command = sandbox.command(args);
        command.env("VLLM_BASE_URL", address);
        agent::finish(command, "").await
    };
    let url = sandbox.server.url();
    let list = async || run(&url, &["--list-models", "listed"]).await;
    let listed = in_time(list, |listed| listed.stdout.contains("vllm")).await;
    let row: Vec<_> = listed.stdout.lines().last().unwrap_or_default().split_whitespace().collect();
    assert_eq!(row, ["vllm", "listed", "65.5K", "16.4K", "no", "no"], "{}", listed.stderr);

    let answer = run(&url, &["--model", "vllm/listed", "-p", "hi"]).await;
    assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (Some(0), "ok\n", ""));
    let request = sandbox.server.last();
    assert_eq!(request.body["model"], "listed");
    assert!(request.body["max_tokens"].is_u64() && request.body.get("store").is_none(), "{}", request.body);
    let again = run(&url, &["--continue", "-p", "more"]).await;
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), ""), "the session's server is asked again");
    assert_eq!(sandbox.server.last().body["model"], "listed");

    let gone = run("http://127.0.0.1:1", &["--model", "vllm/listed", "-p", "hi"]).await;
    assert_eq!(gone.code, Some(1));
    for part in ["vLLM does not answer at http://127.0.0.1:1/ (", "VLLM_BASE_URL"] {
        assert!(gone.stderr.contains(part), "{}", gone.stderr);
    }
}

#[tokio::test]
async fn without_any_model_the_error_says_what_this_machine_has() {
    let sandbox = obliging().await;
    std::fs::remove_file(sandbox.user_dir.join("models.json")).unwrap();
    let start = async || {
        let mut command = sandbox.command(&["--continue", "-p", "hi"]);
        command.env("VLLM_BASE_URL", sandbox.server.url());
        agent::finish(command, "").await
    };
    let refused = in_time(start, |refused| refused.stderr.contains("vllm/listed")).await;
    assert_eq!((refused.code, sandbox.server.count()), (Some(1), 0), "nothing is sent unasked");
    for part in ["No model is available", "vllm/listed", "To use one: troupe --model "] {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
}
