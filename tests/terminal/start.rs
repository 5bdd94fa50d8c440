//! The first screen.

use crate::{
    ANSWER, answering,
    terminal::{ALTERNATE_SCREEN, Answers, BRACKETED_PASTE, Builder},
};

#[test]
fn the_first_screen_names_folder_model_window_and_version() {
    let stage = answering();
    let terminal = stage.open();
    let screen = terminal.screen();
    for expected in ["project", "m1", "200k", env!("CARGO_PKG_VERSION")] {
        assert!(screen.has(expected), "no {expected:?}\n{}", screen.picture());
    }
    terminal.audit().assert_clean();
}

#[test]
fn the_screen_takes_the_whole_terminal_reads_keys_itself_and_has_pastes_marked() {
    let stage = answering();
    let terminal = stage.open();
    let modes = terminal.modes();
    assert!(modes.is_set(ALTERNATE_SCREEN) && modes.is_set(BRACKETED_PASTE), "{modes:?}");
    assert!(!terminal.is_cooked());
}

#[test]
fn the_title_names_the_session_and_the_folder() {
    let stage = answering();
    let terminal = stage.terminal().args(&["--name", "Blue Whale"]).open();
    terminal.wait_for("the title", |screen| screen.title.contains("Blue Whale") && screen.title.contains("project"));
}

#[test]
fn a_quiet_start_shows_no_hints() {
    let stage = answering();
    let hints = |quiet: bool| {
        stage.sandbox.settings(serde_json::json!({"quietStartup": quiet}));
        stage.open().screen().text().to_lowercase().contains("ctrl+o")
    };
    assert_eq!((hints(false), hints(true)), (true, false));
}

#[test]
fn a_prompt_on_the_command_line_is_asked_at_once() {
    let stage = answering();
    let terminal = stage.terminal().args(&["hello first"]).open();
    terminal.wait_text(ANSWER);
    assert_eq!(stage.sent(0), "hello first");
    terminal.submit("and then");
    assert_eq!(stage.sent(1), "and then");
}

#[test]
fn what_is_typed_before_the_screen_is_there_is_not_lost() {
    let stage = answering();
    let terminal = stage.terminal().start();
    terminal.send("early bird");
    terminal.wait_ready();
    terminal.wait_for("the text in the editor", |screen| screen.alternate && screen.has("early bird"));
    terminal.key("enter");
    assert_eq!(stage.sent(0), "early bird");
}

#[test]
fn fc_062_a_terminal_that_never_answers_gets_its_screen_and_takes_keys() {
    let stage = answering();
    let terminal = stage.terminal().answers(Answers::Silent).open();
    terminal.type_text("no answer");
    terminal.resize(60, 20);
    terminal.wait_for("the screen in its new size", |screen| screen.rows.len() == 20 && screen.has("no answer"));
    terminal.key("enter");
    terminal.wait_text(ANSWER);
    assert_eq!(stage.sent(0), "no answer");
}

#[test]
fn answers_of_the_terminal_that_come_late_and_in_pieces_are_no_text() {
    let stage = answering();
    let terminal = stage.terminal().answers(Answers::Silent).open();
    let late =
        ["\x1b]11;rgb:1111/2222/3333\x1b\\", "\x1b[?62;22c", "\x1b[?1u", "\x1b[?2026;2$y", "\x1bP>|vt 1.0\x1b\\"];
    for answer in late {
        let (first, second) = answer.split_at(answer.len() / 2);
        terminal.send("ab");
        terminal.send(first);
        terminal.pause(60);
        terminal.send(second);
        terminal.send("cd");
    }
    terminal.submit(".");
    assert_eq!(stage.sent(0), "abcd".repeat(late.len()) + ".");
}

#[test]
fn colors_are_those_that_the_terminal_is_known_to_have() {
    let stage = answering();
    type Change = for<'s> fn(Builder<'s>) -> Builder<'s>;
    let cases: [(&str, Change, &[&str], &[&str]); 4] = [
        ("COLORTERM says so", |b| b, &["true"], &[]),
        ("256 colours", |b| b.variable("COLORTERM", None), &["256"], &["true"]),
        ("16 colours", |b| b.variable("COLORTERM", None).variable("TERM", Some("xterm")), &[], &["true", "256"]),
        ("NO_COLOR", |b| b.variable("NO_COLOR", Some("1")), &[], &["true", "256", "16"]),
    ];
    for (case, change, expected, forbidden) in cases {
        let terminal = change(stage.terminal()).open();
        terminal.ask("show");
        let kinds = terminal.audit().color_kinds();
        assert!(expected.iter().all(|kind| kinds.contains(kind)), "{case}: {kinds:?}");
        assert!(!forbidden.iter().any(|kind| kinds.contains(kind)), "{case}: {kinds:?}");
    }
}

#[test]
fn text_on_a_light_ground_is_dark() {
    let stage = answering();
    let terminal = stage.terminal().light().open();
    terminal.ask("show");
    match terminal.cell_of("The answer").fgcolor() {
        vt100::Color::Default => {}
        vt100::Color::Rgb(r, g, b) => assert!(u16::from(r) + u16::from(g) + u16::from(b) < 450, "{r} {g} {b}"),
        vt100::Color::Idx(index) => assert!(index != 7 && index != 15, "{index}"),
    }
}
