//! Screens as they are while things go on.

use std::sync::Arc;

use serde_json::json;

use super::{
    conversation::{assistant, call},
    happen_all, label, screen_on,
    sheet::{SIZES, regular, sheet, styled},
};
use crate::{
    protocol::{
        AgentMessage, AssistantMessage, Event, StreamEvent,
        event::{CompactionReason, NoticeLevel},
        tool::ToolOutput,
    },
    store::testing::{answer, user},
    tui::{
        complete::{Menu, MenuItem, MenuKind},
        model::{Model, Msg},
        selection::Selection,
        settings::Scrollbar,
        start_page::StartPage,
        testing::{happen, press},
        theme::Theme,
        work::WorkDone,
    },
};

fn two() -> Vec<String> {
    vec![
        user("u1", "", "first words"),
        answer("a1", "u1", "first answer"),
        user("u2", "a1", "second words"),
        answer("a2", "u2", "second answer"),
    ]
}

/// An answer streams in.
fn streaming(model: &mut Model, events: Vec<StreamEvent>) {
    let message = AgentMessage::Assistant(Arc::new(AssistantMessage::default()));
    happen_all(model, [Event::AgentStart, Event::MessageStart { message }, Event::MessageUpdate { events }]);
}

#[test]
fn the_start_page() {
    let mut model = screen_on(&[]);
    let mut page = StartPage { extensions: vec!["clock".into()], themes: vec!["night".into()], ..StartPage::default() };
    page.listing.context_files = vec!["/srv/app/AGENTS.md".into()];
    page.listing.skills = vec![("tidy".into(), "/srv/user/skills/tidy/SKILL.md".into())];
    page.listing.warnings = vec!["a warning".into()];
    model.start_page = page;
    insta::assert_snapshot!("start", sheet(&mut model, &SIZES));
    press(&mut model, "ctrl+o");
    insta::assert_snapshot!("start_expanded", sheet(&mut model, &[(80, 50)]));
}

#[test]
fn an_answer_streams_in() {
    let mut model = screen_on(&two());
    let raw = r#"{"path":"src/lib.rs","content":"pub fn one() {}\npub fn t"#;
    let events = vec![
        StreamEvent::ThinkingStart { index: 0 },
        StreamEvent::ThinkingDelta { index: 0, delta: "I think".into() },
        StreamEvent::TextStart { index: 1 },
        StreamEvent::TextDelta { index: 1, delta: "So **be it**.\n\n- one\n- tw".into() },
        StreamEvent::ToolCallStart { index: 2, id: "c0".into(), name: "write".into() },
        StreamEvent::ToolCallDelta { index: 2, delta: raw.into() },
    ];
    streaming(&mut model, events);
    model.now = 12_345;
    insta::assert_snapshot!("streaming", sheet(&mut model, &SIZES));
    press(&mut model, "ctrl+t");
    insta::assert_snapshot!("streaming_without_thinking", sheet(&mut model, &[(80, 24)]));
}

#[test]
fn calls_run_side_by_side() {
    let content = json!([
        {"type": "text", "text": "Building."},
        call("c0", "bash", json!({"command": "make all"})),
        call("c1", "bash", json!({"command": "make check"})),
        call("c2", "read", json!({"path": "Makefile"})),
    ]);
    let lines = vec![user("u1", "", "Build it"), assistant("a1", "u1", content, json!({"stopReason": "toolUse"}))];
    let mut model = screen_on(&lines);
    happen(&mut model, Event::AgentStart);
    for (place, command) in ["make all", "make check"].into_iter().enumerate() {
        model.now = place as u64 * 2_000;
        happen(&mut model, Event::ToolExecutionStart { call: label(place, "bash", json!({ "command": command })) });
    }
    let printed = "step 1\nstep 2\nstep 3\nstep 4\nstep 5\nstep 6\nstep 7";
    let partial = Arc::new(ToolOutput::text(printed));
    happen(&mut model, Event::ToolExecutionUpdate { call: label(0, "bash", json!({})), partial });
    let result = Arc::new(ToolOutput::error("It broke."));
    let over = Event::ToolExecutionEnd { call: label(1, "bash", json!({})), result, duration_ms: Some(1_200) };
    happen(&mut model, over);
    model.now = 9_500;
    insta::assert_snapshot!("running", sheet(&mut model, &[(40, 40), (80, 40)]));
    insta::assert_snapshot!("running_in_colours", styled(&mut model, (40, 40)));
}

