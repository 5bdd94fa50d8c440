//! An interim terminal: it draws whole frames and reads with a thread. The real one takes its place.

use std::{
    io::{Read as _, Write as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use ratatui::style::{Color, Modifier};

use super::*;
use crate::tui::text::StyledLine;

/// Options.
#[derive(Default)]
pub struct TerminalOptions {
    /// The whole screen.
    pub fullscreen: bool,
}

/// A terminal.
pub struct Terminal {
    previous: Option<Frame>,
    closed: Arc<AtomicBool>,
}

/// Why it did not open.
#[derive(Debug, thiserror::Error)]
#[error("the terminal cannot be opened: {0}")]
pub struct TerminalError(std::io::Error);

/// What it says.
pub enum TerminalEvent {
    /// Input.
    Input(Vec<InputEvent>),
    /// The last frame is out.
    Written,
}

fn out(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

impl Terminal {
    /// Opens it.
    ///
    /// # Errors
    /// It is no terminal.
    pub fn open(_: TerminalOptions, on: impl Fn(TerminalEvent) + Send + 'static) -> Result<Self, TerminalError> {
        crossterm::terminal::enable_raw_mode().map_err(TerminalError)?;
        out("\x1b[?1049h\x1b[?2004h\x1b[?1000h\x1b[?1006h");
        let closed = Arc::new(AtomicBool::new(false));
        std::thread::spawn(move || {
            let mut parser = Parser::default();
            let begun = Instant::now();
            let mut bytes = [0; 65536];
            loop {
                let Ok(read) = std::io::stdin().read(&mut bytes) else { break };
                if read == 0 {
                    break;
                }
                let now = u64::try_from(begun.elapsed().as_millis()).unwrap_or(0);
                let mut events = parser.feed(&bytes[..read], now);
                events.extend(parser.expire(now + 20));
                on(TerminalEvent::Input(events));
            }
            on(TerminalEvent::Input(vec![InputEvent::Closed]));
        });
        Ok(Self { previous: None, closed })
    }
    /// Its size.
    pub fn size(&self) -> (u16, u16) {
        crossterm::terminal::size().unwrap_or((80, 24))
    }
    /// Draws.
    pub fn draw(&mut self, frame: Frame) {
        let mut text = String::from("\x1b[?2026h\x1b[?25l");
        let area = frame.area();
        for y in 0..area.height {
            for x in 0..area.width {
                let cell = &frame.buffer[(x, y)];
                if self.previous.as_ref().is_some_and(|p| p.area() == area && p.buffer[(x, y)] == *cell) {
                    continue;
                }
                let color = |color: Color, base: u8| match color {
                    Color::Rgb(r, g, b) => format!(";{};2;{r};{g};{b}", base + 8),
                    Color::Indexed(i) => format!(";{};5;{i}", base + 8),
                    _ => String::new(),
                };
                let bold = if cell.modifier.contains(Modifier::BOLD) { ";1" } else { "" };
                text.push_str(&format!(
                    "\x1b[{};{}H\x1b[0{bold}{}{}m{}",
                    y + 1,
                    x + 1,
                    color(cell.fg, 30),
                    color(cell.bg, 40),
                    cell.symbol()
                ));
            }
        }
        if let Some(cursor) = frame.cursor {
            text.push_str(&format!("\x1b[{};{}H\x1b[?25h", cursor.y + 1, cursor.x + 1));
        }
        text.push_str("\x1b[?2026l");
        out(&text);
        self.previous = Some(frame);
    }
    /// Writes lines for good.
    pub fn commit(&mut self, _: Vec<StyledLine>) {}
    /// Not yet taken.
    pub fn is_busy(&self) -> bool {
        false
    }
    /// Taken.
    pub fn written(&mut self) {}
    /// Copies.
    pub fn copy(&mut self, _: &str) {}
    /// Title.
    pub fn set_title(&mut self, title: &str) {
        out(&format!("\x1b]2;{}\x07", title.replace(char::is_control, "")));
    }
    /// Notifies.
    pub fn notify(&mut self, _: &str) {}
    /// Suspends.
    pub fn suspend(&mut self) {}
    /// Pauses.
    pub fn pause(&mut self) {}
    /// Resumes.
    pub fn resume(&mut self) {}
    /// Closes.
    pub fn close(&mut self, lines: &[StyledLine]) {
        if self.closed.swap(true, Ordering::Relaxed) {
            return;
        }
        out("\x1b[?1006l\x1b[?1000l\x1b[?2004l\x1b[?1049l\x1b[?25h");
        let _ = crossterm::terminal::disable_raw_mode();
        for line in lines {
            out(&format!("{}\r\n", line.text()));
        }
    }
}
