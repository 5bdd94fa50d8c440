use serde_json::json;

use super::*;
use crate::{
    actors::testing::{Bench, Ext, FnTool, Parts, Reaction, find, moment, output_of, text_of, within},
    protocol::{
        Command,
        ask::{Ask, ToolCallVerdict, Verdict},
    },
    tools::{Local, Operations, ToolSet},
};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Tools: `slow` says `say` after the number of milliseconds that it is, `panics`, `hangs`, `stubborn` (deaf to
/// cancellation), `polite` (ends with what it has); those that do not end well have printed "so far".
fn tools() -> Vec<Arc<dyn Tool>> {
    let slow = |context: ToolContext| async move {
        let say = context.arguments["say"].as_str().unwrap().to_owned();
        tokio::time::sleep(ms(say.parse().unwrap())).await;
        ToolOutput::text(say)
    };
    let panics = FnTool::new("panics", |context| async move {
        output_of(&context)("so far");
        panic!("boom")
    });
    let stubborn = FnTool::new("stubborn", |context| async move {
        output_of(&context)("so far");
        std::future::pending().await
    });
    let polite = FnTool::new("polite", |context| async move {
        context.cancel.cancelled().await;
        ToolOutput::error("what I had")
    });
    vec![
        Arc::new(FnTool::new("slow", slow)),
        Arc::new(FnTool::new("queued", slow).sequential()),
        Arc::new(panics),
        Arc::new(stubborn),
        Arc::new(polite),
    ]
}

/// An agent whose model calls these tools with these texts, and then is done.
async fn agent(calls: &[(&str, &str)]) -> Bench {
    let calls: Vec<_> = calls.iter().map(|(name, say)| json!({"name": name, "arguments": {"say": say}})).collect();
    Parts { turns: json!([{"calls": calls}, "done"]), tools: tools(), ..Parts::default() }.start().await
}

/// Starts and ends of calls, by place: `+0` is a start, `-0` an end.
fn order(events: &[Event]) -> String {
    let word = |event: &Event| match event {
        Event::ToolExecutionStart { call } => Some(format!("+{}", call.place)),
        Event::ToolExecutionEnd { call, .. } => Some(format!("-{}", call.place)),
        _ => None,
    };
    events.iter().filter_map(word).collect::<Vec<_>>().join(" ")
}

fn good(text: &str) -> (bool, String) {
    (false, text.to_owned())
}

#[tokio::test(start_paused = true)]
async fn calls_run_side_by_side_end_as_they_complete_and_their_results_follow_in_call_order() {
    let mut bench = agent(&[("slow", "300"), ("slow", "100"), ("slow", "200")]).await;
    let begun = Instant::now();
    let events = bench.run("go").await;
    assert_eq!(order(&events), "+0 +1 +2 -1 -2 -0");
    assert_eq!(bench.results(), [good("300"), good("100"), good("200")]);
    assert_eq!(begun.elapsed().as_millis(), 300);
}

#[tokio::test(start_paused = true)]
async fn one_sequential_call_makes_the_whole_batch_run_one_after_another() {
    let mut bench = agent(&[("slow", "300"), ("queued", "100"), ("slow", "200")]).await;
    let begun = Instant::now();
    let events = bench.run("go").await;
    assert_eq!(order(&events), "+0 -0 +1 -1 +2 -2");
    assert_eq!(bench.results(), [good("300"), good("100"), good("200")]);
    assert_eq!(begun.elapsed().as_millis(), 600);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_or_is_killed_has_one_error_result_that_keeps_what_it_printed() {
    let mut bench = agent(&[("panics", ""), ("stubborn", ""), ("slow", "100")]).await;
    bench.prompt("go").await.unwrap();
    bench
        .until("end of the slow call", |event| matches!(event, Event::ToolExecutionEnd { call, .. } if call.place == 2))
        .await;
    bench.find("ToolCall").expect("the stubborn call runs").kill();
    let events = bench.settled().await;
    assert_eq!(order(&events), "+0 +1 +2 -0 -2 -1");
    let results = bench.results();
    assert_eq!(results.len(), 3);
    let (panicked, killed) = (&results[0], &results[1]);
    assert!(panicked.0 && panicked.1.starts_with("so far\n\nThe tool panics crashed: boom"), "{panicked:?}");
    assert_eq!(*killed, (true, format!("so far\n\n{INTERRUPTED}")));
    assert_eq!(results[2], good("100"));
}

#[tokio::test(start_paused = true)]
async fn an_abort_lets_calls_end_by_themselves_then_kills_them_and_each_has_one_result() {
    let mut bench = agent(&[("polite", ""), ("stubborn", ""), ("slow", "10")]).await;
    bench.prompt("go").await.unwrap();
    bench
        .until("end of the slow call", |event| matches!(event, Event::ToolExecutionEnd { call, .. } if call.place == 2))
        .await;
    let begun = Instant::now();
    bench.command(Command::Abort).await.unwrap();
    assert_eq!(begun.elapsed(), GRACE);
    let events = bench.settled().await;
    assert_eq!(order(&events), "+0 +1 +2 -2 -0 -1");
    let wanted = [(true, "what I had".to_owned()), (true, format!("so far\n\n{ABORTED}")), good("10")];
    assert_eq!(bench.results(), wanted);
}

#[tokio::test(start_paused = true)]
async fn an_abort_of_a_sequential_batch_gives_calls_that_never_began_a_start_an_end_and_a_result() {
    let mut bench = agent(&[("queued", "100"), ("stubborn", ""), ("slow", "10"), ("queued", "10")]).await;
    bench.prompt("go").await.unwrap();
    bench
        .until(
            "start of the second call",
            |event| matches!(event, Event::ToolExecutionStart { call } if call.place == 1),
        )
        .await;
    bench.command(Command::Abort).await.unwrap();
    let events = bench.settled().await;
    assert_eq!(order(&events), "+0 -0 +1 +2 -2 +3 -3 -1");
    let results = bench.results();
    assert_eq!(results.iter().filter(|(is_error, _)| *is_error).count(), 3);
    assert_eq!(results[2..], [(true, ABORTED.to_owned()), (true, ABORTED.to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn updates_are_few_the_last_one_is_whole_and_none_comes_after_the_end() {
    type Print = Box<dyn Fn(&str) + Send + Sync>;
    let leaked: Arc<std::sync::Mutex<Option<Print>>> = Arc::default();
    let keep = leaked.clone();
    let chatty = FnTool::new("chatty", move |context| {
        let keep = keep.clone();
        async move {
            let print = output_of(&context);
            for _ in 0..1_000 {
                print("x");
                tokio::time::sleep(ms(1)).await;
            }
            *keep.lock().unwrap() = Some(Box::new(print));
            ToolOutput::text("done")
        }
    });
    let mut bench = Parts {
        turns: json!([{"calls": [{"name": "chatty"}]}, "done"]),
        tools: vec![Arc::new(chatty)],
        ..Parts::default()
    }
    .start()
    .await;
    bench.prompt("go").await.unwrap();
    bench.until("end of the call", |event| matches!(event, Event::ToolExecutionEnd { .. })).await;
    leaked.lock().unwrap().take().unwrap()("too late");
    let events = bench.settled().await;
    let sizes: Vec<usize> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolExecutionUpdate { partial, .. } => Some(text_of(&partial.content).len()),
            _ => None,
        })
        .collect();
    assert!((8..=12).contains(&sizes.len()), "about ten a second: {sizes:?}");
    assert!(sizes.is_sorted() && sizes.first() == Some(&0) && sizes.last() == Some(&1_000), "{sizes:?}");
}

#[tokio::test]
async fn edits_of_one_file_in_one_batch_take_turns_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (0..8).map(|n| format!("line {n} old")).collect();
    let file = folder.path().join("f.txt");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let edits = (0..8).map(|n| {
        let edits = json!([{"oldText": format!("line {n} old"), "newText": format!("line {n} new")}]);
        json!({"name": "edit", "arguments": {"path": "f.txt", "edits": edits}})
    });
    let mut bench = Parts {
        turns: json!([{"calls": edits.collect::<Vec<_>>()}, "done"]),
        tools: ToolSet::builtin().iter().cloned().collect(),
        cwd: folder.path().to_path_buf(),
        ..Parts::default()
    }
    .start()
    .await;
    bench.run("go").await;
    let results = bench.results();
    assert!(results.iter().all(|(is_error, _)| !is_error), "{results:?}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), lines.join("\n").replace("old", "new"));
}

#[tokio::test]
async fn a_guard_that_dies_denies_its_call_alone() {
    let ext = Ext::new("g", &[AskPoint::ToolCall], |ask| match ask {
        Ask::ToolCall(ask) if ask.input["say"] == "1" => Reaction::Hang,
        _ => Reaction::Say(Verdict::ToolCall(Default::default())),
    });
    let calls: Vec<_> = (0..3).map(|n| json!({"name": "slow", "arguments": {"say": n.to_string()}})).collect();
    let mut bench = Parts {
        turns: json!([{"calls": calls}, "done"]),
        tools: tools(),
        extensions: vec![Arc::new(ext)],
        ..Parts::default()
    }
    .start()
    .await;
    bench.prompt("go").await.unwrap();
    bench
        .until(
            "start of the second call",
            |event| matches!(event, Event::ToolExecutionStart { call } if call.place == 1),
        )
        .await;
    within("guard", async {
        while find(&bench.extensions, "Ask").is_none() {
            moment().await;
        }
    })
    .await;
    bench.find("CallGuard").unwrap().kill();
    bench.settled().await;
    let results = bench.results();
    assert_eq!((&results[0], &results[2]), (&good("0"), &good("2")));
    assert!(results[1].0 && results[1].1.starts_with("Denied: "), "{results:?}");
}

#[tokio::test]
async fn in_plan_mode_commands_run_where_nothing_can_be_changed_and_nothing_else_runs() {
    let confined: Arc<dyn Operations> = Arc::new(Local);
    for operations in [None, Some(confined.clone())] {
        let (known, is_confined) = (confined.clone(), operations.is_some());
        let shell = FnTool::new("shell", move |context| {
            let here = if Arc::ptr_eq(&context.operations, &known) { "confined" } else { "free" };
            async move { ToolOutput::text(here) }
        });
        let changes = FnTool::new("changes", |_| async { ToolOutput::text("changed") });
        let calls = json!([{"name": "shell"}, {"name": "changes"}]);
        let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(shell.running_commands()), Arc::new(changes)];
        let turns = json!([{"calls": calls}, "done"]);
        let mut bench = Parts { turns, tools, plan: Some(operations), ..Parts::default() }.start().await;
        bench.run("go").await;
        let results = bench.results();
        // Without confinement a command has to be known to read, and there is none here.
        assert_eq!(results[0].0, !is_confined, "{results:?}");
        assert_eq!(results[0].1 == "confined", is_confined, "{results:?}");
        assert!(results[1].0 && results[1].1.contains("Plan mode is on"), "{results:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_extension_has_seen_the_start_of_a_call_before_it_is_asked_about_it() {
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (asked, seen) = (log.clone(), log.clone());
    let guard = Ext::new("guard", &[AskPoint::ToolCall], move |ask| {
        if let Ask::ToolCall(ask) = ask {
            asked.lock().unwrap().push(format!("?{}", ask.input["say"].as_str().unwrap()));
        }
        Reaction::Say(Verdict::ToolCall(ToolCallVerdict::Allow { input: None }))
    })
    .observing(move |observed| {
        let starts = observed.events.iter().filter_map(|event| match &event.event {
            Event::ToolExecutionStart { call } => Some(format!("+{}", call.place)),
            _ => None,
        });
        seen.lock().unwrap().extend(starts);
    });
    let calls: Vec<_> = ["0", "1", "2"].map(|say| json!({"name": "slow", "arguments": {"say": say}})).into();
    let turns = json!([{"calls": calls}, "done"]);
    let parts = Parts { turns, tools: tools(), extensions: vec![Arc::new(guard)], ..Parts::default() };
    parts.start().await.run("go").await;
    assert_eq!(*log.lock().unwrap(), ["+0", "?0", "+1", "?1", "+2", "?2"]);
}
