//! What a log says: the changes behind the last snapshot, in order. Pure, but for the reading.

use async_nats::HeaderMap;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::{
    super::{
        Hub, NatsError,
        follow::{Follow, Start},
        names::run_id,
        wire::PATIENCE,
    },
    files::Files,
    frame::Frame,
    snapshot,
    stamp::{Kind, Stamp},
};

/// How often it is read again when a snapshot goes away under the reader.
const TRIES: usize = 3;

/// Where all files are, in one piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pointer {
    /// The object.
    pub(super) object: String,
    /// The sequence of the last message whose changes it has.
    pub(super) covers: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The snapshots that the log names, in order.
    pub(super) pointers: Vec<Pointer>,
    /// Complete changes, with the sequence of their last message.
    changes: Vec<(u64, Vec<Frame>)>,
    /// Changes whose last message did not come yet, and who wrote them.
    open: Option<(String, Vec<Frame>)>,
}

impl History {
    /// Reads the log of a run up to the sequence `last`, which is there.
    pub(super) async fn read(hub: &Hub, run: &str, last: u64) -> Result<Self, NatsError> {
        let subject = hub.0.names.subject("log", run_id(run)?);
        let mut follow = Follow::new(hub, hub.0.names.log(), subject.clone(), Start::First);
        let mut history = Self::default();
        loop {
            let next = timeout(PATIENCE, follow.next()).await.map_err(|_| NatsError::Failed {
                action: format!("read the log of run {run}"),
                cause: "no answer".to_owned(),
            })??;
            history
                .add(next.sequence, next.message.headers.as_ref(), next.message.payload)
                .map_err(|cause| NatsError::Unreadable { what: format!("the log {subject}"), cause })?;
            if next.sequence >= last {
                return Ok(history);
            }
        }
    }

    /// Takes up the next message.
    fn add(&mut self, sequence: u64, headers: Option<&HeaderMap>, payload: Bytes) -> Result<(), String> {
        let stamp = headers.and_then(Stamp::of).ok_or_else(|| format!("message {sequence} is no message of a log"))?;
        match stamp.kind {
            // Whoever had it before did not finish what is open.
            Kind::Taken => self.open = None,
            Kind::Snapshot => {
                let pointer =
                    serde_json::from_slice(&payload).map_err(|error| format!("message {sequence}: {error}"))?;
                self.pointers.push(pointer);
            }
            Kind::Part | Kind::Change => {
                let mut frames = match self.open.take() {
                    Some((writer, frames)) if writer == stamp.writer => frames,
                    _ => Vec::new(),
                };
                frames.extend(Frame::decode(payload).map_err(|error| format!("message {sequence}: {error}"))?);
                match stamp.kind {
                    Kind::Part => self.open = Some((stamp.writer, frames)),
                    _ => self.changes.push((sequence, frames)),
                }
            }
        }
        Ok(())
    }

    /// Whether it says nothing of files.
    pub(super) fn is_empty(&self) -> bool {
        self.pointers.is_empty() && self.changes.is_empty()
    }

    /// The files that it describes, on top of what the last snapshot has.
    fn on_top_of(self, mut files: Files) -> Result<Files, String> {
        let covered = self.pointers.last().map_or(0, |pointer| pointer.covers);
        let behind = self.changes.into_iter().filter(|(sequence, _)| *sequence > covered);
        behind.flat_map(|(_, frames)| frames).try_for_each(|frame| files.apply(frame))?;
        Ok(files)
    }
}

/// The files of a log up to the sequence `last`, and the snapshots that it names; none when it says nothing of files.
pub(super) async fn files(hub: &Hub, run: &str, last: u64) -> Result<Option<(Files, Vec<Pointer>)>, NatsError> {
    let unreadable = |cause| NatsError::Unreadable { what: format!("the log of run {run}"), cause };
    let mut tries = 1;
    loop {
        let history = History::read(hub, run, last).await?;
        if history.is_empty() {
            return Ok(None);
        }
        let base = match history.pointers.last() {
            None => Ok(Files::default()),
            Some(pointer) => snapshot::load(hub, pointer).await,
        };
        match base {
            Ok(base) => {
                let pointers = history.pointers.clone();
                return Ok(Some((history.on_top_of(base).map_err(unreadable)?, pointers)));
            }
            // Its owner may have stored another one meanwhile.
            Err(error) if tries == TRIES => return Err(error),
            Err(error) => tracing::debug!(%error, run, "a log is read again"),
        }
        tries += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a message; what it is, and by whom.
    fn add(history: &mut History, sequence: u64, writer: &str, kind: Kind, payload: &str) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        let kind = match kind {
            Kind::Taken => "taken",
            Kind::Part => "part",
            Kind::Change => "change",
            Kind::Snapshot => "snapshot",
        };
        for (name, value) in
            [("Troupe-Epoch", "1"), ("Troupe-Writer", writer), ("Troupe-Number", "1"), ("Troupe-Kind", kind)]
        {
            headers.insert(name, value);
        }
        history.add(sequence, Some(&headers), Bytes::copy_from_slice(payload.as_bytes()))
    }

    fn change(file: &str, text: &str) -> String {
        format!("{{\"file\":\"{file}\",\"change\":\"whole\",\"len\":{}}}\n{text}", text.len())
    }

    #[test]
    fn only_whole_changes_count_and_only_those_behind_the_snapshot() {
        let mut history = History::default();
        add(&mut history, 1, "x", Kind::Taken, "").unwrap();
        assert!(history.is_empty());
        add(&mut history, 2, "x", Kind::Change, &change("a", "old")).unwrap();
        add(&mut history, 3, "x", Kind::Change, &change("b", "behind the snapshot")).unwrap();
        add(&mut history, 4, "x", Kind::Snapshot, "{\"object\":\"o\",\"covers\":2}").unwrap();
        add(&mut history, 5, "x", Kind::Part, &change("c", "1")).unwrap();
        add(&mut history, 6, "x", Kind::Change, &change("d", "2")).unwrap();
        add(&mut history, 7, "x", Kind::Part, &change("lost", "1")).unwrap();
        add(&mut history, 9, "y", Kind::Taken, "").unwrap();
        add(&mut history, 10, "y", Kind::Change, &change("e", "3")).unwrap();
        add(&mut history, 11, "y", Kind::Part, &change("lost", "2")).unwrap();
        assert_eq!(history.pointers, [Pointer { object: "o".into(), covers: 2 }]);
        let files = history.on_top_of(Files::default()).unwrap();
        let names: Vec<_> = files.iter().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(names, ["b", "c", "d", "e"]);
    }

    #[test]
    fn what_others_wrote_into_the_log_is_refused() {
        let mut history = History::default();
        assert!(history.add(7, None, Bytes::new()).unwrap_err().contains("message 7"));
        assert!(add(&mut history, 8, "x", Kind::Change, "nonsense").unwrap_err().contains("message 8"));
        assert!(add(&mut history, 9, "x", Kind::Snapshot, "{}").unwrap_err().contains("message 9"));
    }
}
