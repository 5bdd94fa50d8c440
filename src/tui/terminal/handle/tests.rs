use std::{
    ffi::CString,
    os::fd::OwnedFd,
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
};

use ratatui::style::Style;
use rustix::{
    fs::{Mode, OFlags, open},
    io::{fcntl_dupfd_cloexec, write},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcgetattr, tcsetwinsize},
};

use super::*;
use crate::tui::{
    keys::{Key, KeyCode},
    terminal::testing::{ABLE, frame_of},
};

/// Nothing here takes nearly as long.
const LIMIT: Duration = Duration::from_secs(20);

/// One process has one terminal.
static ONE: Mutex<()> = Mutex::new(());

/// The right to the terminal, as a screen waits for it.
fn claim() -> guard::Claim {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(guard::Claim::take()).unwrap()
}

struct Setup {
    master: Option<OwnedFd>,
    slave: OwnedFd,
    terminal: Terminal,
    events: Receiver<Vec<InputEvent>>,
    _one: MutexGuard<'static, ()>,
}

fn setup(options: TerminalOptions) -> Setup {
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name: CString = ptsname(&master, Vec::new()).unwrap();
    let slave = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    tcsetwinsize(&master, Winsize { ws_col: 40, ws_row: 10, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let copy = |fd: &OwnedFd| fcntl_dupfd_cloexec(fd, 0).unwrap();
    let tty = Tty { input: copy(&slave), output: copy(&slave) };
    let (send, events) = channel();
    let terminal = Terminal::open_on(claim(), tty, options, ABLE, move |batch| drop(send.send(batch)), || {}).unwrap();
    Setup { master: Some(master), slave, terminal, events, _one: one }
}

const FULL: TerminalOptions = TerminalOptions {
    fullscreen: true,
    mouse: true,
    palette: false,
    preferences: Preferences { true_color: None, hyperlinks: None, images: None },
};

impl Setup {
    fn types(&self, bytes: &[u8]) {
        write(self.master.as_ref().unwrap(), bytes).unwrap();
    }

    /// What the terminal gets, until it ends with or holds `text`.
    fn shows(&self, text: &str) -> String {
        let until = Instant::now() + LIMIT;
        let mut all = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            let shown = String::from_utf8_lossy(&all).into_owned();
            if shown.contains(text) {
                return shown;
            }
            let master = self.master.as_ref().unwrap();
            assert!(is_ready(master, PollFlags::IN, until), "{text:?} is not in {shown:?}");
            let length = read(master, &mut bytes).unwrap();
            all.extend_from_slice(&bytes[..length]);
        }
    }

    /// Events until one is as wanted.
    fn gets(&self, wanted: impl Fn(&InputEvent) -> bool) -> Vec<InputEvent> {
        let mut all = Vec::new();
        while !all.iter().any(&wanted) {
            all.extend(self.events.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("only {all:?}")));
        }
        all
    }
}

fn frame(text: &'static str) -> Frame {
    frame_of(40, 10, &[StyledLine::of(text, Style::new())])
}

fn key(code: KeyCode) -> InputEvent {
    InputEvent::Key(Key::plain(code))
}

fn is_char(event: &InputEvent, character: char) -> bool {
    *event == key(KeyCode::Char(character))
}

#[test]
fn keys_come_as_events_and_frames_come_out() {
    let setup = setup(FULL);
    assert_eq!(setup.terminal.size(), (40, 10));
    setup.types(b"x\x1b[A\x1b[Iz");
    let events = setup.gets(|event| is_char(event, 'z'));
    assert_eq!(events, [key(KeyCode::Char('x')), key(KeyCode::Up), InputEvent::Focus(true), key(KeyCode::Char('z'))]);
    setup.terminal.draw(frame("on the screen"));
    setup.terminal.set_title("the title");
    let shown = setup.shows("on the screen");
    assert!(shown.starts_with("\x1b[22;0t\x1b[?1049h"), "{shown:?}");
    assert!(shown.find("\x1b[c") < shown.find("on the screen"), "asked before the first frame, and not waited for");
}

#[test]
fn fc_065_the_terminal_is_given_back_as_it_was() {
    let mut setup = setup(FULL);
    setup.types(b"\x1b[?62c");
    setup.gets(|event| matches!(event, InputEvent::Report(Report::Attributes(_))));
    let raw = tcgetattr(&setup.slave).unwrap();
    setup.terminal.close(&[StyledLine::of("last words", Style::new().red())]);
    let shown = setup.shows("last words");
    assert!(shown.contains("\x1b[>4;2m"), "no kitty keyboard: xterm's keys");
    let modes = Modes { fullscreen: true, mouse: true, modern: true, other_keys: true, pictures: false };
    assert!(shown.contains(&format!("{}\x1b[31mlast words", modes.end())), "{shown:?}");
    let cooked = tcgetattr(&setup.slave).unwrap();
    assert_ne!(raw.local_modes, cooked.local_modes);
    assert!(cooked.local_modes.contains(rustix::termios::LocalModes::ICANON | rustix::termios::LocalModes::ECHO));
    // Whoever else would give it back finds nothing to do.
    guard::restore();
    setup.terminal.close(&[]);
    setup.types(b"y\n");
    assert_eq!(setup.shows("y"), "y\r\n");
}

