//! The terminal as the screen has it.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::PollFlags,
    io::read,
    process::{Signal, getpgrp, kill_process_group},
};

use super::{
    Capabilities, ESCAPE_TIMEOUT, ESCAPE_TIMEOUT_SSH, Frame, Images, InputEvent, Parser, Preferences, Report,
    TerminalError, guard,
    ink::Ink,
    inline::InlinePainter,
    link::Link,
    modes::{Modes, questions},
    out,
    output::{Output, Screen},
    paint::Painter,
    reader::Reader,
    tty::{self, Tty, is_ready},
};
use crate::tui::{
    notify::{self, Notification, Way},
    text::StyledLine,
};

/// How long a frame that is being written is waited for before the terminal is given back.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long after they were asked, answers to questions are waited for before the terminal is given back, so that the
/// shell does not get them.
const ANSWERS: Duration = Duration::from_millis(700);

/// How long what stays on the terminal may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// How long the stop of the process is waited for. It comes at once, or not at all where no shell controls the job.
const STOPS: Duration = Duration::from_millis(200);

/// How the terminal is to be used.
#[derive(Clone, Copy, Debug, Default)]
pub struct TerminalOptions {
    /// All of the screen, on the alternate screen; otherwise a live area below what the terminal has shown before.
    pub fullscreen: bool,
    /// The mouse is told.
    pub mouse: bool,
    /// The colours of the palette are asked for, for a theme that is made of them.
    pub palette: bool,
    /// What the settings say of the terminal.
    pub preferences: Preferences,
}

/// The terminal. While it is there, nothing else writes to it. It is given back when it is closed or dropped.
pub struct Terminal {
    tty: Tty,
    reader: Reader,
    link: Arc<Link>,
    modes: Modes,
    /// When questions were asked; none when none were.
    asked: Option<Instant>,
    is_open: bool,
    /// Let go of after everything else.
    _claim: guard::Claim,
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("modes", &self.modes).field("is_open", &self.is_open).finish_non_exhaustive()
    }
}

