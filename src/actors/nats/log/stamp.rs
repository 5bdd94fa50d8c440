//! What a message of the log says beside its contents: who wrote it, which it is, and of what kind.

use async_nats::{HeaderMap, jetstream::message::PublishMessage};

const EPOCH: &str = "Troupe-Epoch";
const WRITER: &str = "Troupe-Writer";
const NUMBER: &str = "Troupe-Number";
const KIND: &str = "Troupe-Kind";

/// Of what kind a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A new owner has the log.
    Taken,
    /// Changes, with more of the same in the next message: they count together or not at all.
    Part,
    /// Changes, the last message of them.
    Change,
    /// All files were stored in one piece.
    Snapshot,
}

impl Kind {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Taken, "taken"), (Self::Part, "part"), (Self::Change, "change"), (Self::Snapshot, "snapshot")];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The epoch of the lease that the writer had.
    pub(super) epoch: u64,
    /// The writer: no other has the same name.
    pub(super) writer: String,
    /// Which of the writer's messages it is, from 1.
    pub(super) number: u64,
    /// Of what kind.
    pub(super) kind: Kind,
}

impl Stamp {
    /// The message with these contents, to be stored behind the sequence `last` of its subject.
    pub(super) fn message(&self, payload: bytes::Bytes, last: u64) -> PublishMessage {
        PublishMessage::build()
            .payload(payload)
            .header(EPOCH, self.epoch.to_string())
            .header(WRITER, self.writer.as_str())
            .header(NUMBER, self.number.to_string())
            .header(KIND, self.kind.name())
            .message_id(format!("{}.{}", self.writer, self.number))
            .expected_last_subject_sequence(last)
    }

    /// What a message says; none when it is no message of a log.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let text = |name: &str| headers.get(name).map(|value| value.as_str());
        Some(Self {
            epoch: text(EPOCH)?.parse().ok()?,
            writer: text(WRITER)?.to_owned(),
            number: text(NUMBER)?.parse().ok()?,
            kind: Kind::of(text(KIND)?)?,
        })
    }
}
