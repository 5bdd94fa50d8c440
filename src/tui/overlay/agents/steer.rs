//! A message for an agent.

use ratatui::layout::Rect;

use super::act;
use crate::{
    protocol::{
        Command,
        command::{Input, QueueKind},
        sibling::{SiblingId, SiblingStatus},
    },
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key},
        overlay::{
            Outcome, Overlay, OverlayContext,
            input::LineInput,
            panel::{Panel, hints, title},
        },
        terminal::Frame,
        view::cards::name,
        work::agents::Deed,
    },
};

/// The line that the message is written on.
pub(super) struct SteerLine {
    id: SiblingId,
    title: String,
    input: LineInput,
}

impl SteerLine {
    pub fn new(status: &SiblingStatus) -> Self {
        Self { id: status.id.clone(), title: format!("Message to {}", name(status)), input: LineInput::default() }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::SelectConfirm, "send"), (Action::SelectCancel, "back")];
        Panel {
            title: title(&self.title, context.theme),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for SteerLine {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let is = |action| context.keymap.is(key, action);
        if is(Action::SelectCancel) {
            return Outcome::close();
        }
        if !is(Action::SelectConfirm) {
            self.input.on_key(key, context.keymap);
            return Outcome::stay();
        }
        let text = self.input.text().trim().to_owned();
        if text.is_empty() {
            return Outcome::stay();
        }
        Outcome::Close(if self.id == SiblingId::root() {
            let prompt = Command::Prompt { input: Input::text(text.clone()), behavior: Some(QueueKind::Steer) };
            vec![Effect::Send(prompt, Purpose::Prompt(text))]
        } else {
            act(&self.id, Deed::Steer(text))
        })
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        self.input.paste(text);
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.panel(width, context).height(1).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.input.draw(frame, body, "> ", "what it is to know or to do", context.theme);
        });
    }
}
