//! What extensions show, ask and bring, on the screen.

use std::sync::Arc;

use super::{happen, model_of, press, screen, sent, two};
use crate::{
    protocol::{
        Event,
        display::{Display, WidgetPlacement},
        event::NoticeLevel,
        question::{Dialog, Question, QuestionId},
        wire::{CommandInfo, CommandSource, SourceInfo},
    },
    tui::{
        effect::Effect,
        model::{Model, Msg},
        transcript::item::Item,
    },
};

fn show(model: &mut Model, display: Display) -> Vec<Effect> {
    happen(model, Event::Display { extension: "watcher".into(), display })
}

fn status(key: &str, text: Option<&str>) -> Display {
    Display::Status { key: key.into(), text: text.map(str::to_owned) }
}

fn widget(key: &str, lines: Option<&[&str]>, placement: Option<WidgetPlacement>) -> Display {
    let lines = lines.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
    Display::Widget { key: key.into(), lines, placement }
}

/// The row that holds a text.
fn row_of(model: &mut Model, text: &str) -> Option<usize> {
    screen(model).lines().position(|row| row.contains(text))
}

#[test]
fn messages_are_shown_in_the_conversation_with_their_level() {
    let mut model = model_of(&two());
    for (level, expected) in [
        (None, NoticeLevel::Info),
        (Some(NoticeLevel::Info), NoticeLevel::Info),
        (Some(NoticeLevel::Warning), NoticeLevel::Warning),
        (Some(NoticeLevel::Error), NoticeLevel::Error),
    ] {
        show(&mut model, Display::Notify { message: format!("said {level:?}"), level });
        let Some(Item::Notice(shown)) = model.transcript.items().last() else { panic!("{level:?}") };
        assert_eq!(shown.level, expected);
        assert!(row_of(&mut model, &format!("said {level:?}")).is_some(), "{}", screen(&mut model));
    }
}

#[test]
fn fields_of_the_status_line_stand_in_the_order_of_their_keys_and_go_again() {
    let mut model = model_of(&[]);
    for (display, expected) in [
        (status("b", Some("build fine")), "build fine"),
        (status("a", Some("3 alarms")), "3 alarms · build fine"),
        (status("b", Some("build broken")), "3 alarms · build broken"),
        (status("a", None), "build broken"),
    ] {
        show(&mut model, display);
        assert_eq!(screen(&mut model).lines().last(), Some(expected));
    }
    let rows = |model: &mut Model| screen(model).trim_end().lines().count();
    let before = rows(&mut model);
    show(&mut model, status("b", None));
    assert_eq!(rows(&mut model), before, "the editor goes down to the last row but two");
    assert!(!screen(&mut model).contains("build"));
}

