//! Whether an entry that somebody wants to add makes sense at the leaf.

use super::{EntryRef, TreeView};
use crate::{
    protocol::{EntryBody, EntryId},
    store::jsonl::{EntryKind, Role},
};

/// Why an entry is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// It names an entry that is not there.
    #[error("Entry {0} not found: name an entry of this session.")]
    Unknown(EntryId),
    /// It changes an entry of another branch.
    #[error("Entry {0} is on another branch: only entries between the leaf and the root can be edited or kept.")]
    OffBranch(EntryId),
    /// It edits what has no content.
    #[error("Entry {0} cannot be edited: it is no message of the user, of the model, of a tool or of an extension.")]
    NoContent(EntryId),
    /// The kind of entry is not one that may be added there.
    #[error("An entry of the kind {0} cannot be added here.")]
    Kind(String),
}

impl TreeView {
    /// Checks an entry that is to be added below the leaf: a context edit is of content that the branch shows, a label
    /// names an entry, a compaction keeps entries of the branch. Everything else may be added.
    ///
    /// # Errors
    /// Why it makes no sense there.
    pub fn check(&self, body: &EntryBody) -> Result<(), EntryFault> {
        match body {
            EntryBody::ContextEdit { target_id, .. } => match self.on_branch(target_id)?.kind() {
                EntryKind::Message(Role::User | Role::Assistant | Role::ToolResult) | EntryKind::CustomMessage => {
                    Ok(())
                }
                _ => Err(EntryFault::NoContent(target_id.clone())),
            },
            EntryBody::Label { target_id, .. } => self.known(target_id).map(drop),
            // Without an id, nothing is kept.
            EntryBody::Compaction { first_kept_entry_id, .. } if !first_kept_entry_id.as_str().is_empty() => {
                self.on_branch(first_kept_entry_id).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Checks what an extension wants to add at the boundary of a turn: state, messages, edits and compactions, each as
    /// [`TreeView::check`] does.
    ///
    /// # Errors
    /// Why the first that makes no sense does not.
    pub fn check_drafts(&self, drafts: &[EntryBody]) -> Result<(), EntryFault> {
        drafts.iter().try_for_each(|draft| match draft {
            EntryBody::Custom { .. }
            | EntryBody::CustomMessage { .. }
            | EntryBody::ContextEdit { .. }
            | EntryBody::Compaction { .. } => self.check(draft),
            other => Err(EntryFault::Kind(other.kind().to_owned())),
        })
    }

    fn known(&self, id: &EntryId) -> Result<EntryRef<'_>, EntryFault> {
        self.find(id).ok_or_else(|| EntryFault::Unknown(id.clone()))
    }

    fn on_branch(&self, id: &EntryId) -> Result<EntryRef<'_>, EntryFault> {
        let entry = self.known(id)?;
        let is_above = self.ancestors().any(|above| above.at == entry.at);
        is_above.then_some(entry).ok_or_else(|| EntryFault::OffBranch(id.clone()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::testing::{answer, line, system, user, view};

    fn edit(target: &str) -> EntryBody {
        EntryBody::ContextEdit { target_id: target.into(), replacement: None }
    }

    fn keeps(kept: &str) -> EntryBody {
        serde_json::from_value(json!({"type": "compaction", "summary": "S", "firstKeptEntryId": kept})).unwrap()
    }

    fn label(target: &str) -> EntryBody {
        EntryBody::Label { target_id: target.into(), label: Some("x".into()) }
    }

    #[test]
    fn entries_that_make_no_sense_at_the_leaf_are_refused_with_the_reason() {
        let result = json!({"message": {"role": "toolResult", "toolCallId": "c", "content": []}});
        let shell = json!({"message": {"role": "bashExecution", "command": "ls"}});
        let view = view(&[
            system("s", "", json!({"p": "x"})),
            user("u", "s", "U"),
            answer("a", "u", "A"),
            line("message", "r", "a", result),
            line("custom_message", "c", "r", json!({"customType": "x", "content": "C"})),
            line("message", "b", "c", shell),
            user("other", "s", "elsewhere"),
            line("custom", "leaf", "b", json!({"customType": "x"})),
        ]);
        let unknown = |id: &str| Err(EntryFault::Unknown(id.into()));
        let off = |id: &str| Err(EntryFault::OffBranch(id.into()));
        let empty = |id: &str| Err(EntryFault::NoContent(id.into()));
        let table = [
            (edit("u"), Ok(())),
            (edit("a"), Ok(())),
            (edit("r"), Ok(())),
            (edit("c"), Ok(())),
            (edit("s"), empty("s")),
            (edit("b"), empty("b")),
            (edit("leaf"), empty("leaf")),
            (edit("other"), off("other")),
            (edit("nowhere"), unknown("nowhere")),
            (label("other"), Ok(())),
            (label("nowhere"), unknown("nowhere")),
            (keeps("u"), Ok(())),
            (keeps(""), Ok(())),
            (keeps("other"), off("other")),
            (keeps("nowhere"), unknown("nowhere")),
        ];
        for (body, wanted) in table {
            assert_eq!(view.check(&body), wanted, "{body:?}");
        }
        let model = EntryBody::ModelChange { provider: "p".into(), model_id: "m".into() };
        assert_eq!(view.check_drafts(&[edit("u"), model]), Err(EntryFault::Kind("model_change".into())));
        assert_eq!(view.check_drafts(&[keeps("u"), edit("nowhere")]), unknown("nowhere"));
    }
}
