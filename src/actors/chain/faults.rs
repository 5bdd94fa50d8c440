//! An extension that fails, dies or hangs at each point: what the run does, and what is told.

use serde_json::json;

use crate::{
    actors::testing::{Bench, Ext, FnTool, Parts, Reaction, within},
    protocol::{AgentMessage, Command, CommandError, Event, Reply, ToolOutput, ask::AskPoint},
};

const CALLS: [AskPoint; 2] = [AskPoint::ToolCall, AskPoint::ToolResult];
const ENRICHERS: [AskPoint; 7] = [
    AskPoint::BeforeAgentStart,
    AskPoint::BeforeTurn,
    AskPoint::Context,
    AskPoint::BeforeRequest,
    AskPoint::MessageEnd,
    AskPoint::TurnEnd,
    AskPoint::BeforeSettle,
];

/// What can go wrong at a point, and how it is told.
fn faults(point: AskPoint) -> [(Reaction, String); 3] {
    [
        (Reaction::Fail("sick"), "sick".to_owned()),
        (Reaction::Panic, "it died before it answered".to_owned()),
        (Reaction::Hang, format!("no answer within {} ms", point.deadline().as_millis())),
    ]
}

/// An agent whose model calls a tool once, with an extension that has `fault` at `point`.
async fn bench(point: AskPoint, fault: Reaction) -> Bench {
    let bad = Ext::new("bad", &[point], move |_| fault.clone());
    let turns = json!([{"calls": [{"name": "echo", "arguments": {}}]}, "done"]);
    let echo = FnTool::new("echo", |_| async { ToolOutput::text("ok") });
    Parts {
        turns,
        tools: vec![std::sync::Arc::new(echo)],
        extensions: vec![std::sync::Arc::new(bad)],
        ..Parts::default()
    }
    .start()
    .await
}

/// What was told about extensions: at what, and how.
fn told(events: &[Event]) -> Vec<(String, String)> {
    let told = |event: &Event| match event {
        Event::ExtensionError { extension, event, error } if extension == "bad" => Some((event.clone(), error.clone())),
        _ => None,
    };
    events.iter().filter_map(told).collect()
}

fn denial(cause: &str) -> String {
    format!("Denied: the extension bad could not decide ({cause})")
}

#[tokio::test(start_paused = true)]
async fn an_input_or_a_command_of_the_user_is_denied_with_the_cause() {
    for point in [AskPoint::Input, AskPoint::UserBash] {
        for (fault, cause) in faults(point) {
            let bench = bench(point, fault).await;
            let answer = match point {
                AskPoint::Input => bench.prompt("go").await,
                _ => {
                    let command = Command::Bash { id: None, command: "true".into(), exclude_from_context: false };
                    bench.command(command).await
                }
            };
            assert_eq!(answer, Err(CommandError::Refused(denial(&cause))), "{point:?}");
            assert_eq!(bench.command(Command::WaitIdle).await, Ok(Reply::Done));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_denied_and_a_result_is_hidden_and_the_run_goes_on() {
    for point in CALLS {
        for (fault, cause) in faults(point) {
            let mut bench = bench(point, fault).await;
            let events = bench.run("go").await;
            assert_eq!(bench.results(), [(true, denial(&cause))], "{point:?}");
            let last = bench.shared.tree().unwrap().context().messages.pop();
            assert!(matches!(last, Some(AgentMessage::Assistant(message)) if !message.is_failed()), "{point:?}");
            let wanted =
                if point == AskPoint::ToolResult { vec![("tool_result".into(), denial(&cause))] } else { vec![] };
            assert_eq!(told(&events), wanted);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_enricher_is_left_out_and_named_and_the_run_is_as_without_it() {
    for point in ENRICHERS {
        for (fault, cause) in faults(point) {
            let mut bench = bench(point, fault).await;
            let events = bench.run("go").await;
            assert_eq!(bench.results(), [(false, "ok".to_owned())], "{point:?} {cause}");
            let told = told(&events);
            assert!(!told.is_empty(), "{point:?}");
            assert!(told.iter().all(|line| *line == (point.name().to_owned(), cause.clone())), "{told:?}");
            assert!(matches!(events.last(), Some(Event::AgentSettled { aborted: false })));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn fc_090_an_abort_gets_out_of_a_point_that_hangs() {
    for point in [AskPoint::BeforeAgentStart, AskPoint::Context, AskPoint::ToolCall, AskPoint::TurnEnd] {
        let mut bench = bench(point, Reaction::Hang).await;
        bench.prompt_without_answer("go");
        within("the question", bench.shared.phase.subscribe().wait_for(|phase| *phase != "idle")).await.unwrap();
        for _ in 0..50 {
            crate::actors::testing::moment().await;
        }
        let begun = tokio::time::Instant::now();
        bench.command(Command::Abort).await.unwrap();
        assert!(begun.elapsed() < point.deadline() / 2, "{point:?}: {:?}", begun.elapsed());
        let events = bench.settled().await;
        assert!(matches!(events.last(), Some(Event::AgentSettled { aborted: true })), "{point:?}");
    }
}
