use proptest::prelude::*;
use ratatui::{
    layout::Position,
    style::{Color, Style},
};

use super::*;
use crate::tui::{
    terminal::testing::{ABLE, any_line, difference, emulator, frame_of},
    text::{StyledLine, StyledSpan},
    theme::ColorLevel,
};

const COLUMNS: u16 = 17;
const ROWS: u16 = 9;

fn lines(texts: &[&str]) -> Vec<StyledLine> {
    texts.iter().map(|text| StyledLine::of(text.to_string(), Style::new())).collect()
}

fn frame(texts: &[&str]) -> Frame {
    frame_of(COLUMNS, ROWS, &lines(texts))
}

fn painted(painter: &mut Painter, frame: Frame) -> String {
    String::from_utf8(painter.paint(frame, &ABLE)).unwrap()
}

proptest! {
    #[test]
    fn the_difference_of_two_frames_makes_one_of_the_other(
        first in prop::collection::vec(any_line(), 0..10),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any_line()), 0..5),
        moved in -4_isize..5,
        cursor in prop::option::of((0..COLUMNS, 0..ROWS)),
    ) {
        let mut second = first.clone();
        second.resize(10, StyledLine::default());
        second.rotate_left(moved.rem_euclid(10).unsigned_abs());
        for (at, line) in changes {
            let at = at.index(second.len());
            second[at] = line;
        }
        let mut painter = Painter::default();
        let mut emulator = emulator(COLUMNS, ROWS);
        for lines in [&first, &second, &first] {
            let mut frame = frame_of(COLUMNS, ROWS, lines);
            frame.cursor = cursor.map(|(x, y)| Position::new(x, y));
            emulator.process(&painter.paint(frame.clone(), &ABLE));
            prop_assert_eq!(difference(&emulator, &frame, 0), None);
            prop_assert_eq!(emulator.screen().hide_cursor(), cursor.is_none());
            if let Some((x, y)) = cursor {
                prop_assert_eq!(emulator.screen().cursor_position(), (y, x));
            }
            prop_assert_eq!(painter.paint(frame, &ABLE), b"");
        }
    }
}

#[test]
fn only_what_changed_is_written() {
    let mut painter = Painter::default();
    let mut typed = frame(&["hello", "", "> abc"]);
    typed.cursor = Some(Position::new(5, 2));
    let first = painted(&mut painter, typed);
    assert_eq!(first.matches("\x1b[2J").count(), 1);
    let mut typed = frame(&["hello", "", "> abcd"]);
    typed.cursor = Some(Position::new(6, 2));
    assert_eq!(painted(&mut painter, typed.clone()), "\x1b[?2026hd\x1b[?2026l", "a typed character");
    assert_eq!(painted(&mut painter, typed.clone()), "", "nothing");
    typed.cursor = Some(Position::new(2, 2));
    assert_eq!(painted(&mut painter, typed.clone()), "\x1b[3;3H", "the cursor alone");
    typed.cursor = None;
    assert_eq!(painted(&mut painter, typed.clone()), "\x1b[?25l");
    assert_eq!(painted(&mut painter, frame(&["hello"])), "\x1b[?2026h\x1b[3H\x1b[K\x1b[?2026l", "a row that went");
    painter.invalidate();
    assert!(painted(&mut painter, typed).contains("\x1b[2J"));
}

#[test]
fn fc_061_a_resize_clears_the_screen_and_never_the_scrollback() {
    let mut painter = Painter::default();
    let mut all = painted(&mut painter, frame(&["one"]));
    all += &painted(&mut painter, frame_of(10, 4, &lines(&["one"])));
    all += &painted(&mut painter, frame_of(30, 20, &lines(&["one", "two"])));
    assert_eq!((all.matches("\x1b[2J").count(), all.matches("\x1b[3J").count()), (3, 0));
}

#[test]
fn a_terminal_without_synchronised_updates_does_not_see_the_cursor_wander() {
    let old = Capabilities { synchronized: false, ..ABLE };
    let mut painter = Painter::default();
    let mut next = frame(&["some words that", "take more bytes", "than a terminal", "shows at once"]);
    next.cursor = Some(Position::new(1, 3));
    let bytes = String::from_utf8(painter.paint(next, &old)).unwrap();
    assert!(bytes.starts_with("\x1b[?25l") && bytes.ends_with("\x1b[4;2H\x1b[?25h"), "{bytes:?}");
}

