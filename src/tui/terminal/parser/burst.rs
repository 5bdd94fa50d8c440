//! Text of many lines that comes at once from a terminal without bracketed paste.
//!
//! Nobody types three lines within one read. When keys of one read hold at least two line ends with text behind them, and
//! the terminal never marked a paste, they are a paste, so that a pasted list is not sent line by line. Reads that follow
//! at once and hold text with line ends belong to it.

use crate::tui::{
    keys::{Key, KeyCode, Modifiers},
    terminal::InputEvent,
};

/// How soon the next read belongs to the burst, in milliseconds.
const FOLLOWS: u64 = 30;
/// Line ends with text behind them that make a burst.
const LINE_ENDS: usize = 2;

/// What is known of bursts.
#[derive(Debug, Default)]
pub(super) struct Burst {
    marks_pastes: bool,
    last: Option<u64>,
}

impl Burst {
    /// The terminal marks pastes: many lines at once are keys.
    pub fn saw_paste(&mut self) {
        self.marks_pastes = true;
    }

    /// The terminal lost a marker: it is not to be relied on.
    pub fn forget_paste(&mut self) {
        self.marks_pastes = false;
    }

    /// The events of one read, as a paste when they are one.
    pub fn join(&mut self, events: Vec<InputEvent>, now: u64) -> Vec<InputEvent> {
        let follows = self.last.take().is_some_and(|last| now <= last + FOLLOWS);
        if self.marks_pastes || events.len() < 2 {
            return events;
        }
        let needed = if follows { 1 } else { LINE_ENDS };
        let Some(text) = text_of(&events) else { return events };
        let line_ends = text.trim_end_matches('\n').matches('\n').count();
        if line_ends < needed {
            return events;
        }
        self.last = Some(now);
        vec![InputEvent::Paste(text)]
    }
}

/// The text that the events type; none when one of them types nothing.
fn text_of(events: &[InputEvent]) -> Option<String> {
    events.iter().map(|event| if let InputEvent::Key(key) = event { typed(*key) } else { None }).collect()
}

fn typed(key: Key) -> Option<char> {
    match key.code {
        KeyCode::Enter if key.modifiers.is_empty() => Some('\n'),
        KeyCode::Char('j') if key.modifiers == Modifiers::CTRL => Some('\n'),
        KeyCode::Tab if key.modifiers.is_empty() => Some('\t'),
        _ => key.typed(),
    }
}
