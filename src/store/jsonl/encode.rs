//! From an entry to a line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use crate::protocol::{Entry, EntryBody, EntryId, entry::SessionHeader};

/// Appends `header` as a line.
///
/// # Errors
/// When a value cannot be JSON (a map with keys that are no strings): none of our own types.
pub fn encode_header(header: &SessionHeader, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, header)?;
    out.push(b'\n');
    Ok(())
}

/// Appends `entry` as a line: kind, id, parent and time first, so that a reader finds them without reading on.
///
/// # Errors
/// When a value cannot be JSON: none of our own types.
pub fn encode(entry: &Entry, out: &mut Vec<u8>) -> serde_json::Result<()> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Base<'a> {
        r#type: &'a str,
        id: &'a EntryId,
        parent_id: &'a Option<EntryId>,
        timestamp: &'a str,
    }
    let kind = entry.body.kind();
    let base = Base { r#type: kind, id: &entry.id, parent_id: &entry.parent_id, timestamp: &entry.timestamp };
    let start = out.len();
    serde_json::to_writer(&mut *out, &base)?;
    out.pop(); // the closing brace: the body's fields follow
    if let EntryBody::Unknown(value) = &entry.body {
        for (key, value) in value.as_object().into_iter().flatten() {
            if !matches!(key.as_str(), "type" | "id" | "parentId" | "timestamp") {
                out.push(b',');
                serde_json::to_writer(&mut *out, key)?;
                out.push(b':');
                serde_json::to_writer(&mut *out, value)?;
            }
        }
        out.push(b'}');
    } else {
        // The body writes its kind first: `{"type":"label",…`. That part is there already.
        let skip = r#"{"type":"""#.len() + kind.len();
        serde_json::to_writer(SkipFirst { skip, out: &mut *out }, &entry.body)?;
    }
    debug_assert!(serde_json::from_slice::<Value>(&out[start..]).is_ok(), "an encoded entry is JSON");
    out.push(b'\n');
    Ok(())
}

/// A writer that drops its first bytes.
struct SkipFirst<'a> {
    skip: usize,
    out: &'a mut Vec<u8>,
}

impl Write for SkipFirst<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        self.out.extend_from_slice(&bytes[skipped..]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::jsonl::{decode::decode, kind::EntryKind};

    #[test]
    fn entries_survive_the_way_to_a_line_and_back_with_the_base_in_front() {
        for line in [
            r#"{"type":"message","id":"1","parentId":null,"timestamp":"t","message":{"role":"user","content":"x","timestamp":5}}"#,
            r#"{"type":"label","id":"1","parentId":"0","timestamp":"t","targetId":"0"}"#,
            r#"{"type":"session_info","id":"1","parentId":"0","timestamp":"t"}"#,
            r#"{"type":"context_edit","id":"1","parentId":"0","timestamp":"t","targetId":"0","replacement":null}"#,
            r#"{"type":"holo\"gram","id":"1","parentId":"0","timestamp":"t","payload":[1,2]}"#,
            r#"{"type":"hologram","id":"1","parentId":"0","timestamp":"t"}"#,
        ] {
            let entry = decode(EntryKind::Unknown, line).unwrap();
            let mut out = Vec::new();
            encode(&entry, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), format!("{line}\n"));
        }
    }
}