#[test]
fn lines_of_extensions_stand_above_or_below_the_editor() {
    let mut model = model_of(&[]);
    press(&mut model, r#""draft""#);
    show(&mut model, widget("one", Some(&["first of one", "second of one"]), None));
    show(&mut model, widget("two", Some(&["of two"]), Some(WidgetPlacement::BelowEditor)));
    let rows = ["first of one", "second of one", "draft", "of two"].map(|text| row_of(&mut model, text).unwrap());
    assert!(rows.is_sorted() && rows[1] == rows[0] + 1, "{rows:?}");
    show(&mut model, widget("one", Some(&["moved"]), Some(WidgetPlacement::BelowEditor)));
    assert!(row_of(&mut model, "moved") > row_of(&mut model, "draft"));
    assert_eq!(row_of(&mut model, "of one"), None);
    show(&mut model, widget("two", None, None));
    assert_eq!(row_of(&mut model, "of two"), None);
}

#[test]
fn lines_of_extensions_leave_room_for_the_editor_and_the_conversation() {
    let many: Vec<String> = (0..100).map(|n| format!("line {n}.")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for placement in [WidgetPlacement::AboveEditor, WidgetPlacement::BelowEditor] {
        let mut model = model_of(&two());
        show(&mut model, widget("much", Some(&many), Some(placement)));
        press(&mut model, r#""draft""#);
        let shown = screen(&mut model);
        assert!(shown.contains("draft") && shown.contains("second answer") && shown.contains("line 9."), "{shown}");
        assert!(!shown.contains("line 10."), "{shown}");
    }
}

#[test]
fn the_title_is_the_extensions_until_it_gives_it_back() {
    let mut model = model_of(&[]);
    let own = model.shown_title.clone();
    for (title, expected) in [("Deploying", "Deploying"), ("", own.as_str())] {
        let effects = show(&mut model, Display::Title { title: title.into() });
        let titles: Vec<_> = effects.iter().filter(|effect| matches!(effect, Effect::Title(_))).collect();
        assert_eq!(titles, [&Effect::Title(expected.to_owned())]);
    }
}

#[test]
fn a_text_for_the_editor_takes_the_place_of_what_is_there() {
    let mut model = model_of(&[]);
    press(&mut model, r#""draft""#);
    show(&mut model, Display::EditorText { text: "two\nlines".into() });
    assert_eq!(model.editor.draft(), "two\nlines");
    assert_eq!(sent(&press(&mut model, "enter")), ["steer: two\nlines"]);
}

#[test]
fn fc_064_nothing_that_an_extension_shows_acts_on_the_terminal() {
    const EVIL: &str = "a\u{1b}]0;b\u{7}\t\u{9b}2Jc\u{202e}d";
    let mut model = model_of(&[]);
    for display in [
        Display::Notify { message: EVIL.into(), level: None },
        status(EVIL, Some(EVIL)),
        widget("above", Some(&[EVIL]), None),
        widget("below", Some(&[EVIL]), Some(WidgetPlacement::BelowEditor)),
        Display::EditorText { text: EVIL.into() },
    ] {
        show(&mut model, display);
    }
    let harmless = |text: &str| !text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}');
    let shown = screen(&mut model);
    assert!(harmless(&shown) && shown.contains("a<U+001B>]0;b<U+0007>"), "{shown}");
    for effect in show(&mut model, Display::Title { title: EVIL.into() }) {
        assert!(matches!(&effect, Effect::Title(title) if harmless(title)), "{effect:?}");
    }
}

fn question(dialog: Dialog) -> Arc<Question> {
    let id = QuestionId::from("q1".to_owned());
    Arc::new(Question { id, title: "Which way?".into(), dialog, timeout_ms: Some(30_000), tool_call_id: None })
}

#[test]
fn each_dialog_is_answered_by_keys_and_leaves_the_draft_alone() {
    let options = vec!["left".to_owned(), "right".to_owned()];
    for (dialog, keys, expected) in [
        (Dialog::Select { options }, "down enter", r#"Value("right")"#),
        (Dialog::Confirm { message: "Sure?".into() }, "y", "Confirmed(true)"),
        (Dialog::Input { placeholder: None }, r#""north" enter"#, r#"Value("north")"#),
        (Dialog::Editor { prefill: Some("go".into()) }, r#""!" enter"#, r#"Value("go!")"#),
        (Dialog::Confirm { message: String::new() }, "escape", "Cancelled"),
    ] {
        let mut model = model_of(&[]);
        press(&mut model, r#""draft""#);
        model.update(Msg::Tick, 5_000);
        happen(&mut model, Event::QuestionAsked { question: question(dialog) });
        let shown = screen(&mut model);
        assert!(shown.contains("Which way?") && shown.contains("30 s left"), "{shown}");
        let answers = sent(&press(&mut model, keys));
        assert!(matches!(&answers[..], [answer] if answer.contains(expected)), "{answers:?}");
        assert!(model.overlays.is_empty());
        assert_eq!(model.editor.draft(), "draft");
    }
}

#[test]
fn a_dialog_whose_time_is_over_or_whose_asker_is_gone_goes_away() {
    let mut model = model_of(&[]);
    let question = question(Dialog::Confirm { message: String::new() });
    happen(&mut model, Event::QuestionAsked { question: question.clone() });
    assert_eq!(model.overlays.len(), 1);
    happen(&mut model, Event::QuestionClosed { id: question.id.clone() });
    assert!(model.overlays.is_empty());
    assert_eq!(sent(&press(&mut model, r#""y" enter"#)), ["steer: y"], "keys go to the editor again");
}

#[test]
fn a_command_of_an_extension_is_completed_and_sent_with_its_arguments() {
    let command = CommandInfo {
        name: "deploy".into(),
        description: Some("Bring it out".into()),
        source: CommandSource::Extension,
        source_info: SourceInfo {
            path: "deployer".into(),
            source: String::new(),
            scope: String::new(),
            origin: String::new(),
            base_dir: None,
        },
    };
    let mut model = model_of(&[]);
    model.facts.commands = vec![command].into();
    press(&mut model, r#""/depl""#);
    assert!(row_of(&mut model, "Bring it out").is_some(), "{}", screen(&mut model));
    press(&mut model, "tab");
    assert_eq!(sent(&press(&mut model, r#""staging --now" enter"#)), ["steer: /deploy staging --now"]);
    // It needs no model.
    model.facts.model = None;
    assert_eq!(sent(&press(&mut model, r#""/deploy x" enter"#)), ["steer: /deploy x"]);
}

#[test]
fn enter_sends_an_argument_that_is_written_out_and_completes_one_that_is_not() {
    for (keys, expected, left) in
        [(r#""/plan off" enter"#, &["SetPlanMode(false)"][..], ""), (r#""/plan of" enter"#, &[], "/plan off")]
    {
        let mut model = model_of(&[]);
        assert_eq!(sent(&press(&mut model, keys)), expected, "{keys}");
        assert_eq!(model.editor.draft(), left, "{keys}");
    }
}
