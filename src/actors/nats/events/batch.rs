//! From lines to messages.

use async_nats::jetstream::message::PublishMessage;
use bytes::{BufMut as _, Bytes, BytesMut};

pub(super) const EPOCH: &str = "Troupe-Epoch";
pub(super) const WRITER: &str = "Troupe-Writer";
pub(super) const NUMBER: &str = "Troupe-Number";
/// Set for a message that begins in the middle of a line.
pub(super) const MIDDLE: &str = "Troupe-Middle";

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    /// Which one of its writer, from 1.
    pub(super) number: u64,
    /// It begins in the middle of a line.
    pub(super) middle: bool,
    /// Lines with their line feeds; the last one may go on in the next message.
    pub(super) bytes: Bytes,
}

impl Batch {
    /// The message as it is published.
    pub(super) fn message(&self, epoch: u64, writer: &str) -> PublishMessage {
        let message = PublishMessage::build()
            .payload(self.bytes.clone())
            .header(EPOCH, epoch.to_string())
            .header(WRITER, writer)
            .header(NUMBER, self.number.to_string());
        if self.middle { message.header(MIDDLE, "1") } else { message }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Batcher {
    room: usize,
    number: u64,
    middle: bool,
    bytes: BytesMut,
}

impl Batcher {
    /// One whose messages have `room` bytes at most.
    pub(super) fn new(room: usize) -> Self {
        Self { room: room.max(1), number: 0, middle: false, bytes: BytesMut::new() }
    }

    /// Adds a line; the messages that are full.
    pub(super) fn add(&mut self, line: &str, full: &mut Vec<Batch>) {
        if !self.bytes.is_empty() && self.bytes.len() + line.len() + 1 > self.room {
            full.extend(self.take());
        }
        let mut rest = line.as_bytes();
        while rest.len() + 1 > self.room - self.bytes.len() {
            let (now, later) = rest.split_at((self.room - self.bytes.len()).min(rest.len()));
            self.bytes.put_slice(now);
            rest = later;
            full.extend(self.take());
            self.middle = true;
        }
        self.bytes.put_slice(rest);
        self.bytes.put_u8(b'\n');
    }

    /// The number of the last message that was taken; 0 before the first.
    pub(super) fn sent(&self) -> u64 {
        self.number
    }

    /// What was added since the last message.
    pub(super) fn take(&mut self) -> Option<Batch> {
        if self.bytes.is_empty() {
            return None;
        }
        self.number += 1;
        let middle = std::mem::take(&mut self.middle);
        Some(Batch { number: self.number, middle, bytes: self.bytes.split().freeze() })
    }
}
