//! Keys and events, and what the model makes of them.

mod extensions;

use std::sync::Arc;

use serde_json::json;

use crate::{
    protocol::{
        AgentMessage, AssistantMessage, Command, CommandError, Event, ModelRef, Reply, ThinkingLevel, Usage,
        command::{Input, QueueKind},
        event::{CallLabel, CompactionReason, NoticeLevel, SelectSource},
        navigation::Navigated,
    },
    store::testing::{answer, line, user, view as tree_of},
    tui::{
        complete::{Menu, MenuItem, MenuKind},
        effect::{Effect, Purpose},
        model::{Model, Msg},
        testing::{facts_of, happen, model_of, press, screen},
        transcript::item::Item,
    },
};

/// A session of two prompts.
fn two() -> Vec<String> {
    vec![
        user("u1", "", "first words"),
        answer("a1", "u1", "first answer"),
        user("u2", "a1", "second words"),
        answer("a2", "u2", "second answer"),
    ]
}

/// What the effects send, in short.
fn sent(effects: &[Effect]) -> Vec<String> {
    let text = |input: &Input| input.text.clone();
    let short = |effect: &Effect| match effect {
        Effect::Send(Command::Prompt { input, behavior }, _) => {
            Some(format!("{}: {}", short_of(*behavior), text(input)))
        }
        Effect::Send(Command::Bash { command, exclude_from_context, .. }, _) => {
            Some(format!("bash{}: {command}", if *exclude_from_context { " excluded" } else { "" }))
        }
        Effect::Send(command, _) => Some(format!("{command:?}")),
        Effect::Quit => Some("quit".to_owned()),
        Effect::Suspend => Some("suspend".to_owned()),
        Effect::EditOutside(text) => Some(format!("edit {text}")),
        _ => None,
    };
    effects.iter().filter_map(short).collect()
}

fn short_of(behavior: Option<QueueKind>) -> &'static str {
    match behavior {
        Some(QueueKind::Steer) => "steer",
        Some(QueueKind::FollowUp) => "follow up",
        None => "prompt",
    }
}

