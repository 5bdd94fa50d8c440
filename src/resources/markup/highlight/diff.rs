//! The lines of a difference.

/// What a line of a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// It came.
    Added,
    /// It went.
    Removed,
    /// It names files or places.
    Header,
    /// It stayed.
    Context,
}

/// What a line of a unified difference, or of one with numbered lines, is.
#[must_use]
pub fn kind_of(line: &str) -> DiffLine {
    match line.as_bytes() {
        [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] | [b'@', b'@', ..] => DiffLine::Header,
        [b'+', ..] => DiffLine::Added,
        [b'-', ..] => DiffLine::Removed,
        _ if ["diff ", "index ", "new file", "deleted file", "rename "].iter().any(|word| line.starts_with(word)) => {
            DiffLine::Header
        }
        _ => DiffLine::Context,
    }
}
