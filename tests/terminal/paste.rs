//! Pastes.

use crate::{ANSWER, answering};

fn lines(count: usize) -> String {
    (0..count).map(|n| format!("pasted line {n}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_short_paste_is_text_like_any_other_and_is_not_sent_by_its_line_ends() {
    let stage = answering();
    let terminal = stage.open();
    terminal.paste("p1\r\np2 日本\r  p3");
    terminal.wait_text("p2 日本");
    assert_eq!(stage.requests(), 0);
    terminal.key("enter");
    assert_eq!(stage.sent(0), "p1\np2 日本\n  p3");
}

#[test]
fn a_long_paste_is_a_marker_that_goes_as_one_and_is_sent_whole() {
    let stage = answering();
    let terminal = stage.open();
    terminal.paste(&lines(20));
    let screen = terminal.wait_text("+20 lines");
    assert!(!screen.has("pasted line 7"), "{}", screen.picture());
    terminal.key("backspace");
    terminal.wait_gone("+20 lines");
    terminal.paste(&lines(21));
    terminal.wait_text("+21 lines");
    terminal.submit(" tail");
    assert_eq!(stage.sent(0), lines(21) + " tail");
}

#[test]
fn fc_060_a_huge_paste_is_one_message_even_when_enter_follows_at_once() {
    let stage = answering();
    let terminal = stage.open();
    let text = lines(100_000);
    terminal.paste(&text);
    terminal.key("enter");
    terminal.wait_text(ANSWER);
    assert!(stage.sent(0) == text, "not the text that was pasted");
    terminal.type_text("still here");
    assert_eq!(stage.requests(), 1);
}

#[test]
fn a_paste_brings_no_control_characters_and_shows_none() {
    let stage = answering();
    let terminal = stage.open();
    terminal.paste("a\rb\x07\0\x1b[31mc\td");
    terminal.submit(" end");
    let sent = stage.sent(0);
    assert!(sent.starts_with("a\nb") && sent.ends_with("d end"), "{sent:?}");
    assert!(!sent.contains(['\r', '\x07', '\0', '\x1b']), "{sent:?}");
    terminal.audit().assert_clean();
}

#[test]
fn a_paste_that_holds_its_own_end_sends_nothing_by_itself_and_leaves_no_escape() {
    let stage = answering();
    let terminal = stage.open();
    terminal.paste("safe\x1b[201~rm -rf\n");
    terminal.wait_text("rm -rf");
    if stage.requests() == 0 {
        terminal.key("enter");
    }
    terminal.wait_text(ANSWER);
    assert_eq!(stage.requests(), 1);
    let sent = stage.sent(0);
    assert!(sent.contains("safe") && !sent.contains("201~") && !sent.contains('\x1b'), "{sent:?}");
}

#[test]
fn many_lines_in_one_write_without_marks_are_sent_once_at_most() {
    let stage = answering();
    let terminal = stage.open();
    let rows: Vec<_> = (0..50).map(|n| format!("row {n}")).collect();
    terminal.send(rows.join("\r"));
    terminal.wait_text("+50 lines");
    terminal.submit(" end");
    terminal.wait_text(ANSWER);
    assert_eq!(stage.requests(), 1);
    let sent = stage.sent(0);
    assert!(rows.iter().all(|row| sent.contains(row)), "{sent:?}");
}
