//! Keys, pastes, the mouse.

use crate::tui::{
    effect::Effect,
    keys::{Action, Key},
    model::Model,
    selection::Selection,
    terminal::{InputEvent, Mouse, MouseButton, MouseKind},
    view,
    work::clipboard::Pasted,
};

impl Model {
    pub(super) fn input(&mut self, event: InputEvent) -> Vec<Effect> {
        match event {
            InputEvent::Key(key) => {
                let selected = self.selection.take().filter(Selection::is_something);
                match selected {
                    Some(selection) if self.keymap.is(key, Action::InputCopy) => vec![Effect::Copy(selection.text)],
                    _ => self.key(key),
                }
            }
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
        if let Some(overlay) = self.overlays.last() {
            let scrolls = overlay.leaves_page_keys().then(|| self.page_key(key)).flatten();
            return scrolls.unwrap_or_else(|| self.tell_overlay(|overlay, context| overlay.on_key(key, context)));
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

    /// The clipboard was read.
    pub(super) fn took_from_clipboard(&mut self, pasted: &Pasted) -> Vec<Effect> {
        match pasted {
            Pasted::Text(text) => self.pasted(text),
            Pasted::Picture(path) => self.pasted(&format!("{} ", path.display())),
            Pasted::Nothing(why) => {
                self.flash(why.clone());
                Vec::new()
            }
        }
    }

    fn mouse(&mut self, mouse: Mouse) -> Vec<Effect> {
        let lines = isize::try_from(self.settings.wheel_lines).unwrap_or(3);
        match mouse.kind {
            MouseKind::WheelUp => self.scroll(-lines),
            MouseKind::WheelDown => self.scroll(lines),
            MouseKind::Down(MouseButton::Left) => self.selection = Some(Selection::at(mouse.column, mouse.row)),
            MouseKind::Drag(MouseButton::Left) => {
                if let Some(selection) = &mut self.selection {
                    selection.to = (mouse.column, mouse.row);
                }
            }
            MouseKind::Up(MouseButton::Left) => return self.selected(),
            _ => {}
        }
        Vec::new()
    }

    /// The mouse button came up: what is selected is copied, and stays marked until something else is done.
    fn selected(&mut self) -> Vec<Effect> {
        match self.selection.take().filter(Selection::is_something) {
            Some(selection) if self.settings.copy_on_select && !selection.text.trim().is_empty() => {
                let text = selection.text.clone();
                self.selection = Some(selection);
                self.flash(format!("Copied {} characters", text.chars().count()));
                vec![Effect::Copy(text)]
            }
            selection => {
                self.selection = selection;
                Vec::new()
            }
        }
    }

    /// Moves the view of the conversation by lines.
    pub(super) fn scroll(&mut self, lines: isize) {
        // The text moves away below what was selected of it.
        self.selection = None;
        view::with_view(self, |transcript, rows, context| transcript.scroll_by(lines, rows, context));
    }
}
