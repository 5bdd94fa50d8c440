//! Saving settings that a selector changed.

use serde_json::Value;

use crate::tui::{work::WorkDone, working::WorkContext};

/// Settings to be saved in the user's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Save {
    /// What is said when it worked.
    pub told: String,
    /// Names, by their parts, and values; null removes one.
    pub values: Vec<(Vec<String>, Value)>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// What is said: that it worked, or why not. A setting that could not be saved holds for this run all the same.
    pub told: Result<String, String>,
    /// All settings that are in force now.
    pub all: Value,
}

impl Save {
    /// Nothing yet; `told` is said when it worked.
    #[must_use]
    pub fn new(told: impl Into<String>) -> Self {
        Self { told: told.into(), values: Vec::new() }
    }

    /// The same with one more value; null removes the setting.
    #[must_use]
    pub fn set(mut self, path: &[&str], value: Value) -> Self {
        self.values.push((path.iter().map(|part| (*part).to_owned()).collect(), value));
        self
    }

    /// Saves them. Blocks for a moment.
    pub fn run(self, context: &WorkContext) {
        let settings = &context.shared.config.settings;
        let mut told = Ok(self.told);
        for (path, value) in self.values {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            if let Err(error) = settings.set(&path, value) {
                told = Err(error);
            }
        }
        context.send(WorkDone::Saved(Box::new(Saved { told, all: settings.all() })));
    }
}
