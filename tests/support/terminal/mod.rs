//! The binary in a terminal: a pseudo terminal with an emulator behind it, so that a test types, waits until something
//! is on the screen, and looks at everything that was written.
//!
//! | file | what |
//! |---|---|
//! | `stage` | [`Stage`]: a sandbox with a scripted model, for tests that are not asynchronous |
//! | `builder` | [`Builder`]: how a terminal is, and what runs in it |
//! | `screen` | [`Screen`]: what is shown at one moment |
//! | `keys` | what is sent for a key |
//! | `answers` | what the terminal answers when it is asked |
//! | `sequences` | output taken apart |
//! | `modes`, `audit` | what the output left changed, and whether it held what it must not |
//! | `pty` | the pseudo terminal |
//! | `long_session` | a session of any length |
//!
//! Tests wait for what is shown, never for time to pass. Pauses between bytes ([`Terminal::pause`]) are input: people
//! and networks make them.

// Tests and benchmarks use their own parts of this, and may fail as loudly as they like.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod audit;
mod builder;
mod keys;
mod long_session;
mod modes;
mod pty;
mod screen;
mod sequences;
mod stage;

use std::{
    os::fd::{AsFd, OwnedFd},
    process::Child,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rustix::{
    process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, waitid},
    termios::{LocalModes, Termios, tcgetattr},
};

pub use answers::Answers;
pub use audit::Audit;
pub use builder::Builder;
pub use long_session::long_session;
pub use modes::{ALTERNATE_SCREEN, BRACKETED_PASTE, CURSOR, Modes};
pub use screen::Screen;
pub use stage::Stage;

use answers::Colors;
use sequences::Scanner;

/// How long anything may take to appear. Generous: it only matters when something is wrong.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// A terminal with a program in it. The program is killed when this is dropped.
pub struct Terminal {
    child: Child,
    /// The terminal's side; none after it was hung up.
    line: Option<Line>,
    shared: Arc<Shared>,
    waiter: Option<JoinHandle<()>>,
    /// How the terminal was before the program began.
    before: Termios,
    began: Instant,
}

/// The terminal's side and what reads from it.
struct Line {
    terminal: Arc<OwnedFd>,
    reader: JoinHandle<()>,
    /// Closed to stop the reader.
    stop: std::io::PipeWriter,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Everything that came from the program.
struct State {
    parser: vt100::Parser,
    scanner: Scanner,
    modes: Modes,
    audit: Audit,
    bytes: Vec<u8>,
    answers: Answers,
    colors: Colors,
    /// Answers that wait until they are let go; none when they are sent at once.
    held: Option<String>,
    /// The program's side of the terminal is closed.
    closed: bool,
    ended: Option<Ended>,
}

impl State {
    /// Takes output in; returns what the terminal answers.
    fn take(&mut self, bytes: &[u8]) -> String {
        self.bytes.extend_from_slice(bytes);
        self.parser.process(bytes);
        let mut answers = String::new();
        for sequence in self.scanner.scan(bytes) {
            self.modes.apply(&sequence);
            self.audit.apply(&sequence);
            let screen = self.parser.screen();
            let size = (screen.size().1.get(), screen.size().0.get());
            let cursor = screen.cursor_position();
            answers += &answers::answer(self.answers, self.colors, &sequence, &self.modes, cursor, size);
        }
        match &mut self.held {
            Some(held) => {
                held.push_str(&answers);
                String::new()
            }
            None => answers,
        }
    }

    fn screen(&self) -> Screen {
        Screen::of(self.parser.screen(), self.modes.title())
    }

    fn situation(&self) -> String {
        let last = &self.bytes[self.bytes.len().saturating_sub(200)..];
        let end = self.ended.map_or(String::new(), |ended| format!("\nthe program ended: {ended:?}"));
        format!("{}{end}\nlast bytes: {:?}", self.screen().picture(), String::from_utf8_lossy(last))
    }
}

/// Typing.
impl Terminal {
    /// Sends bytes as they are.
    pub fn send(&self, bytes: impl AsRef<[u8]>) {
        let line = self.line.as_ref().expect("the terminal was not hung up");
        pty::write(line.terminal.as_fd(), bytes.as_ref());
    }

    /// Types a text and waits until it is shown.
    pub fn type_text(&self, text: &str) {
        self.send(text);
        self.wait_text(text);
    }

