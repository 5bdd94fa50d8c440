//! Bytes from a terminal to events.
//!
//! The parser has no clock: it is told the time, says by when it wants to be asked again ([`Parser::deadline`]), and
//! [`Parser::expire`] is called when that has passed without bytes. What it makes of bytes does not depend on how they
//! are cut into reads, with three exceptions, all of them guesses about terminals that leave no other way:
//!
//! - *A lone ESC* is the escape key when nothing follows within the time-out. A sequence whose ESC was taken for the key
//!   and whose rest comes late is still known for what it is, see [`late`].
//! - *A burst* of several lines in one read is a paste, see [`burst`].
//! - *An end marker inside a paste* belongs to the paste when another one follows in the same read.

mod burst;
mod csi;
mod late;
mod machine;
mod paste;
mod strings;

#[cfg(test)]
mod tests;

use super::InputEvent;
use late::Tail;
use machine::Machine;
use paste::Paste;

/// How long a lone ESC waits for the rest of a sequence, in milliseconds. pi's value.
pub const ESCAPE_TIMEOUT: u64 = 10;
/// The same over SSH, where the parts of a sequence may come in two packets. pi's value.
pub const ESCAPE_TIMEOUT_SSH: u64 = 100;
/// How long two bytes that begin a sequence, but may be a key with alt, wait for more.
const PREFIX_TIMEOUT: u64 = 300;
/// How long a sequence that has begun waits for its rest before it is dropped.
const SEQUENCE_TIMEOUT: u64 = 1000;
/// How long after the escape key the rest of a sequence is expected.
const LATE_TIMEOUT: u64 = 150;
/// How long a paste waits for its next bytes before it counts as ended: its end marker was lost.
const PASTE_TIMEOUT: u64 = 2000;

/// Makes events of bytes.
#[derive(Debug)]
pub struct Parser {
    escape_timeout: u64,
    machine: Machine,
    paste: Option<Paste>,
    /// The escape key was told, and this is what came of a sequence that it may have begun.
    late: Option<Late>,
    burst: burst::Burst,
    /// When the last bytes came.
    fed: u64,
}

/// The time after a lone ESC.
#[derive(Debug)]
struct Late {
    until: u64,
    /// The first byte of a sequence, which may also be a key.
    held: Option<u8>,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// One for a terminal of this computer.
    #[must_use]
    pub fn new() -> Self {
        Self::with_escape_timeout(ESCAPE_TIMEOUT)
    }

    /// One that waits that many milliseconds after a lone ESC.
    #[must_use]
    pub fn with_escape_timeout(escape_timeout: u64) -> Self {
        Self {
            escape_timeout,
            machine: Machine::default(),
            paste: None,
            late: None,
            burst: burst::Burst::default(),
            fed: 0,
        }
    }

    /// Takes what was read at `now` (milliseconds of any clock that does not go back).
    pub fn feed(&mut self, bytes: &[u8], now: u64) -> Vec<InputEvent> {
        if bytes.is_empty() {
            return Vec::new();
        }
        let mut events = Vec::new();
        let late = self.late.take().filter(|late| late.held.is_some() || now <= late.until);
        self.fed = now;
        match late {
            None => self.take(bytes, &mut events),
            Some(late) => self.take_late(late, bytes, &mut events),
        }
        self.burst.join(events, now)
    }

    /// When [`Self::expire`] is to be called unless bytes come before.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        if self.paste.is_some() {
            return Some(self.fed + PASTE_TIMEOUT);
        }
        if let Some(late) = &self.late {
            return late.held.map(|_| late.until);
        }
        let timeout = match self.machine.pending() {
            machine::Pending::Nothing => return None,
            machine::Pending::Escape => self.escape_timeout,
            machine::Pending::Prefix => PREFIX_TIMEOUT,
            machine::Pending::Sequence => SEQUENCE_TIMEOUT,
        };
        Some(self.fed + timeout)
    }

    /// Nothing came until the deadline: what waits is told, or dropped.
    pub fn expire(&mut self, now: u64) -> Vec<InputEvent> {
        let mut events = Vec::new();
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return events;
        }
        if let Some(paste) = self.paste.take() {
            // The terminal that lost the marker may send the rest without one.
            self.burst.forget_paste();
            events.push(paste.end());
        } else if let Some(Late { held: Some(byte), .. }) = self.late.take() {
            self.machine.step(byte, &mut events);
        } else {
            let was_escape = self.machine.pending() == machine::Pending::Escape;
            self.machine.expire(&mut events);
            self.late = was_escape.then_some(Late { until: now + LATE_TIMEOUT, held: None });
        }
        events
    }

    fn take(&mut self, mut bytes: &[u8], events: &mut Vec<InputEvent>) {
        while !bytes.is_empty() {
            if let Some(paste) = &mut self.paste {
                match paste.take(bytes) {
                    paste::Taken::All => return,
                    paste::Taken::Full => events.push(std::mem::take(paste).end()),
                    paste::Taken::End(rest) => {
                        events.extend(self.paste.take().map(Paste::end));
                        bytes = rest;
                        continue;
                    }
                }
                return;
            }
            bytes = self.machine.run(bytes, events);
            if self.machine.paste_began() {
                self.burst.saw_paste();
                self.paste = Some(Paste::default());
            }
        }
    }

    /// What comes soon after the escape key: the rest of a sequence that the ESC began, or something new.
    fn take_late(&mut self, late: Late, bytes: &[u8], events: &mut Vec<InputEvent>) {
        let mut whole: Vec<u8> = late.held.into_iter().collect();
        whole.extend_from_slice(bytes);
        match late::classify(&whole) {
            Tail::Sequence => {
                self.machine.step(0x1b, events);
                self.take(&whole, events);
            }
            Tail::Open => self.late = Some(Late { until: self.fed + LATE_TIMEOUT, held: Some(whole[0]) }),
            Tail::Text => self.take(&whole, events),
        }
    }
}
