//! Pastes and their markers.

use super::{Editor, ROOM, check, lines, play};

fn pasted(text: &str) -> Editor {
    let mut editor = Editor::new();
    editor.paste(text);
    editor
}

#[test]
fn line_ends_are_newlines_tabs_are_blanks_and_control_characters_go() {
    for (paste, text) in [
        ("p1\np2 日本\n  p3", "p1\np2 日本\n  p3"),
        ("a\r\nb\rc\u{7}\0\u{1b}[31md\te", "a\nb\nc[31md    e"),
        ("\r\r\n\n", "\n\n\n"),
        ("a\u{9b}b\u{7f}", "ab"),
        ("", ""),
    ] {
        assert_eq!(pasted(paste).text(), text);
        assert_eq!(pasted(paste).draft(), text);
    }
}

#[test]
fn long_pastes_are_markers_on_the_screen_and_whole_when_sent_fc_060() {
    let line = "x".repeat(1001);
    for (paste, draft) in [
        (lines(10), lines(10)),
        (lines(11), "[paste #1 +11 lines]".into()),
        (lines(100_000), "[paste #1 +100000 lines]".into()),
        ("日".repeat(1000), "日".repeat(1000)),
        (line.clone(), "[paste #1 1001 chars]".into()),
    ] {
        let mut editor = pasted(&paste);
        assert_eq!(editor.draft(), draft);
        editor.insert(" tail");
        assert_eq!(editor.take(), format!("{paste} tail"));
    }
}

#[test]
fn a_marker_is_one_character() {
    check("a<11 lines><bs>", "a|");
    check("a<11 lines>b<left><left>", "a|[paste #1 +11 lines]b");
    check("a<11 lines>b<home><right><right>", "a[paste #1 +11 lines]|b");
    check("a<11 lines>b<home><right><del>", "a|b");
    check("a <11 lines>b<word-left><word-left>", "a |[paste #1 +11 lines]b");
    check("<11 lines><12 lines><word-bs>", "[paste #1 +11 lines]|");
    check("<11 lines>\u{301}<bs>", "[paste #1 +11 lines]|");
    check("<11 lines><home><jump>#", "|[paste #1 +11 lines]");
}

#[test]
fn a_marker_survives_kills_undo_and_joined_lines() {
    for script in [
        "<11 lines><bs><undo>",
        "<11 lines><to-start><yank>",
        "<11 lines><clear><undo>",
        "<11 lines><nl><bs>",
        "<nl><11 lines><first><del><end>",
        "<11 lines><undo><redo>",
        "<11 lines><older><newer>",
    ] {
        let mut editor = Editor::new();
        play(&mut editor, script, ROOM);
        assert_eq!((editor.draft(), editor.text()), ("[paste #1 +11 lines]", lines(11)), "{script}");
    }
}

#[test]
fn what_is_written_can_be_put_into_another_editor() {
    let mut editor = Editor::new();
    play(&mut editor, "see <11 lines>", ROOM);
    let mut other = Editor::new();
    other.restore(editor.content());
    assert_eq!(other.text(), format!("see {}", lines(11)));
    play(&mut other, "<12 lines>", ROOM);
    assert_eq!(other.draft(), "see [paste #1 +11 lines][paste #2 +12 lines]");
}

#[test]
fn a_typed_marker_is_text() {
    let mut editor = Editor::new();
    play(&mut editor, "<11 lines> [paste #1 +11 lines]<bs>", ROOM);
    assert_eq!(editor.text(), format!("{} [paste #1 +11 lines", lines(11)));
    editor.set_text("[paste #1 +11 lines]");
    assert_eq!(editor.text(), "[paste #1 +11 lines]");
}

#[test]
fn a_path_does_not_stick_to_the_word_before_it() {
    check("see<paste /tmp/a>", "see /tmp/a|");
    check("see <paste /tmp/a>", "see /tmp/a|");
    check("(<paste ~/a>", "(~/a|");
    check("see<paste tmp>", "seetmp|");
}

#[test]
fn numbers_begin_anew_with_each_prompt() {
    check("<11 lines><12 lines>", "[paste #1 +11 lines][paste #2 +12 lines]|");
    check("<11 lines><send><12 lines>", "[paste #1 +12 lines]|");
}
