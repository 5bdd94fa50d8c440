//! The keys of vi: a normal and a visual mode beside the one in which text is written.

mod motion;
mod parse;
mod run;

use super::Fragment;
use parse::Parser;

/// The mode of the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VimMode {
    /// Characters are written.
    #[default]
    Insert,
    /// Characters are commands.
    Normal,
    /// Characters are commands, and what the caret passes is selected.
    Visual,
}

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VimOutcome {
    /// It was one of these.
    Done,
    /// It was not: what is bound to it is to be done.
    Pass,
}

/// What the keys of vi keep in mind.
#[derive(Clone, Debug, Default)]
pub(super) struct Vim {
    mode: VimMode,
    parser: Parser,
    /// Where the selection began.
    anchor: usize,
    register: Register,
}

/// What was deleted or yanked last.
#[derive(Clone, Debug, Default)]
struct Register {
    text: Fragment,
    /// Whether it is whole lines; then no newline is at its end.
    is_lines: bool,
}

impl Vim {
    /// The mode.
    pub(super) fn mode(&self) -> VimMode {
        self.mode
    }

    /// The same for the next text: characters are written.
    pub(super) fn begun_anew(self) -> Self {
        Self { register: self.register, ..Self::default() }
    }
}
