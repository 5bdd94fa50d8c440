//! One line of text that is being written: a search, a name, an answer.

use ratatui::layout::{Position, Rect};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::tui::{
    editor::{Editor, EditorAction, Geometry},
    keys::{Action, Key, Keymap},
    terminal::Frame,
    text::{StyledLine, one_line, width_of},
    theme::{Theme, ThemeColor},
};

/// A line has no rows: nothing that is done to it asks for the room.
const ROOM: Geometry = Geometry { width: u16::MAX, rows: 1 };

/// The line: the editor's text, kept on one line.
#[derive(Clone, Debug, Default)]
pub struct LineInput {
    editor: Editor,
}

impl LineInput {
    /// A line to begin with; the caret is at its end.
    #[must_use]
    pub fn with_text(text: &str) -> Self {
        let mut input = Self::default();
        input.editor.set_text(&flat(text));
        input
    }

    /// What is written.
    #[must_use]
    pub fn text(&self) -> &str {
        self.editor.draft()
    }

    /// Whether nothing is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.editor.is_empty()
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.editor.clear();
    }

    /// A key that types or edits is taken; whether it was one.
    pub fn on_key(&mut self, key: Key, keymap: &Keymap) -> bool {
        let action = keymap.actions(key).find_map(editing);
        match (action, key.typed()) {
            (Some(action), _) => self.editor.act(action, ROOM),
            (None, Some(character)) => self.editor.type_char(character),
            (None, None) => return false,
        }
        true
    }

    /// Inserts what was pasted; line ends become blanks.
    pub fn paste(&mut self, text: &str) {
        self.editor.insert(&flat(text.trim()));
    }

    /// Draws it into the first row of `area` behind `prompt`, with the cursor. An empty line shows `placeholder`.
    pub fn draw(&self, frame: &mut Frame, area: Rect, prompt: &str, placeholder: &str, theme: &Theme) {
        let mut line = StyledLine::of(prompt.to_owned(), theme.fg(ThemeColor::Accent));
        let room = usize::from(area.width).saturating_sub(width_of(prompt) + 1);
        let (before, behind) = self.text().split_at(self.editor.caret());
        let before = one_line(before);
        let shown = end_of(&before, room);
        line.push(shown.to_owned(), theme.fg(ThemeColor::Text));
        match self.is_empty() {
            true => line.push(placeholder.to_owned(), theme.fg(ThemeColor::Dim)),
            false => line.push(one_line(behind), theme.fg(ThemeColor::Text)),
        }
        frame.line(area, 0, &line);
        let column = u16::try_from(width_of(prompt) + width_of(shown)).unwrap_or(u16::MAX);
        if area.height > 0 && column < area.width {
            frame.cursor = Some(Position::new(area.x + column, area.y));
        }
    }
}

/// A text without line ends and tabs.
fn flat(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ")
}

/// The end of a text that fits into `columns`.
fn end_of(text: &str, columns: usize) -> &str {
    let mut left = columns;
    let fits = |(_, grapheme): &(usize, &str)| {
        let width = width_of(grapheme);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    let start = text.grapheme_indices(true).rev().take_while(fits).last();
    start.map_or("", |(start, _)| &text[start..])
}

/// What an action does to a line.
pub(super) fn editing(action: Action) -> Option<EditorAction> {
    Some(match action {
        Action::CursorLeft => EditorAction::CursorLeft,
        Action::CursorRight => EditorAction::CursorRight,
        Action::CursorWordLeft => EditorAction::CursorWordLeft,
        Action::CursorWordRight => EditorAction::CursorWordRight,
        Action::CursorLineStart => EditorAction::CursorLineStart,
        Action::CursorLineEnd => EditorAction::CursorLineEnd,
        Action::DeleteCharBackward => EditorAction::DeleteCharBackward,
        Action::DeleteCharForward => EditorAction::DeleteCharForward,
        Action::DeleteWordBackward => EditorAction::DeleteWordBackward,
        Action::DeleteWordForward => EditorAction::DeleteWordForward,
        Action::DeleteToLineStart => EditorAction::DeleteToLineStart,
        Action::DeleteToLineEnd => EditorAction::DeleteToLineEnd,
        Action::Yank => EditorAction::Yank,
        Action::YankPop => EditorAction::YankPop,
        Action::Undo => EditorAction::Undo,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::{keys, picture};

    #[test]
    fn keys_edit_the_line() {
        for (pressed, expected) in [
            ("abc", "abc"),
            ("abc left X", "abXc"),
            ("abc ctrl+a X", "Xabc"),
            ("abc home X end Y", "XabcY"),
            ("abc backspace", "ab"),
            ("one space two ctrl+w", "one "),
            ("one space two ctrl+u", ""),
            ("abc left left ctrl+k", "a"),
            ("abc ctrl+u x ctrl+y", "xabc"),
            ("日本 left backspace", "本"),
            ("up down enter tab", ""),
        ] {
            let mut input = LineInput::default();
            for key in keys(pressed) {
                input.on_key(key, &Keymap::default());
            }
            assert_eq!(input.text(), expected, "{pressed}");
        }
    }

    #[test]
    fn what_is_pasted_becomes_one_line() {
        let mut input = LineInput::with_text("ab");
        input.paste("c\nd\te\n");
        assert_eq!(input.text(), "abc d e");
    }

    #[test]
    fn a_line_that_is_too_long_shows_its_end_and_the_cursor() {
        let mut frame = Frame::new(8, 1);
        let input = LineInput::with_text("0123456789");
        input.draw(&mut frame, Rect::new(0, 0, 8, 1), "> ", "", &Theme::plain());
        assert_eq!(picture(&frame), "> 56789");
        assert_eq!(frame.cursor, Some(Position::new(7, 0)));
    }

    #[test]
    fn fc_064_what_a_terminal_obeys_is_shown_by_its_code() {
        let mut frame = Frame::new(20, 1);
        LineInput::with_text("a\u{1b}[2J\u{202e}b").draw(&mut frame, Rect::new(0, 0, 20, 1), "", "", &Theme::plain());
        assert_eq!(picture(&frame), "a[2J<U+202E>b");
    }
}
