//! Extensions around the session's history: what they may prevent and replace, and what is said of those that fail.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::*;
use crate::{
    actors::testing::{Bench, Ext, FnTool, Parts, Reaction},
    extensions::Extension,
    protocol::{
        Event, Reply, ToolOutput,
        ask::{Ask, AskPoint, BeforeSettleVerdict, TurnDecision, TurnEndVerdict, Verdict},
        compaction::{BeforeCompactVerdict, CompactionDraft},
        navigation::{BeforeTreeVerdict, Navigate, Navigated, SummaryDraft, TreeChanges},
    },
};

async fn bench(extensions: Vec<Ext>) -> Bench {
    let extensions = extensions.into_iter().map(|ext| Arc::new(ext) as Arc<dyn Extension>).collect();
    Parts { turns: "SUMMARY".into(), extensions, ..Parts::default() }.start().await
}

fn tree(bench: &Bench) -> TreeView {
    bench.shared.tree().unwrap()
}

fn leaf(bench: &Bench) -> String {
    tree(bench).leaf().unwrap().id().to_string()
}

/// The entry of the user's message with this text.
fn entry_of(bench: &Bench, text: &str) -> crate::protocol::EntryId {
    let of_text = |(id, said): (_, String)| (said == text).then_some(id);
    tree(bench).fork_messages().into_iter().find_map(of_text).unwrap()
}

async fn navigate(bench: &Bench, ask: Navigate) -> Result<Navigated, String> {
    match bench.command(Command::Navigate(ask)).await {
        Ok(Reply::Navigated(navigated)) => Ok(*navigated),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    }
}

/// The last name that was given on the branch.
fn last_label(bench: &Bench) -> EntryBody {
    let is_label = |body: &EntryBody| matches!(body, EntryBody::Label { .. });
    tree(bench).ancestors().map(|entry| entry.entry().body.clone()).find(is_label).unwrap()
}

/// The errors of extensions, and the events of the session that only they are told of, in words.
fn told(events: &[Arc<crate::protocol::Published>]) -> Vec<String> {
    let word = |event: &Event| match event {
        Event::ExtensionError { extension, event, error } => Some(format!("{extension} {event}: {error}")),
        Event::SessionTree { summary, from_extension, .. } => {
            Some(format!("tree summary={} extension={from_extension:?}", summary.is_some()))
        }
        Event::SessionCompact { from_extension, .. } => Some(format!("compact extension={from_extension}")),
        Event::SessionCompactFailed { aborted, error_message, .. } => {
            Some(format!("compact failed aborted={aborted} {}", error_message.clone().unwrap_or_default()))
        }
        Event::CompactionEnd { .. } => Some("end".to_owned()),
        _ => None,
    };
    events.iter().filter_map(|published| word(&published.event)).collect()
}

fn before_tree(verdict: BeforeTreeVerdict) -> Reaction {
    Reaction::Say(Verdict::BeforeTree(verdict))
}

#[tokio::test]
async fn an_extension_can_keep_the_conversation_where_it_is() {
    let ext = Ext::new("keeper", &[AskPoint::BeforeTree], |_| before_tree(BeforeTreeVerdict::Cancel));
    let mut bench = bench(vec![ext]).await;
    bench.run("one").await;
    let before = leaf(&bench);
    let navigated = navigate(&bench, Navigate { summarize: true, ..Navigate::default() }).await.unwrap();
    assert_eq!((navigated.cancelled, navigated.aborted), (true, false));
    assert_eq!(leaf(&bench), before);
    bench.run("two").await;
}

