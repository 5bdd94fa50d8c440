//! Keys, pastes, the mouse.

use crate::tui::{
    effect::Effect,
    keys::{Action, Key},
    model::Model,
    terminal::{InputEvent, Mouse, MouseKind},
    view,
};

impl Model {
    pub(super) fn input(&mut self, event: InputEvent) -> Vec<Effect> {
        match event {
            InputEvent::Key(key) => self.key(key),
            InputEvent::Paste(text) => self.pasted(&text),
            InputEvent::Mouse(mouse) => self.mouse(mouse),
            InputEvent::Resize { columns, rows } => {
                self.size = (columns.max(1), rows.max(1));
                Vec::new()
            }
            InputEvent::Focus(focus) => {
                self.focused = focus;
                Vec::new()
            }
            InputEvent::Report(report) => {
                if self.learn(report) {
                    vec![Effect::Retheme]
                } else {
                    Vec::new()
                }
            }
            InputEvent::Resumed => Vec::new(),
            InputEvent::Closed => vec![Effect::HangUp],
        }
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        if self.keymap.is(key, Action::Suspend) {
            return vec![Effect::Suspend];
        }
        if !self.overlays.is_empty() {
            return self.tell_overlay(|overlay, context| overlay.on_key(key, context));
        }
        if self.search.is_some() {
            return self.search_key(key);
        }
        self.prompt_key(key)
    }

    fn pasted(&mut self, text: &str) -> Vec<Effect> {
        if !self.overlays.is_empty() {
            return self.tell_overlay(|overlay, context| overlay.on_paste(text, context));
        }
        if self.search.is_some() {
            return self.search_paste(text);
        }
        self.editor.paste(text);
        self.edited_by_hand()
    }

    fn mouse(&mut self, mouse: Mouse) -> Vec<Effect> {
        let lines = isize::try_from(self.settings.wheel_lines).unwrap_or(3);
        match mouse.kind {
            MouseKind::WheelUp => self.scroll(-lines),
            MouseKind::WheelDown => self.scroll(lines),
            _ => {}
        }
        Vec::new()
    }

    /// Moves the view of the conversation by lines.
    pub(super) fn scroll(&mut self, lines: isize) {
        view::with_layout(self, |transcript, rows, context| transcript.scroll_by(lines, rows, context));
    }
}
