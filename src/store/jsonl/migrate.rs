//! Lines of older versions, brought to version 3 in memory.
//!
//! Version 1 has no ids: its entries form one chain, and a compaction counts lines instead of naming an entry.
//! Version 2 calls the role of an extension's message `hookMessage`.

use serde_json::{Map, Value};

use crate::protocol::EntryId;

/// The entry of a version 1 or 2 line as a version 3 line; `known` are the ids of the entries before it in the file.
/// `None` when the line is no JSON object.
#[must_use]
pub fn migrate(line: &str, from: u32, known: &[EntryId]) -> Option<String> {
    let Ok(Value::Object(mut fields)) = serde_json::from_str(line) else { return None };
    if from < 2 {
        link(&mut fields, known);
    }
    if let Some(role) = fields.get_mut("message").and_then(|message| message.get_mut("role"))
        && role == "hookMessage"
    {
        *role = Value::from("custom");
    }
    serde_json::to_string(&fields).ok()
}

/// Ids are the entry's number in the file, so that a file that was only looked at gives the same ids the next time.
fn link(fields: &mut Map<String, Value>, known: &[EntryId]) {
    let id = Value::from(format!("{:08x}", known.len() + 1));
    if let Some(index) = fields.shift_remove("firstKeptEntryIndex") {
        // Line 0 is the header. An index that leads nowhere keeps nothing, which is what the own id says.
        let place = index.as_u64().and_then(|index| usize::try_from(index).ok()?.checked_sub(1));
        let kept = place.and_then(|place| known.get(place)).map(|id| Value::from(id.as_str()));
        fields.insert("firstKeptEntryId".to_owned(), kept.unwrap_or_else(|| id.clone()));
    }
    fields.insert("id".to_owned(), id);
    fields.insert("parentId".to_owned(), known.last().map_or(Value::Null, |id| Value::from(id.as_str())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fc_111_lines_of_old_versions_become_lines_of_version_3() {
        let known = [EntryId::from("00000001"), EntryId::from("00000002")];
        for (from, line, expected) in [
            (1, r#"{"type":"x"}"#, r#"{"type":"x","id":"00000003","parentId":"00000002"}"#),
            (
                1,
                r#"{"type":"compaction","firstKeptEntryIndex":1}"#,
                r#"{"type":"compaction","firstKeptEntryId":"00000001","id":"00000003","parentId":"00000002"}"#,
            ),
            (
                1,
                r#"{"type":"compaction","firstKeptEntryIndex":0}"#,
                r#"{"type":"compaction","firstKeptEntryId":"00000003","id":"00000003","parentId":"00000002"}"#,
            ),
            (
                2,
                r#"{"id":"a","message":{"role":"hookMessage","n":1}}"#,
                r#"{"id":"a","message":{"role":"custom","n":1}}"#,
            ),
        ] {
            assert_eq!(migrate(line, from, &known).as_deref(), Some(expected));
        }
        assert_eq!(
            migrate(r#"{"type":"x"}"#, 1, &[]).as_deref(),
            Some(r#"{"type":"x","id":"00000001","parentId":null}"#)
        );
        assert_eq!(migrate("[", 1, &[]), None);
    }
}
