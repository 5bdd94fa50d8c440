use std::sync::Mutex;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::*;
use crate::{
    actors::{
        extensions::{Extensions, RunningExtensions},
        shared::Observer,
        spawn::spawn_root,
        testing::{Ext, FnTool, Parts, Reaction, find, moment, within},
    },
    extensions::Backstage,
    protocol::{
        Command, CommandError, Event,
        ask::{ContextVerdict, MessageEndVerdict, PayloadVerdict, ToolResultVerdict},
        command::InputSource,
    },
};

/// The questions that an extension was asked.
type Asked = Arc<Mutex<Vec<Value>>>;

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn allow(input: Option<Value>) -> Reaction {
    Reaction::Say(Verdict::ToolCall(ToolCallVerdict::Allow { input: input.map(arguments) }))
}

fn deny(reason: &str) -> Reaction {
    Reaction::Say(Verdict::ToolCall(ToolCallVerdict::Deny { reason: reason.into(), terminate: false }))
}

/// A guard of tool calls that notes what it sees.
fn guard(name: &str, asked: &Asked, reaction: Reaction) -> Ext {
    let (label, asked) = (name.to_owned(), asked.clone());
    Ext::new(name, &[AskPoint::ToolCall], move |ask| {
        let Ask::ToolCall(ask) = ask else { panic!("not its point") };
        asked.lock().unwrap().push(json!([label, ask.input]));
        reaction.clone()
    })
}

/// A chain of running extensions, and their supervisor.
async fn chain(extensions: Vec<Ext>) -> (Chain, ractor::ActorCell) {
    let observers: Vec<Observer> =
        extensions.into_iter().map(|ext| Observer::new(Arc::new(ext), &Backstage::default())).collect();
    let supervisor = spawn_root("Extensions", Extensions, RunningExtensions::new(observers.clone())).await.unwrap();
    let links = observers.into_iter().map(|o| Link { extension: o.extension, slot: o.slot }).collect();
    (Chain::new(links), supervisor.actor().get_cell())
}

fn by(agent: &str) -> Asking {
    Asking { agent: agent.into(), after: Seq::default() }
}

fn call(input: Value) -> ToolCallAsk {
    ToolCallAsk { agent: "a".into(), tool_name: "echo".into(), tool_call_id: "c".into(), input: arguments(input) }
}

fn reason_of(verdict: ToolCallVerdict) -> String {
    match verdict {
        ToolCallVerdict::Deny { reason, .. } => reason,
        ToolCallVerdict::Allow { .. } => panic!("allowed"),
    }
}

#[tokio::test]
async fn interceptors_are_asked_in_order_each_sees_the_changes_before_and_a_denial_ends_the_chain() {
    let asked = Asked::default();
    let (chain, _extensions) = chain(vec![
        guard("first", &asked, allow(Some(json!({"say": "1"})))),
        guard("second", &asked, allow(None)),
        guard("third", &asked, allow(Some(json!({"say": "3"})))),
    ])
    .await;
    let verdict = chain.tool_call(&by("a"), call(json!({"say": "0"}))).await;
    assert_eq!(verdict, ToolCallVerdict::Allow { input: Some(arguments(json!({"say": "3"}))) });
    let wanted = [("first", "0"), ("second", "1"), ("third", "1")].map(|(name, say)| json!([name, {"say": say}]));
    assert_eq!(*asked.lock().unwrap(), wanted);

    let asked = Asked::default();
    let (chain, _extensions) =
        self::chain(vec![guard("no", &asked, deny("not today")), guard("late", &asked, allow(None))]).await;
    assert_eq!(reason_of(chain.tool_call(&by("a"), call(json!({}))).await), "not today");
    assert_eq!(asked.lock().unwrap().len(), 1);
}

