//! A row of the list of settings.

use serde_json::Value;

use super::{table::Listed, value};
use crate::{
    store::settings::{Settings, ValueSource},
    tui::{
        overlay::{
            list::{Item, Look},
            panel::between,
        },
        text::{StyledLine, one_line},
        theme::ThemeColor,
    },
};

/// A setting with its value.
pub struct Row {
    /// Which setting.
    pub listed: &'static Listed,
    /// The value in force; none: the default.
    pub value: Option<Value>,
    /// Where it comes from, as far as that is known.
    pub source: Option<ValueSource>,
    text: String,
}

impl Row {
    /// The setting with what is in force.
    pub fn new(listed: &'static Listed, in_force: &Value) -> Self {
        let text = format!("{} {}", listed.name, listed.key);
        let mut row = Self { listed, value: None, source: None, text };
        row.take_in(in_force, None);
        row
    }

    /// Other values are in force; `files` say where they come from.
    pub fn take_in(&mut self, in_force: &Value, files: Option<&Settings>) {
        let path = self.listed.path();
        let value = path.iter().try_fold(in_force, |value, key| value.get(key));
        self.value = value.filter(|value| !value.is_null()).cloned();
        if let Some(files) = files {
            let from_files = files.get(&path).filter(|value| !value.is_null());
            self.source = match (&self.value, from_files) {
                (None, _) => None,
                (Some(value), Some(known)) if value == known => files.source_of(&path),
                // The files say otherwise: somebody wants it so for this run.
                (Some(_), _) => Some(ValueSource::Run),
            };
        }
    }

    /// Its key.
    pub fn key(&self) -> &'static str {
        self.listed.key
    }

    /// The default, in words.
    pub fn default(&self) -> &'static str {
        self.listed.setting().map_or("", |setting| setting.default)
    }

    /// What it does, and its key.
    pub fn about(&self) -> String {
        format!("{} ({})", self.listed.about, self.key())
    }

    /// Where its value comes from, in words.
    pub fn origin(&self) -> String {
        let default = self.default().replace('`', "");
        match self.source {
            Some(ValueSource::User) => format!("From your settings. Default: {default}"),
            Some(ValueSource::Project) => {
                "The project's settings say so: that counts here, whatever yours say".to_owned()
            }
            Some(ValueSource::Run) => "This run wants it so, whatever the files say".to_owned(),
            None => format!("Default: {default}"),
        }
    }
}

impl Item for Row {
    fn text(&self) -> &str {
        &self.text
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let left = StyledLine::of(self.listed.name, look.name());
        let text = one_line(&value::shown(self.value.as_ref(), self.default()));
        let color = if self.value.is_some() { ThemeColor::Accent } else { ThemeColor::Muted };
        let mut right = StyledLine::default();
        match self.source {
            Some(ValueSource::Project) => right.push("project  ", look.theme.fg(ThemeColor::Warning)),
            Some(ValueSource::Run) => right.push("this run  ", look.theme.fg(ThemeColor::Warning)),
            _ => {}
        }
        let shown: String = text.chars().take(look.width / 3).collect();
        right.push(shown, look.theme.fg(color));
        between(&left, &right, look.width)
    }
}