#[test]
fn keys_send_what_is_written() {
    // keys, what is sent, the text that is left
    let table: &[(&str, &[&str], &str)] = &[
        (r#""hello" enter"#, &["steer: hello"], ""),
        (r#""  hello  " enter"#, &["steer: hello"], ""),
        (r#""hello" alt+enter"#, &["follow up: hello"], ""),
        (r#""one" shift+enter "two" enter"#, &["steer: one\ntwo"], ""),
        (r#""one" ctrl+j "two""#, &[], "one\ntwo"),
        ("enter", &[], ""),
        (r#""   " enter"#, &[], "   "),
        (r#""!ls -l" enter"#, &["bash: ls -l"], ""),
        (r#""!!ls" enter"#, &["bash excluded: ls"], ""),
        (r#""!" enter"#, &[], ""),
        (r#""/name My work" enter"#, &[r#"SetSessionName("My work")"#], ""),
        (r#""/quit" enter"#, &["quit"], ""),
        (r#""/unknown thing" enter"#, &["steer: /unknown thing"], ""),
        (r#""text" ctrl+c"#, &[], ""),
        ("ctrl+c ctrl+c", &["quit"], ""),
        (r#""text" ctrl+c ctrl+c"#, &["quit"], ""),
        ("ctrl+d", &["quit"], ""),
        (r#""ab" home ctrl+d"#, &[], "b"),
        (r#""draft" ctrl+g"#, &["edit draft"], "draft"),
        ("ctrl+z", &["suspend"], ""),
        ("shift+tab", &["CycleThinkingLevel"], ""),
        ("ctrl+p", &["CycleModel"], ""),
        (r#""!half" escape"#, &[], ""),
        (r#""half" escape"#, &[], "half"),
        ("up", &[], "second words"),
        ("up up", &[], "first words"),
        (r#""draft" home up up down down"#, &[], "draft"),
    ];
    for (keys, expected, text) in table {
        let mut model = model_of(&two());
        let effects = press(&mut model, keys);
        assert_eq!(sent(&effects), *expected, "{keys}");
        assert_eq!(model.editor.draft(), *text, "{keys}");
    }
}

#[test]
fn two_presses_count_as_one_within_half_a_second_only() {
    let mut model = model_of(&[]);
    press(&mut model, "ctrl+c");
    model.now = 501;
    assert!(sent(&press(&mut model, "ctrl+c")).is_empty());
    model.now = 1_001;
    assert_eq!(sent(&press(&mut model, "ctrl+c")), ["quit"]);
}

#[test]
fn escape_stops_a_run_and_takes_back_what_waits() {
    let mut model = model_of(&[]);
    happen(&mut model, Event::AgentStart);
    assert_eq!(sent(&press(&mut model, "escape")), ["Abort"]);
    let steering = vec!["wait".to_owned()];
    happen(&mut model, Event::QueueUpdate { steering: steering.clone(), follow_up: vec!["then".into()] });
    assert!(screen(&mut model).contains("Steering: wait"), "{}", screen(&mut model));
    assert_eq!(sent(&press(&mut model, "escape")), ["ClearQueue", "Abort"]);
    press(&mut model, r#""new""#);
    let reply = Reply::Queue { steering, follow_up: vec!["then".into()] };
    model.update(Msg::Answered(Purpose::TakeBack, Ok(reply)), 0);
    assert_eq!(model.editor.draft(), "wait\n\nthen\n\nnew");
}

#[test]
fn a_prompt_is_seen_from_the_moment_that_it_is_sent() {
    let mut model = model_of(&[]);
    happen(&mut model, Event::AgentStart);
    let effects = press(&mut model, r#""turn left" enter"#);
    assert!(screen(&mut model).contains("Sending: turn left"), "{}", screen(&mut model));
    let Some(Effect::Send(_, purpose)) = effects.into_iter().next() else { panic!() };
    model.update(Msg::Answered(purpose, Ok(Reply::Done)), 0);
    assert!(!screen(&mut model).contains("turn left"));
}

#[test]
fn a_prompt_on_its_way_to_the_queue_is_taken_back_when_it_is_there() {
    let mut model = model_of(&[]);
    happen(&mut model, Event::AgentStart);
    let effects = press(&mut model, r#""wait" enter"#);
    let Some(Effect::Send(_, purpose)) = effects.into_iter().next() else { panic!() };
    assert_eq!(sent(&press(&mut model, "escape")), ["Abort"]);
    let effects = model.update(Msg::Answered(purpose, Ok(Reply::Done)), 0);
    assert_eq!(sent(&effects), ["ClearQueue"]);
}

#[test]
fn a_refused_prompt_comes_back_into_the_editor() {
    let mut model = model_of(&[]);
    let effects = press(&mut model, r#""precious words" enter"#);
    let Some(Effect::Send(_, purpose)) = effects.into_iter().next() else { panic!() };
    model.update(Msg::Answered(purpose, Err(CommandError::NoModel)), 0);
    assert_eq!(model.editor.draft(), "precious words");
    assert!(screen(&mut model).contains("No model is selected"));
}

#[test]
fn words_written_during_a_compaction_wait_for_its_end() {
    let mut model = model_of(&[]);
    happen(&mut model, Event::CompactionStart { reason: CompactionReason::Manual });
    assert!(sent(&press(&mut model, r#""later" enter"#)).is_empty());
    assert!(screen(&mut model).contains("Waiting: later"));
    let end = Event::CompactionEnd {
        reason: CompactionReason::Manual,
        result: None,
        aborted: false,
        will_retry: false,
        error_message: None,
    };
    assert_eq!(sent(&happen(&mut model, end)), ["steer: later"]);
}

#[test]
fn a_compaction_that_failed_is_told_once() {
    // Whoever asked for one gets an answer, too.
    for (reason, told) in [(CompactionReason::Manual, false), (CompactionReason::Threshold, true)] {
        let mut model = model_of(&[]);
        let error_message = Some("the summary is empty".to_owned());
        let end = Event::CompactionEnd { reason, result: None, aborted: false, will_retry: false, error_message };
        happen(&mut model, end);
        assert_eq!(screen(&mut model).contains("the summary is empty"), told, "{reason:?}");
    }
}

#[test]
fn the_conversation_follows_the_session_and_keeps_its_place() {
    let mut model = model_of(&two());
    let shown = screen(&mut model);
    for text in ["first words", "first answer", "second words", "second answer"] {
        assert!(shown.contains(text), "{text} in\n{shown}");
    }
    // More than the screen holds.
    let mut lines = two();
    for at in 0..40 {
        let parent = if at == 0 { "a2".to_owned() } else { format!("x{}", at - 1) };
        lines.push(answer(&format!("x{at}"), &parent, &format!("answer number {at}.")));
    }
    let mut model = model_of(&lines);
    model.settings.scrollbar = crate::tui::settings::Scrollbar::Hidden;
    assert!(screen(&mut model).contains("answer number 39."));
    press(&mut model, "pageup");
    let above = screen(&mut model);
    assert!(!above.contains("answer number 39.") && above.contains("answer number 30."), "{above}");
    model.transcript.notice(NoticeLevel::Info, "something new");
    assert_eq!(screen(&mut model), above, "what comes does not move what is read");
    press(&mut model, "ctrl+home");
    assert!(screen(&mut model).contains("first words"));
    press(&mut model, "ctrl+end");
    assert!(screen(&mut model).contains("something new"));
}

#[test]
fn a_move_in_the_tree_shows_the_other_branch() {
    let lines = two();
    let mut model = model_of(&lines);
    let tree = crate::store::testing::view(&lines).with_leaf(Some(&"a1".into())).unwrap();
    let facts = crate::tui::testing::facts_of(Some(tree));
    model.update(Msg::Facts(Box::new(facts)), 0);
    let shown = screen(&mut model);
    assert!(shown.contains("first answer") && !shown.contains("second words"), "{shown}");
    let entries = |model: &Model| model.transcript.items().iter().filter(|item| matches!(item, Item::Entry(_))).count();
    assert_eq!(entries(&model), 2);
}

#[test]
fn an_accepted_file_takes_the_place_of_all_that_was_typed_of_it() {
    let mut model = model_of(&[]);
    press(&mut model, r#""see @ed""#);
    let item = MenuItem { label: "edit.rs".into(), insert: "@edit.rs ".into(), ..MenuItem::default() };
    model.menu = Menu::new(MenuKind::Files, vec![item], 4..7);
    press(&mut model, r#""it" tab"#);
    assert_eq!(model.editor.draft(), "see @edit.rs ");
}

#[test]
fn no_size_is_too_small() {
    for columns in 1..=30 {
        for rows in 1..=12 {
            let mut model = model_of(&two());
            model.size = (columns, rows);
            press(&mut model, r#""日本語 text that wraps""#);
            let frame = crate::tui::view::draw(&mut model);
            assert!(frame.cursor.is_some(), "{columns} x {rows}");
        }
    }
}

/// A question of yes or no.
fn question() -> Event {
    use crate::protocol::question::{Dialog, Question, QuestionId};
    let question = Question {
        id: QuestionId::from("q1".to_owned()),
        title: "May it run?".to_owned(),
        dialog: Dialog::Confirm { message: String::new() },
        timeout_ms: None,
        tool_call_id: None,
    };
    Event::QuestionAsked { question: std::sync::Arc::new(question) }
}

#[test]
fn a_question_waits_until_nobody_is_in_the_middle_of_writing() {
    let mut model = model_of(&[]);
    press(&mut model, r#""words""#);
    happen(&mut model, question());
    assert!(model.overlays.is_empty() && model.is_moving());
    model.update(Msg::Tick, 900);
    assert!(screen(&mut model).contains("May it run?"));
}

#[test]
fn a_cache_miss_is_told_behind_its_answer_when_that_is_wanted() {
    let missed = |tells: bool| {
        let mut model = model_of(&two());
        model.settings.tells_cache_misses = tells;
        for (input, cache_write) in [(10, 5_000), (5_100, 0)] {
            let usage = Usage { input, cache_write, ..Usage::default() };
            let message = AgentMessage::Assistant(Arc::new(AssistantMessage { usage, ..AssistantMessage::default() }));
            happen(&mut model, Event::MessageEnd { message, entry_id: None });
        }
        let longer = [two(), vec![answer("a3", "a2", "third answer")]].concat();
        model.update(Msg::Facts(Box::new(facts_of(Some(tree_of(&longer))))), 0);
        let text = screen(&mut model);
        let miss = text.find("Cache miss: 5,010 tokens");
        assert!(miss.is_none_or(|miss| Some(miss) > text.find("third answer")), "{text}");
        miss.is_some()
    };
    assert_eq!((missed(false), missed(true)), (false, true));
}

#[test]
fn what_is_in_force_from_now_on_is_said() {
    let mut model = model_of(&two());
    let reason = CompactionReason::Manual;
    let events: [(Event, &str); 3] = [
        (Event::ThinkingLevelChanged { level: ThinkingLevel::High }, "Thinking level: high"),
        (
            Event::ModelChanged {
                model: ModelRef { provider: "acme".into(), model_id: "alpha".into() },
                previous: None,
                source: SelectSource::Cycle,
            },
            "Model: acme/alpha",
        ),
        (
            Event::CompactionEnd { reason, result: None, aborted: true, will_retry: false, error_message: None },
            "Compaction cancelled",
        ),
    ];
    for (event, text) in events {
        happen(&mut model, event);
        assert!(screen(&mut model).contains(text), "{}", screen(&mut model));
    }
}

#[test]
fn what_waits_for_a_compaction_is_sent_when_the_agent_was_started_again_meanwhile() {
    let mut model = model_of(&two());
    happen(&mut model, Event::CompactionStart { reason: CompactionReason::Manual });
    assert!(sent(&press(&mut model, r#""go on" enter"#)).is_empty());
    let effects = model.update(Msg::Snapshot(Box::default()), 0);
    assert_eq!(sent(&effects), ["steer: go on"]);
}

#[test]
fn words_that_come_back_stand_before_what_is_written() {
    let navigated = |text: &str| Navigated { editor_text: Some(text.into()), ..Navigated::default() };
    let reply = |text| Ok(Reply::Navigated(Box::new(navigated(text))));
    for (written, expected) in [("", "old words"), (r#""new""#, "old words\n\nnew")] {
        let mut model = model_of(&two());
        press(&mut model, written);
        model.update(Msg::Answered(Purpose::Navigate, reply("old words")), 0);
        assert_eq!(model.editor.text(), expected);
    }
    // Two prompts that waited find no model: both are there still.
    let mut model = model_of(&two());
    happen(&mut model, Event::CompactionStart { reason: CompactionReason::Manual });
    press(&mut model, r#""one" enter "two" enter"#);
    model.facts.model = None;
    model.update(Msg::Snapshot(Box::default()), 0);
    let text = model.editor.text();
    assert!(text.contains("one") && text.contains("two"), "{text}");
}

#[test]
fn words_of_the_user_come_back_from_an_agent_that_is_not_in_front_any_more() {
    let queue = || Ok(Reply::Queue { steering: vec!["a".into()], follow_up: Vec::new() });
    for (purpose, result, expected) in [
        (Purpose::Prompt("a".into()), Err(CommandError::Lost), true),
        (Purpose::Prompt("a".into()), Ok(Reply::Done), false),
        (Purpose::TakeBack, queue(), true),
        (Purpose::TakeBack, Err(CommandError::Lost), false),
        (Purpose::Plain, Err(CommandError::Lost), false),
        (Purpose::Overlay, queue(), false),
    ] {
        assert_eq!(purpose.gives_back(&result), expected, "{purpose:?} {result:?}");
    }
}

#[test]
fn what_a_question_is_about_can_be_scrolled_to() {
    let lines: Vec<String> = (0..40).map(|n| format!("change {n}\n\n")).collect();
    let mut model = model_of(&[user("u1", "", "go"), answer("a1", "u1", &lines.concat())]);
    happen(&mut model, question());
    let at_the_end = screen(&mut model);
    assert!(at_the_end.contains("change 39") && at_the_end.contains("May it run?"), "{at_the_end}");
    press(&mut model, "pageUp pageUp");
    let above = screen(&mut model);
    assert!(!above.contains("change 39") && above.contains("May it run?"), "{above}");
    press(&mut model, "pageDown pageDown pageDown");
    assert_eq!(screen(&mut model), at_the_end);
    press(&mut model, "enter");
    assert!(model.overlays.is_empty(), "enter answers");
}

#[test]
fn of_a_long_output_of_ones_own_command_the_end_is_shown() {
    let output: Vec<String> = (1..=14).map(|n| format!("row {n}\n")).collect();
    let message = serde_json::json!({"role": "bashExecution", "command": "seq", "output": output.concat(),
        "exitCode": 0, "cancelled": false, "truncated": false, "timestamp": 5});
    let line = crate::store::testing::line("message", "b1", "", serde_json::json!({ "message": message }));
    let mut model = model_of(&[line]);
    let shown = screen(&mut model);
    assert!(shown.contains("… 4 earlier lines (ctrl+o to expand)"), "{shown}");
    assert!(!shown.contains("row 4") && shown.contains("row 5"), "{shown}");
}

#[test]
fn keys_that_change_nothing_to_be_seen_say_what_they_did() {
    let mut model = model_of(&two());
    for said in ["Thinking is hidden", "Thinking is shown"] {
        press(&mut model, "ctrl+t");
        assert!(screen(&mut model).contains(said), "{said}");
    }
    model.update(Msg::Answered(Purpose::Plain, Ok(Reply::Model(None))), 0);
    assert!(screen(&mut model).contains("There is no other model"));
}

#[test]
fn vims_keys_hold_as_soon_as_they_are_chosen() {
    use crate::tui::{overlay::saving::Saved, work::WorkDone};
    let mut model = model_of(&[]);
    for mode in ["vim", "normal"] {
        let saved = Saved { told: Ok(String::new()), all: serde_json::json!({ "editorMode": mode }) };
        model.update(Msg::Worked(WorkDone::Saved(Box::new(saved))), 0);
        assert_eq!(model.editor.vim_mode().is_some(), mode == "vim");
    }
}

#[test]
fn a_turn_in_the_terminals_own_history_is_written_again_when_it_looks_different() {
    use crate::tui::{
        surroundings::Surroundings,
        testing::{surroundings, text_of},
        view::regular,
    };
    let content =
        serde_json::json!([{"type": "thinking", "thinking": "a deep thought"}, {"type": "text", "text": "done"}]);
    let message = serde_json::json!({"role": "assistant", "content": content, "provider": "acme", "model": "alpha",
        "timestamp": 6});
    let thought = crate::store::testing::line("message", "a1", "u1", serde_json::json!({ "message": message }));
    let mut model = model_of(&[user("u1", "", "first words"), thought]);
    model.surroundings = std::sync::Arc::new(Surroundings { fullscreen: false, ..surroundings() });
    let mut written = |pressed: &str| {
        press(&mut model, pressed);
        text_of(&regular::draw(&mut model).0)
    };
    assert!(written("").contains("a deep thought"));
    assert_eq!(written("ctrl+o"), "", "nothing is folded in it");
    let hidden = written("ctrl+t");
    assert!(hidden.contains("first words") && hidden.contains("Thinking..."), "{hidden}");
    assert!(!hidden.contains("deep"), "{hidden}");
}

#[test]
fn a_running_call_is_laid_out_when_there_is_news_of_it_and_as_time_passes() {
    let call = json!([{"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "sleep 9"}}]);
    let message = json!({"role": "assistant", "content": call, "timestamp": 6});
    let mut model = model_of(&[user("u1", "", "go"), line("message", "a1", "u1", json!({ "message": message }))]);
    happen(&mut model, Event::AgentStart);
    let call = CallLabel { place: 0, tool_call_id: "c1".into(), tool_name: "bash".into(), args: Arc::default() };
    happen(&mut model, Event::ToolExecutionStart { call });
    let mut laid_out = |passed| {
        let before = model.transcript.laid_out();
        let now = model.now + passed;
        model.update(Msg::Tick, now);
        screen(&mut model);
        model.transcript.laid_out() - before
    };
    let header = 1;
    assert!(laid_out(0) > header);
    assert!(laid_out(16) <= 2 * header, "nothing moved");
    assert!(laid_out(100) > 0);
    model.update(Msg::Tick, 70_000);
    assert!(screen(&mut model).contains("70s") || screen(&mut model).contains("1m"), "{}", screen(&mut model));
}

#[test]
fn the_terminal_shows_that_a_run_goes_on_where_that_is_wanted() {
    for (wanted, expected) in [(false, [].as_slice()), (true, &[Effect::Progress(true), Effect::Progress(false)])] {
        let mut model = model_of(&[]);
        model.settings.shows_progress = wanted;
        let mut effects = happen(&mut model, Event::AgentStart);
        effects.extend(happen(&mut model, Event::AgentSettled { aborted: false }));
        effects.retain(|effect| matches!(effect, Effect::Progress(_)));
        assert_eq!(effects, expected);
    }
}
