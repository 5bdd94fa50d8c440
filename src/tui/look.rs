//! Which theme the screen has: what the settings say, on what the terminal says of its colours.

use std::sync::Arc;

use super::{
    terminal::Report,
    theme::{Appearance, ColorLevel, Stamp, TerminalColors, Theme, ThemeChoice, Themes},
};
use crate::actors::shared::AgentShared;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// The themes that there are.
    pub themes: Arc<Themes>,
    /// A theme that is tried out, instead of what the settings say.
    pub tried: Option<String>,
    /// What the terminal said of its colours.
    pub colors: TerminalColors,
    /// The variable `COLORFGBG`.
    pub colorfgbg: Option<String>,
    /// How many colours the terminal has.
    pub level: ColorLevel,
}

impl Look {
    /// Looks for the themes that an agent's project, packages and user bring, instead of those before. Reads their files.
    /// Gives what is wrong with them.
    pub fn find(&mut self, shared: &AgentShared) -> Vec<String> {
        let found = Themes::find(&shared.config.resources.theme_roots());
        self.themes = Arc::new(found.value);
        found.warnings.iter().map(ToString::to_string).collect()
    }

    /// Takes what the terminal says of itself; true when it may look different now.
    pub fn learn(&mut self, report: &Report) -> bool {
        match *report {
            Report::Foreground(color) => self.colors.foreground = Some(color),
            Report::Background(color) => self.colors.background = Some(color),
            Report::Palette(index, color) => match self.colors.palette.get_mut(usize::from(index)) {
                Some(place) => *place = Some(color),
                None => return false,
            },
            Report::Appearance(dark) => self.colors.prefers_dark = Some(dark),
            _ => return false,
        }
        true
    }

    /// What the file of the theme is now that the setting means; none where it has no file.
    #[must_use]
    pub fn stamp(&self, setting: &str) -> Option<Stamp> {
        self.themes.stamp(&self.name(setting))
    }

    fn name(&self, setting: &str) -> String {
        let choice = ThemeChoice::of_setting(setting);
        self.tried.clone().unwrap_or_else(|| choice.name(self.appearance()).to_owned())
    }

    fn appearance(&self) -> Appearance {
        self.colors.appearance(self.colorfgbg.as_deref())
    }

    /// The theme that the setting means. Reads its file, where it has one.
    ///
    /// # Errors
    /// There is no such theme, or its file is not valid; with one that can be used in its place.
    pub fn theme(&self, setting: &str) -> Result<Theme, (String, Theme)> {
        let appearance = self.appearance();
        match self.themes.load(&self.name(setting), &self.colors, appearance) {
            Ok(theme) => Ok(theme.lowered(self.level)),
            Err(error) => {
                let system = Theme::system(&self.colors, appearance).lowered(self.level);
                Err((error.to_string(), system))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_themes_follows_the_ground() {
        let mut look = Look::default();
        let name = |look: &Look, setting| look.theme(setting).map(|theme| theme.name).unwrap();
        assert_eq!(name(&look, "light/dark"), "dark");
        assert!(look.learn(&Report::Background([250, 250, 250])));
        assert_eq!(name(&look, "light/dark"), "light");
        assert_eq!(look.theme("system").unwrap().appearance, Appearance::Light);
        let (error, other) = look.theme("nowhere").unwrap_err();
        assert!(error.contains("nowhere"), "{error}");
        assert_eq!(other.name, "system");
    }
}
