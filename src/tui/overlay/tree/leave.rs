//! Whether what is left behind is to be summarised.

use ratatui::layout::Rect;

use crate::{
    protocol::{EntryId, navigation::Navigate},
    tui::{
        keys::{Action, Key, Keymap},
        overlay::{
            OverlayContext,
            cursor::Cursor,
            input::LineInput,
            panel::{Panel, hints, title},
        },
        terminal::Frame,
        text::StyledLine,
        theme::{Theme, ThemeColor},
    },
};

/// The answers.
const ANSWERS: [&str; 3] = ["No summary", "Summarise", "Summarise with own instructions"];
/// The one that asks for more.
const WITH_INSTRUCTIONS: usize = 2;

/// The question.
pub struct Leave {
    target: EntryId,
    cursor: Cursor,
    /// The instructions that are being written.
    instructions: Option<LineInput>,
}

/// What came of a key.
pub enum Left {
    /// It still asks.
    Asks,
    /// It asks no longer, and everything stays.
    Back,
    /// The conversation goes on there.
    Goes(Navigate),
}

impl Leave {
    /// The question about going on at `target`.
    pub fn new(target: EntryId) -> Self {
        let mut cursor = Cursor::default();
        cursor.place(0, ANSWERS.len(), |_| true);
        Self { target, cursor, instructions: None }
    }

    pub fn on_key(&mut self, key: Key, keymap: &Keymap) -> Left {
        let goes = |summarize, custom_instructions| {
            let target = Some(self.target.clone());
            Left::Goes(Navigate { target, summarize, custom_instructions, ..Navigate::default() })
        };
        if keymap.is(key, Action::SelectCancel) {
            return match self.instructions.take() {
                Some(_) => Left::Asks,
                None => Left::Back,
            };
        }
        if let Some(input) = &mut self.instructions {
            if keymap.is(key, Action::SelectConfirm) {
                return goes(true, Some(input.text().trim().to_owned()).filter(|text| !text.is_empty()));
            }
            input.on_key(key, keymap);
            return Left::Asks;
        }
        if keymap.is(key, Action::SelectConfirm) {
            if self.cursor.at() == WITH_INSTRUCTIONS {
                self.instructions = Some(LineInput::default());
                return Left::Asks;
            }
            return goes(self.cursor.at() > 0, None);
        }
        self.cursor.on_key(key, keymap, ANSWERS.len(), |_| true);
        Left::Asks
    }

    pub fn on_paste(&mut self, text: &str) {
        if let Some(input) = &mut self.instructions {
            input.paste(text);
        }
    }

    /// Rows of its body.
    pub fn rows(&self) -> usize {
        if self.instructions.is_some() { 1 } else { ANSWERS.len() }
    }

    pub fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::SelectConfirm, "go on"), (Action::SelectCancel, "back")];
        Panel {
            title: title("Summarise the branch that is left?", context.theme),
            input: self.instructions.as_ref().map(|input| (input, "what the summary should care about")),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }

    pub fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme) {
        if self.instructions.is_some() {
            return;
        }
        for (row, at) in (0u16..).zip(self.cursor.window(usize::from(area.height))) {
            let marked = at == self.cursor.at();
            let color = if marked { ThemeColor::Accent } else { ThemeColor::Text };
            let text = format!("{}{}", if marked { "→ " } else { "  " }, ANSWERS[at]);
            frame.line(area, row, &StyledLine::of(text, theme.fg(color)));
        }
    }
}
