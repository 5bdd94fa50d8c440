//! What a conversation leaves behind when it goes on at another entry.

use super::{EntryRef, TreeView, context::edits, projection::project};
use crate::{
    protocol::{AgentMessage, EntryId, navigation::is_leaf_entry},
    store::jsonl::EntryKind,
};

/// An entry that is left, with what it shows.
#[derive(Clone)]
pub struct LeftEntry<'v> {
    /// The entry.
    pub entry: EntryRef<'v>,
    /// Its messages, as the last edit of it on the branch wants them. A compaction shows its summary.
    pub messages: Vec<AgentMessage>,
}

impl TreeView {
    /// The entry that the conversation stands at. The leaf may be an entry below it that remembers that the conversation
    /// came back to it, and what was selected then.
    #[must_use]
    pub fn place(&self) -> Option<EntryRef<'_>> {
        let mut place = self.leaf();
        for entry in self.ancestors().take_while(|entry| is_silent(entry.kind())) {
            if entry.kind() == EntryKind::Custom && is_leaf_entry(&entry.entry().body) {
                place = entry.parent();
            }
        }
        place
    }

    /// The entries of the branch that are no longer on it when the conversation goes on at `target`, the newest first:
    /// those from the leaf up to the last entry that both branches share.
    #[must_use]
    pub fn left_for(&self, target: Option<&EntryId>) -> Vec<EntryRef<'_>> {
        let shared = target.and_then(|target| self.common_ancestor(target)).map(|entry| entry.position());
        self.ancestors().take_while(|entry| Some(entry.position()) != shared).collect()
    }
}

/// Whether entries of this kind say nothing in the conversation.
fn is_silent(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::Custom
            | EntryKind::ModelChange
            | EntryKind::ThinkingLevelChange
            | EntryKind::Label
            | EntryKind::SessionInfo
            | EntryKind::Usage
    )
}

/// Entries of a branch, the newest first, with what they show.
#[must_use]
pub fn with_messages<'v>(entries: &[EntryRef<'v>]) -> Vec<LeftEntry<'v>> {
    let oldest_first: Vec<_> = entries.iter().rev().copied().collect();
    let edits = edits(&oldest_first);
    let shown = |entry: &EntryRef<'v>| {
        let mut messages = Vec::new();
        project(&entry.entry(), edits.get(entry.id()), true, &mut messages);
        LeftEntry { entry: *entry, messages }
    };
    entries.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::store::testing::{answer, compaction, edit, line, user, view};

    fn leaf_entry(id: &str, parent: &str) -> String {
        line("custom", id, parent, json!({"customType": "troupe.leaf"}))
    }

    #[test]
    fn what_is_left_lies_between_the_leaf_and_the_last_shared_entry() {
        let view = view(&[
            user("e1", "", "E1"),
            answer("e2", "e1", "E2"),
            user("e3", "e2", "E3"),
            answer("e4", "e3", "E4"),
            user("r2", "", "R2"),
            user("f3", "e2", "F3"),
        ]);
        let left = |leaf: &str, target: Option<&str>| {
            let view = view.with_leaf(Some(&leaf.into())).unwrap();
            let target = target.map(EntryId::from);
            view.left_for(target.as_ref()).iter().map(|entry| entry.id().to_string()).collect::<Vec<_>>().join(" ")
        };
        for (leaf, target, wanted) in [
            ("e4", Some("f3"), "e4 e3"),
            ("e4", Some("e3"), "e4"),
            ("e4", Some("e4"), ""),
            ("e2", Some("e4"), ""),
            ("e4", Some("r2"), "e4 e3 e2 e1"),
            ("e4", None, "e4 e3 e2 e1"),
        ] {
            assert_eq!(left(leaf, target), wanted, "{leaf} {target:?}");
        }
        assert!(view.with_leaf(None).unwrap().left_for(Some(&"e1".into())).is_empty());
    }

    #[test]
    fn the_place_is_the_entry_above_those_that_remember_a_move() {
        let level = |id: &str, parent: &str| line("thinking_level_change", id, parent, json!({"thinkingLevel": "low"}));
        let view = view(&[
            user("e1", "", "E1"),
            leaf_entry("l1", "e1"),
            level("t1", "l1"),
            leaf_entry("l2", "t1"),
            level("t2", "l2"),
            user("e2", "t2", "E2"),
            level("t3", "e2"),
            leaf_entry("l3", ""),
            level("t4", "l3"),
        ]);
        let place = |leaf: &str| {
            let view = view.with_leaf(Some(&leaf.into())).unwrap();
            view.place().map(|entry| entry.id().to_string()).unwrap_or_default()
        };
        for (leaf, wanted) in
            [("e1", "e1"), ("l1", "e1"), ("t1", "e1"), ("t2", "e1"), ("e2", "e2"), ("t3", "t3"), ("l3", ""), ("t4", "")]
        {
            assert_eq!(place(leaf), wanted, "{leaf}");
        }
    }

    #[test]
    fn entries_that_are_left_show_what_their_last_edits_say_and_a_compaction_its_summary() {
        let view = view(&[
            user("e1", "", "E1"),
            compaction("k", "e1", "K", "k"),
            user("e2", "k", "E2"),
            edit("x1", "e2", "e2", json!({"content": "NEW"})),
            answer("e3", "x1", "E3"),
            edit("x2", "e3", "e3", Value::Null),
        ]);
        let left = with_messages(&view.left_for(None));
        let said: Vec<String> = left
            .iter()
            .flat_map(|left| &left.messages)
            .map(|message| match message {
                AgentMessage::User(user) => user.content.text(""),
                other => other.role().to_owned(),
            })
            .collect();
        assert_eq!(said, ["NEW", "compactionSummary", "E1"]);
    }
}
