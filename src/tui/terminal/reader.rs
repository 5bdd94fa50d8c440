//! The thread that reads the terminal.
//!
//! It waits for bytes, for the parser's time-outs and for the signals that concern a terminal: its size changed, the
//! process goes on after a stop. When the terminal is gone it says so once and ends. It never spins: a read that gives
//! nothing is the end.

use std::{
    io::{self, Read as _, Write as _},
    os::{fd::OwnedFd, unix::net::UnixStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{Errno, read},
    process::Signal,
};
use signal_hook::{SigId, low_level};

use super::{
    InputEvent, Parser,
    tty::{size, timespec},
};

/// Bytes of one read.
const READ: usize = 64 << 10;

/// How long a change of size waits for the next: a window that is dragged sends hundreds.
const SETTLES: Duration = Duration::from_millis(10);

/// How long a pause is waited for. The thread only ever waits for the terminal, or for whoever takes its events.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the thread shall do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Read,
    Pause,
    End,
}

/// What the thread shall do, and what it does.
#[derive(Debug)]
struct State {
    wish: Wish,
    /// It reads nothing now.
    rests: bool,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread.
#[derive(Debug)]
pub(super) struct Reader {
    shared: Arc<Shared>,
    wake: UnixStream,
    signals: [SigId; 2],
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Begins to read. `take` gets every batch of events, on the reader's thread.
    pub fn start(
        input: OwnedFd,
        parser: Parser,
        take: impl FnMut(Vec<InputEvent>) + Send + 'static,
    ) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        let (resized, resize) = UnixStream::pair()?;
        let (continued, continues) = UnixStream::pair()?;
        for stream in [&woken, &resized, &continued] {
            stream.set_nonblocking(true)?;
        }
        let signals = [
            low_level::pipe::register(Signal::WINCH.as_raw(), resize)?,
            low_level::pipe::register(Signal::CONT.as_raw(), continues)?,
        ];
        let shared =
            Arc::new(Shared { state: Mutex::new(State { wish: Wish::Read, rests: false }), changed: Condvar::new() });
        let begun = Instant::now();
        let sources = Sources { input, woken, resized, continued };
        let reading = Reading { sources, shared: shared.clone(), parser, take, begun, resize_at: None };
        let thread = thread::Builder::new().name("terminal reader".to_owned()).spawn(move || reading.run())?;
        Ok(Self { shared, wake, signals, thread: Some(thread) })
    }

    /// Has the thread read nothing until [`Self::resume`]; returns when it is so. What is typed meanwhile stays in the
    /// terminal.
    pub fn pause(&self) {
        self.wish(Wish::Pause);
        let state = self.shared.state();
        // From within the thread itself there is nothing to wait for.
        if self.thread.as_ref().is_some_and(|reader| reader.thread().id() != thread::current().id()) {
            drop(self.shared.changed.wait_timeout_while(state, PATIENCE, |state| !state.rests));
        }
    }

    /// Goes on reading.
    pub fn resume(&self) {
        self.wish(Wish::Read);
    }

    fn wish(&self, wish: Wish) {
        self.shared.state().wish = wish;
        self.shared.changed.notify_all();
        // A full pipe wakes as well.
        let _ = (&self.wake).write(&[0]);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.wish(Wish::End);
        for signal in self.signals {
            low_level::unregister(signal);
        }
        if let Some(thread) = self.thread.take().filter(|reader| reader.thread().id() != thread::current().id()) {
            // It ends unless whoever takes its events hangs; the process does not wait for that.
            let state = self.shared.state();
            let (state, _) = self
                .shared
                .changed
                .wait_timeout_while(state, PATIENCE, |state| !state.rests)
                .unwrap_or_else(PoisonError::into_inner);
            if state.rests {
                drop(state);
                let _ = thread.join();
            }
        }
    }
}

struct Sources {
    input: OwnedFd,
    woken: UnixStream,
    resized: UnixStream,
    continued: UnixStream,
}

struct Reading<F> {
    sources: Sources,
    shared: Arc<Shared>,
    parser: Parser,
    take: F,
    begun: Instant,
    resize_at: Option<Instant>,
}

impl<F: FnMut(Vec<InputEvent>)> Reading<F> {
    fn run(mut self) {
        while self.may_read() {
            let mut events = Vec::new();
            let goes_on = self.wait(&mut events);
            if !goes_on {
                events.push(InputEvent::Closed);
            }
            if !events.is_empty() {
                (self.take)(events);
            }
            if !goes_on {
                break;
            }
        }
        self.shared.state().rests = true;
        self.shared.changed.notify_all();
    }

    /// Rests while it shall; false when it shall end.
    fn may_read(&mut self) -> bool {
        let mut state = self.shared.state();
        if state.wish == Wish::Pause {
            state.rests = true;
            self.shared.changed.notify_all();
            state = self
                .shared
                .changed
                .wait_while(state, |state| state.wish == Wish::Pause)
                .unwrap_or_else(PoisonError::into_inner);
            state.rests = false;
            // Whoever paused it looks after the terminal's state itself.
            drain(&self.sources.continued);
            drain(&self.sources.resized);
        }
        state.wish == Wish::Read
    }

    /// Waits for the next thing; false when the terminal is gone.
    fn wait(&mut self, events: &mut Vec<InputEvent>) -> bool {
        let Sources { input, woken, resized, continued } = &self.sources;
        let parse_at = self.parser.deadline().map(|at| self.begun + Duration::from_millis(at));
        let until = [parse_at, self.resize_at].into_iter().flatten().min();
        let left = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
        let mut fds = [
            PollFd::new(input, PollFlags::IN),
            PollFd::new(woken, PollFlags::IN),
            PollFd::new(resized, PollFlags::IN),
            PollFd::new(continued, PollFlags::IN),
        ];
        match poll(&mut fds, left.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR | Errno::AGAIN) => return true,
            Err(_) => return false,
        }
        let [terminal, wake, resize, go_on] = fds.map(|fd| fd.revents());
        if !wake.is_empty() {
            drain(woken);
            // What is typed now may be for somebody else.
            return true;
        }
        if !resize.is_empty() {
            drain(resized);
            self.resize_at.get_or_insert(Instant::now() + SETTLES);
        }
        if !go_on.is_empty() {
            drain(continued);
            events.push(InputEvent::Resumed);
            self.resize_at = Some(Instant::now());
        }
        if self.resize_at.is_some_and(|at| at <= Instant::now()) {
            self.resize_at = None;
            let (columns, rows) = size(&self.sources.input);
            events.push(InputEvent::Resize { columns, rows });
        }
        if terminal.is_empty() {
            let now = self.now();
            events.extend(self.parser.expire(now));
            return true;
        }
        self.read(events)
    }

    fn read(&mut self, events: &mut Vec<InputEvent>) -> bool {
        let mut bytes = [0; READ];
        match read(&self.sources.input, &mut bytes) {
            Ok(0) => false,
            Ok(length) => {
                let now = self.now();
                events.extend(self.parser.feed(&bytes[..length], now));
                true
            }
            Err(Errno::INTR | Errno::AGAIN) => true,
            Err(_) => false,
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

fn drain(mut stream: &UnixStream) {
    let mut bytes = [0; 64];
    while stream.read(&mut bytes).is_ok_and(|length| length > 0) {}
}
