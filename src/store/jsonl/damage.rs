//! What is wrong with a session file.

use std::{fmt, ops::Range};

/// What a tolerant reader came across. The file is left as it is; this is told to people once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// The header could not be read and was put together from what is left of it.
    pub header_recovered: bool,
    /// Byte ranges of lines that could not be read; the first [`Damage::LISTED`] of them.
    pub unreadable: Vec<Range<u64>>,
    /// The number of lines that could not be read.
    pub unreadable_lines: usize,
    /// The last line is a fragment: a write was cut off.
    pub torn_tail: bool,
    /// NUL bytes outside of any entry: a power cut leaves such blocks.
    pub nul_bytes: u64,
    /// Lines with bytes that are no UTF-8; they were read with replacement characters.
    pub bad_text_lines: usize,
    /// Entries that were found behind a fragment on the same line.
    pub salvaged_lines: usize,
}

impl Damage {
    /// So many ranges are remembered; all are counted.
    pub const LISTED: usize = 100;

    /// True when nothing is wrong.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Notes a line that could not be read.
    pub(super) fn unreadable(&mut self, bytes: Range<u64>) {
        self.unreadable_lines += 1;
        if self.unreadable.len() < Self::LISTED {
            self.unreadable.push(bytes);
        }
    }
}

/// One sentence for people: what is damaged.
impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.header_recovered {
            parts.push("its first line is damaged and was pieced together".to_owned());
        }
        if self.unreadable_lines > 0 {
            let places: Vec<_> =
                self.unreadable.iter().take(3).map(|bytes| format!("{}-{}", bytes.start, bytes.end)).collect();
            let more = if self.unreadable_lines > places.len() { ", …" } else { "" };
            let torn = if self.torn_tail { ", the last one cut off" } else { "" };
            let lines = count(self.unreadable_lines, "line");
            parts.push(format!("{lines} cannot be read (bytes {}{more}{torn})", places.join(", ")));
        }
        if self.nul_bytes > 0 {
            parts.push(format!("{} NUL bytes stand between entries", self.nul_bytes));
        }
        if self.bad_text_lines > 0 {
            parts.push(format!("{} held bytes that are no text", count(self.bad_text_lines, "line")));
        }
        if self.salvaged_lines > 0 {
            parts.push(format!("{} had to be cut out of a broken line", count(self.salvaged_lines, "entry")));
        }
        f.write_str(&parts.join("; "))
    }
}

fn count(n: usize, noun: &str) -> String {
    match (n, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "entry") => format!("{n} entries"),
        _ => format!("{n} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_told_in_one_sentence_with_the_places() {
        let mut damage = Damage { torn_tail: true, nul_bytes: 4096, ..Damage::default() };
        damage.unreadable(10..20);
        assert_eq!(
            damage.to_string(),
            "1 line cannot be read (bytes 10-20, the last one cut off); 4096 NUL bytes stand between entries"
        );
        (0..200).for_each(|at| damage.unreadable(at..at + 1));
        assert_eq!((damage.unreadable.len(), damage.unreadable_lines), (Damage::LISTED, 201));
        assert!(!damage.is_none() && Damage::default().is_none());
    }
}