#[test]
fn messages_wait() {
    let mut model = screen_on(&two());
    let steering = vec!["use the release profile\nplease".to_owned()];
    let follow_up = (1..=7).map(|number| format!("then {number}")).collect();
    happen_all(&mut model, [Event::AgentStart, Event::QueueUpdate { steering, follow_up }]);
    insta::assert_snapshot!("queue", sheet(&mut model, &SIZES[..2]));
}

#[test]
fn a_retry_waits() {
    let mut model = screen_on(&two());
    let error_message = "529 overloaded".to_owned();
    let retry = Event::AutoRetryStart { attempt: 2, max_attempts: 3, delay_ms: 4_000, error_message };
    happen_all(&mut model, [Event::AgentStart, retry]);
    model.now = 1_500;
    insta::assert_snapshot!("retry", sheet(&mut model, &SIZES[..2]));
}

#[test]
fn a_compaction_runs_and_fails() {
    let mut model = screen_on(&two());
    let reason = CompactionReason::Threshold;
    happen(&mut model, Event::CompactionStart { reason });
    insta::assert_snapshot!("compaction", sheet(&mut model, &SIZES[..2]));
    let error_message = Some("Auto-compaction failed: 429 slow down".to_owned());
    happen(&mut model, Event::CompactionEnd { reason, result: None, aborted: false, will_retry: false, error_message });
    insta::assert_snapshot!("compaction_failed", sheet(&mut model, &[(80, 24)]));
}

#[test]
fn a_search_marks_what_it_finds() {
    let mut model = screen_on(&two());
    press(&mut model, r#"ctrl+shift+f "words""#);
    model.update(Msg::Worked(WorkDone::Searched("words".into(), vec![0, 2].into())), 0);
    insta::assert_snapshot!("search", styled(&mut model, (40, 24)));
}

#[test]
fn the_mouse_selects() {
    let mut model = screen_on(&two());
    model.selection = Some(Selection { from: (3, 4), to: (8, 6), text: String::new() });
    insta::assert_snapshot!("selection", styled(&mut model, (40, 24)));
}

#[test]
fn the_view_is_away_from_the_end() {
    let long: Vec<String> = (1..=40).map(|number| format!("- item {number}")).collect();
    let lines = vec![user("u1", "", "List"), answer("a1", "u1", &long.join("\n")), user("u2", "a1", "Thanks")];
    let mut model = screen_on(&lines);
    model.settings.scrollbar = Scrollbar::Auto;
    press(&mut model, "pageUp");
    insta::assert_snapshot!("scrolled", sheet(&mut model, &SIZES[..2]));
}

#[test]
fn completion_is_offered_and_vi_commands() {
    let mut model = screen_on(&[]);
    press(&mut model, r#""/th""#);
    let item = |label: &str| MenuItem {
        label: label.into(),
        insert: label.into(),
        description: "What it does".into(),
        ..MenuItem::default()
    };
    model.menu = Menu::new(MenuKind::Commands, vec![item("/theme"), item("/thinking")], 0..3);
    insta::assert_snapshot!("menu", sheet(&mut model, &SIZES[..2]));
    let mut model = screen_on(&[]);
    model.editor.set_vim(true);
    press(&mut model, r#""words" escape"#);
    insta::assert_snapshot!("vim", sheet(&mut model, &[(40, 12)]));
}

#[test]
fn notices_say_how_bad_they_are() {
    let mut model = screen_on(&two());
    for (level, text) in [
        (NoticeLevel::Info, "So it is."),
        (NoticeLevel::Warning, "A disk is\nnearly full."),
        (NoticeLevel::Error, "It \u{1b}[1mbroke."),
    ] {
        happen(&mut model, Event::Notice { level, text: text.into() });
    }
    model.theme = Theme::light();
    insta::assert_snapshot!("notices", styled(&mut model, (40, 30)));
}

#[test]
fn the_regular_mode_writes_what_is_over_and_redraws_the_rest() {
    let mut model = screen_on(&two());
    let events = vec![StreamEvent::TextStart { index: 0 }, StreamEvent::TextDelta { index: 0, delta: "Coming".into() }];
    let first = regular(&mut model, (60, 20));
    streaming(&mut model, events);
    let second = regular(&mut model, (60, 20));
    insta::assert_snapshot!("regular", format!("{first}\n{second}"));
}