    /// Presses a key: a character, or a name with what is held (`ctrl+left`).
    pub fn key(&self, key: &str) {
        let kitty = self.state().modes.kitty_flags() != 0;
        self.send(keys::encode(key, kitty));
    }

    /// Presses keys one after the other.
    pub fn keys(&self, keys: &[&str]) {
        keys.iter().for_each(|key| self.key(key));
    }

    /// Types a text, waits until it is shown, and presses enter.
    pub fn submit(&self, text: &str) {
        self.type_text(text);
        self.key("enter");
    }

    /// Pastes a text.
    pub fn paste(&self, text: &str) {
        self.send(format!("\x1b[200~{text}\x1b[201~"));
    }

    /// Lets time pass between two pieces of input.
    pub fn pause(&self, milliseconds: u64) {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }

    /// Gives the terminal another size.
    pub fn resize(&self, columns: u16, rows: u16) {
        let (rows_of_screen, columns_of_screen) = builder::size(columns, rows);
        self.state().parser.set_size(rows_of_screen, columns_of_screen);
        let line = self.line.as_ref().expect("the terminal was not hung up");
        pty::resize(line.terminal.as_fd(), columns, rows);
    }

    /// From now on the terminal keeps its answers back.
    pub fn hold_answers(&self) {
        self.state().held.get_or_insert_default();
    }

    /// Sends the answers that were kept back, and keeps none back any more.
    pub fn release_answers(&self) {
        let held = self.state().held.take().unwrap_or_default();
        self.send(held);
    }

    /// Closes the terminal's side, as a window that is closed does.
    pub fn hang_up(&mut self) {
        let line = self.line.take().expect("the terminal was not hung up");
        drop(line.stop);
        line.reader.join().unwrap();
    }
}

/// Looking.
impl Terminal {
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().expect("the emulator did not fail")
    }

    /// Waits until what is shown pleases `wanted`; fails with the screen when it does not happen. Frames are looked at
    /// when they are whole.
    pub fn wait_for(&self, what: &str, mut wanted: impl FnMut(&Screen) -> bool) -> Screen {
        let mut screen = Screen::default();
        self.wait_while(what, |state| {
            screen = state.screen();
            !wanted(&screen)
        });
        screen
    }

