//! Requests without what differs from run to run.
//!
//! Two runs of the same thing never send the same bytes: ids of sessions and calls are new, folders lie elsewhere,
//! another day has come. What is left after [`Normal::of`] is what a request asks.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

/// Fields that group requests, at the top of a body.
const GROUPING: [&str; 5] = ["metadata", "prompt_cache_key", "safety_identifier", "session_id", "user"];
/// Fields that hold the id of an item or name another by it.
const IDS: [&str; 6] = ["id", "call_id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId"];

/// What is known about where a request was written.
pub(super) struct Normal<'a> {
    /// Folders and their roles, the longest first.
    places: Vec<(&'a str, &'a str)>,
    session: Option<&'a str>,
}

impl<'a> Normal<'a> {
    /// For requests of `session`, written where the folders are `places` by role.
    pub fn new(places: &'a BTreeMap<String, String>, session: Option<&'a str>) -> Self {
        let mut places: Vec<_> = places
            .iter()
            .map(|(role, path)| (role.as_str(), path.trim_end_matches('/')))
            .filter(|(_, path)| !path.is_empty())
            .collect();
        places.sort_by_key(|(_, path)| std::cmp::Reverse(path.len()));
        Self { places, session: session.filter(|session| !session.is_empty()) }
    }

    /// The body without what differs.
    pub fn of(&self, mut body: Value) -> Value {
        if let Some(fields) = body.as_object_mut() {
            fields.retain(|name, _| !GROUPING.contains(&name.as_str()));
        }
        self.walk(&mut body, &mut HashMap::new());
        body
    }

    fn walk(&self, value: &mut Value, ids: &mut HashMap<String, usize>) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(item, ids)),
            Value::Object(map) => {
                for (name, value) in map {
                    match value {
                        Value::String(id) if IDS.contains(&name.as_str()) => {
                            let next = ids.len() + 1;
                            let number = *ids.entry(std::mem::take(id)).or_insert(next);
                            *id = format!("{{id {number}}}");
                        }
                        other => self.walk(other, ids),
                    }
                }
            }
            _ => {}
        }
    }

    fn text(&self, text: &str) -> String {
        let mut text = match self.session {
            Some(session) => text.replace(session, "{session}"),
            None => text.to_owned(),
        };
        for (role, path) in &self.places {
            text = replace_path(&text, path, role);
        }
        replace_stamps(&text)
    }
}

