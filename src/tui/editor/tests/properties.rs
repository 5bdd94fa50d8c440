//! Whatever is done, the laws hold.

use proptest::prelude::*;

use super::{Editor, EditorAction, Geometry, lines};
use crate::tui::editor::{rows::Rows, wrap::wrap};

const ACTIONS: [EditorAction; 27] = {
    use EditorAction as A;
    [
        A::CursorUp,
        A::CursorDown,
        A::HistoryPrevious,
        A::HistoryNext,
        A::CursorLeft,
        A::CursorRight,
        A::CursorWordLeft,
        A::CursorWordRight,
        A::CursorLineStart,
        A::CursorLineEnd,
        A::CursorTextStart,
        A::CursorTextEnd,
        A::JumpForward,
        A::JumpBackward,
        A::PageUp,
        A::PageDown,
        A::DeleteCharBackward,
        A::DeleteCharForward,
        A::DeleteWordBackward,
        A::DeleteWordForward,
        A::DeleteToLineStart,
        A::DeleteToLineEnd,
        A::Yank,
        A::YankPop,
        A::Undo,
        A::Redo,
        A::NewLine,
    ]
};

/// Pieces that join, widen and part in odd ways.
const PIECES: [&str; 16] = [
    "a",
    "bc ",
    " ",
    "é",
    "e\u{301}",
    "\u{301}",
    "日本",
    "👩\u{200d}👧",
    "\u{200d}",
    "🇨",
    "🇭",
    "\t",
    "\u{202e}",
    "नमस्ते",
    "\n",
    ". x",
];

#[derive(Clone, Debug)]
enum Step {
    Act(EditorAction),
    Type(&'static str),
    Paste(&'static str),
    Block,
    Replace(usize, usize, &'static str),
    Prepend(&'static str),
    Clear,
    Send,
}

fn step() -> impl Strategy<Value = Step> {
    let piece = || prop::sample::select(&PIECES[..]);
    prop_oneof![
        12 => prop::sample::select(&ACTIONS[..]).prop_map(Step::Act),
        8 => piece().prop_map(Step::Type),
        2 => piece().prop_map(Step::Paste),
        1 => Just(Step::Block),
        1 => (0..9_usize, 0..9_usize, piece()).prop_map(|(from, to, with)| Step::Replace(from, to, with)),
        1 => piece().prop_map(Step::Prepend),
        1 => Just(Step::Clear),
        1 => Just(Step::Send),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..60)
}

fn take(editor: &mut Editor, step: &Step, room: Geometry) {
    match step {
        Step::Act(action) => editor.act(*action, room),
        Step::Type(text) => text.chars().for_each(|character| editor.type_char(character)),
        Step::Paste(text) => editor.paste(text),
        Step::Block => editor.paste(&lines(12)),
        Step::Replace(from, to, with) => editor.replace_in_line(*from..*to, with),
        Step::Prepend(text) => editor.prepend(text),
        Step::Clear => editor.clear(),
        Step::Send => drop(editor.take()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_caret_is_at_an_edge_and_what_is_kept_of_rows_is_what_they_are(
        steps in steps(), width in 0..12_u16, rows in 0..4_u16,
    ) {
        let room = Geometry { width, rows };
        let mut editor = Editor::new();
        for step in &steps {
            take(&mut editor, step, room);
            prop_assert_eq!(editor.text.edge(editor.caret), editor.caret, "{:?}", editor.text);
            prop_assert_eq!(editor.text.whole(), &editor.text.part(0..editor.text.len()));
            let view = editor.layout(room);
            prop_assert!(usize::from(view.cursor.1) < view.rows.len());
            let mut fresh = Rows::default();
            let breaks = editor.draft().matches('\n').count();
            fresh.changed(0, 0, 0, breaks);
            fresh.refresh(&editor.text, width);
            let first = fresh.row_of(&editor.text, 0);
            let mut row = Some(first);
            while let Some(at) = row {
                prop_assert_eq!(fresh.range(&editor.text, at), editor.rows.borrow().range(&editor.text, at));
                row = fresh.below(at);
                prop_assert_eq!(row, editor.rows.borrow().below(at));
            }
        }
    }

    #[test]
    fn undo_goes_back_to_the_start_and_redo_to_the_end(steps in steps()) {
        let room = Geometry { width: 20, rows: 5 };
        let mut editor = Editor::new();
        editor.set_text("start");
        for step in steps.iter().filter(|step| !matches!(step, Step::Send)) {
            take(&mut editor, step, room);
        }
        let end = editor.text.clone();
        for _ in 0..300 {
            editor.act(EditorAction::Undo, room);
        }
        prop_assert_eq!(editor.draft(), "");
        for _ in 0..300 {
            editor.act(EditorAction::Redo, room);
        }
        // What was undone by the steps themselves is not redone unless nothing came behind.
        if !steps.iter().any(|step| matches!(step, Step::Act(EditorAction::Undo))) {
            prop_assert_eq!(&editor.text, &end);
        }
    }

    #[test]
    fn moves_and_edits_of_plain_text_are_those_of_a_string(
        keys in prop::collection::vec(prop::sample::select(&b"abc \n<>{}"[..]), 0..80),
    ) {
        let room = Geometry { width: 30, rows: 5 };
        let mut editor = Editor::new();
        let mut model = (String::new(), 0_usize);
        for key in keys {
            let (text, at) = &mut model;
            match key {
                b'<' => { editor.act(EditorAction::CursorLeft, room); *at = at.saturating_sub(1); }
                b'>' => { editor.act(EditorAction::CursorRight, room); *at = text.len().min(*at + 1); }
                b'{' => {
                    editor.act(EditorAction::DeleteCharBackward, room);
                    if *at > 0 { *at -= 1; text.remove(*at); }
                }
                b'}' => {
                    editor.act(EditorAction::DeleteCharForward, room);
                    if *at < text.len() { text.remove(*at); }
                }
                key => { editor.type_char(char::from(key)); text.insert(*at, char::from(key)); *at += 1; }
            }
            prop_assert_eq!((editor.draft(), editor.caret()), (text.as_str(), *at));
        }
    }

    #[test]
    fn rows_hold_every_byte_once_and_fit(text in "[a-c 日é\u{301}\u{200b}]{0,40}", columns in 1..10_usize) {
        let mut breaks = Vec::new();
        wrap(&text, columns, 0, &mut breaks);
        prop_assert!(breaks.is_sorted_by(|a, b| a < b));
        for from in &breaks {
            prop_assert!(text.is_char_boundary(*from) && *from > 0 && *from < text.len());
        }
    }
}