    fn wait_while(&self, what: &str, mut missing: impl FnMut(&State) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut state = self.state();
        while state.modes.is_set(modes::SYNCHRONISED) || missing(&state) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || state.closed {
                let situation = state.situation();
                drop(state);
                panic!("never: {what}\n{situation}");
            }
            // What is waited for may be a file, of which nobody tells.
            let nap = left.min(Duration::from_millis(50));
            state = self.shared.changed.wait_timeout(state, nap).expect("the emulator did not fail").0;
        }
    }

    /// Waits until more than `from` bytes were written, and the last frame is whole.
    pub fn wait_written(&self, from: usize, what: &str) {
        self.wait_while(what, |state| state.bytes.len() <= from);
    }

    /// Waits until a text is shown.
    pub fn wait_text(&self, text: &str) -> Screen {
        self.wait_for(&format!("{text:?} on the screen"), |screen| screen.has(text))
    }

    /// Waits until a text is not shown any more.
    pub fn wait_gone(&self, text: &str) -> Screen {
        self.wait_for(&format!("{text:?} gone from the screen"), |screen| !screen.has(text))
    }

    /// The colours of all cells, row by row.
    pub fn colors(&self) -> Vec<vt100::Color> {
        let state = self.state();
        let screen = state.parser.screen();
        let (rows, columns) = screen.size();
        let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
        cells.filter_map(|(row, column)| screen.cell(row, column).map(vt100::Cell::fgcolor)).collect()
    }

    /// What is shown now. To be used after a wait: the program may just be drawing.
    pub fn screen(&self) -> Screen {
        self.state().screen()
    }

    /// The cell where a text begins.
    pub fn cell_of(&self, text: &str) -> vt100::Cell {
        let state = self.state();
        let screen = state.parser.screen();
        let place = state.screen().row_of(text).and_then(|row| {
            let row = u16::try_from(row).unwrap();
            (0..screen.size().1.get())
                .find(|column| {
                    screen
                        .rows(*column, screen.size().1.get())
                        .nth(usize::from(row))
                        .is_some_and(|rest| rest.starts_with(text))
                })
                .map(|column| (row, column))
        });
        let (row, column) = place.unwrap_or_else(|| panic!("{text:?} is not on the screen\n{}", state.situation()));
        screen.cell(row, column).unwrap().clone()
    }

    /// The lines that left the main screen at its top, and the screen's.
    pub fn history(&self) -> Vec<String> {
        let mut screen = self.state().parser.screen().clone();
        let columns = screen.size().1.get();
        let mut history = Vec::new();
        let height = usize::from(screen.size().0.get());
        let mut above = screen.scrollback_len();
        while above > 0 {
            screen.set_scrollback(above);
            let count = above.min(height);
            history.extend(screen.rows(0, columns).take(count));
            above -= count;
        }
        screen.set_scrollback(0);
        history.extend(screen.rows(0, columns));
        history.iter().map(|row| row.trim_end().to_owned()).collect()
    }

    /// All bytes that were written.
    pub fn bytes(&self) -> Vec<u8> {
        self.state().bytes.clone()
    }

    /// How many bytes were written.
    pub fn written(&self) -> usize {
        self.state().bytes.len()
    }

    /// The bytes that were written from a place on, as text.
    pub fn written_since(&self, from: usize) -> String {
        String::from_utf8_lossy(&self.state().bytes[from..]).into_owned()
    }

    /// What the output has changed of the terminal.
    pub fn modes(&self) -> Modes {
        self.state().modes.clone()
    }

    /// What the output was made of.
    pub fn audit(&self) -> Audit {
        self.state().audit.clone()
    }

    /// When the program was started.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// Lines are read as a shell reads them: edited by the terminal, and shown.
    pub fn is_cooked(&self) -> bool {
        let line = self.line.as_ref().expect("the terminal was not hung up");
        let modes = tcgetattr(&line.terminal).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// What is not as it was before the program began, by name.
    pub fn left_changed(&self) -> Vec<String> {
        let state = self.state();
        let mut left = state.modes.left();
        let screen = state.parser.screen();
        let plain = vt100::Color::Default;
        if (screen.fgcolor(), screen.bgcolor()) != (plain, plain) || screen.bold() || screen.inverse() {
            left.push("style of text".into());
        }
        if let Some(line) = &self.line {
            let now = tcgetattr(&line.terminal).unwrap();
            let before = &self.before;
            let same = now.local_modes == before.local_modes
                && now.input_modes == before.input_modes
                && now.output_modes == before.output_modes
                && now.control_modes == before.control_modes;
            if !same {
                left.push(format!("the line: {now:?}, before {before:?}"));
            }
        }
        left
    }
}

/// The program.
impl Terminal {
    /// Its process.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap()).unwrap()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// It has not ended.
    pub fn is_running(&self) -> bool {
        self.state().ended.is_none()
    }

    /// Returns when a signal has stopped it.
    pub fn wait_stopped(&self) {
        let stopped = WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(self.pid()), stopped).unwrap();
    }

    /// Waits until it has ended and all that it wrote is seen.
    pub fn wait_end(&self) -> Ended {
        let end = Instant::now() + PATIENCE;
        let mut state = self.state();
        loop {
            if let (Some(ended), true) = (state.ended, state.closed || self.line.is_none()) {
                return ended;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let situation = state.situation();
                drop(state);
                panic!("the program does not end\n{situation}");
            }
            state = self.shared.changed.wait_timeout(state, left).expect("the emulator did not fail").0;
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It was not reaped: its id is still its own.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(line) = self.line.take() {
            drop(line.stop);
            let _ = line.reader.join();
        }
        if let Some(waiter) = self.waiter.take() {
            let _ = waiter.join();
        }
    }
}

/// Waits in a thread of its own until the program has ended, and leaves it to be reaped.
fn wait_for_end(pid: Pid, shared: Arc<Shared>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let ended = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let ended = ended.ok().flatten().and_then(|status: WaitIdStatus| {
            status.exit_status().map(Ended::Code).or_else(|| status.terminating_signal().map(Ended::Signal))
        });
        if let Ok(mut state) = shared.state.lock() {
            state.ended = ended;
        }
        shared.changed.notify_all();
    })
}
