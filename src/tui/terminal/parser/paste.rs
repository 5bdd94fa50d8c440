//! A bracketed paste: from its beginning to its end marker.

use memchr::memmem;

use crate::tui::terminal::InputEvent;

const BEGIN: &[u8] = b"\x1b[200~";
const END: &[u8] = b"\x1b[201~";

/// Bytes of one paste. A longer one is told in pieces.
const LIMIT: usize = 64 << 20;

/// What of a read belonged to a paste.
pub(super) enum Taken<'a> {
    /// All of it, and the paste goes on.
    All,
    /// All of it, and the paste is as long as one may be: what follows is the next one.
    Full,
    /// What was before the end marker; this is behind it.
    End(&'a [u8]),
}

/// A paste that has begun.
#[derive(Debug, Default)]
pub(super) struct Paste {
    bytes: Vec<u8>,
}

impl Paste {
    /// Takes what was read.
    pub fn take<'a>(&mut self, read: &'a [u8]) -> Taken<'a> {
        // The marker may have begun in the read before.
        let before = self.bytes.len();
        let overlap = before.min(END.len() - 1);
        let edge = read.len().min(END.len() - 1);
        let mut seam = self.bytes[before - overlap..].to_vec();
        seam.extend_from_slice(&read[..edge]);
        let at_seam = memmem::find(&seam, END).map(|at| at as isize - overlap as isize);
        let inside = || memmem::find(read, END).map(|at| at as isize);
        let Some(first) = at_seam.or_else(inside) else {
            self.bytes.extend_from_slice(read);
            return if self.bytes.len() > LIMIT { Taken::Full } else { Taken::All };
        };
        let behind = (first + END.len() as isize).unsigned_abs();
        self.bytes.truncate(before.saturating_add_signed(first.min(0)));
        self.bytes.extend_from_slice(&read[..first.max(0).unsigned_abs()]);
        // Data that holds the marker cannot be told from its end, except by the marker that follows it.
        let next = memmem::find(&read[behind..], BEGIN).map_or(read.len(), |at| behind + at);
        let Some(last) = memmem::rfind(&read[behind..next], END) else { return Taken::End(&read[behind..]) };
        let mut rest = &read[behind..behind + last];
        while let Some(at) = memmem::find(rest, END) {
            self.bytes.extend_from_slice(&rest[..at]);
            rest = &rest[at + END.len()..];
        }
        self.bytes.extend_from_slice(rest);
        Taken::End(&read[behind + last + END.len()..])
    }

    /// The event of it.
    pub fn end(self) -> InputEvent {
        let text = String::from_utf8(self.bytes);
        InputEvent::Paste(text.unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned()))
    }
}
