//! Flags of the command line that only an extension knows: `--name`, `--name value`.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

/// A flag that an extension has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagDeclaration {
    /// Its name without the dashes.
    pub name: String,
    /// What it does, for `--help`.
    pub description: String,
    /// What it takes, and what counts without it.
    pub kind: FlagKind,
}

/// What a flag takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagKind {
    /// Nothing: it is given or not.
    Switch,
    /// Text.
    Text {
        /// What counts when it is not given.
        default: Option<String>,
    },
}

/// The value of a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// Whether it was given.
    Switch(bool),
    /// The text.
    Text(String),
}

impl FlagDeclaration {
    /// A flag without a value.
    #[must_use]
    pub fn switch(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), kind: FlagKind::Switch }
    }

    /// A flag with a text.
    #[must_use]
    pub fn text(name: impl Into<String>, description: impl Into<String>, default: Option<&str>) -> Self {
        let kind = FlagKind::Text { default: default.map(str::to_owned) };
        Self { name: name.into(), description: description.into(), kind }
    }

    /// The value when `given` stood on the command line: nothing of the flag, the flag alone, or the flag with a text.
    ///
    /// # Errors
    /// A switch with a text, or a flag for text without one.
    pub fn read(&self, given: Option<Option<&str>>) -> Result<Option<FlagValue>, FlagError> {
        let name = || self.name.clone();
        match (&self.kind, given) {
            (FlagKind::Switch, None) => Ok(Some(FlagValue::Switch(false))),
            (FlagKind::Switch, Some(None)) => Ok(Some(FlagValue::Switch(true))),
            (FlagKind::Switch, Some(Some(value))) => {
                Err(FlagError::Unexpected { name: name(), value: value.to_owned() })
            }
            (FlagKind::Text { .. }, Some(Some(value))) => Ok(Some(FlagValue::Text(value.to_owned()))),
            (FlagKind::Text { .. }, Some(None)) => Err(FlagError::Missing { name: name() }),
            (FlagKind::Text { default }, None) => Ok(default.clone().map(FlagValue::Text)),
        }
    }
}

/// A flag was not given as it must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// A switch with a text.
    #[error("--{name} takes no value, and \"{value}\" follows it. Put messages before it, or behind --.")]
    Unexpected {
        /// The flag.
        name: String,
        /// The text.
        value: String,
    },
    /// A flag for text without one.
    #[error("--{name} requires a value.")]
    Missing {
        /// The flag.
        name: String,
    },
}

/// The values of all flags of a process, each for the extension that declared it. Clones are handles of the same ones.
#[derive(Clone, Debug, Default)]
pub struct FlagValues(Arc<RwLock<HashMap<(String, String), FlagValue>>>);

impl FlagValues {
    /// Sets the value of a flag of `extension`.
    pub fn set(&self, extension: &str, name: &str, value: FlagValue) {
        let mut values = self.0.write().unwrap_or_else(PoisonError::into_inner);
        values.insert((extension.to_owned(), name.to_owned()), value);
    }

    /// The value of a flag of `extension`; none when it declared none of that name, or one without a value.
    #[must_use]
    pub fn get(&self, extension: &str, name: &str) -> Option<FlagValue> {
        let values = self.0.read().unwrap_or_else(PoisonError::into_inner);
        values.get(&(extension.to_owned(), name.to_owned())).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_takes_what_it_declares_and_nothing_else() {
        let (switch, text) = (FlagDeclaration::switch("s", ""), FlagDeclaration::text("t", "", None));
        let with_default = FlagDeclaration::text("t", "", Some("d"));
        let word = |text: &str| Some(FlagValue::Text(text.to_owned()));
        let table = [
            (&switch, None, Ok(Some(FlagValue::Switch(false)))),
            (&switch, Some(None), Ok(Some(FlagValue::Switch(true)))),
            (&switch, Some(Some("x")), Err(FlagError::Unexpected { name: "s".into(), value: "x".into() })),
            (&text, None, Ok(None)),
            (&text, Some(Some("x")), Ok(word("x"))),
            (&text, Some(None), Err(FlagError::Missing { name: "t".into() })),
            (&with_default, None, Ok(word("d"))),
            (&with_default, Some(Some("")), Ok(word(""))),
        ];
        for (flag, given, wanted) in table {
            assert_eq!(flag.read(given), wanted, "{flag:?} {given:?}");
        }
    }
}
