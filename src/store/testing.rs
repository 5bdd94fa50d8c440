//! Lines of session files for tests.

use serde_json::{Value, json};

use super::{
    jsonl::read,
    tree::{Tree, TreeView},
};

/// A header line.
pub fn header() -> String {
    header_of("11111111-2222-7333-8444-555555555555", "/srv/app")
}

/// A header line of a session with this id and folder.
pub fn header_of(id: &str, cwd: &str) -> String {
    json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-01-02T03:04:05.678Z", "cwd": cwd}).to_string()
}

/// A line of the kind `kind` with these fields; an empty parent makes a root.
pub fn line(kind: &str, id: &str, parent: &str, fields: Value) -> String {
    let parent = if parent.is_empty() { Value::Null } else { parent.into() };
    let mut line = json!({"type": kind, "id": id, "parentId": parent, "timestamp": "2026-01-02T03:04:05.678Z"});
    for (key, value) in fields.as_object().into_iter().flatten() {
        line[key] = value.clone();
    }
    line.to_string()
}

/// A user's message.
pub fn user(id: &str, parent: &str, text: &str) -> String {
    line(
        "message",
        id,
        parent,
        json!({"message": {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 5}}),
    )
}

/// An answer of the model `acme/alpha`.
pub fn answer(id: &str, parent: &str, text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    let message =
        json!({"role": "assistant", "content": content, "provider": "acme", "model": "alpha", "timestamp": 6});
    line("message", id, parent, json!({ "message": message }))
}

/// A system message that sets these sections.
pub fn system(id: &str, parent: &str, sections: Value) -> String {
    line("message", id, parent, json!({"message": {"role": "system", "content": "", "sections": sections}}))
}

/// A compaction that keeps what comes from `kept` on.
pub fn compaction(id: &str, parent: &str, summary: &str, kept: &str) -> String {
    line("compaction", id, parent, json!({"summary": summary, "firstKeptEntryId": kept, "tokensBefore": 9}))
}

/// An edit of another entry.
pub fn edit(id: &str, parent: &str, target: &str, replacement: Value) -> String {
    line("context_edit", id, parent, json!({"targetId": target, "replacement": replacement}))
}

/// A name for another entry; an empty one clears it.
pub fn label(id: &str, parent: &str, target: &str, label: &str) -> String {
    line("label", id, parent, json!({"targetId": target, "label": label}))
}

/// A file of these lines.
pub fn file(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// The view of a session with these entries.
pub fn view(lines: &[String]) -> TreeView {
    let bytes = file(&[&[header()], lines].concat());
    let loaded = read::read(bytes.as_slice(), None).expect("a session");
    Tree::load(loaded.header, loaded.lines, &loaded.gaps, Some(std::sync::Arc::new(bytes))).view().clone()
}

/// A named pipe that nobody writes to.
pub(crate) fn pipe_in(folder: &std::path::Path, name: &str) -> std::path::PathBuf {
    let pipe = folder.join(name);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    pipe
}
