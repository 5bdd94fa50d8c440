//! The theme in use, and its file.

use std::time::Duration;

use super::{ScreenMsg, ScreenState};
use crate::{protocol::event::NoticeLevel, tui::model::Model};

/// How often the file of the theme in use is looked at.
const THEME_CHECK: Duration = Duration::from_secs(1);

impl ScreenState {
    pub(super) fn find_themes(&mut self) {
        let warnings = self.model.look.find(&self.agent.shared);
        warnings.iter().for_each(|warning| self.model.said(&format!("Warning: {warning}")));
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
