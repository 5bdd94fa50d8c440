//! The arguments of a tool call while their text still comes.
//!
//! A screen shows a file while the model writes it, and reads the arguments so far in every frame. Parsing the whole
//! text each time would cost the square of its length. This reader remembers where it was: however often it is asked,
//! each byte is looked at once, and nothing is done for a call that nobody looks at.

use serde_json::{Map, Value};

/// Containers within each other at most, as in `serde_json`.
const DEPTH_LIMIT: usize = 127;

/// Reads argument text as far as it has come.
///
/// Strings count as far as they go; keys, numbers and words when they are complete. Raw control characters and escapes
/// that JSON does not know are taken as models mean them. What comes behind a fault is not read.
///
/// ```
/// use troupe::protocol::PartialArguments;
///
/// let mut arguments = PartialArguments::default();
/// assert_eq!(arguments.read(r#"{"path": "a.rs", "content": "fn ma"#)["content"], "fn ma");
/// assert_eq!(arguments.read(r#"{"path": "a.rs", "content": "fn main() {}"}"#)["content"], "fn main() {}");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PartialArguments {
    arguments: Value,
    /// The values that are open, from the arguments themselves to the innermost.
    open: Vec<Open>,
    state: State,
    /// Bytes that were read.
    seen: usize,
    /// What was read of a key, number or word, and the end of an open string.
    token: String,
    /// The key of the value that comes next.
    key: String,
}

/// A value that more is added to.
#[derive(Clone, Debug, PartialEq)]
struct Open {
    kind: Kind,
    /// Its key, when it is in an object.
    key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Object,
    List,
    Text,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    FirstKey,
    Key,
    Colon,
    FirstElement,
    Value,
    /// A comma, or the end of the container.
    Comma,
    InKey,
    InText,
    /// In a number or a word.
    InScalar,
    /// Nothing: the arguments are complete, or what came is no JSON.
    End,
}

impl Default for PartialArguments {
    fn default() -> Self {
        Self {
            arguments: Value::Object(Map::new()),
            open: Vec::new(),
            state: State::Start,
            seen: 0,
            token: String::new(),
            key: String::new(),
        }
    }
}

impl PartialArguments {
    /// The arguments in `text`, always an object. `text` must begin with the text of the calls before.
    pub fn read(&mut self, text: &str) -> &Value {
        while self.state != State::End {
            let Some(rest) = text.get(self.seen..).filter(|rest| !rest.is_empty()) else { break };
            let step = match self.state {
                State::InKey | State::InText => self.in_string(rest),
                State::InScalar => Some(self.in_scalar(rest)),
                _ => Some(self.between(rest)),
            };
            let Some(taken) = step else { break };
            self.seen += taken;
        }
        if self.state == State::InText {
            self.flush();
        }
        &self.arguments
    }

    /// Reads white space and the character behind it. Gives the bytes that were read, as the other steps do.
    fn between(&mut self, rest: &str) -> usize {
        let body = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let blank = rest.len() - body.len();
        let Some(&mark) = body.as_bytes().first() else { return blank };
        let in_list = self.open.last().is_some_and(|open| open.kind == Kind::List);
        match (self.state, mark) {
            (State::Start, b'{') => {
                self.open.push(Open { kind: Kind::Object, key: None });
                self.state = State::FirstKey;
            }
            (State::FirstKey | State::Key, b'"') => self.state = State::InKey,
            (State::Colon, b':') => self.state = State::Value,
            (State::Comma, b',') => self.state = if in_list { State::Value } else { State::Key },
            (State::FirstKey, b'}') | (State::FirstElement, b']') => self.close(),
            (State::Comma, b'}') if !in_list => self.close(),
            (State::Comma, b']') if in_list => self.close(),
            (State::Value | State::FirstElement, b'{') => self.begin(Kind::Object),
            (State::Value | State::FirstElement, b'[') => self.begin(Kind::List),
            (State::Value | State::FirstElement, b'"') => self.begin(Kind::Text),
            (State::Value | State::FirstElement, b'-' | b'0'..=b'9' | b'a'..=b'z') => {
                self.state = State::InScalar;
                return blank;
            }
            _ => self.state = State::End,
        }
        blank + 1
    }

