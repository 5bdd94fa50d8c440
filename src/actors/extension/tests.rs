use std::sync::Mutex;

use serde_json::{Value, json};

use super::*;
use crate::{
    actors::testing::{Bench, Ext, FnTool, Parts, Reaction, within},
    extensions::{
        AgentHandle, ExtensionError,
        control::{ControlError, MessageToSend},
    },
    protocol::{
        AgentMessage, Command, CommandError, Content, EntryBody, Event, Reply, ToolOutput,
        ask::{AskPoint, ToolCallVerdict},
        command::{DeliverAs, Disposition, Input, QueueKind},
        navigation::Navigate,
        question::{Answer, Dialog},
    },
    tools::Tool,
};

fn note(text: &str) -> MessageToSend {
    MessageToSend { custom_type: "note".into(), content: Content::from(text), display: true, details: None }
}

/// Messages of the context that are no system messages: role and text.
fn said(bench: &Bench) -> Vec<String> {
    let line = |message: &AgentMessage| match message {
        AgentMessage::System(_) => None,
        AgentMessage::User(user) => Some(format!("user {}", user.content.text(""))),
        AgentMessage::Custom(custom) => Some(format!("custom {}", custom.content.text(""))),
        AgentMessage::ToolResult(_) => Some("result".into()),
        other => Some(other.role().to_owned()),
    };
    bench.shared.tree().unwrap().context().messages.iter().filter_map(line).collect()
}

fn failed(error: ControlError) -> ExtensionError {
    ExtensionError(error.to_string())
}

/// An extension that keeps the handle of the agent that its command was given to.
fn keeper(kept: &Arc<Mutex<Option<AgentHandle>>>) -> Arc<Ext> {
    let kept = kept.clone();
    Arc::new(Ext::new("keeper", &[], |_| Reaction::Panic).commanding("keep", move |_, agent| {
        *kept.lock().unwrap() = Some(agent);
        async { Ok(()) }
    }))
}

async fn kept(bench: &Bench, kept: &Mutex<Option<AgentHandle>>) -> AgentHandle {
    bench.prompt("/keep").await.unwrap();
    kept.lock().unwrap().clone().unwrap()
}

/// A script with one call of a tool that waits for the test, and the tool.
fn gated() -> (Value, Arc<dyn Tool>, Arc<tokio::sync::Notify>) {
    let gate = Arc::new(tokio::sync::Notify::new());
    let open = gate.clone();
    let tool = FnTool::new("wait", move |_| {
        let open = open.clone();
        async move {
            open.notified().await;
            ToolOutput::text("waited")
        }
    });
    (json!([{"calls": [{"name": "wait", "arguments": {}}]}, "second", "third", "fourth"]), Arc::new(tool), gate)
}

