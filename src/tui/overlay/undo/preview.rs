//! What would become of the files, and what is to be done.

use std::cell::Cell;

use ratatui::layout::Rect;

use crate::{
    protocol::checkpoint::{FileOutcome, Undo, UndoReport, UndoTarget},
    tui::{
        keys::{Action, Key, Keymap},
        overlay::{
            OverlayContext,
            cursor::Cursor,
            panel::{Panel, hints, title},
        },
        terminal::Frame,
        text::{StyledLine, plain},
        theme::{Theme, ThemeColor},
    },
};

/// What can be done, in words, and how.
type Choice = (&'static str, Undo);

/// The answer to a try, with what can be done.
pub struct Preview {
    text: String,
    choices: Vec<Choice>,
    cursor: Cursor,
    /// The first row of the text that is seen.
    top: usize,
    /// Rows of it that are seen, and that there are.
    seen: Cell<(usize, usize)>,
}

/// What came of a key.
pub enum Decided {
    /// Nothing yet.
    NotYet,
    /// Nothing is to be done.
    Back,
    /// This is to be done.
    Does(Undo),
}

impl Preview {
    /// What `report` says would become of the files for `target`.
    pub fn new(target: UndoTarget, report: &UndoReport) -> Self {
        let ask = Undo { target, ..Undo::default() };
        let is_redo = ask.target == UndoTarget::Redo;
        let mut choices = Vec::new();
        if report.changes() {
            choices.push(("Restore the files", ask.clone()));
        }
        if !is_redo {
            let back = Undo { conversation: true, ..ask.clone() };
            choices.push(("Restore the files, and go back in the conversation", back));
        }
        if report.files.iter().any(|file| file.outcome == FileOutcome::Conflict) {
            let force = Undo { force: true, ..ask };
            choices.push(("Restore also what others changed since", force));
        }
        let mut cursor = Cursor::default();
        cursor.place(0, choices.len(), |_| true);
        Self { text: report.told(), choices, cursor, top: 0, seen: Cell::new((1, 1)) }
    }

    pub fn on_key(&mut self, key: Key, keymap: &Keymap) -> Decided {
        if keymap.is(key, Action::SelectCancel) {
            return Decided::Back;
        }
        if keymap.is(key, Action::SelectConfirm) {
            return self.choices.get(self.cursor.at()).map_or(Decided::Back, |(_, ask)| Decided::Does(ask.clone()));
        }
        let (seen, rows) = self.seen.get();
        if keymap.is(key, Action::SelectPageDown) {
            self.top = (self.top + seen).min(rows.saturating_sub(seen));
        } else if keymap.is(key, Action::SelectPageUp) {
            self.top = self.top.saturating_sub(seen);
        } else {
            self.cursor.on_key(key, keymap, self.choices.len(), |_| true);
        }
        Decided::NotYet
    }

    /// Rows of its body.
    pub fn rows(&self, width: u16) -> usize {
        self.lines(width, &Theme::plain()).len() + self.choices.len()
    }

    fn lines(&self, width: u16, theme: &Theme) -> Vec<StyledLine> {
        let row = |line: &str| {
            let color = match line.trim_start().chars().next() {
                Some('+') => ThemeColor::ToolDiffAdded,
                Some('-') => ThemeColor::ToolDiffRemoved,
                _ => ThemeColor::Text,
            };
            plain(line, usize::from(width), theme.fg(color))
        };
        self.text.lines().flat_map(row).collect()
    }

    pub fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [
            (Action::SelectConfirm, "do it"),
            (Action::SelectCancel, "back"),
            (Action::SelectPageDown, "more of the text"),
        ];
        Panel {
            title: title("What would change", context.theme),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }

    pub fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        let lines = self.lines(area.width, theme);
        let choices = self.choices.len().min(usize::from(area.height));
        let room = usize::from(area.height) - choices;
        self.seen.set((room.max(1), lines.len()));
        let top = self.top.min(lines.len().saturating_sub(room));
        let mut rows: Vec<StyledLine> = lines.into_iter().skip(top).take(room).collect();
        for at in self.cursor.window(choices) {
            let marked = at == self.cursor.at();
            let color = if marked { ThemeColor::Accent } else { ThemeColor::Text };
            let text = format!("{}{}", if marked { "→ " } else { "  " }, self.choices[at].0);
            rows.push(StyledLine::of(text, theme.fg(color)));
        }
        (0u16..).zip(&rows).for_each(|(row, line)| frame.line(area, row, line));
    }
}
