//! The theme in use and the keys, and their files.

use std::time::Duration;

use super::{ScreenMsg, ScreenState};
use crate::{
    protocol::event::NoticeLevel,
    tui::{keys::Keymap, model::Model},
};

/// How often the file of the theme in use is looked at.
const THEME_CHECK: Duration = Duration::from_secs(1);

impl ScreenState {
    /// Looks for themes; gives what is wrong with their files.
    pub(super) fn find_themes(&mut self) -> Vec<String> {
        self.model.look.find(&self.agent.shared)
    }

    /// Reads the keys; gives what is wrong with their file.
    pub(super) fn find_keys(&mut self) -> Vec<String> {
        let (keymap, warnings) = Keymap::load(&self.model.surroundings.keybindings());
        self.model.keymap = keymap;
        warnings.iter().map(ToString::to_string).collect()
    }

    pub(super) fn retheme(&mut self) {
        let Model { look, settings, theme, .. } = &mut *self.model;
        self.theme_file = look.stamp(&settings.theme);
        match look.theme(&settings.theme) {
            Ok(found) => *theme = found,
            Err((error, other)) => {
                *theme = other;
                self.model.transcript.notice(NoticeLevel::Error, error);
            }
        }
        self.look_at_theme_later();
    }

    pub(super) fn look_at_theme_later(&mut self) {
        if self.theme_file.is_some() && !std::mem::replace(&mut self.theme_due, true) {
            self.myself.send_after(THEME_CHECK, || ScreenMsg::LookAtTheme);
        }
    }
}