    /// Reads a piece of a string; `None` when its end cuts an escape.
    fn in_string(&mut self, rest: &str) -> Option<usize> {
        let plain = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(rest.len());
        if plain > 0 {
            self.token.push_str(&rest[..plain]);
            return Some(plain);
        }
        if rest.starts_with('\\') {
            let (meant, length) = escape(rest.as_bytes())?;
            self.token.push(meant);
            return Some(length);
        }
        if self.state == State::InKey {
            self.key = std::mem::take(&mut self.token);
            self.state = State::Colon;
        } else {
            self.flush();
            self.close();
        }
        Some(1)
    }

    /// Reads a number or a word up to what follows it.
    fn in_scalar(&mut self, rest: &str) -> usize {
        let is_end = |byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
        let end = rest.bytes().position(is_end);
        self.token.push_str(&rest[..end.unwrap_or(rest.len())]);
        if end.is_some() {
            let value = serde_json::from_str(&std::mem::take(&mut self.token));
            self.state = if value.is_ok() { State::Comma } else { State::End };
            if let Ok(value) = value {
                self.add(value);
            }
        }
        end.unwrap_or(rest.len())
    }

    /// Opens an empty value in the innermost container.
    fn begin(&mut self, kind: Kind) {
        if kind != Kind::Text && self.open.len() == DEPTH_LIMIT {
            self.state = State::End;
            return;
        }
        let (value, state) = match kind {
            Kind::Object => (Value::Object(Map::new()), State::FirstKey),
            Kind::List => (Value::Array(Vec::new()), State::FirstElement),
            Kind::Text => (Value::String(String::new()), State::InText),
        };
        let key = self.add(value);
        self.open.push(Open { kind, key });
        self.state = state;
    }

    /// Ends the innermost open value.
    fn close(&mut self) {
        self.open.pop();
        self.state = if self.open.is_empty() { State::End } else { State::Comma };
    }

    /// Adds a value to the innermost container; gives its key there.
    fn add(&mut self, value: Value) -> Option<String> {
        let key = std::mem::take(&mut self.key);
        match self.innermost()? {
            Value::Object(members) => {
                members.insert(key.clone(), value);
                Some(key)
            }
            Value::Array(elements) => {
                elements.push(value);
                None
            }
            _ => None,
        }
    }

    /// Moves what was read of the open string to its place.
    fn flush(&mut self) {
        let token = std::mem::take(&mut self.token);
        if let Some(Value::String(text)) = self.innermost() {
            text.push_str(&token);
        }
    }

    fn innermost(&mut self) -> Option<&mut Value> {
        self.open.iter().skip(1).try_fold(&mut self.arguments, |value, open| match value {
            Value::Object(members) => members.get_mut(open.key.as_deref()?),
            Value::Array(elements) => elements.last_mut(),
            _ => None,
        })
    }
}

/// What the escape that `rest` begins with means, and its length; `None` when it is cut. The backslash of an escape
/// that JSON does not know means itself, and half a surrogate pair is no character.
fn escape(rest: &[u8]) -> Option<(char, usize)> {
    Some(match rest.get(1)? {
        b'"' => ('"', 2),
        b'\\' => ('\\', 2),
        b'/' => ('/', 2),
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'u' => match code_unit(rest) {
            None if is_cut(rest) => return None,
            None => ('\\', 1),
            Some(high @ 0xD800..0xDC00) => match rest.get(6..).and_then(code_unit) {
                Some(low @ 0xDC00..0xE000) => {
                    let code = 0x10000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
                    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
                }
                None if rest.get(6..).is_some_and(is_cut) => return None,
                _ => (char::REPLACEMENT_CHARACTER, 6),
            },
            Some(unit) => (char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
        },
        _ => ('\\', 1),
    })
}

/// Whether `rest` may be the beginning of a `\uXXXX`.
fn is_cut(rest: &[u8]) -> bool {
    let digits = rest.get(2..).unwrap_or_default();
    rest.len() < 6 && b"\\u".starts_with(&rest[..rest.len().min(2)]) && digits.iter().all(u8::is_ascii_hexdigit)
}

/// The value of the `\uXXXX` that `rest` begins with.
pub(crate) fn code_unit(rest: &[u8]) -> Option<u16> {
    let digits = rest.strip_prefix(b"\\u")?.get(..4)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests;
