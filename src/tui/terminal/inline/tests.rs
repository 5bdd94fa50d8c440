use proptest::prelude::*;
use ratatui::{layout::Position, style::Style};

use super::*;
use crate::tui::terminal::testing::{ABLE, any_line, difference, emulator, frame_of, history, resize, rows};

fn line(text: impl Into<String>) -> StyledLine {
    StyledLine::of(text.into(), Style::new())
}

fn live(columns: u16, texts: &[&str], cursor: (u16, u16)) -> Frame {
    let lines: Vec<_> = texts.iter().map(|text| line(*text)).collect();
    let mut frame = frame_of(columns, u16::try_from(texts.len()).unwrap(), &lines);
    frame.cursor = Some(Position::new(cursor.0, cursor.1));
    frame
}

#[test]
fn finished_lines_stay_above_the_live_area() {
    let mut terminal = emulator(20, 6);
    terminal.process(b"$ seq\r\n1\r\n$ troupe\r\n");
    let mut painter = InlinePainter::new(20, 6, false);
    terminal.process(&painter.paint(live(20, &["----", "> ", "footer"], (2, 1)), &ABLE));
    assert_eq!(rows(&terminal), ["$ seq", "1", "$ troupe", "----", ">", "footer"]);
    assert_eq!(terminal.screen().cursor_position(), (4, 2));
    let typed = painter.paint(live(20, &["----", "> x", "footer"], (3, 1)), &ABLE);
    assert!(typed.len() < 40, "{:?}", String::from_utf8_lossy(&typed));
    terminal.process(&typed);
    painter.commit(&[line("answer 1"), line("answer 2")]);
    terminal.process(&painter.paint(live(20, &["----", "> x", "more", "footer"], (3, 1)), &ABLE));
    let expected = ["$ seq", "1", "$ troupe", "answer 1", "answer 2", "----", "> x", "more", "footer"];
    assert_eq!(history(&mut terminal), expected);
    terminal.process(&painter.paint(live(20, &["----", "> x"], (3, 1)), &ABLE));
    assert_eq!(rows(&terminal), ["answer 1", "answer 2", "----", "> x", "", ""]);
    terminal.process(&painter.clear(&ABLE));
    assert_eq!(rows(&terminal), ["answer 1", "answer 2", "", "", "", ""]);
    assert_eq!(terminal.screen().cursor_position(), (2, 0));
    assert!(painter.clear(&ABLE).len() <= 4);
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let mut painter = InlinePainter::new(20, 6, false);
    painter.paint(live(20, &["a", "b"], (1, 1)), &ABLE);
    assert_eq!(painter.paint(live(20, &["a", "b"], (1, 1)), &ABLE), b"");
}

#[test]
fn fc_061_the_place_of_the_cursor_is_not_asked_and_the_scrollback_not_cleared() {
    let mut painter = InlinePainter::new(20, 6, true);
    painter.commit(&[line("x")]);
    let mut all = painter.paint(live(20, &["a", "b"], (1, 1)), &ABLE);
    painter.resize(10, 6);
    all.extend(painter.paint(live(10, &["a", "b"], (1, 1)), &ABLE));
    let all = String::from_utf8(all).unwrap();
    assert!(["\x1b[6n", "\x1b[3J", "\x1b[2J", "\x1b[H"].iter().all(|never| !all.contains(never)), "{all:?}");
}

#[test]
fn a_terminal_that_lays_out_anew_is_cleared_from_where_the_live_area_begins_there() {
    let mut painter = InlinePainter::new(20, 10, true);
    painter.paint(live(20, &["01234567890123456789", "> x", "footer"], (3, 1)), &ABLE);
    painter.resize(8, 10);
    // The first row takes three now, and the cursor is in the row behind them.
    let bytes = String::from_utf8(painter.paint(live(8, &["0"], (0, 0)), &ABLE)).unwrap();
    assert!(bytes.contains("\r\x1b[3A\x1b[J"), "{bytes:?}");
}

#[test]
fn a_live_area_that_is_too_high_shows_its_lower_part() {
    let mut terminal = emulator(10, 3);
    let mut painter = InlinePainter::new(10, 3, false);
    terminal.process(&painter.paint(live(12, &["1", "2", "3", "4", "5"], (0, 4)), &ABLE));
    assert_eq!(history(&mut terminal), ["3", "4", "5"]);
}

/// What happens to a live area.
#[derive(Clone, Debug)]
enum Step {
    Commit(Vec<StyledLine>),
    Live(Vec<StyledLine>, (u16, u16)),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        prop::collection::vec(any_line(), 1..4).prop_map(Step::Commit),
        (prop::collection::vec(any_line(), 1..7), (0_u16..17, 0_u16..7)).prop_map(|(lines, at)| Step::Live(lines, at)),
    ]
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_is_there_twice(steps in prop::collection::vec(any_step(), 1..12)) {
        let mut terminal = emulator(17, 6);
        let mut painter = InlinePainter::new(17, 6, false);
        let mut finished = 0;
        for step in steps {
            match step {
                Step::Commit(lines) => {
                    // A mark that can be counted, and the line as it is.
                    for line in lines {
                        painter.commit(&[self::line(format!("#{finished}")), line]);
                        finished += 1;
                    }
                }
                Step::Live(lines, (x, y)) => {
                    let height = u16::try_from(lines.len()).unwrap();
                    let mut frame = frame_of(17, height, &lines);
                    frame.cursor = Some(Position::new(x, y.min(height - 1)));
                    terminal.process(&painter.paint(frame.clone(), &ABLE));
                    let shown = lower_part(frame, 17, 6);
                    let cursor = shown.cursor;
                    if let Some(cursor) = cursor {
                        let (row, column) = terminal.screen().cursor_position();
                        let top = row - cursor.y;
                        prop_assert_eq!(column, cursor.x);
                        prop_assert_eq!(difference(&terminal, &shown, top), None);
                    }
                }
            }
        }
        terminal.process(&painter.clear(&ABLE));
        let history = history(&mut terminal);
        let marks: Vec<&str> = history.iter().map(String::as_str).filter(|row| row.starts_with('#')).collect();
        prop_assert_eq!(marks, (0..finished).map(|n| format!("#{n}")).collect::<Vec<_>>());
    }

    #[test]
    fn resizes_lose_nothing(sizes in prop::collection::vec((4_u16..40, 3_u16..12), 1..8)) {
        let mut terminal = emulator(20, 8);
        let mut painter = InlinePainter::new(20, 8, false);
        let mut columns = 20;
        for (n, size) in sizes.iter().enumerate() {
            painter.commit(&[line(format!("#{n}"))]);
            terminal.process(&painter.paint(live(columns, &["----", "> x", "foot"], (3, 1)), &ABLE));
            columns = size.0;
            resize(&mut terminal, size.0, size.1);
            painter.resize(size.0, size.1);
            terminal.process(&painter.paint(live(columns, &["----", "> x", "foot"], (3, 1)), &ABLE));
        }
        let history = history(&mut terminal);
        for n in 0..sizes.len() {
            prop_assert!(history.iter().any(|row| *row == format!("#{n}")), "#{} of {:?}", n, history);
        }
    }
}
