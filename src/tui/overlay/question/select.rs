//! One of several options.

use std::cell::Cell;

use ratatui::layout::Rect;

use super::Asked;
use crate::{
    protocol::question::{Answer, QuestionId},
    tui::{
        keys::{Action, Key, KeyCode},
        overlay::{
            Outcome, Overlay, OverlayContext,
            cursor::Cursor,
            panel::{Panel, hints},
        },
        terminal::Frame,
        text::{StyledLine, cut, one_line},
        theme::ThemeColor,
    },
};

/// A question with options. What is asked is seen above them; where there is no room for all of it, it scrolls.
pub(super) struct SelectDialog {
    asked: Asked,
    message: String,
    options: Vec<(String, Answer)>,
    cursor: Cursor,
    /// The first row of what is asked that is seen.
    top: usize,
    /// Rows of it that are seen, and that there are.
    seen: Cell<(usize, usize)>,
}

/// How the rows of the body are shared.
struct Shares {
    /// For what is asked.
    asked: usize,
    /// For the line that says that there is more of it.
    more: bool,
    /// For the options.
    options: usize,
}

impl SelectDialog {
    pub fn new(asked: Asked, message: &str, options: Vec<(String, Answer)>) -> Self {
        let mut cursor = Cursor::default();
        cursor.place(0, options.len(), |_| true);
        Self { asked, message: message.to_owned(), options, cursor, top: 0, seen: Cell::new((1, 1)) }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::SelectConfirm, "choose"), (Action::SelectCancel, "cancel")];
        let mut line = self.asked.countdown(context);
        let room = width.saturating_sub(u16::try_from(line.width()).unwrap_or(u16::MAX));
        line.spans.extend(hints(context.keymap, &actions, room, context.theme).spans);
        Panel { hints: line, ..Panel::default() }
    }

    fn shares(&self, asked: usize, rows: usize) -> Shares {
        let options = self.options.len();
        if asked + options <= rows {
            return Shares { asked, more: false, options };
        }
        // Both have at least half of the room, if they need it.
        let options = options.min((rows / 2).max(rows.saturating_sub(asked)).max(1));
        let room = rows - options.min(rows);
        match asked > room {
            true => Shares { asked: room.saturating_sub(1), more: room > 0, options },
            false => Shares { asked: room, more: false, options },
        }
    }

    fn option(&self, at: usize, width: usize, context: &OverlayContext<'_>) -> StyledLine {
        let marked = at == self.cursor.at();
        let theme = context.theme;
        let number = if at < 9 { format!("{}. ", at + 1) } else { String::new() };
        let color = if marked { ThemeColor::Accent } else { ThemeColor::Text };
        let mut line = StyledLine::of(if marked { "→ " } else { "  " }, theme.fg(ThemeColor::Accent));
        line.push(number, theme.fg(ThemeColor::Muted));
        line.push(one_line(&self.options[at].0), theme.fg(color));
        let line = cut(&line, width);
        if marked { line.filled(theme.bg(ThemeColor::SelectedBg)) } else { line }
    }

    fn choose(&self, at: usize) -> Option<Outcome> {
        self.options.get(at).map(|(_, answer)| self.asked.answer(answer.clone()))
    }
}

impl Overlay for SelectDialog {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let is = |action| context.keymap.is(key, action);
        if is(Action::SelectCancel) {
            return self.asked.answer(Answer::Cancelled);
        }
        if is(Action::SelectConfirm) {
            return self.choose(self.cursor.at()).unwrap_or_else(Outcome::stay);
        }
        let (seen, rows) = self.seen.get();
        if rows > seen && (is(Action::SelectPageUp) || is(Action::SelectPageDown)) {
            let top = if is(Action::SelectPageUp) { self.top.saturating_sub(seen) } else { self.top + seen };
            self.top = top.min(rows - seen);
            return Outcome::stay();
        }
        if self.cursor.on_key(key, context.keymap, 5, |_| true) {
            return Outcome::stay();
        }
        let by_letter = |(text, _): &(String, Answer)| {
            let is_yes_or_no = matches!(self.asked.question.dialog, crate::protocol::question::Dialog::Confirm { .. });
            is_yes_or_no && text.chars().next().map(|first| first.to_ascii_lowercase()) == key.typed()
        };
        let at = match key.code {
            KeyCode::Char(digit @ '1'..='9') if key.typed().is_some() => {
                digit.to_digit(10).map(|digit| digit as usize - 1)
            }
            _ => self.options.iter().position(by_letter),
        };
        at.and_then(|at| self.choose(at)).unwrap_or_else(Outcome::stay)
    }

    fn leaves_page_keys(&self) -> bool {
        // What is asked about, such as a change of a file, stands in the conversation above.
        let (seen, rows) = self.seen.get();
        rows <= seen
    }

    fn is_moving(&self) -> bool {
        self.asked.question.timeout_ms.is_some()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        let asked = self.asked.rows(&self.message, width, context).len();
        self.panel(width, context).height(asked + self.options.len()).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let asked = self.asked.rows(&self.message, area.width, context);
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            let shares = self.shares(asked.len(), usize::from(body.height));
            self.seen.set((shares.asked.max(1), asked.len()));
            let top = self.top.min(asked.len().saturating_sub(shares.asked));
            let mut lines: Vec<StyledLine> = asked.iter().skip(top).take(shares.asked).cloned().collect();
            if shares.more {
                let keys = context.keymap.hint(Action::SelectPageDown).unwrap_or_default();
                let shown = format!("… {}–{} of {} lines ({keys})", top + 1, top + shares.asked, asked.len());
                lines.push(StyledLine::of(shown, context.theme.fg(ThemeColor::Warning)));
            }
            let width = usize::from(body.width);
            lines.extend(self.cursor.window(shares.options).map(|at| self.option(at, width, context)));
            (0u16..).zip(&lines).for_each(|(row, line)| frame.line(body, row, line));
        });
    }

    fn question(&self) -> Option<&QuestionId> {
        Some(self.asked.id())
    }
}
