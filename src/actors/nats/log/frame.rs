//! Changes of files, as messages of the log and snapshots have them: a line of JSON, then as many bytes as it says.

use bytes::{BufMut as _, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

/// A change of a file. Names are relative to the folder of the log, with `/` between their parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Bytes come behind those that it has.
    Append {
        /// The file.
        file: String,
        /// How long it was.
        at: u64,
        /// The bytes.
        bytes: Bytes,
    },
    /// It is this, whatever it was.
    Whole {
        /// The file.
        file: String,
        /// The bytes.
        bytes: Bytes,
    },
    /// It is gone.
    Removed {
        /// The file.
        file: String,
    },
}

/// The line before the bytes.
#[derive(Serialize, Deserialize)]
struct Head<'a> {
    file: std::borrow::Cow<'a, str>,
    #[serde(flatten)]
    change: Change,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "lowercase")]
enum Change {
    Append { at: u64, len: usize },
    Whole { len: usize },
    Removed,
}

impl Frame {
    /// Adds it to `out`.
    pub(super) fn encode(&self, out: &mut BytesMut) {
        let (file, change, bytes) = match self {
            Self::Append { file, at, bytes } => (file, Change::Append { at: *at, len: bytes.len() }, bytes.as_ref()),
            Self::Whole { file, bytes } => (file, Change::Whole { len: bytes.len() }, bytes.as_ref()),
            Self::Removed { file } => (file, Change::Removed, &[][..]),
        };
        let head = Head { file: file.as_str().into(), change };
        // Strings and numbers can always be written.
        out.put_slice(&serde_json::to_vec(&head).unwrap_or_default());
        out.put_u8(b'\n');
        out.put_slice(bytes);
    }

    /// The frames in `bytes`.
    pub(super) fn decode(mut bytes: Bytes) -> Result<Vec<Self>, String> {
        let mut frames = Vec::new();
        while !bytes.is_empty() {
            let end = memchr::memchr(b'\n', &bytes).ok_or("a line of a change has no end")?;
            let line = bytes.split_to(end + 1);
            let head: Head =
                serde_json::from_slice(&line).map_err(|error| format!("a change makes no sense: {error}"))?;
            let file = head.file.into_owned();
            let mut take = |len: usize| match bytes.len() < len {
                true => Err(format!("a change of {file} has {} bytes of {len}", bytes.len())),
                false => Ok(bytes.split_to(len)),
            };
            frames.push(match head.change {
                Change::Append { at, len } => {
                    let bytes = take(len)?;
                    Self::Append { file, at, bytes }
                }
                Change::Whole { len } => {
                    let bytes = take(len)?;
                    Self::Whole { file, bytes }
                }
                Change::Removed => Self::Removed { file },
            });
        }
        Ok(frames)
    }

    /// Bytes that it takes beside its contents, at most.
    fn overhead(&self) -> usize {
        let (Self::Append { file, .. } | Self::Whole { file, .. } | Self::Removed { file }) = self;
        // A character of a name takes six bytes at most, when it has to be escaped; the rest of the line is short.
        file.len() * 6 + 96
    }

    /// The first `room` bytes of its contents, and the rest, where there is one.
    fn split(self, room: usize) -> (Self, Option<Self>) {
        match self {
            Self::Append { file, at, mut bytes } if bytes.len() > room => {
                let rest = bytes.split_off(room);
                let rest = Self::Append { file: file.clone(), at: at + room as u64, bytes: rest };
                (Self::Append { file, at, bytes }, Some(rest))
            }
            Self::Whole { file, mut bytes } if bytes.len() > room => {
                let rest = bytes.split_off(room);
                let rest = Self::Append { file: file.clone(), at: room as u64, bytes: rest };
                (Self::Whole { file, bytes }, Some(rest))
            }
            whole => (whole, None),
        }
    }
}

/// Contents of messages with these frames, `room` bytes each at most. Names are far shorter than that.
pub(super) fn pack(frames: Vec<Frame>, room: usize) -> Vec<Bytes> {
    let mut messages = Vec::new();
    let mut message = BytesMut::new();
    for frame in frames {
        let mut rest = Some(frame);
        while let Some(frame) = rest.take() {
            let left = room.saturating_sub(message.len() + frame.overhead());
            if left == 0 && !message.is_empty() {
                messages.push(message.split().freeze());
                rest = Some(frame);
                continue;
            }
            let (now, later) = frame.split(left.max(1));
            now.encode(&mut message);
            rest = later;
        }
    }
    if !message.is_empty() {
        messages.push(message.freeze());
    }
    messages
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames() -> impl Strategy<Value = Vec<Frame>> {
        let file = prop_oneof![Just("a.jsonl".to_owned()), Just("a.agents/\"ä\\.jsonl".to_owned())];
        let bytes = prop::collection::vec(any::<u8>(), 0..700).prop_map(Bytes::from);
        let frame = (file, bytes, any::<u32>(), 0..3u8).prop_map(|(file, bytes, at, kind)| match kind {
            0 => Frame::Append { file, at: at.into(), bytes },
            1 => Frame::Whole { file, bytes },
            _ => Frame::Removed { file },
        });
        prop::collection::vec(frame, 0..6)
    }

    /// Puts together what was split.
    fn joined(frames: Vec<Frame>) -> Vec<Frame> {
        let mut out: Vec<Frame> = Vec::new();
        for frame in frames {
            match (out.last_mut(), frame) {
                (Some(Frame::Append { file, at, bytes }), Frame::Append { file: next, at: place, bytes: more })
                    if *file == next && *at + bytes.len() as u64 == place =>
                {
                    *bytes = [bytes.as_ref(), more.as_ref()].concat().into();
                }
                (Some(Frame::Whole { file, bytes }), Frame::Append { file: next, at: place, bytes: more })
                    if *file == next && bytes.len() as u64 == place =>
                {
                    *bytes = [bytes.as_ref(), more.as_ref()].concat().into();
                }
                (_, frame) => out.push(frame),
            }
        }
        out
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out_again_in_messages_that_fit(frames in frames(), room in 300usize..2000) {
            let messages = pack(frames.clone(), room);
            prop_assert!(messages.iter().all(|message| message.len() <= room));
            let read = messages.into_iter().map(|message| Frame::decode(message).unwrap()).collect::<Vec<_>>().concat();
            prop_assert_eq!(joined(read), joined(frames));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let check = |bytes: &'static [u8], expected: &str| {
            let error = Frame::decode(Bytes::from_static(bytes)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(b"{}", "no end");
        check(b"{}\n", "makes no sense");
        check(b"{\"file\":\"a\",\"change\":\"whole\",\"len\":3}\nab", "2 bytes of 3");
    }
}
