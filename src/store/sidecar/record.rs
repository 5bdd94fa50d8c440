//! A line of the journal.

use serde::{Deserialize, Serialize};

use crate::protocol::{EntryBody, EntryId, command::InputSource, message::Content};

/// Something that happened in a run and that the session file does not tell.
///
/// On disk: `{"type":"input","op":…,"kind":"steer","entryId":…,"content":…,"source":"rpc"}`,
/// `{"type":"delivered","ops":[…]}`, `{"type":"batch","entryId":…,"places":[0,1]}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Record {
    /// A prompt or a queued message was accepted: from here on it must not be lost.
    Input(PendingInput),
    /// An entry was accepted that waits for the end of the trace.
    Held(HeldEntry),
    /// Inputs are in the session now, as user messages; entries that waited are there, too.
    Delivered {
        /// Their operation numbers; of entries, their ids.
        ops: Vec<String>,
    },
    /// Inputs were taken back by whoever gave them.
    Cleared {
        /// Their operation numbers.
        ops: Vec<String>,
    },
    /// A trace began.
    Started,
    /// The trace is over.
    Settled,
    /// Calls of an assistant message begin now: after a crash, a call that began and has no result was interrupted,
    /// and one that did not begin had no effects.
    Batch {
        /// The assistant message's entry.
        entry_id: EntryId,
        /// Places of the calls in the message, from 0.
        places: Vec<usize>,
    },
    /// Written by a later version; it says nothing to this one.
    #[serde(other)]
    Unknown,
}

/// An input that waits to become a user message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingInput {
    /// Its operation number.
    pub op: String,
    /// What is to become of it.
    pub kind: InputKind,
    /// The id that its user message is going to have: when the session holds that entry, the input was delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<EntryId>,
    /// The words and pictures.
    pub content: Content,
    /// Where it came from.
    #[serde(default)]
    pub source: InputSource,
}

/// An entry that waits for the end of the trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldEntry {
    /// The id that it is going to have.
    pub entry_id: EntryId,
    /// What it says.
    pub body: EntryBody,
}

/// What is to become of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InputKind {
    /// It begins a trace.
    Prompt,
    /// It is delivered at the next turn boundary.
    Steer,
    /// It is delivered when the loop would stop.
    FollowUp,
}