#[tokio::test]
async fn an_extension_can_write_the_summary_and_name_it_and_is_told_of_the_move() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let asked = seen.clone();
    let changes = TreeChanges {
        summary: Some(SummaryDraft { summary: "MINE".into(), details: Some(json!(1)), usage: None }),
        label: Some("named".into()),
        ..TreeChanges::default()
    };
    let ext = Ext::new("writer", &[AskPoint::BeforeTree], move |ask| {
        let Ask::BeforeTree(ask) = ask else { panic!("not its point") };
        asked.lock().unwrap().push((ask.entries_to_summarize.len(), ask.common_ancestor_id.is_some()));
        before_tree(BeforeTreeVerdict::Continue(changes.clone()))
    });
    let mut bench = bench(vec![ext]).await;
    bench.run("one").await;
    bench.run("two").await;
    let target = Some(entry_of(&bench, "one"));
    let old = leaf(&bench);
    let navigated = navigate(&bench, Navigate { target: target.clone(), summarize: true, ..Navigate::default() }).await;
    let summary = navigated.unwrap().summary_entry.unwrap();
    let wanted = EntryBody::BranchSummary {
        from_id: old,
        summary: "MINE".into(),
        details: Some(json!(1)),
        usage: None,
        from_hook: Some(true),
    };
    assert_eq!(summary.body, wanted);
    assert_eq!(last_label(&bench), EntryBody::Label { target_id: summary.id.clone(), label: Some("named".into()) });
    bench.until("the move", |event| matches!(event, Event::SessionTree { .. })).await;
    assert_eq!(told(&bench.seen), ["tree summary=true extension=Some(true)"]);
    // Answer, user, answer behind the target; the target itself comes back into the editor.
    assert_eq!(seen.lock().unwrap()[0], (3, true));
    // Nobody wanted a summary: then an extension's is none either.
    let navigated = navigate(&bench, Navigate { target: Some(entry_of(&bench, "two")), ..Navigate::default() }).await;
    assert_eq!(navigated.unwrap().summary_entry, None);
}

#[tokio::test(start_paused = true)]
async fn an_extension_that_fails_before_a_move_or_a_compaction_is_passed_over_visibly() {
    for (reaction, cause) in [
        (Reaction::Fail("no disk"), "no disk"),
        (Reaction::Panic, "it died before it answered"),
        (Reaction::Hang, "no answer within 5000 ms"),
    ] {
        let points = [AskPoint::BeforeTree, AskPoint::BeforeCompact];
        let wild = Ext::new("wild", &points, move |_| reaction.clone()).deadline(std::time::Duration::from_secs(5));
        let mut bench = bench(vec![wild]).await;
        bench.run("one").await;
        bench.run(&"x".repeat(100_000)).await;
        bench.command(Command::Compact { instructions: None }).await.unwrap();
        bench.until("the end", |event| matches!(event, Event::CompactionEnd { .. })).await;
        let failed = told(&bench.seen);
        assert!(failed[0].starts_with("wild session_before_compact: ") && failed[0].contains(cause), "{failed:?}");
        assert_eq!(failed[1..], ["compact extension=false", "end"]);
        bench.seen.clear();
        let moved = navigate(&bench, Navigate { summarize: true, ..Navigate::default() }).await.unwrap();
        assert!(moved.summary_entry.is_some());
        bench.until("the move", |event| matches!(event, Event::SessionTree { .. })).await;
        let failed = told(&bench.seen);
        assert!(failed[0].starts_with("wild session_before_tree: ") && failed[0].contains(cause), "{failed:?}");
        assert_eq!(failed[1], "tree summary=true extension=Some(false)");
    }
}

