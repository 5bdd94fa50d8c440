//! Long lists for clients, written element by element: nothing of them is held, and nothing that is parsed for them is
//! kept.

use std::io::{self, Write};

use super::{
    TreeView,
    context::{edits, shows},
    projection::project,
};
use crate::{
    protocol::{AgentMessage, EntryId},
    store::jsonl::EntryKind,
};

impl TreeView {
    /// Calls `take` with each message of the leaf's context, in order.
    ///
    /// # Errors
    /// That of `take`, which ends the walk.
    pub fn each_message<E>(&self, mut take: impl FnMut(&AgentMessage) -> Result<(), E>) -> Result<(), E> {
        let window = self.context_window();
        let edits = edits(&window);
        let mut messages = Vec::new();
        for (place, part) in window.iter().enumerate() {
            if !shows(part.kind()) {
                continue;
            }
            let checkpoint = place == 0 && part.kind() == EntryKind::Compaction;
            project(&part.entry_once(), edits.get(part.id()), checkpoint, &mut messages);
            messages.drain(..).try_for_each(|message| take(&message))?;
        }
        Ok(())
    }

    /// The last message of the leaf's context that `wanted` makes something of.
    pub fn last_message<T>(&self, wanted: impl Fn(&AgentMessage) -> Option<T>) -> Option<T> {
        let window = self.context_window();
        let edits = edits(&window);
        let mut messages = Vec::new();
        for (place, part) in window.iter().enumerate().rev().filter(|(_, part)| shows(part.kind())) {
            let checkpoint = place == 0 && part.kind() == EntryKind::Compaction;
            project(&part.entry_once(), edits.get(part.id()), checkpoint, &mut messages);
            if let Some(found) = messages.drain(..).rev().find_map(|message| wanted(&message)) {
                return Some(found);
            }
        }
        None
    }

    /// Writes the messages of the leaf's context, as JSON and with commas between them.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_messages(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut first = true;
        self.each_message(|message| {
            if !std::mem::take(&mut first) {
                out.write_all(b",")?;
            }
            serde_json::to_writer(&mut *out, message).map_err(io::Error::from)
        })
    }

    /// Writes entries as their lines stand in the file, with commas between them: all, or those behind the entry
    /// `since`. Nothing when there is no such entry.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_entries(&self, since: Option<&EntryId>, out: &mut dyn Write) -> io::Result<()> {
        let first = match since.map(|id| self.find(id)) {
            None => 0,
            Some(Some(entry)) => entry.position() + 1,
            Some(None) => return Ok(()),
        };
        let mut separator = "";
        for entry in self.entries_from(first) {
            // What the file does not give any more is left out.
            if let Ok(line) = entry.text() {
                out.write_all(std::mem::replace(&mut separator, ",").as_bytes())?;
                out.write_all(line.as_bytes())?;
            }
        }
        Ok(())
    }
}
