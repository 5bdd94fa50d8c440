//! The quick look at a line: who it is and where it hangs, nothing of its content.
//!
//! A session of a hundred thousand entries is opened by this look alone, so it borrows from the line and lets serde
//! skip the rest. The skipped part is still checked for being JSON: a damaged line does not pass.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::kind::{EntryKind, tells_of_work};

/// What a line says about itself.
#[derive(Debug, PartialEq)]
pub struct Scan<'a> {
    /// Its kind.
    pub kind: EntryKind,
    /// Its id; files of version 1 have none.
    pub id: Option<Cow<'a, str>>,
    /// The id of the entry before it.
    pub parent: Option<Cow<'a, str>>,
    /// It is a result of a tool that tells of work beside the conversation.
    pub of_jobs: bool,
}

/// Looks at `line`; `None` when it is no JSON object with a `type`.
#[must_use]
pub fn scan(line: &str) -> Option<Scan<'_>> {
    quick(line).or_else(|| thorough(line))
}

fn quick(line: &str) -> Option<Scan<'_>> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        id: Option<Text<'a>>,
        #[serde(borrow, rename = "parentId")]
        parent: Option<Text<'a>>,
        #[serde(borrow)]
        message: Option<Message<'a>>,
    }
    // Inside an `Option`, serde borrows only through a type of its own.
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        role: Cow<'a, str>,
        #[serde(borrow, rename = "toolName")]
        tool: Option<Text<'a>>,
    }
    let line: Line<'_> = serde_json::from_str(line).ok()?;
    Some(Scan {
        kind: EntryKind::parse(&line.kind, line.message.as_ref().map(|message| &*message.role)),
        id: line.id.map(|id| id.0),
        parent: line.parent.map(|parent| parent.0),
        of_jobs: line.message.is_some_and(|message| message.tool.is_some_and(|tool| tells_of_work(&tool.0))),
    })
}

/// For lines of odd shape (a key twice, a message that is no object): the last of equal keys counts, as it does for
/// JavaScript.
fn thorough(line: &str) -> Option<Scan<'_>> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(|text| Cow::Owned(text.to_owned()));
    let of_message = |key: &str| value.get("message").and_then(|message| message.get(key)).and_then(Value::as_str);
    Some(Scan {
        kind: EntryKind::parse(&text("type")?, of_message("role")),
        id: text("id"),
        parent: text("parentId"),
        of_jobs: of_message("toolName").is_some_and(tells_of_work),
    })
}

#[cfg(test)]
mod tests {
    use super::super::kind::Role;
    use super::*;

    #[test]
    fn a_line_tells_its_kind_id_and_parent_or_is_no_entry() {
        let user = EntryKind::Message(Role::User);
        for (line, expected) in [
            (
                r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"x"}}"#,
                Some((user, Some("1"), None)),
            ),
            (
                r#"{"message":{"content":[{"role":"system"}],"role":"user"},"type":"message","parentId":"a","id":"b"}"#,
                Some((user, Some("b"), Some("a"))),
            ),
            (r#"{"type":"label","id":"\u0031","targetId":"x"}"#, Some((EntryKind::Label, Some("1"), None))),
            (r#"{"type":"label","id":"1","id":"2"}"#, Some((EntryKind::Label, Some("2"), None))),
            (r#"{"type":"message","id":"1","message":null}"#, Some((EntryKind::Message(Role::Other), Some("1"), None))),
            (
                r#"{"type":"hologram","id":"1","deep":[[[{}]]],"half":"\ud83d"}"#,
                Some((EntryKind::Unknown, Some("1"), None)),
            ),
            (r#"{"type":"label"}"#, Some((EntryKind::Label, None, None))),
            (r#"{"id":"1"}"#, None),
            (r#"{"type":"label","id":"1","#, None),
            ("[1]", None),
            ("7", None),
        ] {
            let found = scan(line);
            let found = found.as_ref().map(|scan| (scan.kind, scan.id.as_deref(), scan.parent.as_deref()));
            assert_eq!(found, expected, "{line}");
        }
    }
}