#[test]
fn fc_065_a_screen_that_dies_gives_the_terminal_back_before_the_next_one_takes_it() {
    let first = setup(FULL);
    first.types(b"\x1b[?62c");
    first.gets(|event| matches!(event, InputEvent::Report(Report::Attributes(_))));
    let Setup { master, slave, terminal, events, _one } = first;
    let dies = thread::spawn(move || {
        let _terminal = terminal;
        std::panic::resume_unwind(Box::new("a fault"));
    });
    let copy = |fd: &OwnedFd| fcntl_dupfd_cloexec(fd, 0).unwrap();
    let tty = Tty { input: copy(&slave), output: copy(&slave) };
    let terminal = Terminal::open_on(claim(), tty, FULL, ABLE, |_| {}, || {}).unwrap();
    assert!(dies.join().is_err());
    assert!(!tcgetattr(&slave).unwrap().local_modes.contains(rustix::termios::LocalModes::ICANON));
    let setup = Setup { master, slave, terminal, events, _one };
    setup.terminal.draw(frame("drawn again"));
    let shown = setup.shows("drawn again");
    assert!(shown.rfind("\x1b[?1049h") > shown.rfind("\x1b[?1049l"), "{shown:?}");
    setup.types(b"\x1b[?62c");
}

#[test]
fn a_terminal_that_knows_kittys_keyboard_is_not_given_xterms() {
    let setup = setup(FULL);
    setup.types(b"\x1b[?5u\x1b[?62c");
    setup.gets(|event| matches!(event, InputEvent::Report(Report::Attributes(_))));
    setup.terminal.draw(frame("drawn"));
    assert!(!setup.shows("drawn").contains("\x1b[>4"));
}

#[test]
fn fc_067_a_terminal_that_goes_is_told_once_and_ends_the_threads() {
    let mut setup = setup(FULL);
    setup.shows("\x1b[c");
    setup.master = None;
    let events = setup.gets(|event| *event == InputEvent::Closed);
    assert_eq!(events, [InputEvent::Closed]);
    setup.terminal.draw(frame("into the void"));
    setup.terminal.close(&[]);
    drop(setup.terminal);
    assert_eq!(setup.events.recv_timeout(LIMIT), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn what_is_typed_while_another_program_has_the_terminal_is_left_to_it() {
    let mut setup = setup(FULL);
    setup.types(b"\x1b[?62c");
    setup.gets(|event| matches!(event, InputEvent::Report(Report::Attributes(_))));
    setup.terminal.pause();
    setup.shows("\x1b[?1049l");
    setup.terminal.draw(frame("drawn meanwhile"));
    setup.types(b"for the editor\n");
    let mut bytes = [0; 64];
    let length = read(&setup.slave, &mut bytes).unwrap();
    assert_eq!(&bytes[..length], b"for the editor\n");
    setup.terminal.resume();
    let size = InputEvent::Resize { columns: 40, rows: 10 };
    assert_eq!(setup.gets(|event| *event == size), [InputEvent::Resumed, size]);
    let shown = setup.shows("drawn meanwhile");
    assert!(shown.contains("\x1b[?1049h") && shown.contains("\x1b[2J"), "{shown:?}");
    setup.types(b"k");
    setup.gets(|event| is_char(event, 'k'));
}

#[test]
fn signals_of_the_terminal_become_events() {
    let setup = setup(FULL);
    setup.shows("\x1b[c");
    tcsetwinsize(setup.master.as_ref().unwrap(), Winsize { ws_col: 0, ws_row: 0, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    for _ in 0..100 {
        signal_hook::low_level::raise(Signal::WINCH.as_raw()).unwrap();
    }
    let size = InputEvent::Resize { columns: 80, rows: 24 };
    let events = setup.gets(|event| *event == size);
    assert!(events.len() < 20, "a storm is told in few words: {events:?}");
    // As after SIGSTOP and SIGCONT from outside: whoever had the terminal may have left any mode.
    signal_hook::low_level::raise(Signal::CONT.as_raw()).unwrap();
    setup.gets(|event| *event == InputEvent::Resumed);
    setup.terminal.draw(frame("again"));
    let shown = setup.shows("again");
    assert!(shown.contains("\x1b[?1049l") && shown.contains("\x1b[?1049h"), "{shown:?}");
}

#[test]
fn answers_that_come_after_a_quick_end_are_not_left_for_the_shell() {
    let mut setup = setup(FULL);
    setup.shows("\x1b[c");
    thread::scope(|scope| {
        let terminal = &mut setup.terminal;
        let closes = scope.spawn(move || terminal.close(&[]));
        let master = setup.master.as_ref().unwrap();
        write(master, b"\x1b]11;rgb:0/0/0\x1b\\\x1b[?62;22c").unwrap();
        closes.join().unwrap();
    });
    setup.types(b"ls\n");
    let mut bytes = [0; 64];
    let length = read(&setup.slave, &mut bytes).unwrap();
    assert_eq!(&bytes[..length], b"ls\n");
}

#[test]
fn a_terminal_that_takes_nothing_holds_nobody_up() {
    let mut setup = setup(FULL);
    for n in 0..2000_u16 {
        let line = StyledLine::of(format!("{n} ").repeat(12), Style::new());
        setup.terminal.draw(frame_of(40, 10, &vec![line; 10]));
    }
    assert!(setup.terminal.is_busy());
    setup.terminal.draw(frame("the newest frame"));
    let shown = setup.shows("the newest frame");
    assert!(shown.len() < 100_000, "frames were left out: {} bytes", shown.len());
    setup.master = None;
}
