//! Names of entries, and of the session. The last one in the order of the file counts, whatever its branch.

use std::collections::HashMap;

use super::{EntryRef, TreeView};
use crate::{
    protocol::{EntryBody, EntryId},
    store::jsonl::EntryKind,
};

/// The name of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The name.
    pub text: String,
    /// When it was given, ISO-8601.
    pub timestamp: String,
}

impl TreeView {
    /// The names of entries. A name that was cleared is none.
    #[must_use]
    pub fn labels(&self) -> HashMap<EntryId, Label> {
        let mut labels = HashMap::new();
        for note in self.notes().filter(|note| note.kind() == EntryKind::Label) {
            let entry = note.entry();
            let EntryBody::Label { target_id, label } = &entry.body else { continue };
            match label.as_ref().filter(|label| !label.is_empty()) {
                Some(text) => {
                    labels.insert(target_id.clone(), Label { text: text.clone(), timestamp: entry.timestamp.clone() });
                }
                None => {
                    labels.remove(target_id);
                }
            }
        }
        labels
    }

    /// The session's name; none when it has none, or it was cleared.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        let last = self.notes().rev().find(|note| note.kind() == EntryKind::SessionInfo)?;
        match &last.entry().body {
            EntryBody::SessionInfo { name } => name.as_deref().map(normal_name).filter(|name| !name.is_empty()),
            _ => None,
        }
    }

    fn notes(&self) -> impl DoubleEndedIterator<Item = EntryRef<'_>> {
        let notes = &self.log.notes;
        (0..notes.len()).filter_map(|note| self.at(*notes.get(note)?))
    }
}

/// A name as it is stored and shown: on one line, without blanks around it.
#[must_use]
pub fn normal_name(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for line in name.split(['\r', '\n']).filter(|line| !line.is_empty()) {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(line);
    }
    normal.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_put_on_one_line() {
        for (name, normal) in [("  My\nname ", "My name"), (" a\r\nb ", "a b"), ("\n\n", ""), ("a\n\r\nb", "a b")] {
            assert_eq!(normal_name(name), normal);
        }
    }
}
