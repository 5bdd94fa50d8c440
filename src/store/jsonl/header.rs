//! The first line of a session file.

use std::{path::Path, sync::Arc};

use serde::Deserialize;
use serde_json::Value;

use super::VERSION;
use crate::protocol::entry::{AgentHeader, SessionHeader};

/// The header that `line` is; `None` when it is none.
#[must_use]
pub fn parse(line: &str) -> Option<SessionHeader> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    if text("type")? != "session" {
        return None;
    }
    Some(SessionHeader {
        kind: "session".to_owned(),
        version: value.get("version").and_then(Value::as_u64).map(|version| version.try_into().unwrap_or(u32::MAX)),
        id: text("id")?,
        timestamp: text("timestamp").unwrap_or_default(),
        cwd: text("cwd").unwrap_or_default(),
        parent_session: text("parentSession"),
        agent: value.get("agent").and_then(|agent| AgentHeader::deserialize(agent).ok()).map(Arc::new),
    })
}

/// The version of a file with this header.
#[must_use]
pub fn version(header: &SessionHeader) -> u32 {
    header.version.unwrap_or(1).max(1)
}

/// Puts a header together from what is left of a damaged first line; the id may also come from the file's name.
/// `None` when the id or the folder is nowhere to be found.
#[must_use]
pub fn recover(fragment: &str, path: Option<&Path>) -> Option<SessionHeader> {
    let field = |key: &str| string_field(fragment, key);
    let named = || path?.file_stem()?.to_str()?.split_once('_').map(|(_, id)| id.to_owned());
    Some(SessionHeader {
        kind: "session".to_owned(),
        version: Some(VERSION),
        id: field("id").or_else(named)?,
        timestamp: field("timestamp").unwrap_or_default(),
        cwd: field("cwd")?,
        parent_session: field("parentSession"),
        agent: None,
    })
}

/// The string behind the first `"key":` of a piece of JSON.
#[must_use]
pub(super) fn string_field(fragment: &str, key: &str) -> Option<String> {
    let quoted = format!("\"{key}\"");
    let mut rest = fragment;
    while let Some(at) = rest.find(&quoted) {
        rest = &rest[at + quoted.len()..];
        if let Some(value) = rest.trim_start().strip_prefix(':') {
            return String::deserialize(&mut serde_json::Deserializer::from_str(value)).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_needs_its_type_and_an_id() {
        let header = parse(r#"{"type":"session","version":3,"id":"a","timestamp":"t","cwd":"/p","later":1}"#).unwrap();
        assert_eq!((version(&header), header.id.as_str(), header.cwd.as_str()), (3, "a", "/p"));
        assert_eq!(version(&parse(r#"{"type":"session","id":"old"}"#).unwrap()), 1);
        for line in
            ["{}", r#"{"type":"session"}"#, r#"{"type":"session","id":7}"#, r#"{"type":"message","id":"a"}"#, "x"]
        {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn fc_004_a_damaged_header_is_recovered_when_id_and_folder_are_left() {
        let left = r#"\0garbage\0\0ession", "version": 3, "id": "a\u0062c", "cwd": "/p", "x": "id"#;
        let header = recover(left, None).unwrap();
        assert_eq!((header.id.as_str(), header.cwd.as_str(), header.version), ("abc", "/p", Some(3)));
        let named = recover(r#"…"cwd":"/p""#, Some(Path::new("/s/2026-01-02T03-04-05-678Z_xyz.jsonl"))).unwrap();
        assert_eq!(named.id, "xyz");
        assert_eq!(recover(r#""id":"a""#, None), None, "the folder is not known");
        assert_eq!(recover(r#""cwd":"/p""#, Some(Path::new("notes.jsonl"))), None, "the id is not known");
    }
}
