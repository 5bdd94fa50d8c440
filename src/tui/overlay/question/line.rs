//! A line of text.

use ratatui::layout::Rect;

use super::Asked;
use crate::{
    protocol::question::{Answer, QuestionId},
    tui::{
        keys::{Action, Key},
        overlay::{
            Outcome, Overlay, OverlayContext,
            input::LineInput,
            panel::{Panel, hints},
        },
        terminal::Frame,
        text::one_line,
    },
};

/// A question that a line answers.
pub(super) struct LineDialog {
    asked: Asked,
    placeholder: String,
    input: LineInput,
}

impl LineDialog {
    pub fn new(asked: Asked, placeholder: Option<&str>) -> Self {
        Self { asked, placeholder: placeholder.map(one_line).unwrap_or_default(), input: LineInput::default() }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::Submit, "answer"), (Action::SelectCancel, "cancel")];
        let mut line = self.asked.countdown(context);
        line.spans.extend(hints(context.keymap, &actions, width, context.theme).spans);
        Panel { hints: line, ..Panel::default() }
    }
}

impl Overlay for LineDialog {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        if context.keymap.is(key, Action::SelectCancel) {
            return self.asked.answer(Answer::Cancelled);
        }
        if context.keymap.is(key, Action::Submit) {
            return self.asked.answer(Answer::Value(self.input.text().to_owned()));
        }
        self.input.on_key(key, context.keymap);
        Outcome::stay()
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        self.input.paste(text);
        Outcome::stay()
    }

    fn is_moving(&self) -> bool {
        self.asked.question.timeout_ms.is_some()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        let asked = self.asked.rows("", width, context).len();
        self.panel(width, context).height(asked + 1).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let asked = self.asked.rows("", area.width, context);
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            // The line has the last row, and what is asked the rest.
            let above = body.height.saturating_sub(1);
            (0..above).zip(&asked).for_each(|(row, line)| frame.line(body, row, line));
            let row = above.min(u16::try_from(asked.len()).unwrap_or(u16::MAX));
            let place = Rect::new(body.x, body.y + row, body.width, 1);
            self.input.draw(frame, place, "> ", &self.placeholder, context.theme);
        });
    }

    fn question(&self) -> Option<&QuestionId> {
        Some(self.asked.id())
    }
}
