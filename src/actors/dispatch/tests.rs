use std::{sync::Mutex, time::Duration};

use serde_json::{Value, json};

use super::*;
use crate::{
    actors::testing::{Bench, Ext, Parts, Reaction},
    protocol::{
        Event,
        ask::{Ask, Verdict},
        route::{RouteVerdict, STATE_TYPE, VirtualDescription},
    },
};

/// `team/auto` over `p/a`, which thinks much, and `p/b`, which thinks little: scripts tell them apart by that.
fn models() -> Value {
    let model = |id: &str| json!({"id": id, "reasoning": true});
    json!({
        "providers": {"p": {"api": "x", "baseUrl": "http://127.0.0.1:1", "models": [model("a"), model("b")]}},
        "virtualModels": {"team/auto": {"rules": [{"name": "all", "use": ["p/a:high", "p/b:low"]}]}},
    })
}

/// An agent whose model is `team/auto`; `scenes` come before a plain answer.
async fn agent(scenes: Value) -> Bench {
    let turns = json!({"scenes": scenes, "turns": ["fine"], "end": "repeat"});
    Parts { turns, models: models(), model: "team/auto", ..Parts::default() }.start().await
}

fn fails(thinking: &str, class: &str, retry_after_ms: u64) -> Value {
    let fault = json!({"kind": "error", "class": class, "message": class, "retryAfterMs": retry_after_ms});
    json!({"when": {"thinking": thinking}, "end": "repeat", "turns": [{"text": "no", "fault": fault}]})
}

/// The session after its first entry of a kind, in words: answers by their model, states by their model and level.
fn session(bench: &Bench) -> Vec<String> {
    let tree = bench.shared.tree().unwrap();
    let word = |body: &EntryBody| match body {
        EntryBody::Custom { custom_type, data: Some(data) } if custom_type == STATE_TYPE => {
            let state = &data["state"];
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("state {}", if state["model"].is_null() { text(state) } else { text(&state["model"]) })
        }
        EntryBody::Message { message: AgentMessage::User(user) } => user.content.text(""),
        EntryBody::Message { message: AgentMessage::Assistant(answer) } => {
            let level = answer.thinking_level.clone().unwrap_or_default();
            let mark = if answer.is_failed() { "!" } else { "" };
            format!("{mark}{}/{}:{level}", answer.provider, answer.model)
        }
        other => other.kind().to_owned(),
    };
    tree.path().iter().map(|entry| word(&entry.entry().body)).collect()
}

fn delays(events: &[Event]) -> Vec<u64> {
    let delay = |event: &Event| match event {
        Event::AutoRetryStart { delay_ms, .. } => Some(*delay_ms),
        _ => None,
    };
    events.iter().filter_map(delay).collect()
}

fn last_error(bench: &Bench) -> String {
    let tree = bench.shared.tree().unwrap();
    let answers = tree.path().into_iter().rev().map(|entry| entry.entry());
    let answer = answers.into_iter().find_map(|entry| entry.body.as_message()?.as_assistant().cloned()).unwrap();
    assert!(answer.is_failed(), "{answer:?}");
    answer.error_message.clone().unwrap()
}

#[tokio::test]
async fn the_choice_is_stored_before_the_request_and_once() {
    let mut bench = agent(json!([])).await;
    bench.run("one").await;
    bench.run("two").await;
    assert_eq!(session(&bench), ["one", "state p/a", "p/a:high", "two", "p/a:high"]);
}

#[tokio::test]
async fn a_rate_limit_moves_to_the_next_model_at_once_and_later_requests_begin_there() {
    let mut bench = agent(json!([fails("high", "rate_limited", 50_000)])).await;
    let events = bench.run("one").await;
    assert_eq!(delays(&events), [0]);
    bench.run("two").await;
    let expected = ["one", "state p/a", "!p/a:high", "context_edit", "state p/b", "p/b:low", "two", "p/b:low"];
    assert_eq!(session(&bench), expected, "the first model rests");
}

#[tokio::test]
async fn when_all_models_rest_the_answer_says_who_is_free_first_and_when() {
    let mut bench = agent(json!([fails("high", "rate_limited", 90_000), fails("low", "overloaded", 120_000)])).await;
    let events = bench.run("one").await;
    assert_eq!(delays(&events), [0], "nobody waits longer than the user allows");
    let events = bench.run("two").await;
    assert_eq!(delays(&events), Vec::<u64>::new());
    let error = last_error(&bench);
    assert!(error.contains("p/a is free first, in 90 s (rate limit)"), "{error}");
    assert!(session(&bench).last().unwrap().starts_with("!team/auto"), "{:?}", session(&bench));
}

#[tokio::test]
async fn another_failure_is_retried_with_the_same_model() {
    let fault = json!({"kind": "error", "class": "server_error", "message": "500", "retryAfterMs": 1, "times": 1});
    let turn = json!({"text": "fine", "fault": fault});
    let scene = json!({"when": {"thinking": "high"}, "end": "repeat", "turns": [turn]});
    let mut bench = agent(json!([scene])).await;
    bench.run("one").await;
    assert_eq!(session(&bench), ["one", "state p/a", "!p/a:high", "context_edit", "p/a:high"]);
}