/// What each guard point answers to an extension that reacts so: the denial's reason.
async fn denials(reaction: &Reaction) -> Vec<String> {
    let points = [AskPoint::ToolCall, AskPoint::Input, AskPoint::UserBash];
    let reaction = reaction.clone();
    let (chain, _extensions) = chain(vec![Ext::new("g", &points, move |_| reaction.clone())]).await;
    let by = by("a");
    let input = InputAsk { text: "hi".into(), images: Vec::new(), source: InputSource::default(), behavior: None };
    let bash = UserBashAsk { command: "ls".into(), exclude_from_context: false, cwd: "/".into() };
    let InputVerdict::Deny { reason: input } = chain.input(&by, input).await else { panic!("let in") };
    let UserBashVerdict::Deny { reason: bash } = chain.user_bash(&by, bash).await else { panic!("allowed") };
    vec![reason_of(chain.tool_call(&by, call(json!({}))).await), input, bash]
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_fails_panics_or_hangs_denies_and_says_which() {
    for (reaction, causes) in [
        (Reaction::Fail("no disk"), ["no disk"; 3]),
        (Reaction::Panic, ["it died before it answered"; 3]),
        (Reaction::Hang, ["no answer within 5000 ms", "no answer within 2000 ms", "no answer within 5000 ms"]),
    ] {
        let wanted = causes.map(|cause| format!("Denied: the extension g could not decide ({cause})"));
        assert_eq!(denials(&reaction).await, wanted, "{reaction:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_the_extensions_own_and_runs_from_the_start_of_handling() {
    let asked = Asked::default();
    let hangs = guard("g", &asked, Reaction::Hang).deadline(Duration::from_millis(300));
    let (chain, _extensions) = chain(vec![hangs]).await;
    let begun = Instant::now();
    let ask = |agent: &'static str| {
        let chain = chain.clone();
        async move {
            let reason = reason_of(chain.tool_call(&by(agent), call(json!({}))).await);
            assert!(reason.contains("no answer within 300 ms"), "{reason}");
            begun.elapsed().as_millis()
        }
    };
    // The second ask of an agent waits for the first; another agent does not.
    let (first, second, other) = tokio::join!(ask("a"), ask("a"), ask("b"));
    assert_eq!((first, second, other), (300, 600, 300));
}

#[tokio::test]
async fn an_extension_goes_on_after_a_panic() {
    let times = Mutex::new(0);
    let ext = Ext::new("g", &[AskPoint::ToolCall], move |_| {
        let mut times = times.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *times += 1;
        if *times == 1 { Reaction::Panic } else { allow(None) }
    });
    let (chain, extensions) = chain(vec![ext]).await;
    let before = find(&extensions, "Extension").unwrap().get_id();
    reason_of(chain.tool_call(&by("a"), call(json!({}))).await);
    let second = chain.tool_call(&by("a"), call(json!({}))).await;
    assert_eq!(second, ToolCallVerdict::Allow { input: None });
    assert_eq!(find(&extensions, "Extension").unwrap().get_id(), before, "its actor was not even restarted");
}

#[tokio::test(start_paused = true)]
async fn while_an_extension_is_down_its_guards_deny_and_the_fourth_death_in_a_minute_is_the_last() {
    let asked = Asked::default();
    let (chain, extensions) = chain(vec![guard("g", &asked, Reaction::Hang)]).await;
    for death in 1..=4 {
        let cell = find(&extensions, "Extension").unwrap();
        let by = by("a");
        let ask = chain.tool_call(&by, call(json!({})));
        let kill = async {
            // The question is being handled when the extension dies.
            within("question", async {
                while asked.lock().unwrap().len() < death {
                    moment().await;
                }
            })
            .await;
            cell.kill();
        };
        let (verdict, ()) = tokio::join!(ask, kill);
        assert!(reason_of(verdict).contains("it died before it answered"));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(find(&extensions, "Extension").is_none());
    assert!(reason_of(chain.tool_call(&by("a"), call(json!({}))).await).contains("it is not running"));
}

#[tokio::test]
async fn a_guard_that_watches_has_seen_the_message_of_the_call_that_it_decides_about() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (noting, looking) = (seen.clone(), seen.clone());
    let ext = Ext::new("g", &[AskPoint::ToolCall], move |ask| {
        let Ask::ToolCall(ask) = ask else { panic!("not its point") };
        if looking.lock().unwrap().contains(&ask.tool_call_id) { allow(None) } else { deny("stale") }
    })
    .observing(move |observed| {
        for published in observed.events {
            if let Event::MessageEnd { message: AgentMessage::Assistant(message), .. } = &published.event {
                noting.lock().unwrap().extend(message.tool_calls().map(|call| call.id.clone()));
            }
        }
    });
    let echo = FnTool::new("echo", |_| async { ToolOutput::text("ran") });
    let mut bench = Parts {
        turns: json!([{"calls": [{"name": "echo"}]}, {"calls": [{"name": "echo"}]}, "done"]),
        tools: vec![Arc::new(echo)],
        extensions: vec![Arc::new(ext)],
        ..Parts::default()
    }
    .start()
    .await;
    bench.run("go").await;
    assert_eq!(bench.results(), [(false, "ran".to_owned()), (false, "ran".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn an_extension_that_missed_events_while_it_was_down_goes_on_watching_afterwards() {
    let count: Arc<Mutex<usize>> = Arc::default();
    let counting = count.clone();
    let ext = Ext::watcher("w", move |observed| *counting.lock().unwrap() += observed.events.len());
    let mut bench = Parts { extensions: vec![Arc::new(ext)], ..Parts::default() }.start().await;
    // The first restart comes at once, the second after a wait: time for events to get lost.
    for _ in 0..2 {
        let cell = find(&bench.extensions, "Extension").unwrap();
        cell.kill();
        within("end", async {
            while find(&bench.extensions, "Extension").is_some_and(|now| now.get_id() == cell.get_id()) {
                moment().await;
            }
        })
        .await;
    }
    assert!(find(&bench.extensions, "Extension").is_none());
    bench.run("hi").await;
    assert!(find(&bench.extensions, "Extension").is_none(), "it was down all the time");
    assert_eq!(*count.lock().unwrap(), 0);
    tokio::time::sleep(Duration::from_secs(1)).await;
    bench.run("more").await;
    within("observation", async {
        while *count.lock().unwrap() == 0 {
            moment().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_rewritten_call_is_checked_again_before_it_runs() {
    let ext = Ext::new("g", &[AskPoint::ToolCall], |ask| {
        let Ask::ToolCall(ask) = ask else { panic!("not its point") };
        match ask.input["say"].as_str() {
            Some("good") => allow(Some(json!({"say": "better"}))),
            Some("bad") => allow(Some(json!({"say": {"not": "a text"}}))),
            Some("never") => deny(""),
            _ => allow(None),
        }
    });
    let echo = FnTool::new("echo", |context| async move {
        ToolOutput::text(context.arguments["say"].as_str().unwrap().to_owned())
    });
    let calls: Vec<_> = ["plain", "good", "bad", "never"]
        .iter()
        .map(|say| json!({"name": "echo", "arguments": {"say": say}}))
        .collect();
    let mut bench = Parts {
        turns: json!([{"calls": calls}, "done"]),
        tools: vec![Arc::new(echo)],
        extensions: vec![Arc::new(ext)],
        ..Parts::default()
    }
    .start()
    .await;
    bench.run("go").await;
    let results = bench.results();
    assert_eq!(results[..2], [(false, "plain".to_owned()), (false, "better".to_owned())]);
    assert!(results[2].0 && results[2].1.contains("say"), "the argument that is wrong is named: {results:?}");
    assert_eq!(results[3], (true, "Tool execution was blocked".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn an_enricher_that_gives_no_answer_is_skipped_and_told_and_a_failed_after_hook_hides_the_output() {
    for (reaction, cause) in
        [(Reaction::Fail("no"), "no"), (Reaction::Panic, "died"), (Reaction::Hang, "no answer within")]
    {
        let points = [AskPoint::Context, AskPoint::MessageEnd, AskPoint::ToolResult];
        let wild = Ext::new("wild", &points, {
            let reaction = reaction.clone();
            move |_| reaction.clone()
        });
        let calm = Ext::new("calm", &points[..2], |ask| {
            Reaction::Say(match ask {
                Ask::Context(_) => Verdict::Context(ContextVerdict::default()),
                Ask::MessageEnd(_) => Verdict::MessageEnd(MessageEndVerdict::default()),
                _ => Verdict::ToolResult(ToolResultVerdict::default()),
            })
        });
        let secret = FnTool::new("secret", |_| async { ToolOutput::text("s3cret") });
        let mut bench = Parts {
            turns: json!([{"calls": [{"name": "secret"}]}, "done"]),
            tools: vec![Arc::new(secret)],
            extensions: vec![Arc::new(wild), Arc::new(calm)],
            ..Parts::default()
        }
        .start()
        .await;
        let events = bench.run("go").await;
        let mut failed = Vec::new();
        for event in &events {
            if let Event::ExtensionError { extension, event, error } = event {
                assert_eq!(extension, "wild");
                assert!(error.contains(cause), "{error}");
                failed.push(event.as_str());
            }
        }
        for point in ["context", "message_end", "tool_result"] {
            assert!(failed.contains(&point), "{point} with {reaction:?}: {failed:?}");
        }
        let results = bench.results();
        assert!(results.len() == 1 && results[0].0 && !results[0].1.contains("s3cret"), "{results:?}");
    }
}

#[tokio::test]
async fn denied_input_and_denied_commands_of_the_user_are_refused_in_words_and_leave_nothing() {
    let points = [AskPoint::Input, AskPoint::UserBash];
    let ext = Ext::new("g", &points, |ask| match ask {
        Ask::Input(ask) if ask.text == "die" => Reaction::Panic,
        Ask::Input(ask) if ask.text == "swear" => {
            Reaction::Say(Verdict::Input(InputVerdict::Deny { reason: "mind your language".into() }))
        }
        Ask::Input(ask) => {
            let text = ask.text.to_uppercase();
            Reaction::Say(Verdict::Input(InputVerdict::Transform { text, images: None }))
        }
        _ => Reaction::Fail("no shell"),
    });
    let mut bench = Parts { extensions: vec![Arc::new(ext)], ..Parts::default() }.start().await;
    let refused = |result: Result<_, CommandError>| result.unwrap_err().to_string();
    assert_eq!(refused(bench.prompt("swear").await), "mind your language");
    assert!(refused(bench.prompt("die").await).contains("could not decide"));
    let bash = Command::Bash { id: None, command: "touch x".into(), exclude_from_context: false };
    assert!(refused(bench.command(bash).await).contains("no shell"));
    assert!(bench.shared.tree().unwrap().context().messages.is_empty());
    bench.run("hi").await;
    let messages = bench.shared.tree().unwrap().context().messages;
    let AgentMessage::User(message) = messages.iter().find(|message| message.role() == "user").unwrap() else {
        panic!()
    };
    assert_eq!(message.content.text(""), "HI");
}

#[tokio::test]
async fn a_body_is_replaced_in_order_and_left_alone_by_one_that_fails() {
    let add = |name: &'static str| {
        Ext::new(name, &[AskPoint::Payload], move |ask| {
            let Ask::Payload(ask) = ask else { panic!("not its point") };
            let mut payload = (*ask.payload).clone();
            payload[name] = ask.model.to_string().into();
            Reaction::Say(Verdict::Payload(PayloadVerdict { payload: Some(payload) }))
        })
    };
    let sick = Ext::new("sick", &[AskPoint::Payload], |_| Reaction::Fail("no"));
    let (chain, _extensions) = chain(vec![add("a"), sick, add("b")]).await;
    let model = crate::protocol::ModelRef { provider: "p".into(), model_id: "m".into() };
    let walked = chain.payload(&by("a"), &model, json!({"x": 1})).await;
    assert_eq!(walked.value, Some(json!({"x": 1, "a": "p/m", "b": "p/m"})));
    assert_eq!(walked.failures, [("sick".to_owned(), "no".to_owned())]);
}

#[tokio::test]
async fn leaving_out_the_system_messages_is_told_and_done() {
    let drops = Ext::new("drops", &[AskPoint::Context], |ask| {
        let Ask::Context(ask) = ask else { panic!("not its point") };
        let rest = ask.messages.iter().filter(|message| message.role() != "system").cloned().collect();
        Reaction::Say(Verdict::Context(ContextVerdict { messages: Some(rest) }))
    });
    let (chain, _extensions) = chain(vec![drops]).await;
    let messages = vec![AgentMessage::System(Arc::default()), AgentMessage::user("hi", 0)];
    let walked = chain.context(&by("a"), messages).await;
    assert_eq!((walked.value.len(), walked.failures.len()), (1, 1), "{:?}", walked.failures);
}