#[tokio::test(start_paused = true)]
async fn a_message_of_an_idle_agent_is_stored_answered_or_kept_for_the_next_prompt() {
    let table: [(Option<bool>, DeliverAs, &[&str]); 3] = [
        (None, DeliverAs::Steer, &["custom m", "user hi", "assistant"]),
        (Some(true), DeliverAs::Steer, &["custom m", "assistant", "user hi", "assistant"]),
        (Some(true), DeliverAs::NextTurn, &["user hi", "custom m", "assistant"]),
    ];
    for (trigger, deliver_as, wanted) in table {
        let handle = Arc::default();
        let mut bench = Parts { extensions: vec![keeper(&handle)], ..Parts::default() }.start().await;
        let agent = kept(&bench, &handle).await;
        agent.send_message(note("m"), trigger, deliver_as).unwrap();
        agent.wait_for_idle().await.unwrap();
        if trigger == Some(true) && deliver_as == DeliverAs::Steer {
            bench.settled().await;
        }
        bench.run("hi").await;
        assert_eq!(said(&bench), wanted, "{trigger:?} {deliver_as:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_during_a_trace_steers_follows_up_or_waits_for_the_end_of_the_turn() {
    let table: [(Option<bool>, DeliverAs, &[&str]); 4] = [
        (None, DeliverAs::Steer, &["user go", "assistant", "result", "custom m", "assistant"]),
        (Some(true), DeliverAs::FollowUp, &["user go", "assistant", "result", "assistant", "custom m", "assistant"]),
        (Some(false), DeliverAs::Steer, &["user go", "assistant", "result", "custom m", "assistant"]),
        (None, DeliverAs::NextTurn, &["user go", "assistant", "result", "assistant"]),
    ];
    for (trigger, deliver_as, wanted) in table {
        let (turns, tool, gate) = gated();
        let handle = Arc::default();
        let parts = Parts { turns, tools: vec![tool], extensions: vec![keeper(&handle)], ..Parts::default() };
        let mut bench = parts.start().await;
        let agent = kept(&bench, &handle).await;
        bench.prompt("go").await.unwrap();
        bench.until("tool", |event| matches!(event, Event::ToolExecutionStart { .. })).await;
        agent.send_message(note("m"), trigger, deliver_as).unwrap();
        let waits =
            within("status", async { agent.command(Command::SetAutoRetry(true)).await.map(|_| agent.status()) });
        let status = waits.await.unwrap().unwrap();
        let queued = trigger != Some(false) && deliver_as != DeliverAs::NextTurn;
        assert_eq!((status.is_idle, status.pending_messages), (false, usize::from(queued)));
        gate.notify_one();
        let events = bench.settled().await;
        assert_eq!(said(&bench), wanted, "{trigger:?} {deliver_as:?}");
        let of_message = |event: &Event| matches!(event, Event::MessageStart { message: AgentMessage::Custom(_) });
        assert_eq!(
            events.iter().filter(|event| of_message(event)).count(),
            usize::from(deliver_as != DeliverAs::NextTurn)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn state_of_an_extension_is_stored_at_once_also_while_a_trace_runs() {
    let (turns, tool, gate) = gated();
    let handle = Arc::default();
    let parts = Parts { turns, tools: vec![tool], extensions: vec![keeper(&handle)], ..Parts::default() };
    let mut bench = parts.start().await;
    let agent = kept(&bench, &handle).await;
    bench.prompt("go").await.unwrap();
    bench.until("tool", |event| matches!(event, Event::ToolExecutionStart { .. })).await;
    let id = agent.append_entry("todo", Some(json!({"left": 3}))).await.unwrap().unwrap();
    agent.set_label(id.clone(), Some("here".into())).await.unwrap();
    let tree = agent.tree().unwrap();
    let entry = tree.find(&id).unwrap();
    assert!(matches!(&entry.entry().body, EntryBody::Custom { custom_type, .. } if custom_type == "todo"));
    gate.notify_one();
    let events = bench.settled().await;
    let appended = events.iter().filter(|event| matches!(event, Event::EntryAppended { .. })).count();
    assert_eq!((appended, said(&bench).len()), (2, 4), "the conversation is whole");
}

#[tokio::test]
async fn an_extension_can_go_to_another_entry_while_nothing_runs() {
    let (turns, tool, gate) = gated();
    let handle = Arc::default();
    let parts = Parts { turns, tools: vec![tool], extensions: vec![keeper(&handle)], ..Parts::default() };
    let mut bench = parts.start().await;
    let agent = kept(&bench, &handle).await;
    bench.prompt("go").await.unwrap();
    bench.until("tool", |event| matches!(event, Event::ToolExecutionStart { .. })).await;
    let refused = agent.navigate_tree(Navigate::default()).await.unwrap_err().to_string();
    assert!(refused.contains("is working"), "{refused}");
    let unknown = agent.set_label("nowhere".into(), Some("x".into())).await.unwrap_err().to_string();
    assert!(unknown.contains("Entry nowhere not found"), "{unknown}");
    gate.notify_one();
    bench.settled().await;
    let moved = agent.navigate_tree(Navigate::default()).await.unwrap();
    assert!(!moved.cancelled && agent.tree().unwrap().place().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_users_words_from_an_extension_are_a_turn_and_need_a_queue_while_one_runs() {
    let (turns, tool, gate) = gated();
    let handle = Arc::default();
    let parts = Parts { turns, tools: vec![tool], extensions: vec![keeper(&handle)], ..Parts::default() };
    let mut bench = parts.start().await;
    let agent = kept(&bench, &handle).await;
    agent.send_user_message("/keep is no command here", None, false).unwrap();
    bench.until("tool", |event| matches!(event, Event::ToolExecutionStart { .. })).await;
    agent.send_user_message("lost", None, false).unwrap();
    let failure = bench.until("error", |event| matches!(event, Event::ExtensionError { .. })).await;
    let Event::ExtensionError { extension, event, error } = &failure.event else { panic!() };
    assert_eq!((extension.as_str(), event.as_str()), ("keeper", "send_user_message"));
    assert!(error.contains("already processing"), "{error}");
    agent.send_user_message("more", Some(QueueKind::FollowUp), false).unwrap();
    gate.notify_one();
    bench.settled().await;
    let wanted = ["user /keep is no command here", "assistant", "result", "assistant", "user more", "assistant"];
    assert_eq!(said(&bench), wanted);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_registered_while_the_agent_lives_is_declared_used_and_taken_away() {
    let handle = Arc::default();
    let call = json!({"calls": [{"name": "late", "arguments": {}}]});
    let turns = json!(["none yet", call, "used", call, "gone"]);
    let mut bench = Parts { turns, extensions: vec![keeper(&handle)], ..Parts::default() }.start().await;
    let agent = kept(&bench, &handle).await;
    bench.run("one").await;
    let tool = || Arc::new(FnTool::new("late", |_| async { ToolOutput::text("in time") }));
    agent.control().register_inactive_tool(Arc::new(FnTool::new("idle", |_| async { ToolOutput::text("") }))).unwrap();
    agent.control().register_tool(tool()).unwrap();
    assert_eq!(agent.status().unwrap().active_tools, ["late"]);
    bench.run("two").await;
    assert!(agent.control().unregister_tool("late"));
    bench.run("three").await;
    assert_eq!(bench.results(), [(false, "in time".to_owned()), (true, "Tool late not found".to_owned())]);
    let system = |message: &AgentMessage| match message {
        AgentMessage::System(system) => Some(system.clone()),
        _ => None,
    };
    let told: Vec<_> = bench.shared.tree().unwrap().context().messages.iter().filter_map(system).collect();
    let added: Vec<_> =
        told.iter().flat_map(|system| system.tools_added.iter().flatten()).map(|tool| tool.name.as_str()).collect();
    let removed: Vec<_> =
        told.iter().flat_map(|system| system.tools_removed.iter().flatten()).map(|tool| tool.name.as_str()).collect();
    assert_eq!((added, removed), (vec!["late"], vec!["late"]));
    agent.set_active_tools(vec!["idle".into(), "nothing".into()]).await.unwrap();
    assert_eq!(agent.status().unwrap().active_tools, ["idle"]);
}

#[tokio::test(start_paused = true)]
async fn commands_run_also_during_a_trace_and_their_failures_are_told() {
    let fails = Ext::new("fails", &[], |_| Reaction::Panic)
        .commanding("do", |_, _| async { Err(ExtensionError("not today".into())) });
    let panics = Ext::new("panics", &[], |_| Reaction::Panic).commanding("do", |_, _| async { panic!("boom") });
    let (turns, tool, gate) = gated();
    let extensions: Vec<Arc<dyn Extension>> = vec![Arc::new(fails), Arc::new(panics)];
    let mut bench = Parts { turns, tools: vec![tool], extensions, ..Parts::default() }.start().await;
    bench.prompt("go").await.unwrap();
    for (text, extension, error) in
        [("/do:1 x", "fails", "not today"), ("/do:2", "panics", "the extension died before the command was done")]
    {
        assert_eq!(bench.prompt(text).await, Ok(Reply::Input(Disposition::Handled)));
        let told = bench.until("error", |event| matches!(event, Event::ExtensionError { .. })).await;
        let wanted =
            Event::ExtensionError { extension: extension.into(), event: "command".into(), error: error.into() };
        assert_eq!(told.event, wanted);
    }
    let queued = bench.command(Command::Queue { kind: QueueKind::Steer, input: Input::text("/do:1") }).await;
    assert!(matches!(queued, Err(CommandError::Refused(text)) if text.contains("extension fails")));
    assert_eq!(bench.prompt("/do").await, Err(CommandError::Busy), "a name that several have is no command");
    gate.notify_one();
    bench.settled().await;
}

#[tokio::test(start_paused = true)]
async fn a_guard_may_ask_for_longer_than_its_deadline_and_no_answer_means_no() {
    for (answer, wanted) in [
        (Some(Answer::Confirmed(true)), (false, "waited")),
        (Some(Answer::Confirmed(false)), (true, "Denied by you")),
        (Some(Answer::Value("yes".into())), (true, "Denied by you")),
        (None, (true, "Denied by you")),
    ] {
        let guard = Ext::asking("guard", AskPoint::ToolCall, |agent| async move {
            let limit = Some(Duration::from_secs(50));
            let verdict = match agent.ui().confirm("Sure?", "it waits", limit).await {
                true => ToolCallVerdict::default(),
                false => ToolCallVerdict::Deny { reason: "Denied by you".into(), terminate: false },
            };
            Ok(Verdict::ToolCall(verdict))
        });
        let (turns, tool, gate) = gated();
        gate.notify_one();
        let mut bench =
            Parts { turns, tools: vec![tool], extensions: vec![Arc::new(guard)], ..Parts::default() }.start().await;
        bench.shared.config.questions.attend();
        bench.prompt("go").await.unwrap();
        let asked = bench.until("question", |event| matches!(event, Event::QuestionAsked { .. })).await;
        let Event::QuestionAsked { question } = &asked.event else { panic!() };
        assert_eq!(question.dialog, Dialog::Confirm { message: "it waits".into() });
        if let Some(answer) = answer {
            tokio::time::sleep(Duration::from_secs(30)).await;
            bench.command(Command::Answer { id: question.id.clone(), answer }).await.unwrap();
        }
        bench.settled().await;
        assert_eq!(bench.results(), [(wanted.0, wanted.1.to_owned())]);
    }
}

#[tokio::test(start_paused = true)]
async fn without_people_questions_are_answered_at_once_and_nothing_is_shown() {
    let handle = Arc::default();
    let mut bench = Parts { extensions: vec![keeper(&handle)], ..Parts::default() }.start().await;
    let ui = kept(&bench, &handle).await.ui();
    assert!(!ui.has_people() && !ui.confirm("t", "m", None).await);
    assert_eq!((ui.select("t", &["a"], None).await, ui.editor("t", None).await), (None, None));
    ui.set_title("nobody sees it");
    let events = bench.run("hi").await;
    assert!(!events.iter().any(|event| matches!(event, Event::Display { .. } | Event::QuestionAsked { .. })));
}

#[tokio::test(start_paused = true)]
async fn fc_089_a_handle_of_what_is_gone_says_so_and_does_nothing() {
    let handle = Arc::default();
    let bench = Parts { extensions: vec![keeper(&handle)], ..Parts::default() }.start().await;
    let old = kept(&bench, &handle).await;
    let control = old.control().clone();
    assert_eq!(control.agent("nobody").status(), Err(ControlError::NoAgent("nobody".into())));
    let (other, _) = Parts::default().build();
    control.backstage().attach(bench.shared.id.clone(), super::super::extension_host::Host::of(&other));
    let stale = ControlError::Stale(bench.shared.id.to_string());
    assert_eq!(old.append_entry("x", None).await, Err(stale.clone()));
    assert_eq!(old.send_message(note("m"), Some(true), DeliverAs::Steer), Err(stale));
    let new = control.agent(&bench.shared.id);
    assert!(new.status().is_ok());
    drop(other);
    assert_eq!(new.abort().map_err(failed), Ok(()), "an agent that ends is lost, not waited for");
    assert_eq!(new.command(Command::Abort).await, Err(ControlError::Refused(CommandError::Lost)));
}

#[tokio::test(start_paused = true)]
async fn extensions_hear_each_other_on_their_channels_in_order() {
    let (heard, handle) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::default());
    let ear = heard.clone();
    let listener = Ext::new("listener", &[], |_| Reaction::Panic)
        .hearing("news", move |message| ear.lock().unwrap().push((*message.data).clone()));
    let extensions: Vec<Arc<dyn Extension>> = vec![Arc::new(listener), keeper(&handle)];
    let bench = Parts { extensions, ..Parts::default() }.start().await;
    let control = kept(&bench, &handle).await.control().clone();
    for n in 0..20 {
        control.emit("news", json!(n));
        control.emit("other", json!("not heard"));
    }
    let all = async {
        while heard.lock().unwrap().len() < 20 {
            crate::actors::testing::moment().await;
        }
    };
    within("twenty messages", all).await;
    assert!(heard.lock().unwrap().iter().map(|n| n.as_u64().unwrap()).eq(0..20));
}

#[tokio::test(start_paused = true)]
async fn the_program_is_ended_when_no_trace_runs_any_more() {
    let (turns, tool, gate) = gated();
    let handle = Arc::default();
    let parts = Parts { turns, tools: vec![tool], extensions: vec![keeper(&handle)], ..Parts::default() };
    let mut bench = parts.start().await;
    let agent = kept(&bench, &handle).await;
    let ended = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let end = ended.clone();
    agent.control().backstage().on_end(move || end.store(true, std::sync::atomic::Ordering::Relaxed));
    bench.prompt("go").await.unwrap();
    bench.until("tool", |event| matches!(event, Event::ToolExecutionStart { .. })).await;
    agent.shut_down().unwrap();
    bench.command(Command::SetAutoRetry(true)).await.unwrap();
    assert!(!ended.load(std::sync::atomic::Ordering::Relaxed));
    gate.notify_one();
    bench.settled().await;
    agent.wait_for_idle().await.unwrap();
    assert!(ended.swap(false, std::sync::atomic::Ordering::Relaxed));
    agent.control().backstage().command_begins();
    agent.shut_down().unwrap();
    agent.wait_for_idle().await.unwrap();
    assert!(!ended.load(std::sync::atomic::Ordering::Relaxed), "a command runs");
    agent.control().backstage().command_over();
    assert!(ended.load(std::sync::atomic::Ordering::Relaxed));
}