impl Terminal {
    /// Takes the terminal over, by the right to it. `on_event` gets what comes from it, `on_written` is called when all that was drawn is
    /// written. Both are called on threads of the terminal's own and must not wait.
    ///
    /// # Errors
    /// There is no terminal, or none that can show a screen.
    pub fn open(
        claim: guard::Claim,
        options: TerminalOptions,
        on_event: impl Fn(Vec<InputEvent>) + Send + Sync + 'static,
        on_written: impl Fn() + Send + 'static,
    ) -> Result<Self, TerminalError> {
        if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
            return Err(TerminalError::Dumb);
        }
        let capabilities = Capabilities::detect(|name| std::env::var(name).ok(), &options.preferences);
        Self::open_on(claim, Tty::of_process()?, options, capabilities, on_event, on_written)
    }

    /// The same on a terminal that need not be that of the process.
    pub(super) fn open_on(
        claim: guard::Claim,
        tty: Tty,
        options: TerminalOptions,
        capabilities: Capabilities,
        on_event: impl Fn(Vec<InputEvent>) + Send + Sync + 'static,
        on_written: impl Fn() + Send + 'static,
    ) -> Result<Self, TerminalError> {
        let TerminalOptions { fullscreen, mouse, palette, .. } = options;
        let pictures = fullscreen && capabilities.images == Some(Images::Kitty);
        let modes = Modes { fullscreen, mouse, modern: capabilities.modern, other_keys: false, pictures };
        let (columns, rows) = tty::size(&tty.output);
        let screen = match fullscreen {
            true => Screen::Full(Painter::default()),
            false => Screen::Inline(InlinePainter::new(columns, rows, capabilities.reflows)),
        };
        let again = tty.again()?;
        guard::take(tty.again()?, modes)?;
        let mut output = Output::new(screen, capabilities);
        let questions = questions(&capabilities, palette);
        output.sequence(modes.begin().as_bytes());
        output.sequence(questions.as_bytes());
        let escape = if capabilities.ssh { ESCAPE_TIMEOUT_SSH } else { ESCAPE_TIMEOUT };
        let started = Link::start(output, again.output, on_event, on_written).and_then(|link| {
            let takes = link.clone();
            let reader =
                Reader::start(again.input, Parser::with_escape_timeout(escape), move |events| takes.take(events))?;
            Ok((link, reader))
        });
        let (link, reader) = started.map_err(|error| {
            guard::restore();
            TerminalError::System { doing: "start its threads", error }
        })?;
        let asked = (!questions.is_empty()).then(Instant::now);
        Ok(Self { tty, reader, link, modes, asked, is_open: true, _claim: claim })
    }

    /// Columns and rows.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        tty::size(&self.tty.output)
    }

    /// What the terminal can do, as far as it is known by now.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.link.writer.with(|output| output.capabilities)
    }

    /// Shows a frame. When the one before was not begun to be written yet, it is left out.
    pub fn draw(&self, frame: Frame) {
        self.link.writer.with(|output| output.draw(frame));
    }

    /// Writes lines into the terminal's scrollback, above the live area, with the next frame. Does nothing in full screen.
    pub fn commit(&self, lines: &[StyledLine]) {
        self.link.writer.with(|output| output.commit(lines));
    }

    /// Has the next frame painted whole, whatever the terminal shows now.
    pub fn repaint(&self) {
        self.link.writer.with(Output::invalidate);
    }

    /// Whether something that was drawn is not written yet. When it is, `on_written` is called.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.link.writer.is_busy()
    }

    /// Puts a text into the clipboard of the computer that the terminal runs on; false when it is too long for that.
    pub fn copy(&self, text: &str) -> bool {
        let sequence = out::copy(text, self.capabilities().tmux);
        sequence.is_some_and(|sequence| {
            self.write_raw(&sequence);
            true
        })
    }

    /// Gives the terminal's window a title.
    pub fn set_title(&self, title: &str) {
        self.write_raw(&out::title(title));
    }

    /// Calls the person at the terminal.
    pub fn notify(&self, Notification { way, text }: &Notification) {
        let tmux = self.capabilities().tmux;
        match way {
            Way::Bell => self.bell(),
            Way::Osc9 => self.write_raw(&out::message(text, tmux)),
            Way::Osc777 => self.write_raw(&out::titled_message("Troupe", text, tmux)),
            Way::Command(command) => notify::run(command, text),
        }
    }

    /// Shows that something is worked at, where the terminal shows such.
    pub fn show_progress(&self, busy: bool) {
        self.write_raw(&out::progress(busy, self.capabilities().tmux));
    }

    /// Rings the bell.
    pub fn bell(&self) {
        self.write_raw(&out::bell());
    }

    /// Writes a sequence that changes no cell and does not move the cursor.
    pub fn write_raw(&self, sequence: &[u8]) {
        self.link.writer.with(|output| output.sequence(sequence));
    }

    /// Gives the terminal to another program, as it was before we had it. Returns when nothing of ours reads or writes it
    /// any more. What is drawn meanwhile waits.
    pub fn pause(&mut self) {
        if !self.is_open {
            return;
        }
        self.reader.pause();
        self.link.leave(PATIENCE);
        self.give_back();
    }

    /// Takes the terminal back. Nothing of what was shown is there any more: [`InputEvent::Resumed`] and the size are
    /// sent.
    pub fn resume(&mut self) {
        if !self.is_open {
            return;
        }
        // When it is gone, the reader will say so.
        if let Ok(tty) = self.tty.again() {
            let _ = guard::take(tty, self.modes);
        }
        self.link.come_back(self.modes);
        let (columns, rows) = self.size();
        self.link.take(vec![InputEvent::Resize { columns, rows }]);
        self.reader.resume();
    }

    /// Stops the process and those of its group until the shell has them go on. The terminal is the shell's meanwhile.
    /// Returns when it is ours again.
    pub fn suspend(&mut self) {
        self.pause();
        let continued = Arc::new(AtomicBool::new(false));
        let watch = signal_hook::flag::register(Signal::CONT.as_raw(), continued.clone());
        if kill_process_group(getpgrp(), Signal::TSTP).is_ok() {
            // The stop may reach another thread before this one.
            let begun = Instant::now();
            while !continued.load(Ordering::SeqCst) && begun.elapsed() < STOPS {
                thread::sleep(Duration::from_millis(2));
            }
        }
        if let Ok(watch) = watch {
            signal_hook::low_level::unregister(watch);
        }
        self.resume();
    }

    /// Gives the terminal back with `rest` on it. Does nothing the second time.
    pub fn close(&mut self, rest: &[StyledLine]) {
        if !std::mem::replace(&mut self.is_open, false) {
            return;
        }
        self.reader.pause();
        let capabilities = self.capabilities();
        self.link.leave(PATIENCE);
        self.give_back();
        let mut ink = Ink::new(&capabilities);
        // Pictures stay with the screen that they were on.
        for line in rest.iter().filter(|line| line.spans.iter().all(|span| span.picture.is_none())) {
            for span in &line.spans {
                ink.write(&span.text, ink.pen_of(span.style), span.link.as_ref());
            }
            ink.plain();
            ink.raw("\r\n");
        }
        self.tty.write_soon(ink.finish().as_bytes(), LAST_WORDS);
    }

    /// Undoes the modes. Answers that are still on their way are read first: they would be the shell's input.
    fn give_back(&mut self) {
        let until = self.asked.take().filter(|_| !self.link.has_answered()).map(|asked| asked + ANSWERS);
        guard::restore_after(|tty| {
            if let Some(until) = until {
                read_answers(tty, until);
            }
        });
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.close(&[]);
    }
}

/// Reads until the last answer came, or the time is over.
fn read_answers(tty: &Tty, until: Instant) {
    let mut parser = Parser::new();
    let mut bytes = [0; 4096];
    while is_ready(&tty.input, PollFlags::IN, until) {
        let Ok(length @ 1..) = read(&tty.input, &mut bytes) else { return };
        let events = parser.feed(&bytes[..length], 0);
        if events.iter().any(|event| matches!(event, InputEvent::Report(Report::Attributes(_)))) {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