#[tokio::test]
async fn an_extension_can_prevent_a_compaction_and_write_it_itself() {
    let next = Arc::new(Mutex::new(BeforeCompactVerdict::Cancel));
    let answers = next.clone();
    let ext = Ext::new("writer", &[AskPoint::BeforeCompact], move |ask| {
        let Ask::BeforeCompact(ask) = ask else { panic!("not its point") };
        assert_eq!(ask.preparation.messages_to_summarize.len(), 2);
        assert!(!ask.preparation.is_split_turn() && !ask.will_retry && ask.branch.len() >= 4);
        Reaction::Say(Verdict::BeforeCompact(answers.lock().unwrap().clone()))
    });
    let mut bench = bench(vec![ext]).await;
    bench.run("one").await;
    bench.run(&"x".repeat(100_000)).await;
    let compact = || Command::Compact { instructions: None };
    let is_last = |event: &Event| matches!(event, Event::CompactionEnd { .. } | Event::SessionCompactFailed { .. });
    assert_eq!(bench.command(compact()).await.unwrap_err().to_string(), "Compaction cancelled");
    bench.until("the end", |event| matches!(event, Event::SessionCompactFailed { .. })).await;
    assert_eq!(told(&bench.seen), ["end", "compact failed aborted=true "]);
    bench.seen.clear();

    // One that keeps an entry of nowhere is none: the extension is passed over.
    let draft = |kept: Option<&str>| CompactionDraft {
        summary: "MINE".into(),
        first_kept_entry_id: kept.map(Into::into),
        details: Some(json!({"own": true})),
        ..CompactionDraft::default()
    };
    *next.lock().unwrap() = BeforeCompactVerdict::Replace(draft(Some("nowhere")));
    let checked = bench.shared.tree().unwrap().leaf().unwrap().id().clone();
    let Ok(Reply::Compaction(made)) = bench.command(compact()).await else { panic!("no compaction") };
    assert_eq!(made.summary, "SUMMARY");
    bench.until("the end", is_last).await;
    let events = told(&bench.seen);
    assert!(events[0].contains("its compaction was not taken: Entry nowhere not found"), "{events:?}");
    bench.seen.clear();

    bench.command(Command::Navigate(Navigate { target: Some(checked), ..Navigate::default() })).await.unwrap();
    *next.lock().unwrap() = BeforeCompactVerdict::Replace(draft(None));
    let Ok(Reply::Compaction(made)) = bench.command(compact()).await else { panic!("no compaction") };
    bench.until("the end", is_last).await;
    assert_eq!(told(&bench.seen)[1..], ["compact extension=true", "end"]);
    let entry = tree(&bench).leaf().unwrap().entry();
    let EntryBody::Compaction { summary, first_kept_entry_id, from_hook, tokens_before, details, .. } = &entry.body
    else {
        panic!("{entry:?}");
    };
    assert_eq!((summary.as_str(), first_kept_entry_id, *from_hook), ("MINE", &entry.id, Some(true)), "nothing is kept");
    assert!(*tokens_before > 20_000 && made.estimated_tokens_after.unwrap() < 100, "{made:?}");
    assert_eq!(details, &Some(json!({"own": true})));
}

/// What an extension adds at the end of the first turn.
async fn adding(entries: impl Fn(&Bench) -> Vec<EntryBody>) -> (Bench, Vec<String>) {
    let drafts = Arc::new(Mutex::new(None));
    let wanted = drafts.clone();
    let ext = Ext::new("adder", &[AskPoint::TurnEnd, AskPoint::BeforeSettle], move |ask| {
        let entries = wanted.lock().unwrap().take();
        Reaction::Say(match ask {
            Ask::TurnEnd(_) => {
                let decision = if entries.is_some() { TurnDecision::Continue } else { TurnDecision::Default };
                Verdict::TurnEnd(TurnEndVerdict { entries, decision })
            }
            _ => Verdict::BeforeSettle(BeforeSettleVerdict { entries, continue_run: false }),
        })
    });
    let mut bench = bench(vec![ext]).await;
    bench.run("one").await;
    *drafts.lock().unwrap() = Some(entries(&bench));
    bench.prompt("two").await.unwrap();
    bench.until("the end", |event| matches!(event, Event::AgentSettled { .. })).await;
    let told = told(&bench.seen);
    (bench, told)
}

fn compaction(kept: &str) -> EntryBody {
    let fields = json!({"type": "compaction", "summary": "DRAFT", "firstKeptEntryId": kept});
    serde_json::from_value(fields).unwrap()
}

fn edit(target: crate::protocol::EntryId) -> EntryBody {
    EntryBody::ContextEdit { target_id: target, replacement: None }
}

#[tokio::test]
async fn entries_of_a_boundary_are_checked_completed_and_told_of_8_5() {
    let (bench, told) = adding(|bench| vec![edit(entry_of(bench, "one")), compaction("")]).await;
    assert_eq!(told, Vec::<String>::new());
    let appended = bench.seen.iter().filter_map(|published| match &published.event {
        Event::EntryAppended { entry } => Some(entry.body.clone()),
        _ => None,
    });
    let kinds: Vec<String> = appended.map(|body| body.kind().to_owned()).collect();
    assert_eq!(kinds, ["context_edit", "compaction"]);
    let is_compaction = |body: &EntryBody| matches!(body, EntryBody::Compaction { .. });
    let stored =
        tree(&bench).path().iter().map(|entry| entry.entry()).find(|entry| is_compaction(&entry.body)).unwrap();
    let EntryBody::Compaction { from_hook, tokens_before, first_kept_entry_id, system_message, .. } = &stored.body
    else {
        panic!("{stored:?}");
    };
    assert_eq!((*from_hook, first_kept_entry_id), (Some(true), &stored.id));
    assert!(*tokens_before > 0 && system_message.is_none(), "there was neither prompt nor tool");
    // The extension asked for another turn: its request begins with the compaction.
    let roles: Vec<_> = tree(&bench).context().messages.iter().map(|message| message.role().to_owned()).collect();
    assert_eq!(roles, ["compactionSummary", "assistant"]);
}

