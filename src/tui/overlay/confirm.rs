//! A question of the screen itself: yes or no.

use ratatui::layout::Rect;

use super::{
    Outcome, Overlay, OverlayContext,
    panel::{Panel, hints, notes, title},
};
use crate::tui::{
    effect::Effect,
    keys::{Action, Key, KeyCode},
    terminal::Frame,
    theme::ThemeColor,
};

/// Rows of the text at most.
const MOST_ROWS: usize = 12;

/// Asks whether to do something.
pub struct Confirm {
    title: String,
    text: String,
    /// What Enter does, in a word.
    does: &'static str,
    effects: Vec<Effect>,
}

impl Confirm {
    /// Asks `title` with more about it in `text`; on yes, `effects` are wanted.
    #[must_use]
    pub fn new(title: impl Into<String>, text: impl Into<String>, does: &'static str, effects: Vec<Effect>) -> Self {
        Self { title: title.into(), text: text.into(), does, effects }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::SelectConfirm, self.does), (Action::SelectCancel, "leave it")];
        Panel {
            title: title(crate::tui::text::one_line(&self.title), context.theme),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for Confirm {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let says = |character: char| key == Key::plain(KeyCode::Char(character));
        if context.keymap.is(key, Action::SelectConfirm) || says('y') {
            return Outcome::Close(std::mem::take(&mut self.effects));
        }
        if context.keymap.is(key, Action::SelectCancel) || says('n') {
            return Outcome::close();
        }
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        let rows = notes(&self.text, ThemeColor::Text, width, MOST_ROWS, context.theme).len();
        self.panel(width, context).height(rows).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let rows = notes(&self.text, ThemeColor::Text, area.width, MOST_ROWS, context.theme);
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            (0u16..).zip(&rows).for_each(|(row, line)| frame.line(body, row, line));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::{World, told};

    #[test]
    fn only_a_yes_does_it() {
        let world = World::default();
        for (pressed, expected) in
            [("enter", "close Quit"), ("y", "close Quit"), ("n", "close"), ("escape", "close"), ("x down", "stay")]
        {
            let mut confirm = Confirm::new("Sure?", "It is gone then.", "end it", vec![Effect::Quit]);
            assert_eq!(told(&world.press(&mut confirm, pressed)), expected, "{pressed}");
        }
    }

    #[test]
    fn it_says_what_is_asked() {
        let confirm = Confirm::new("Sure?", "It is gone then.", "end it", Vec::new());
        assert_eq!(
            World::default().draw(&confirm, 30, 9),
            format!("{0}\nSure?\nIt is gone then.\nenter end it · escape leave it\n{0}", "─".repeat(30))
        );
    }
}
