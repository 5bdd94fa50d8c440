//! Text to be read: it is scrolled and left.

use std::cell::{Cell, RefCell};

use ratatui::layout::Rect;

use super::{
    Outcome, Overlay, OverlayContext,
    panel::{Panel, hints, title},
};
use crate::tui::{
    keys::{Action, Key},
    terminal::Frame,
    text::{StyledLine, one_line},
    theme::Theme,
};

/// Makes the rows of a text for a width.
type Rows = dyn Fn(usize, &Theme) -> Vec<StyledLine> + Send;

/// A text with a title.
pub struct TextView {
    title: String,
    rows: Box<Rows>,
    top: usize,
    /// The rows for the width and the theme that they were made for last.
    made: RefCell<Option<(usize, String, Vec<StyledLine>)>>,
    /// Rows that are seen.
    seen: Cell<usize>,
}

impl TextView {
    /// A text whose rows `rows` makes, such as markdown or a difference.
    #[must_use]
    pub fn new(title: impl Into<String>, rows: impl Fn(usize, &Theme) -> Vec<StyledLine> + Send + 'static) -> Self {
        Self { title: title.into(), rows: Box::new(rows), top: 0, made: RefCell::default(), seen: Cell::new(1) }
    }

    /// A text without a style.
    #[must_use]
    pub fn plain(title: impl Into<String>, text: String) -> Self {
        Self::new(title, move |width, theme| {
            crate::tui::text::plain(&text, width, theme.fg(crate::tui::theme::ThemeColor::Text))
        })
    }

    /// The number of rows in `width` columns.
    fn count(&self, width: u16, theme: &Theme) -> usize {
        let width = usize::from(width);
        let mut made = self.made.borrow_mut();
        let is_fresh = made.as_ref().is_some_and(|(of, name, _)| *of == width && *name == theme.name);
        if !is_fresh {
            *made = Some((width, theme.name.clone(), (self.rows)(width, theme)));
        }
        made.as_ref().map_or(0, |(.., rows)| rows.len())
    }

    /// The last row that can be the first one that is seen.
    fn last_top(&self) -> usize {
        let rows = self.made.borrow().as_ref().map_or(0, |(.., rows)| rows.len());
        rows.saturating_sub(self.seen.get())
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions =
            [(Action::SelectCancel, "close"), (Action::SelectDown, "scroll"), (Action::SelectPageDown, "page")];
        Panel {
            title: title(one_line(&self.title), context.theme),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for TextView {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let page = self.seen.get().max(2) - 1;
        let is = |action| context.keymap.is(key, action);
        if is(Action::SelectCancel) || is(Action::SelectConfirm) {
            return Outcome::close();
        }
        let top = if is(Action::SelectUp) {
            self.top.saturating_sub(1)
        } else if is(Action::SelectDown) {
            self.top + 1
        } else if is(Action::SelectPageUp) {
            self.top.saturating_sub(page)
        } else if is(Action::SelectPageDown) {
            self.top + page
        } else if is(Action::CursorLineStart) || is(Action::ScrollTop) {
            0
        } else if is(Action::CursorLineEnd) || is(Action::ScrollBottom) {
            usize::MAX
        } else {
            self.top
        };
        self.top = top.min(self.last_top());
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.panel(width, context).height(self.count(width, context.theme)).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let count = self.count(area.width, context.theme);
        let mut panel = self.panel(area.width, context);
        let rows = panel.body_rows(area.height);
        self.seen.set(rows.max(1));
        let top = self.top.min(self.last_top());
        if count > rows {
            let share = format!("  {}–{} of {count}", top + 1, (top + rows).min(count));
            panel.title.push(share, context.theme.fg(crate::tui::theme::ThemeColor::Dim));
        }
        panel.draw(frame, area, context.theme, |frame, body| {
            let made = self.made.borrow();
            let rows = made.iter().flat_map(|(.., rows)| rows.iter().skip(top).take(rows.len()));
            (0..body.height).zip(rows).for_each(|(row, line)| frame.line(body, row, line));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::{World, told};

    fn first_row(pressed: &str) -> String {
        let world = World::default();
        let text = (1..=20).map(|n| format!("line {n}\n")).collect();
        let mut view = TextView::plain("Text", text);
        world.draw(&view, 30, 9);
        world.press(&mut view, pressed);
        world.draw(&view, 30, 9).lines().nth(2).unwrap_or_default().to_owned()
    }

    #[test]
    fn keys_scroll_and_stop_at_the_ends() {
        for (pressed, expected) in [
            ("", "line 1"),
            ("down down", "line 3"),
            ("down down up", "line 2"),
            ("up", "line 1"),
            ("pagedown", "line 5"),
            ("pagedown pageup", "line 1"),
            ("pagedown pagedown pagedown pagedown pagedown", "line 16"),
            ("end", "line 16"),
            ("end home", "line 1"),
        ] {
            assert_eq!(first_row(pressed), expected, "{pressed}");
        }
    }

    #[test]
    fn it_takes_the_room_that_it_needs_and_is_left() {
        let world = World::default();
        let mut view = TextView::plain("Text", "one\u{1b}[2J\ntwo".into());
        assert_eq!(world.draw(&view, 20, 12).lines().nth(2), Some("one<U+001B>[2J"));
        assert_eq!(view.height(20, 12, &world.context()), 6);
        assert_eq!(view.height(20, 4, &world.context()), 4);
        assert_eq!(told(&world.press(&mut view, "escape")), "close");
    }
}
