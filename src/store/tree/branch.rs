//! A branch as a session of its own: the lines of a fork, a clone, an export.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{EntryRef, TreeView, ids::fresh_id};
use crate::{
    protocol::EntryId,
    store::jsonl::{EntryKind, scan::scan, surrogates},
};

impl TreeView {
    /// The lines of all entries, ids unchanged. Entries that hang over a damaged line name the parent that they were
    /// given here: the damaged line does not come along.
    pub fn all_lines(&self) -> impl Iterator<Item = Result<String, String>> {
        self.entries().map(|entry| {
            let above = entry.parent().map(|parent| parent.id().clone());
            chained(&entry, above.as_ref(), None)
        })
    }

    /// The branch of the leaf as lines of a new session: entries keep their ids, labels leave the chain and come
    /// again at its end with fresh ids.
    ///
    /// # Errors
    /// When a line of the session file cannot be read again: the reason.
    pub fn branch_lines(&self) -> Result<Vec<String>, String> {
        let path = self.path();
        let redirect = redirect(&path);
        let kept: Vec<_> = path.into_iter().filter(|entry| entry.kind() != EntryKind::Label).collect();
        let mut lines = Vec::with_capacity(kept.len());
        let mut above: Option<EntryId> = None;
        for entry in &kept {
            lines.push(chained(entry, above.as_ref(), Some(&redirect))?);
            above = Some(entry.id().clone());
        }
        let labels = self.labels();
        for (id, label) in kept.iter().filter_map(|entry| labels.get_key_value(entry.id())) {
            let fresh = fresh_id(|id| self.find(id).is_some());
            let line = json!({
                "type": "label",
                "id": fresh.as_str(),
                "parentId": above.as_ref().map(EntryId::as_str),
                "timestamp": label.timestamp,
                "targetId": id.as_str(),
                "label": label.text,
            });
            lines.push(line.to_string());
            above = Some(fresh);
        }
        Ok(lines)
    }
}

/// For each label on the path, the next entry that is none.
fn redirect(path: &[EntryRef<'_>]) -> HashMap<EntryId, EntryId> {
    let mut redirect = HashMap::new();
    let mut next: Option<&EntryId> = None;
    for entry in path.iter().rev() {
        match (entry.kind(), next) {
            (EntryKind::Label, Some(next)) => {
                redirect.insert(entry.id().clone(), next.clone());
            }
            (EntryKind::Label, None) => {}
            _ => next = Some(entry.id()),
        }
    }
    redirect
}

/// The line of `entry` with this parent; everything else in it stays as it is, fields included that we do not know.
fn chained(
    entry: &EntryRef<'_>,
    above: Option<&EntryId>,
    redirect: Option<&HashMap<EntryId, EntryId>>,
) -> Result<String, String> {
    let line = entry.text()?;
    let hangs_there = scan(&line).is_some_and(|line| line.parent.as_deref() == above.map(EntryId::as_str));
    let redirect = redirect.filter(|_| entry.kind() == EntryKind::Compaction);
    if hangs_there && redirect.is_none() {
        return Ok(line.into_owned());
    }
    let mut fields: Map<String, Value> = serde_json::from_str(&line)
        .or_else(|_| serde_json::from_str(&surrogates::mend(&line)))
        .map_err(|error| error.to_string())?;
    fields.insert("parentId".to_owned(), above.map_or(Value::Null, |above| Value::from(above.as_str())));
    let kept = fields.get("firstKeptEntryId").and_then(Value::as_str).map(EntryId::from);
    if let Some(next) = kept.and_then(|kept| redirect?.get(&kept)) {
        fields.insert("firstKeptEntryId".to_owned(), Value::from(next.as_str()));
    }
    serde_json::to_string(&fields).map_err(|error| error.to_string())
}
