//! The head of a Markdown file: `---`, lines of YAML, `---`.
//!
//! Skills and templates use five keys with plain values, so this reads that part of YAML and steps over the rest: plain
//! and quoted values, folded and literal blocks, flow lists; nested values of keys that nobody asks for. More lenient
//! than YAML in one point: a plain value may hold `: `, because people write descriptions that way.

use std::borrow::Cow;

use yaml::{Reader, Value};

#[cfg(test)]
mod tests;
mod yaml;

/// A head that is no YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of its front matter is malformed: {reason}")]
pub struct Malformed {
    /// The line of the file, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: &'static str,
}

/// A file in two parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document<'a> {
    /// The head's keys.
    pub head: Head,
    /// The text without the head, lines ending in LF; without the space around it when there was a head.
    pub body: Cow<'a, str>,
}

/// Keys and values of a head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head(Vec<(String, Value)>);

impl Head {
    fn get(&self, key: &str) -> Option<&Value> {
        // The last one of a key that comes twice.
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text of `key` without the space around it; `None` when it is absent, empty, null or no text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        let text = match self.get(key)? {
            Value::Plain(text) if matches!(text.as_str(), "~" | "null" | "Null" | "NULL") => return None,
            Value::Plain(text) | Value::Text(text) => text.trim(),
            Value::Flow(_) | Value::Nested => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    /// The same, and a flow list as it stands: hints such as `[file] [line]` look like one.
    #[must_use]
    pub fn text_or_flow(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Value::Flow(text)) => Some(text),
            _ => self.text(key),
        }
    }

    /// Whether `key` is YAML's true; a quoted "true" is text.
    #[must_use]
    pub fn is_true(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Value::Plain(text)) if matches!(text.as_str(), "true" | "True" | "TRUE"))
    }
}

/// Splits `text`. Without a `---` in the first line and another one below, all of it is the body.
///
/// # Errors
/// The head is no YAML.
pub fn split(text: &str) -> Result<Document<'_>, Malformed> {
    let text = if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) };
    let Some((head_end, body_start)) = fence(&text) else {
        return Ok(Document { head: Head::default(), body: text });
    };
    let lines: Vec<&str> = text[..head_end].lines().skip(1).collect();
    let head = Head(Reader::new(&lines).entries()?);
    let body = match text {
        Cow::Borrowed(text) => Cow::Borrowed(text[body_start..].trim()),
        Cow::Owned(text) => Cow::Owned(text[body_start..].trim().to_owned()),
    };
    Ok(Document { head, body })
}

/// Where the head ends and where the body begins, in bytes.
fn fence(text: &str) -> Option<(usize, usize)> {
    let mut lines = text.split_inclusive('\n');
    let mut at = lines.next().filter(|line| line.trim_end() == "---")?.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Some((at, at + line.len()));
        }
        at += line.len();
    }
    None
}