#[test]
fn text_that_streams_in_costs_its_own_row_and_not_the_screen() {
    let screen = |first: usize| {
        let mut lines: Vec<_> =
            (first..first + 36).map(|n| format!("{n} {}", "words of an answer ".repeat(4))).collect();
        lines.extend(["", "> ", "~/project", "status"].map(str::to_owned));
        let lines: Vec<_> = lines.into_iter().map(|line| StyledLine::of(line, Style::new())).collect();
        let mut frame = frame_of(100, 40, &lines);
        frame.cursor = Some(Position::new(2, 37));
        frame
    };
    for synchronized in [true, false] {
        let able = Capabilities { synchronized, ..ABLE };
        let mut painter = Painter::default();
        painter.paint(screen(100), &able);
        let bytes = painter.paint(screen(101), &able);
        assert!(bytes.len() < 150, "{} bytes: {}", bytes.len(), String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_grapheme_on_whose_width_terminals_disagree_shifts_nothing() {
    let mut painter = Painter::default();
    painted(&mut painter, frame(&["abcdefghij"]));
    let family = "👩\u{200d}👩\u{200d}👧";
    let bytes = painted(&mut painter, frame(&[&format!("{family}cdefghij")]));
    assert_eq!(bytes, format!("\x1b[?2026h\x1b[H  \x1b[H{family}\x1b[1;3Hcdef\x1b[?2026l"));
}

#[test]
fn links_are_opened_and_closed() {
    let link =
        |text: &'static str, to: &str| StyledSpan { link: Some(to.into()), ..StyledSpan::new(text, Style::new()) };
    let line = StyledLine::from_spans(vec![
        link("one", "http://a"),
        link("two", "http://b"),
        StyledSpan::new("x", Style::new()),
    ]);
    let mut painter = Painter::default();
    let bytes = painted(&mut painter, frame_of(COLUMNS, 1, std::slice::from_ref(&line)));
    let expected = "\x1b]8;;http://a\x1b\\one\x1b]8;;http://b\x1b\\two\x1b]8;;\x1b\\x";
    assert!(bytes.contains(expected), "{bytes:?}");
    let without = Capabilities { hyperlinks: false, ..ABLE };
    let bytes = Painter::default().paint(frame_of(COLUMNS, 1, &[line]), &without);
    assert!(!String::from_utf8(bytes).unwrap().contains("\x1b]8"));
}

#[test]
fn colours_are_lowered_to_what_the_terminal_shows() {
    let line = StyledLine::of("x", Style::new().fg(Color::Rgb(255, 0, 0)).bg(Color::Indexed(21)));
    for (colors, expected) in [
        (ColorLevel::TrueColor, "\x1b[38;2;255;0;0;48;5;21mx"),
        (ColorLevel::Indexed, "\x1b[38;5;196;48;5;21mx"),
        (ColorLevel::Ansi, "\x1b[91;44mx"),
        (ColorLevel::None, "\x1b[2Jx"),
    ] {
        let capabilities = Capabilities { colors, ..ABLE };
        let bytes = Painter::default().paint(frame_of(COLUMNS, 1, std::slice::from_ref(&line)), &capabilities);
        let bytes = String::from_utf8(bytes).unwrap().replace("\x1b[H", "");
        assert!(bytes.contains(expected), "{bytes:?}");
    }
}

#[test]
fn a_transcript_that_scrolls_is_moved_by_the_terminal() {
    let texts: Vec<String> = (0..12).map(|n| format!("line number {n}")).collect();
    let show = |from: usize| {
        let mut all: Vec<&str> = texts[from..from + 6].iter().map(String::as_str).collect();
        all.extend(["---", "> ", "footer"]);
        frame(&all)
    };
    let mut painter = Painter::default();
    painted(&mut painter, show(0));
    let bytes = painted(&mut painter, show(2));
    assert!(bytes.contains("\x1b[1;6r\x1b[2S\x1b[r") && bytes.len() < 90, "{bytes:?}");
}
