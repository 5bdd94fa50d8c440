//! From a line to an entry.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::sync::Arc;

use super::{
    kind::{EntryKind, Role},
    surrogates,
};
use crate::protocol::{AgentMessage, Entry, EntryBody, EntryId};

/// Parses a line that [`super::scan`] found to be an entry of `kind`. Nothing that was scanned is ever lost: content
/// that this version cannot understand becomes [`EntryBody::Unknown`]. `None` only when the text is no JSON object.
#[must_use]
pub fn decode(kind: EntryKind, line: &str) -> Option<Entry> {
    typed(kind, line).or_else(|| {
        let mended = surrogates::mend(line);
        typed(kind, &mended).or_else(|| lenient(&mended))
    })
}

/// The kind is known, so the content is read straight into its type: serde's own way for tagged and flattened types
/// would first hold all of it in an intermediate form.
fn typed(kind: EntryKind, line: &str) -> Option<Entry> {
    match kind {
        EntryKind::Message(Role::System) => message(line, AgentMessage::System),
        EntryKind::Message(Role::User) => message(line, AgentMessage::User),
        EntryKind::Message(Role::Assistant) => message(line, AgentMessage::Assistant),
        EntryKind::Message(Role::ToolResult) => message(line, AgentMessage::ToolResult),
        EntryKind::Message(Role::BashExecution) => message(line, AgentMessage::BashExecution),
        _ => serde_json::from_str(line).ok(),
    }
}

fn message<M: DeserializeOwned>(line: &str, role: fn(Arc<M>) -> AgentMessage) -> Option<Entry> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<M> {
        message: M,
        id: EntryId,
        #[serde(default)]
        parent_id: Option<EntryId>,
        #[serde(default)]
        timestamp: String,
    }
    let line: Line<M> = serde_json::from_str(line).ok()?;
    let body = EntryBody::Message { message: role(Arc::new(line.message)) };
    Some(Entry { body, id: line.id, parent_id: line.parent_id, timestamp: line.timestamp })
}

fn lenient(line: &str) -> Option<Entry> {
    let Ok(Value::Object(mut fields)) = serde_json::from_str(line) else { return None };
    let mut text = |key: &str| match fields.shift_remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let (id, parent_id, timestamp) = (text("id")?, text("parentId"), text("timestamp"));
    // A number that was none is null in JavaScript's JSON; for us an absent field has its default.
    fields.get_mut("message").into_iter().for_each(drop_nulls);
    let fields = Value::Object(fields);
    Some(Entry {
        body: EntryBody::deserialize(&fields).unwrap_or(EntryBody::Unknown(fields)),
        id: id.into(),
        parent_id: parent_id.map(EntryId::from),
        timestamp: timestamp.unwrap_or_default(),
    })
}

fn drop_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(drop_nulls);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::scan::scan, *};
    use crate::store::testing::line;

    fn read(line: &str) -> Entry {
        decode(scan(line).unwrap().kind, line).unwrap()
    }

    #[test]
    fn every_kind_of_line_becomes_an_entry_of_that_kind() {
        let message = |message: Value| ("message", json!({ "message": message }));
        for ((name, fields), kind) in [
            (message(json!({"role": "system", "content": ""})), EntryKind::Message(Role::System)),
            (message(json!({"role": "user", "content": "x", "later": 1})), EntryKind::Message(Role::User)),
            (message(json!({"role": "assistant", "content": null})), EntryKind::Message(Role::Assistant)),
            (message(json!({"role": "toolResult", "content": []})), EntryKind::Message(Role::ToolResult)),
            (message(json!({"role": "bashExecution", "command": "ls"})), EntryKind::Message(Role::BashExecution)),
            (message(json!({"role": "oracle"})), EntryKind::Message(Role::Other)),
            (("compaction", json!({"summary": "s", "firstKeptEntryId": "0"})), EntryKind::Compaction),
            (("hologram", json!({})), EntryKind::Unknown),
        ] {
            let line = &line(name, "1", "0", fields);
            let entry = read(line);
            assert_eq!(EntryKind::of(&entry.body), kind, "{line}");
            assert_eq!((entry.id.as_str(), entry.timestamp.as_str()), ("1", "2026-01-02T03:04:05.678Z"));
            assert_eq!(entry.parent_id, Some(EntryId::from("0")));
        }
    }

    #[test]
    fn fc_111_an_entry_of_another_shape_is_kept_as_unknown() {
        for line in [
            r#"{"type":"compaction","id":"1","summary":"no first kept entry"}"#,
            r#"{"type":"usage","id":"1","usage":"many"}"#,
        ] {
            let entry = read(line);
            assert_eq!(entry.id.as_str(), "1", "{line}");
            assert_eq!(EntryKind::of(&entry.body), EntryKind::Unknown, "{line}");
            let EntryBody::Unknown(kept) = entry.body else { unreachable!() };
            assert_eq!(kept["type"], serde_json::from_str::<Value>(line).unwrap()["type"]);
        }
    }

    #[test]
    fn a_message_with_numbers_that_are_null_is_still_a_message() {
        let entry = read(
            r#"{"type":"message","id":"1","message":{"role":"assistant","content":[{"type":"text","text":"x"}],"usage":{"input":7,"cost":{"total":null}},"timestamp":null}}"#,
        );
        let Some(AgentMessage::Assistant(answer)) = entry.body.as_message() else { panic!("no answer") };
        assert_eq!((answer.usage.input, answer.content.len()), (7, 1));
    }

    #[test]
    fn half_a_surrogate_pair_does_not_lose_the_message() {
        let entry = read(r#"{"type":"message","id":"1","message":{"role":"user","content":"a\ud83d b\ud83d\ude00"}}"#);
        let Some(AgentMessage::User(user)) = entry.body.as_message() else { panic!("no user message") };
        assert_eq!(user.content.text(""), "a\u{fffd} b\u{1f600}");
    }
}
