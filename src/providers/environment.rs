//! Environment variables as a value, so that nothing below the command line reads the process's own.

use std::{collections::HashMap, sync::Arc};

/// A set of variables. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Environment(Arc<HashMap<String, String>>);

impl Environment {
    /// The process's variables; those that are not UTF-8 are left out.
    #[must_use]
    pub fn of_process() -> Self {
        let variables = std::env::vars_os();
        variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
    }

    /// A variable; an empty one counts as unset.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// All variables.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same with others on top.
    #[must_use]
    pub fn with<'a>(&self, others: impl IntoIterator<Item = (&'a String, &'a String)>) -> Self {
        let mut others = others.into_iter().peekable();
        if others.peek().is_none() {
            return self.clone();
        }
        let mut all = (*self.0).clone();
        all.extend(others.map(|(name, value)| (name.clone(), value.clone())));
        Self(Arc::new(all))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<T: IntoIterator<Item = (N, V)>>(variables: T) -> Self {
        Self(Arc::new(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
    }
}

/// Names alone: values may be keys.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
