//! An entry in the log: what the tree needs at once, and the rest when it is asked for.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::json;

use crate::{
    protocol::{Entry, EntryBody, EntryId},
    store::jsonl::{EntryKind, LineText, decode::decode, encode::encode, file::LineSource},
};

/// The kind of entries that cannot be read any more.
const UNREADABLE: &str = "unreadable";

/// True for an entry that stands for one that cannot be read any more.
pub fn is_unreadable(entry: &Entry) -> bool {
    matches!(&entry.body, EntryBody::Unknown(_)) && entry.body.kind() == UNREADABLE
}

/// An entry in the log.
pub struct Record {
    pub id: EntryId,
    /// Position of the entry before it on its branch.
    pub parent: Option<u32>,
    pub kind: EntryKind,
    /// Its line; none while no file holds it.
    text: Option<LineText>,
    /// Its content, once somebody asked for it.
    parsed: Mutex<Option<Arc<Entry>>>,
}

impl Record {
    /// An entry that was read.
    pub fn read(id: EntryId, parent: Option<u32>, kind: EntryKind, text: LineText) -> Self {
        Self { id, parent, kind, text: Some(text), parsed: Mutex::new(None) }
    }

    /// A new entry; `text` is where its line stands when it was stored.
    pub fn new(entry: Arc<Entry>, parent: Option<u32>, text: Option<LineText>) -> Self {
        let kind = EntryKind::of(&entry.body);
        Self { id: entry.id.clone(), parent, kind, text, parsed: Mutex::new(Some(entry)) }
    }

    /// The entry, with its content. What cannot be read any more is an entry of an unknown kind that says so.
    pub fn entry(&self, source: impl FnOnce() -> Option<Arc<dyn LineSource>>) -> Arc<Entry> {
        if let Some(entry) = &*self.parsed() {
            return entry.clone();
        }
        // Parsed outside of the lock: nobody waits for a line of megabytes.
        let entry = self.parse(source);
        if !is_unreadable(&entry) {
            *self.parsed() = Some(entry.clone());
        }
        entry
    }

    /// The same, for somebody who walks over a whole session: what was parsed for it is not kept.
    pub fn entry_once(&self, source: impl FnOnce() -> Option<Arc<dyn LineSource>>) -> Arc<Entry> {
        let known = self.parsed().clone();
        known.unwrap_or_else(|| self.parse(source))
    }

    fn parse(&self, source: impl FnOnce() -> Option<Arc<dyn LineSource>>) -> Arc<Entry> {
        let read = self.line(source).and_then(|line| self.decode(&line));
        Arc::new(read.unwrap_or_else(|reason| Entry {
            body: EntryBody::Unknown(json!({"type": UNREADABLE, "reason": reason})),
            id: self.id.clone(),
            parent_id: None,
            timestamp: String::new(),
        }))
    }

    /// The entry's line, fields included that this version does not know.
    pub fn text(&self, source: impl FnOnce() -> Option<Arc<dyn LineSource>>) -> Result<Cow<'_, str>, String> {
        if self.text.is_some() {
            return self.line(source);
        }
        let mut line = Vec::new();
        if let Some(entry) = &*self.parsed() {
            encode(entry, &mut line).map_err(|error| error.to_string())?;
            line.pop();
        }
        String::from_utf8(line).map(Cow::Owned).map_err(|error| error.to_string())
    }

    /// Whether the content is held.
    #[cfg(test)]
    pub fn is_parsed(&self) -> bool {
        self.parsed().is_some()
    }

    /// Forgets the content when it can be read again.
    pub fn forget(&self) {
        if self.text.is_some() {
            *self.parsed() = None;
        }
    }

    fn line(&self, source: impl FnOnce() -> Option<Arc<dyn LineSource>>) -> Result<Cow<'_, str>, String> {
        let span = match &self.text {
            Some(LineText::Own(text)) => return Ok(Cow::Borrowed(text)),
            Some(LineText::Stored(span)) => *span,
            None => return Err("it is not stored".to_owned()),
        };
        let source = source().ok_or("the session has no file")?;
        source.line(span).map(Cow::Owned).map_err(|error| error.to_string())
    }

    fn decode(&self, line: &str) -> Result<Entry, String> {
        // Another id: somebody rewrote the file under our feet.
        decode(self.kind, line)
            .filter(|entry| entry.id == self.id)
            .ok_or_else(|| "its line in the session file was changed".to_owned())
    }

    fn parsed(&self) -> MutexGuard<'_, Option<Arc<Entry>>> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