#[tokio::test]
async fn a_loop_that_dies_between_state_and_answer_routes_again_without_another_state() {
    let slow = json!({"turns": [{"text": "fine", "pace": {"delayMs": 300}}], "end": "repeat"});
    let mut bench = Parts { turns: slow, models: models(), model: "team/auto", ..Parts::default() }.start().await;
    bench.prompt("one").await.unwrap();
    bench.until("state", |event| matches!(event, Event::EntryAppended { .. })).await;
    bench.find("TurnLoop").expect("a loop").kill();
    bench.settled().await;
    assert_eq!(session(&bench), ["one", "state p/a", "p/a:high"]);
}

/// How an extension chooses.
type Mind = fn(&RouteAsk) -> Reaction;

/// An agent whose virtual model `mind/own` an extension chooses for; what it was asked.
async fn minded(
    reaction: impl Fn(&RouteAsk) -> Reaction + Send + Sync + 'static,
) -> (Bench, Arc<Mutex<Vec<RouteAsk>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    let ext = Ext::new("mind", &[], move |ask| {
        let Ask::Route(ask) = ask else { panic!("not its point") };
        let reaction = reaction(&ask);
        seen.lock().unwrap().push(*ask);
        reaction
    });
    let own = VirtualDescription {
        thinking_levels: vec![ThinkingLevel::Off, ThinkingLevel::High],
        ..VirtualDescription::new("mind", "own")
    };
    let extension = ext.choosing_for(own).deadline(Duration::from_millis(200));
    let turns = json!({"scenes": [fails("low", "overloaded", 1)], "turns": ["fine"], "end": "repeat"});
    let parts = Parts { turns, model: "mind/own", extensions: vec![Arc::new(extension)], ..Parts::default() };
    (parts.start().await, asked)
}

fn choose(model: &str, thinking_level: ThinkingLevel, state: Option<Value>) -> Reaction {
    let (provider, id) = model.split_once('/').unwrap();
    let model = ModelRef { provider: provider.into(), model_id: id.into() };
    Reaction::Say(Verdict::Route(RouteVerdict { model, thinking_level, state }))
}

#[tokio::test]
async fn an_extension_chooses_and_is_told_why_it_is_asked_and_what_was_before() {
    let (mut bench, asked) = minded(|ask| {
        let n = ask.state.as_ref().and_then(Value::as_u64).unwrap_or(0) + 1;
        let level = if ask.reason == RouteReason::Retry { ThinkingLevel::High } else { ThinkingLevel::Low };
        choose("troupe/script", level, (n < 3).then(|| json!(n)))
    })
    .await;
    bench.run("one").await;
    bench.run("two").await;
    let expected = [
        "one",
        "state 1",
        "!troupe/script:low",
        "context_edit",
        "state 2",
        "troupe/script:high",
        "two",
        "!troupe/script:low",
        "context_edit",
        "troupe/script:high",
    ];
    assert_eq!(session(&bench), expected, "without a new state nothing is stored");
    let asked = asked.lock().unwrap();
    let reasons: Vec<_> = asked.iter().map(|ask| ask.reason.name()).collect();
    assert_eq!(reasons, ["user", "retry", "user", "retry"]);
    assert_eq!((asked[0].model.to_string(), &*asked[0].role), ("mind/own".to_owned(), "main"));
    assert!(asked[0].previous.is_none() && asked[0].failed.is_none() && asked[0].messages.len() == 1);
    let failed = asked[1].failed.as_ref().unwrap();
    assert_eq!((failed.dispatch.thinking_level, failed.message.is_failed()), (ThinkingLevel::Low, true));
    assert_eq!(asked[2].previous.as_ref().unwrap().thinking_level, ThinkingLevel::High);
}

#[tokio::test]
async fn an_extension_that_does_not_choose_fails_the_request_and_nothing_else() {
    let reactions: [(Mind, &str); 6] = [
        (|_| Reaction::Fail("no route today"), "did not choose a model for mind/own: no route today"),
        (|_| Reaction::Panic, "did not choose a model for mind/own: it died before it answered"),
        (|_| Reaction::Hang, "did not choose a model for mind/own: no answer within 200 ms"),
        (|ask| choose(&ask.model.to_string(), ThinkingLevel::Off, None), "cannot be used: not a physical model"),
        (
            |_| choose("no/where", ThinkingLevel::Off, None),
            "chose no/where for mind/own, which cannot be used: unknown",
        ),
        (|_| choose("xai/grok-4.5", ThinkingLevel::Off, Some(json!(1))), "which cannot be used"),
    ];
    for (reaction, expected) in reactions {
        let (mut bench, _) = minded(reaction).await;
        let events = bench.run("one").await;
        let error = last_error(&bench);
        assert!(error.contains(expected), "{error}\n{expected}");
        assert_eq!(session(&bench), ["one", "!mind/own:off"], "no state of a route that failed");
        assert_eq!(delays(&events), Vec::<u64>::new());
    }
}
