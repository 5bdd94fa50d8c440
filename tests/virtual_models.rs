//! Virtual models of `models.json`, from the outside: what is sent, what is told, what is stored, and what a resumed
//! session makes of it.

#![allow(clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use support::*;

/// Adds `team/auto` over `mock/m1`, `mock/m2` and, for pictures, `mock/img`.
fn add_virtual(sandbox: &Sandbox) {
    let mut models: Value = serde_json::from_str(&sandbox.read(sandbox.user_dir.join("models.json"))).unwrap();
    models["virtualModels"] = json!({"team/auto": {"name": "Team", "rules": [
        {"name": "look", "when": {"images": true}, "use": "mock/img"},
        {"name": "all", "use": ["mock/m1", "mock/m2"]},
    ]}});
    sandbox.write(sandbox.user_dir.join("models.json"), models.to_string());
}

/// The models that were asked, in order.
fn asked(sandbox: &Sandbox) -> Vec<String> {
    let requests = sandbox.server.requests();
    requests.iter().map(|request| request.body["model"].as_str().unwrap_or("?").to_owned()).collect()
}

/// The names of the models in answers.
fn answered(events: &[Value]) -> Vec<String> {
    let name =
        |message: &&Value| format!("{}/{}", message["provider"].as_str().unwrap(), message["model"].as_str().unwrap());
    ended(events, "assistant").iter().map(name).collect()
}

#[tokio::test]
async fn a_rate_limit_moves_to_the_next_model_at_once_and_the_session_tells_why() {
    let busy = http(429, "rate limit").header("retry-after", "50");
    let sandbox = Sandbox::new(replies([busy, text("fine")])).await;
    add_virtual(&sandbox);
    let events = sandbox.json(&["--model", "team/auto", "go"]).await;
    assert_eq!(asked(&sandbox), ["m1", "m2"]);
    assert_eq!(answered(&events), ["mock/m1", "mock/m2"]);
    assert_eq!(one(&events, "auto_retry_start")["delayMs"], json!(0), "nobody waits while another model is free");
    let wanted = [
        "message_end:user",
        "entry_appended",
        "message_start:assistant",
        "message_end:assistant",
        "turn_end",
        "agent_end",
        "auto_retry_start",
        "entry_appended",
        "agent_start",
        "turn_start",
        "entry_appended",
        "message_start:assistant",
        "message_end:assistant",
        "auto_retry_end",
        "turn_end",
        "agent_end",
        "agent_settled",
    ];
    let shape = shape(&events);
    assert_eq!(shape[shape.len() - wanted.len()..], wanted);

    let stored = lines(&sandbox.session_file());
    linked(&stored);
    let wanted = [
        "model_change",
        "thinking_level_change",
        "system",
        "user",
        "custom",
        "assistant",
        "context_edit",
        "custom",
        "assistant",
    ];
    assert_eq!(entry_roles(&stored), wanted);
    assert_eq!((&stored[1]["provider"], &stored[1]["modelId"]), (&json!("team"), &json!("auto")));
    assert_eq!(stored[5]["customType"], "pi.virtual-model-state");
    let data = json!({"provider": "team", "modelId": "auto",
        "state": {"rule": "all", "model": "mock/m1", "thinkingLevel": "off"}});
    assert_eq!(stored[5]["data"], data);
    assert_eq!(stored[8]["data"]["state"]["model"], "mock/m2");
}

#[tokio::test]
async fn a_trace_stays_with_its_model_and_rules_look_at_the_next_prompt() {
    let sandbox = Sandbox::new(replies([calls([call("ls", json!({}))]), text("done"), text("seen")])).await;
    add_virtual(&sandbox);
    sandbox.write("p.png", PIXEL);
    sandbox.json(&["--model", "team/auto", "--tools", "ls", "go"]).await;
    sandbox.json(&["--continue", "@p.png", "look"]).await;
    assert_eq!(asked(&sandbox), ["m1", "m1", "img"]);
    let states = lines(&sandbox.session_file()).iter().filter(|line| line["type"] == "custom").count();
    assert_eq!(states, 2, "the same choice is stored once");
}