#[tokio::test]
async fn when_one_entry_of_a_boundary_makes_no_sense_none_is_added_and_the_loop_ends_as_by_itself_8_5() {
    let custom = || EntryBody::Custom { custom_type: "x".into(), data: None };
    type Draft<'a> = &'a dyn Fn(&Bench) -> EntryBody;
    let cases: [(Draft<'_>, &str); 3] = [
        (&|_| edit("nowhere".into()), "Entry nowhere not found"),
        (&|_| compaction("nowhere"), "Entry nowhere not found"),
        (&|_| EntryBody::SessionInfo { name: None }, "kind session_info cannot be added"),
    ];
    for (draft, cause) in cases {
        let (bench, told) = adding(|bench| vec![custom(), draft(bench)]).await;
        assert!(told.len() == 1 && told[0].starts_with("adder turn_end: ") && told[0].contains(cause), "{told:?}");
        let kinds: Vec<Value> = tree(&bench).path().iter().map(|entry| entry.entry().body.kind().into()).collect();
        assert_eq!(kinds, ["message"; 4], "two prompts and two answers");
    }
}

#[tokio::test]
async fn what_makes_no_sense_is_not_appended_2_7() {
    let mut bench = bench(Vec::new()).await;
    bench.run("one").await;
    let target = entry_of(&bench, "one");
    navigate(&bench, Navigate::default()).await.unwrap();
    for (body, cause) in [
        (edit("nowhere".into()), "Entry nowhere not found"),
        (edit(target.clone()), "is on another branch"),
        (compaction(target.as_str()), "is on another branch"),
        (EntryBody::Label { target_id: "nowhere".into(), label: None }, "Entry nowhere not found"),
    ] {
        let error = bench.command(Command::AppendEntry(Box::new(body))).await.unwrap_err().to_string();
        assert!(error.contains(cause), "{error}");
    }
    let label = Command::SetLabel { target, label: Some("x".into()) };
    assert!(matches!(bench.command(label).await, Ok(Reply::Entry(_))), "names are given across branches");
}

#[tokio::test]
async fn the_tools_of_a_branch_come_back_with_it_unless_the_command_line_chose_them() {
    let tool =
        |name: &str| Arc::new(FnTool::new(name, |_| async { ToolOutput::text("x") })) as Arc<dyn crate::tools::Tool>;
    let mut bench = Parts { tools: vec![tool("a"), tool("b")], ..Parts::default() }.start().await;
    let active = |bench: &Bench| bench.shared.selection().active_tools.clone();
    bench.run("one").await;
    let both = tree(&bench).leaf().unwrap().id().clone();
    bench.shared.selection().active_tools = vec!["b".into()];
    bench.run("two").await;
    navigate(&bench, Navigate { target: Some(both), ..Navigate::default() }).await.unwrap();
    assert_eq!(active(&bench), ["a", "b"]);
    // A branch without a request declares none: those of now go on.
    navigate(&bench, Navigate::default()).await.unwrap();
    assert_eq!(active(&bench), ["a", "b"]);
}

#[tokio::test]
async fn what_waits_in_a_queue_comes_along() {
    let mut bench = bench(Vec::new()).await;
    bench.run("one").await;
    let input = crate::protocol::command::Input::text("later");
    bench.command(Command::Queue { kind: QueueKind::Steer, input }).await.unwrap();
    navigate(&bench, Navigate::default()).await.unwrap();
    bench.run("two").await;
    let texts: Vec<String> = tree(&bench).path().iter().filter_map(|entry| entry.user_text()).collect();
    assert_eq!(texts, ["two", "later"]);
}
