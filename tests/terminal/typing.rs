//! What is typed is what is sent.

use crate::{answering, numbering};

/// Types a text, and after it `.`, and checks what was sent: exactly that.
fn check_sent_as_typed(texts: &[&str]) {
    let stage = numbering();
    let terminal = stage.open();
    for (n, text) in texts.iter().enumerate() {
        terminal.send(text);
        // Widths of odd graphemes are a matter of the terminal: what stands behind them shows that they arrived.
        let end = format!(" end{n}");
        terminal.send(&end);
        terminal.wait_text(&end);
        terminal.key("enter");
        assert_eq!(stage.sent(n), format!("{text}{end}"));
        terminal.wait_text(&format!("Reply {n}."));
    }
}

#[test]
fn text_of_all_scripts_is_sent_as_it_was_typed() {
    check_sent_as_typed(&[
        "a日本語b",
        "x👍🏽y😀",
        "cafe\u{301}z",
        "A👩\u{200d}👩\u{200d}👧B 🇨🇭 1\u{fe0f}\u{20e3}",
        "ｶﾞ \u{3164} नमस्ते ก็ 한글",
        "naïve Straße – „quoted“",
    ]);
}

#[test]
fn wide_characters_take_two_columns_and_the_cursor_stands_behind_them() {
    let stage = answering();
    let terminal = stage.open();
    terminal.type_text("a日本語b");
    let column = |what: &str, from: &str, columns: u16| {
        terminal.wait_for(what, |screen| {
            let Some(row) = screen.row_of(from) else { return false };
            let begins = screen.rows[row].chars().take_while(|character| *character != 'a').count();
            screen.cursor == Some((row as u16, begins as u16 + columns))
        });
    };
    column("cursor behind the text", "a日本語b", 8);
    terminal.keys(&["left", "left"]);
    column("cursor before the last wide character", "a日本語b", 5);
    terminal.key("backspace");
    column("cursor where a wide character was", "a日語b", 3);
}

#[test]
fn a_press_of_backspace_takes_what_looks_like_one_character() {
    let stage = numbering();
    let terminal = stage.open();
    let whole = ["👩\u{200d}👩\u{200d}👧", "🇨🇭", "1\u{fe0f}\u{20e3}", "e\u{301}", "日", "👍🏽"];
    for (n, grapheme) in whole.iter().enumerate() {
        terminal.send(format!("A{grapheme}"));
        terminal.key("backspace");
        terminal.submit(&format!("B{n}"));
        assert_eq!(stage.sent(n), format!("AB{n}"), "{grapheme}");
        terminal.wait_text(&format!("Reply {n}."));
    }
}

#[test]
fn characters_whose_bytes_come_one_at_a_time_are_put_together() {
    let stage = answering();
    let terminal = stage.open();
    for byte in "é日😀".bytes() {
        terminal.send([byte]);
        terminal.pause(5);
    }
    terminal.submit("ok");
    assert_eq!(stage.sent(0), "é日😀ok");
}

#[test]
fn a_long_line_is_shown_whole_in_rows_that_fit() {
    let stage = answering();
    let terminal = stage.terminal().size(40, 20).open();
    let long: String = (0..30).map(|n| format!("{n:03}.")).collect();
    terminal.send(&long);
    terminal.wait_for("all of the line", |screen| {
        let rows: String = screen.rows.iter().map(|row| row.trim_matches([' ', '│', '>'])).collect();
        rows.contains(&long)
    });
    terminal.key("enter");
    assert_eq!(stage.sent(0), long);
}

#[test]
fn thousands_of_characters_in_one_write_arrive_in_order() {
    let stage = answering();
    let terminal = stage.open();
    let text: Vec<_> = (0..1000).map(|n| format!("{n:04}")).collect();
    terminal.send(text.join(" "));
    terminal.wait_text("0999");
    terminal.key("enter");
    assert_eq!(stage.sent(0), text.join(" "));
}