#[tokio::test]
async fn a_resumed_session_selects_the_virtual_model_again_or_the_one_that_answered() {
    let sandbox = Sandbox::new(replies([http(429, "rate limit"), text("fine")])).await;
    add_virtual(&sandbox);
    sandbox.json(&["--model", "team/auto", "go"]).await;
    let selected = async |sandbox: &Sandbox| {
        let mut rpc = sandbox.rpc(&["--continue"]).await;
        let model = rpc.call(json!({"type": "get_state"})).await["model"].clone();
        format!("{}/{}", model["provider"].as_str().unwrap(), model["id"].as_str().unwrap())
    };
    assert_eq!(selected(&sandbox).await, "team/auto");
    sandbox.write_models("mock-key");
    assert_eq!(selected(&sandbox).await, "mock/m2", "it is not configured any more: the model of the last answer");
    let before = lines(&sandbox.session_file()).len();
    add_virtual(&sandbox);
    let mut rpc = sandbox.rpc(&["--continue", "--model", "mock/m1"]).await;
    rpc.call(json!({"type": "get_state"})).await;
    let stored = lines(&sandbox.session_file());
    let news: Vec<_> = stored[before..].iter().filter(|line| line["type"] == "model_change").collect();
    assert_eq!(news.len(), 1, "the branch would imply the virtual model: {stored:?}");
}

#[tokio::test]
async fn a_virtual_model_is_listed_chosen_and_measured_by_what_is_behind_it() {
    let sandbox = Sandbox::new(replies([text("fine").usage(1000, 10)])).await;
    add_virtual(&sandbox);
    let listed = sandbox.run(&["--list-models", "team"]).await.stdout;
    assert_eq!(
        listed.lines().nth(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).as_deref(),
        Some("team auto - - no yes")
    );
    let mut rpc = sandbox.rpc(&["--model", "mock/m1"]).await;
    let models = rpc.call(json!({"type": "get_available_models"})).await["models"].clone();
    let last = models.as_array().unwrap().last().unwrap();
    assert_eq!((&last["api"], &last["id"], &last["name"]), (&json!("pi-virtual"), &json!("auto"), &json!("Team")));
    rpc.call(json!({"type": "set_model", "provider": "team", "modelId": "auto"})).await;
    let stats = rpc.call(json!({"type": "get_session_stats"})).await.clone();
    assert_eq!(stats.get("contextUsage"), None, "nobody has answered, and nothing is declared: {stats}");
    rpc.prompt("go").await;
    let stats = rpc.call(json!({"type": "get_session_stats"})).await.clone();
    assert_eq!(stats["contextUsage"]["contextWindow"], json!(200_000), "the window of the model that answered");
}

#[tokio::test]
async fn a_mistake_in_the_rules_names_its_place_and_a_candidate_without_a_key_is_passed_over() {
    let sandbox = Sandbox::new(replies([text("fine")])).await;
    let good = sandbox.read(sandbox.user_dir.join("models.json"));
    let with = |rules: Value| {
        let mut models: Value = serde_json::from_str(&good).unwrap();
        models["virtualModels"] = json!({"team/auto": {"rules": rules}});
        serde_json::to_string_pretty(&models).unwrap()
    };
    sandbox.write(sandbox.user_dir.join("models.json"), with(json!([{"use": "mock/m1", "when": {"image": true}}])));
    let listed = sandbox.run(&["--list-models"]).await;
    let stderr = &listed.stderr;
    assert!(
        stderr.contains("virtualModels.team/auto.rules[0].when.image: unknown field (did you mean images?)"),
        "{stderr}"
    );
    let place = stderr.split("models.json:").nth(1).and_then(|rest| rest.split(':').next());
    assert!(place.is_some_and(|line| line.parse::<usize>().is_ok_and(|line| line > 20)), "{stderr}");

    sandbox.write(sandbox.user_dir.join("models.json"), with(json!([{"use": ["openai/gpt-nosuch", "mock/m2"]}])));
    let finished = sandbox.run(&["--model", "team/auto", "-p", "go"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "fine\n"), "{}", finished.stderr);
    assert!(finished.stderr.contains("openai/gpt-nosuch is unknown and passed over"), "{}", finished.stderr);
    assert_eq!(asked(&sandbox), ["m2"]);
}

/// A picture of one pixel.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9cc\xf8\x0f\0\x01\x01\x01\0\xb18\xf6\x14\0\0\0\0IEND\xaeB`\x82";

#[tokio::test]
async fn a_recorded_fallback_is_replayed_when_the_virtual_model_is_named_again() {
    let busy = http(429, "rate limit").header("retry-after", "50");
    let sandbox = Sandbox::new(replies([busy, text("fine")])).await;
    add_virtual(&sandbox);
    let dir = tempfile::tempdir().unwrap();
    let tape = dir.path().join("run.jsonl");
    let tape = tape.to_str().unwrap();
    sandbox.json(&["--record", tape, "--model", "team/auto", "go"]).await;
    let events = sandbox.json(&["--replay", tape, "--replay-strict", "--model", "team/auto", "go"]).await;
    assert_eq!(answered(&events), ["mock/m1", "mock/m2"]);
    assert_eq!(sandbox.server.count(), 2, "nothing is asked again");
}
