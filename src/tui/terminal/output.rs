//! What is to be shown and was not written yet: the newest frame, lines for the scrollback, sequences without cells.

use super::{Frame, capabilities::Capabilities, inline::InlinePainter, paint::Painter, writer::Source};
use crate::tui::text::StyledLine;

/// Bytes of sequences that wait at most. More than that is for a terminal that takes nothing, and is dropped.
const LONGEST_QUEUE: usize = 1 << 20;

/// How frames are shown.
#[derive(Debug)]
pub(super) enum Screen {
    /// They are the whole screen.
    Full(Painter),
    /// They are a live area below what the terminal has shown before.
    Inline(InlinePainter),
}

/// What waits for the writer.
#[derive(Debug)]
pub(super) struct Output {
    screen: Screen,
    /// What the terminal can do.
    pub capabilities: Capabilities,
    sequences: Vec<u8>,
    frame: Option<Frame>,
    /// The terminal is somebody else's now: nothing is written.
    is_away: bool,
}

impl Output {
    /// Nothing yet.
    pub fn new(screen: Screen, capabilities: Capabilities) -> Self {
        Self { screen, capabilities, sequences: Vec::new(), frame: None, is_away: false }
    }

    /// Shows a frame, instead of one that waits.
    pub fn draw(&mut self, frame: Frame) {
        self.frame = Some(frame);
    }

    /// Writes sequences that change no cell.
    pub fn sequence(&mut self, bytes: &[u8]) {
        if self.sequences.len() + bytes.len() <= LONGEST_QUEUE {
            self.sequences.extend_from_slice(bytes);
        }
    }

    /// Writes lines above the live area, for good. On a whole screen there is no such place.
    pub fn commit(&mut self, lines: &[StyledLine]) {
        if let Screen::Inline(painter) = &mut self.screen {
            painter.commit(lines);
        }
    }

    /// The terminal has another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        match &mut self.screen {
            // A terminal that was smaller for a moment has lost what it showed, whatever size it has now.
            Screen::Full(painter) => painter.invalidate(),
            Screen::Inline(painter) => painter.resize(columns, rows),
        }
    }

    /// Nothing that was shown is there any more.
    pub fn invalidate(&mut self) {
        match &mut self.screen {
            Screen::Full(painter) => painter.invalidate(),
            Screen::Inline(painter) => painter.invalidate(),
        }
    }

    /// Takes the live area off the terminal, so that what comes next stands behind the finished lines.
    pub fn clear_live(&mut self) {
        if let Screen::Inline(painter) = &mut self.screen {
            let bytes = painter.clear(&self.capabilities);
            self.sequences.extend_from_slice(&bytes);
        }
        self.frame = None;
    }

    /// Stops writing, or goes on.
    pub fn set_away(&mut self, is_away: bool) {
        self.is_away = is_away;
    }
}

impl Source for Output {
    fn next(&mut self) -> Option<Vec<u8>> {
        if self.is_away {
            return None;
        }
        let mut bytes = std::mem::take(&mut self.sequences);
        if let Some(frame) = self.frame.take() {
            bytes.extend(match &mut self.screen {
                Screen::Full(painter) => painter.paint(frame, &self.capabilities),
                Screen::Inline(painter) => painter.paint(frame, &self.capabilities),
            });
        }
        (!bytes.is_empty()).then_some(bytes)
    }
}
