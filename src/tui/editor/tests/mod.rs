//! Keys in, text and caret out.

mod keys;
mod layout;
mod pasting;
mod properties;
mod recall;
mod vim;

use super::{Editor, EditorAction, Geometry};

/// The room of most tests.
const ROOM: Geometry = Geometry { width: 40, rows: 10 };

/// The action that scripts call `name`.
fn action(name: &str) -> Option<EditorAction> {
    use EditorAction as A;
    Some(match name {
        "up" => A::CursorUp,
        "down" => A::CursorDown,
        "older" => A::HistoryPrevious,
        "newer" => A::HistoryNext,
        "left" => A::CursorLeft,
        "right" => A::CursorRight,
        "word-left" => A::CursorWordLeft,
        "word-right" => A::CursorWordRight,
        "home" => A::CursorLineStart,
        "end" => A::CursorLineEnd,
        "first" => A::CursorTextStart,
        "last" => A::CursorTextEnd,
        "jump" => A::JumpForward,
        "jump-back" => A::JumpBackward,
        "page-up" => A::PageUp,
        "page-down" => A::PageDown,
        "bs" => A::DeleteCharBackward,
        "del" => A::DeleteCharForward,
        "word-bs" => A::DeleteWordBackward,
        "word-del" => A::DeleteWordForward,
        "to-start" => A::DeleteToLineStart,
        "to-end" => A::DeleteToLineEnd,
        "yank" => A::Yank,
        "pop" => A::YankPop,
        "undo" => A::Undo,
        "redo" => A::Redo,
        "nl" => A::NewLine,
        _ => return None,
    })
}

/// Plays a script: characters are typed, `<name>` is an action, `<20 lines>` and `<paste text>` are pastes, `<send>`
/// takes the text, `<clear>` clears it.
fn play(editor: &mut Editor, script: &str, room: Geometry) {
    let mut rest = script;
    while let Some(character) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|name| name.split_once('>'));
        match named {
            Some((name, behind)) if step(editor, name, room) => rest = behind,
            _ => {
                editor.type_char(character);
                rest = &rest[character.len_utf8()..];
            }
        }
    }
}

/// Whether there is such a step: then it is done.
fn step(editor: &mut Editor, name: &str, room: Geometry) -> bool {
    match (action(name), name.split_once(' '), name) {
        (Some(action), ..) => editor.act(action, room),
        (_, Some((count, "lines")), _) => editor.paste(&lines(count.parse().unwrap())),
        (_, Some(("paste", text)), _) => editor.paste(text),
        (.., "send") => drop(editor.take()),
        (.., "clear") => editor.clear(),
        _ => return false,
    }
    true
}

/// So many lines.
fn lines(count: usize) -> String {
    (1..=count).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n")
}

/// The draft with the caret as `|`.
fn seen(editor: &Editor) -> String {
    let (before, behind) = editor.draft().split_at(editor.caret());
    format!("{before}|{behind}")
}

#[track_caller]
fn check_in(room: Geometry, script: &str, expected: &str) {
    let mut editor = Editor::new();
    play(&mut editor, script, room);
    assert_eq!(seen(&editor), expected, "{script}");
}

#[track_caller]
fn check(script: &str, expected: &str) {
    check_in(ROOM, script, expected);
}
