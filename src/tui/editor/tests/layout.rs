//! Rows, and the part of them that is seen.

use super::{Editor, Geometry, ROOM, lines, play};
use crate::tui::{
    editor::{EditorAction, EditorView, PieceKind, max_rows},
    text::width_of,
};

fn rows(view: &EditorView) -> Vec<String> {
    view.rows.iter().map(|row| row.text()).collect()
}

#[track_caller]
fn check(width: u16, text: &str, expected: &[&str], cursor: (u16, u16)) {
    let mut editor = Editor::new();
    editor.set_text(text);
    let view = editor.layout(Geometry { width, rows: 50 });
    assert_eq!(rows(&view), expected, "{text:?} at {width}");
    assert_eq!(view.cursor, cursor, "{text:?} at {width}");
}

#[test]
fn rows_break_behind_blanks_and_beside_wide_characters() {
    check(10, "", &[""], (0, 0));
    check(10, "abc", &["abc"], (3, 0));
    check(6, "hello", &["hello"], (5, 0));
    check(6, "hello world", &["hello ", "world"], (5, 1));
    check(6, "hello   world", &["hello ", "world"], (5, 1));
    check(6, "hello    ", &["hello "], (5, 0));
    check(6, "helloworld!", &["hello", "world", "!"], (1, 2));
    check(6, "ab cdefghi", &["ab ", "cdefg", "hi"], (2, 2));
    check(6, "日本語", &["日本", "語"], (2, 1));
    check(6, "a日本語b", &["a日本", "語b"], (3, 1));
    check(10, "a\n\nb", &["a", "", "b"], (1, 2));
}

#[test]
fn what_is_wider_than_the_room_neither_hangs_nor_panics_fc_059() {
    let text = "日本👩\u{200d}👩\u{200d}👧 한글\u{202e}e\u{301}\tx";
    for width in 0..8 {
        for rows in 0..3 {
            let mut editor = Editor::new();
            editor.set_text(text);
            let view = editor.layout(Geometry { width, rows });
            let width = usize::from(width.max(1));
            assert!(view.rows.iter().all(|row| width_of(&row.text()) <= width), "{view:?}");
            assert!(usize::from(view.cursor.0) < width && usize::from(view.cursor.1) < view.rows.len());
            editor.act(EditorAction::CursorUp, Geometry { width: 1, rows: 1 });
        }
    }
}

#[test]
fn hidden_characters_are_shown_and_markers_are_marked() {
    let mut editor = Editor::new();
    editor.set_text("a\u{202e}b\tc\u{2028}");
    play(&mut editor, "<11 lines>", ROOM);
    let view = editor.layout(Geometry { width: 60, rows: 5 });
    let pieces: Vec<_> = view.rows[0].pieces.iter().map(|piece| (&*piece.text, piece.kind)).collect();
    let (text, hidden, marker) = (PieceKind::Text, PieceKind::Hidden, PieceKind::Marker);
    let expected = [("a", text), ("<U+202E>", hidden), ("b    c ", text), ("[paste #1 +11 lines]", marker)];
    assert_eq!(pieces, expected);
    assert_eq!(view.cursor, (36, 0));
    assert_eq!(editor.text(), format!("a\u{202e}b\tc\u{2028}{}", lines(11)));
}

#[test]
fn the_row_of_the_caret_is_always_seen() {
    let mut editor = Editor::new();
    editor.set_text(&lines(60));
    let room = Geometry { width: 40, rows: 7 };
    let place = |editor: &Editor| {
        let view = editor.layout(room);
        (view.above, view.cursor.1, view.below, view.rows[0].text())
    };
    assert_eq!(place(&editor), (53, 6, 0, "line 54".into()));
    play(&mut editor, "<up><up>", room);
    assert_eq!(place(&editor), (53, 4, 0, "line 54".into()));
    play(&mut editor, &"<up>".repeat(10), room);
    assert_eq!(place(&editor), (47, 0, 6, "line 48".into()));
    play(&mut editor, "<first>", room);
    assert_eq!(place(&editor), (0, 0, 53, "line 1".into()));
    play(&mut editor, "<down>", room);
    assert_eq!(place(&editor), (0, 1, 53, "line 1".into()));
    play(&mut editor, "<last>", room);
    assert_eq!(place(&editor).0, 53);
    editor.set_text("short");
    assert_eq!(place(&editor), (0, 0, 0, "short".into()));
}

#[test]
fn a_marker_that_fills_rows_does_not_stop_the_caret() {
    let narrow = Geometry { width: 8, rows: 10 };
    for (script, seen) in [
        ("ab<nl><11 lines>c<up>", "ab\n|[paste #1 +11 lines]c"),
        ("ab<nl><11 lines>c<up><up>", "ab|\n[paste #1 +11 lines]c"),
        ("<11 lines><nl>c<first><down>", "[paste #1 +11 lines]|\nc"),
    ] {
        super::check_in(narrow, script, seen);
    }
}

#[test]
fn the_text_takes_three_tenths_of_the_screen_and_five_rows_at_least() {
    assert_eq!([4, 10, 24, 50].map(max_rows), [5, 5, 7, 15]);
}
