//! Sections that parts of the program add to the system prompt: what the sandbox allows, that plans are being made,
//! on which machine commands run.
//!
//! A part that has something to say implements [`SectionSource`]. It is asked at the beginning of every turn, and only
//! what changed since the turn before is stored and sent: a source whose text changes from turn to turn spoils the
//! provider's cache.

use std::{borrow::Cow, fmt};

/// Names of the prompt's own sections.
pub const OWN_SECTIONS: [&str; 8] =
    ["preamble", "tools", "rules", "docs", "addendum", "project_context", "skills", "cwd"];

/// The name of an added section: a lower-case letter, then lower-case letters, digits, `_` and `-`; none of
/// [`OWN_SECTIONS`]. It becomes the tag around the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SectionName(Cow<'static, str>);

impl SectionName {
    /// A name in the program itself. In a constant, a bad one does not compile:
    ///
    /// ```
    /// use troupe::protocol::section::SectionName;
    /// const NAME: SectionName = SectionName::of("plan_mode");
    /// ```
    ///
    /// # Panics
    /// The name is none.
    #[must_use]
    pub const fn of(name: &'static str) -> Self {
        assert!(is_name(name), "a section's name is lower-case letters, digits, _ and -, and none of the prompt's own");
        Self(Cow::Borrowed(name))
    }

    /// A name from elsewhere; none when it is no name for an added section.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        is_name(name).then(|| Self(Cow::Owned(name.to_owned())))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut at = 1;
    while at < bytes.len() {
        if !(bytes[at].is_ascii_lowercase() || bytes[at].is_ascii_digit() || matches!(bytes[at], b'_' | b'-')) {
            return false;
        }
        at += 1;
    }
    let mut own = 0;
    while own < OWN_SECTIONS.len() {
        if same(OWN_SECTIONS[own].as_bytes(), bytes) {
            return false;
        }
        own += 1;
    }
    true
}

/// `a == b`, which constants cannot say.
const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// What a source may look at.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SectionMoment<'a> {
    /// Names of the tools that the model will have, in order.
    pub tools: &'a [&'a str],
}

impl<'a> SectionMoment<'a> {
    /// The moment with these active tools.
    #[must_use]
    pub fn new(tools: &'a [&'a str]) -> Self {
        Self { tools }
    }

    /// Whether the model has one of these tools.
    #[must_use]
    pub fn has_any(&self, names: &[&str]) -> bool {
        self.tools.iter().any(|tool| names.contains(tool))
    }
}

/// A part of the program with something to tell the model.
pub trait SectionSource: Send + Sync {
    /// The section's name, always the same.
    fn name(&self) -> SectionName;

    /// The text as things stand, without the tags; none takes the section back. Called by an actor at the beginning
    /// of a turn, so it answers from memory: no files, no locks that are held for long.
    fn text(&self, moment: &SectionMoment<'_>) -> Option<String>;
}

/// A section that says the same all the time.
#[derive(Clone, Debug)]
pub struct FixedSection {
    name: SectionName,
    text: String,
}

impl FixedSection {
    /// A section with this text.
    #[must_use]
    pub fn new(name: SectionName, text: impl Into<String>) -> Self {
        Self { name, text: text.into() }
    }
}

impl SectionSource for FixedSection {
    fn name(&self) -> SectionName {
        self.name.clone()
    }

    fn text(&self, _: &SectionMoment<'_>) -> Option<String> {
        Some(self.text.clone())
    }
}

/// A section as it is stored and sent: the text between tags of its name.
#[must_use]
pub fn tagged(name: &str, text: &str) -> String {
    format!("<{name}>\n{text}\n</{name}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tags_and_none_of_the_prompts_own() {
        for name in ["plan_mode", "ssh", "a", "x-2_b"] {
            assert_eq!(SectionName::parse(name).unwrap().to_string(), name);
        }
        for name in ["", "2x", "-a", "Plan", "a b", "a>", "é", "preamble", "cwd", "project_context"] {
            assert_eq!(SectionName::parse(name), None, "{name}");
        }
    }
}
