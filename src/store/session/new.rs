//! What new sessions and new entries get: ids, times, parents.

use std::{ops::Range, path::Path, sync::Arc};

use uuid::Uuid;

use crate::{
    protocol::{
        AgentMessage, Entry, EntryBody, EntryId,
        entry::{AgentHeader, SessionHeader},
        system::SystemState,
        time::{Millis, iso, now_ms},
    },
    store::{
        StoreError,
        jsonl::{
            EntryKind, VERSION,
            encode::encode,
            kind::{AGENT_SPAWN, Role, TEAM_NOTE},
        },
        tree::{Tree, ids::fresh_id, labels::normal_name},
    },
};

/// What a new session is made with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSession {
    /// Its id; a fresh one when none is given.
    pub id: Option<String>,
    /// The folder that it runs in, absolute.
    pub cwd: String,
    /// The file of the session that it comes from.
    pub parent_session: Option<String>,
    /// Whose it is, when another agent spawned it.
    pub agent: Option<Arc<AgentHeader>>,
}

impl NewSession {
    /// A session that runs in `cwd`.
    #[must_use]
    pub fn in_folder(cwd: &Path) -> Self {
        Self { cwd: cwd.to_string_lossy().into_owned(), ..Self::default() }
    }

    /// The header of such a session, made now.
    ///
    /// # Errors
    /// When the id is not one that a file can be named after.
    pub fn header(self) -> Result<SessionHeader, StoreError> {
        let id = match self.id {
            Some(id) => check_session_id(&id).map(|()| id)?,
            None => session_id(),
        };
        Ok(SessionHeader {
            kind: "session".to_owned(),
            version: Some(VERSION),
            id,
            timestamp: iso(now_ms()),
            cwd: self.cwd,
            parent_session: self.parent_session,
            agent: self.agent,
        })
    }
}

/// A fresh session id: ids sort by the time at which they were made.
#[must_use]
pub fn session_id() -> String {
    Uuid::now_v7().to_string()
}

/// Checks an id that somebody chose: it becomes part of a file's name and of command lines.
///
/// # Errors
/// When it is not made of letters, digits, `.`, `_` and `-`, with a letter or digit at both ends.
pub fn check_session_id(id: &str) -> Result<(), StoreError> {
    let plain = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if plain(id.chars().next()) && plain(id.chars().next_back()) && id.chars().all(inner) {
        Ok(())
    } else {
        Err(StoreError::BadSessionId(id.to_owned()))
    }
}

/// An entry on its way in.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEntry {
    /// What it says. A compaction without a first kept entry (an empty id) keeps none, and one without a system
    /// message gets that of its place.
    pub body: EntryBody,
    /// The id that was reserved for it; a fresh one when there is none.
    pub id: Option<EntryId>,
}

impl From<EntryBody> for NewEntry {
    fn from(body: EntryBody) -> Self {
        Self { body, id: None }
    }
}

impl From<AgentMessage> for NewEntry {
    fn from(message: AgentMessage) -> Self {
        EntryBody::Message { message }.into()
    }
}

/// Entries that are ready to be written.
pub struct Batch {
    pub entries: Vec<Arc<Entry>>,
    /// All their lines.
    pub lines: Vec<u8>,
    /// Where each line stands in `lines`, without its newline.
    pub ranges: Vec<Range<usize>>,
}

impl Batch {
    /// Gives entries their ids, times and parents below the leaf of `tree`.
    pub fn build(tree: &Tree, new: Vec<NewEntry>, now: Millis) -> Result<Self, StoreError> {
        let timestamp = iso(now);
        let mut batch = Self { entries: Vec::with_capacity(new.len()), lines: Vec::new(), ranges: Vec::new() };
        let mut parent_id = tree.view().leaf().map(|leaf| leaf.id().clone());
        for NewEntry { body, id } in new {
            let taken = |id: &EntryId| tree.contains(id) || batch.entries.iter().any(|entry| entry.id == *id);
            let id = match id {
                Some(id) if taken(&id) => return Err(StoreError::IdTaken(id.to_string())),
                Some(id) => id,
                None => fresh_id(taken),
            };
            let body = complete(body, &id, || batch.system(tree), now);
            let entry = Entry { body, id: id.clone(), parent_id, timestamp: timestamp.clone() };
            let start = batch.lines.len();
            encode(&entry, &mut batch.lines)?;
            batch.ranges.push(start..batch.lines.len() - 1);
            batch.entries.push(Arc::new(entry));
            parent_id = Some(id);
        }
        Ok(batch)
    }

    /// True when one of the entries makes the session worth a file.
    pub fn is_conversation(&self) -> bool {
        self.entries.iter().any(|entry| EntryKind::of(&entry.body).is_conversation() || begins_work(&entry.body))
    }

    /// True when a model has answered, or other agents are to work: nobody else's session tells that.
    pub fn is_answered(&self) -> bool {
        let answers = |body: &EntryBody| matches!(EntryKind::of(body), EntryKind::Message(Role::Assistant));
        self.entries.iter().any(|entry| answers(&entry.body) || begins_work(&entry.body))
    }

    /// The prompt and the tools after the entries so far.
    fn system(&self, tree: &Tree) -> SystemState {
        let mut state = tree.view().system();
        for entry in &self.entries {
            if let Some(AgentMessage::System(message)) = entry.body.as_message() {
                state.apply(message);
            }
        }
        state
    }
}

/// Other agents are to work: whoever restarts this one must find them.
fn begins_work(body: &EntryBody) -> bool {
    matches!(body, EntryBody::Custom { custom_type, .. } if [AGENT_SPAWN, TEAM_NOTE].contains(&custom_type.as_str()))
}

fn complete(mut body: EntryBody, id: &EntryId, system: impl FnOnce() -> SystemState, now: Millis) -> EntryBody {
    match &mut body {
        EntryBody::Compaction { first_kept_entry_id, system_message, .. } => {
            if first_kept_entry_id.as_str().is_empty() {
                *first_kept_entry_id = id.clone();
            }
            if system_message.is_none() {
                let state = system();
                *system_message = (state != SystemState::default()).then(|| Arc::new(state.to_message(now)));
            }
        }
        EntryBody::SessionInfo { name: Some(name) } => *name = normal_name(name),
        _ => {}
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fc_104_session_ids_cannot_be_taken_for_paths_or_flags() {
        for id in ["abc-1", "a", "0.x_y-Z9", "01975b0c-1111-7222-8333-444455556666"] {
            assert!(check_session_id(id).is_ok(), "{id}");
        }
        for id in ["", "bad/id", "../../x", "-x", "x-", "a b", "..", ".", "x\ny", "a\0", "é", "a/b"] {
            assert!(check_session_id(id).is_err(), "{id:?}");
        }
    }
}
