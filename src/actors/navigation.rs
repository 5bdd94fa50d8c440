//! Where a move of the conversation leads, and what is stored for it. Pure.

use super::turn_io::NewEntry;
use crate::{
    protocol::{AgentMessage, CommandError, EntryBody, EntryId, navigation::leaf_entry},
    store::tree::{EntryRef, TreeView, ids::fresh_id},
};

/// Where the conversation goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The entry that the next one hangs on; none at the beginning.
    pub leaf: Option<EntryId>,
    /// The text of the message that it goes back before: to be written anew.
    pub editor_text: Option<String>,
}

/// Where a move leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// The conversation stands there already; the text of a message that it stands before.
    Stay(Option<String>),
    /// It goes there.
    Go(Place),
}

/// Finds the place of a target; none is the beginning.
///
/// # Errors
/// There is no such entry.
pub fn way(tree: &TreeView, target: Option<&EntryId>) -> Result<Way, CommandError> {
    let is_here = |id: Option<&EntryId>| {
        let here = |entry: Option<EntryRef<'_>>| entry.as_ref().map(EntryRef::id) == id;
        here(tree.place()) || here(tree.leaf())
    };
    let place = match target {
        None => Place::default(),
        Some(id) => {
            let unknown = || CommandError::Refused(format!("Entry {id} not found"));
            place_of(&tree.find(id).ok_or_else(unknown)?)
        }
    };
    Ok(match is_here(target) || is_here(place.leaf.as_ref()) {
        true => Way::Stay(place.editor_text.filter(|_| !is_here(target))),
        false => Way::Go(place),
    })
}

/// Before the words of a user or an extension, which are to be written anew; else at the entry.
fn place_of(entry: &EntryRef<'_>) -> Place {
    let text = match &entry.entry().body {
        EntryBody::Message { message: AgentMessage::User(user) } => user.content.text(""),
        EntryBody::CustomMessage { content, .. } => content.text(""),
        _ => return Place { leaf: Some(entry.id().clone()), editor_text: None },
    };
    Place { leaf: entry.parent().map(|parent| parent.id().clone()), editor_text: Some(text) }
}

/// What is stored below the new place: the summary of what is left, or an entry that remembers the move, then a name for
/// the summary or for the target.
#[must_use]
pub fn entries(
    tree: &TreeView,
    target: Option<&EntryId>,
    summary: Option<EntryBody>,
    label: Option<&str>,
) -> Vec<NewEntry> {
    let id = fresh_id(|id| tree.find(id).is_some());
    let named = if summary.is_some() { Some(&id) } else { target };
    let label = named.zip(label).map(|(id, label)| label_entry(id.clone(), Some(label)).into());
    let first = NewEntry { body: summary.unwrap_or_else(leaf_entry), reserved: Some(id.clone()) };
    std::iter::once(first).chain(label).collect()
}

/// The entry that names another one; blanks, or no name, clear it.
#[must_use]
pub fn label_entry(target_id: EntryId, label: Option<&str>) -> EntryBody {
    let label = label.map(crate::store::tree::labels::normal_name).filter(|label| !label.is_empty());
    EntryBody::Label { target_id, label }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::testing::{answer, line, user, view};

    fn session() -> TreeView {
        view(&[
            user("u1", "", "FIRST"),
            answer("a1", "u1", "A1"),
            line("custom_message", "c1", "a1", json!({"customType": "x", "content": "NOTE"})),
            user("u2", "c1", "SECOND"),
            answer("a2", "u2", "A2"),
        ])
    }

    fn go(leaf: Option<&str>, text: Option<&str>) -> Way {
        Way::Go(Place { leaf: leaf.map(EntryId::from), editor_text: text.map(str::to_owned) })
    }

    #[test]
    fn a_target_is_gone_on_from_and_words_are_gone_back_before_4_13() {
        let table = [
            (Some("a1"), go(Some("a1"), None)),
            (Some("u2"), go(Some("c1"), Some("SECOND"))),
            (Some("c1"), go(Some("a1"), Some("NOTE"))),
            (Some("u1"), go(None, Some("FIRST"))),
            (None, go(None, None)),
            (Some("a2"), Way::Stay(None)),
        ];
        for (target, wanted) in table {
            assert_eq!(way(&session(), target.map(EntryId::from).as_ref()), Ok(wanted), "{target:?}");
        }
        let unknown = way(&session(), Some(&"nowhere".into())).unwrap_err();
        assert_eq!(unknown.to_string(), "Entry nowhere not found");
    }

    #[test]
    fn a_place_that_the_conversation_came_back_to_is_not_gone_to_again() {
        let at = |lines: &[String], target: &str| way(&view(lines), Some(&target.into()));
        let mut lines = vec![user("u1", "", "FIRST"), answer("a1", "u1", "A1"), user("u2", "a1", "SECOND")];
        assert_eq!(at(&lines, "u2"), Ok(Way::Stay(None)), "it is the leaf");
        lines.push(line("custom", "l", "a1", json!({"customType": "troupe.leaf"})));
        assert_eq!(at(&lines, "a1"), Ok(Way::Stay(None)));
        assert_eq!(at(&lines, "u2"), Ok(Way::Stay(Some("SECOND".into()))));
        lines.push(line("custom", "r", "", json!({"customType": "troupe.leaf"})));
        assert_eq!(at(&lines, "u1"), Ok(Way::Stay(Some("FIRST".into()))));
        assert_eq!(way(&view(&lines), None), Ok(Way::Stay(None)));
    }

    #[test]
    fn a_move_is_remembered_by_a_summary_or_by_an_entry_of_its_own_and_the_name_goes_to_the_summary() {
        let summary = EntryBody::BranchSummary {
            from_id: "a2".into(),
            summary: "S".into(),
            details: None,
            usage: None,
            from_hook: None,
        };
        let target = EntryId::from("a1");
        let stored = |summary, label| entries(&session(), Some(&target), summary, label);
        let named = |entries: &[NewEntry]| match &entries[1].body {
            EntryBody::Label { target_id, label } => (target_id.clone(), label.clone()),
            other => panic!("{other:?}"),
        };
        assert_eq!(stored(None, None).iter().map(|new| new.body.clone()).collect::<Vec<_>>(), [leaf_entry()]);
        assert_eq!(named(&stored(None, Some(" a\nb "))), (target.clone(), Some("a b".into())));
        let both = stored(Some(summary), Some("x"));
        assert_eq!((both[0].body.kind(), named(&both).0), ("branch_summary", both[0].reserved.clone().unwrap()));
        assert_eq!(entries(&session(), None, None, Some("x")).len(), 1, "the beginning has no name");
    }
}
