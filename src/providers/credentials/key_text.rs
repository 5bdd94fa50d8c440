//! The grammar of keys and header values in `models.json` and `auth.json`.
//!
//! `!command` runs a shell command, whose output is the key. In any other text `$NAME` and `${NAME}` stand for a
//! variable, `$$` for a dollar sign and `$!` for an exclamation mark; a dollar sign before anything else is itself.

use crate::providers::environment::Environment;

/// A key as configuration writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyText {
    /// The output of this shell command.
    Command(String),
    /// Text with variables.
    Template(Vec<Part>),
}

/// A piece of a template.
#[derive(Clone, PartialEq, Eq)]
pub enum Part {
    /// Itself.
    Text(String),
    /// The variable of that name.
    Variable(String),
}

/// Text may be the key itself.
impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(_) => f.write_str("[secret]"),
            Self::Variable(name) => write!(f, "${name}"),
        }
    }
}

impl KeyText {
    /// Reads a key text. There are no errors: what is no variable is text.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if let Some(command) = text.strip_prefix('!') {
            return Self::Command(command.to_owned());
        }
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            plain.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            if let Some(escaped) = after.chars().next().filter(|char| matches!(char, '$' | '!')) {
                plain.push(escaped);
                rest = &after[1..];
            } else if let Some((name, remainder)) = variable(after) {
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(Part::Variable(name.to_owned()));
                rest = remainder;
            } else {
                plain.push('$');
                rest = after;
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Self::Template(parts)
    }

    /// The variables that it names.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let parts = match self {
            Self::Command(_) => &[][..],
            Self::Template(parts) => parts,
        };
        parts.iter().filter_map(|part| match part {
            Part::Variable(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Whether it is an empty text, which is no key.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Command(_) => false,
            Self::Template(parts) => {
                parts.iter().all(|part| matches!(part, Part::Text(text) if text.trim().is_empty()))
            }
        }
    }

    /// The first variable that is not set: then the whole text has no value.
    #[must_use]
    pub fn missing_variable(&self, environment: &Environment) -> Option<&str> {
        self.variables().find(|name| environment.get(name).is_none())
    }
}

/// A template's text; None when a variable is missing.
#[must_use]
pub fn expand(parts: &[Part], environment: &Environment) -> Option<String> {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Variable(name) => out.push_str(environment.get(name)?),
        }
    }
    Some(out)
}

/// A literal key in the key grammar: it expands to itself.
#[must_use]
pub fn quote(key: &str) -> String {
    let quoted = key.replace('$', "$$");
    match quoted.strip_prefix('!') {
        Some(rest) => format!("$!{rest}"),
        None => quoted,
    }
}

/// A variable's name at the start of `text` (the dollar sign is already read), and what follows it.
fn variable(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix('{') {
        let (name, rest) = inner.split_once('}')?;
        return is_name(name).then_some((name, rest));
    }
    let end = text.find(|char: char| !(char.is_ascii_alphanumeric() || char == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    is_name(name).then_some((name, rest))
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_texts_expand_by_the_grammar() {
        let environment: Environment = [("A", "1"), ("B_2", "two"), ("EMPTY", "")].into_iter().collect();
        let table = [
            ("plain", Some("plain")),
            ("$A", Some("1")),
            ("${A}x$B_2", Some("1xtwo")),
            ("a$$b$!c", Some("a$b!c")),
            ("$$A", Some("$A")),
            ("$NONE", None),
            ("x-$EMPTY", None),
            ("$1 ${} ${A", Some("$1 ${} ${A")),
            ("end$", Some("end$")),
            ("é$Aé", Some("é1é")),
        ];
        for (text, expected) in table {
            let KeyText::Template(parts) = KeyText::parse(text) else { panic!("{text}") };
            assert_eq!(expand(&parts, &environment).as_deref(), expected, "{text}");
        }
        for key in ["plain", "!cmd", "a$b", "$$", "$!x", "${A}"] {
            let KeyText::Template(parts) = KeyText::parse(&quote(key)) else { panic!("{key}") };
            assert_eq!(expand(&parts, &environment).as_deref(), Some(key));
        }
        for (text, blank) in [("", true), (" \n", true), ("k", false), ("$A", false), ("!x", false)] {
            assert_eq!(KeyText::parse(text).is_blank(), blank, "{text:?}");
        }
        assert_eq!(KeyText::parse("!pass show x"), KeyText::Command("pass show x".into()));
        assert_eq!(KeyText::parse("$A and ${C}").missing_variable(&environment), Some("C"));
    }
}