/// Replaces a path where it stands as a whole or as the beginning of a longer one.
fn replace_path(text: &str, path: &str, role: &str) -> String {
    if !text.contains(path) {
        return text.to_owned();
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(path) {
        let (before, after) = (&rest[..at], &rest[at + path.len()..]);
        // A full stop may end a sentence as well as go on with a name.
        let goes_on = after.strip_prefix('.').unwrap_or(after).starts_with(is_name);
        let inside = before.chars().next_back().or(out.chars().next_back()).is_some_and(is_name) || goes_on;
        out.push_str(before);
        if inside {
            out.push_str(path);
        } else {
            out.push_str(&format!("{{{role}}}"));
        }
        rest = after;
    }
    out + rest
}

/// Replaces UUIDs, dates and times.
fn replace_stamps(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    let mut at = 0;
    while let Some(dash) = memchr::memchr(b'-', &bytes[at..]).map(|found| at + found) {
        at = dash + 1;
        let stamp = [(8, uuid as fn(&[u8]) -> Option<usize>, "{uuid}"), (4, date, "{date}")]
            .into_iter()
            .filter(|(lead, ..)| dash >= kept + lead)
            .find_map(|(lead, length, name)| {
                let start = dash - lead;
                let whole = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
                let length = whole.then(|| length(&bytes[start..])).flatten()?;
                Some((start, start + length, name))
            });
        if let Some((start, end, name)) = stamp {
            out.push_str(&text[kept..start]);
            out.push_str(name);
            (kept, at) = (end, end);
        }
    }
    out + &text[kept..]
}

/// The bytes that fit `form`: `x` is a hexadecimal digit, `9` a decimal one, anything else itself.
fn fits(bytes: &[u8], form: &str) -> bool {
    bytes.len() >= form.len()
        && form.bytes().zip(bytes).all(|(form, byte)| match form {
            b'x' => byte.is_ascii_hexdigit(),
            b'9' => byte.is_ascii_digit(),
            other => other == *byte,
        })
}

/// The length of the UUID at the beginning.
fn uuid(bytes: &[u8]) -> Option<usize> {
    const FORM: &str = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    fits(bytes, FORM).then_some(FORM.len())
}

/// The length of the date at the beginning, with the time behind it.
fn date(bytes: &[u8]) -> Option<usize> {
    const DATE: &str = "9999-99-99";
    if !fits(bytes, DATE) {
        return None;
    }
    let mut length = DATE.len();
    let time = &bytes[length..];
    if fits(time, "T99:99") || fits(time, " 99:99") {
        length += "T99:99".len();
        if fits(&bytes[length..], ":99") {
            length += ":99".len();
        }
        if bytes.get(length) == Some(&b'.') {
            length += 1 + bytes[length + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        }
        match &bytes[length..] {
            [b'Z', ..] => length += 1,
            zone if fits(zone, "+99:99") || fits(zone, "-99:99") => length += "+99:99".len(),
            _ => {}
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn normal(body: Value, cwd: &str, session: &str) -> Value {
        let places = [("cwd", cwd), ("home", "/h"), ("user", "")];
        let places = places.into_iter().map(|(role, path)| (role.to_owned(), path.to_owned())).collect();
        Normal::new(&places, Some(session)).of(body)
    }

    #[test]
    fn runs_of_the_same_thing_are_equal_and_others_are_not() {
        let body = |cwd: &str, session: &str, call: &str, asked: &str| {
            json!({"model": "m", "prompt_cache_key": session, "x": session, "user": call, "messages": [
                {"role": "system", "content": format!("You work in {cwd}. Today is 2026-11-{}", &call[..2])},
                {"role": "user", "content": asked},
                {"role": "assistant", "tool_calls": [{"id": call, "function": {"name": "ls"}}]},
                {"role": "tool", "tool_call_id": call, "content": format!("{cwd}/a.txt")}]})
        };
        let first = normal(body("/w/one", "s-1", "01-abc", "hi"), "/w/one", "s-1");
        assert_eq!(first, normal(body("/elsewhere", "s-22", "02-def", "hi"), "/elsewhere/", "s-22"));
        assert_ne!(first, normal(body("/w/one", "s-1", "01-abc", "ho"), "/w/one", "s-1"));
        assert_eq!(first["messages"][3]["tool_call_id"], first["messages"][2]["tool_calls"][0]["id"]);
        assert_eq!(first["messages"][0]["content"], "You work in {cwd}. Today is {date}");
    }

    #[test]
    fn calls_that_answer_each_other_the_other_way_round_differ() {
        let body =
            |first: &str, second: &str| json!([{"id": "a"}, {"id": "b"}, {"call_id": first}, {"call_id": second}]);
        assert_eq!(normal(body("a", "b"), "/w", "s"), normal(body("a", "b"), "/w", "s"));
        assert_ne!(normal(body("a", "b"), "/w", "s"), normal(body("b", "a"), "/w", "s"));
    }

    #[test]
    fn texts_lose_places_and_stamps_and_nothing_else() {
        let table = [
            ("/h/x and /h", "{home}/x and {home}"),
            ("/h/w/file /h/w. /h/w.d /h/words x/h/w", "{cwd}/file {cwd}. {home}/w.d {home}/words x/h/w"),
            ("0197a0c0-1111-7222-8333-944455556666!", "{uuid}!"),
            ("10197a0c0-1111-7222-8333-944455556666", "10197a0c0-1111-7222-8333-944455556666"),
            ("2026-11-30", "{date}"),
            ("é2026-11-30T01:02:03.456Z, 2026-11-30 01:02 x", "é{date}, {date} x"),
            ("2026-11-30T01:02:03+01:00-2026-1-1", "{date}-2026-1-1"),
            ("1-2-3 12026-11-30 a-b --", "1-2-3 12026-11-30 a-b --"),
            ("2026-11-302026-11-30", "{date}2026-11-30"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(normal(json!([text]), "/h/w", "s-x")[0], expected, "{text}");
        }
    }
}
