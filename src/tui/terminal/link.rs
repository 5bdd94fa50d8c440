//! What the threads of the terminal and its owner share.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::{
    InputEvent, Report, guard,
    modes::Modes,
    output::Output,
    writer::{Said, Writer},
};

type OnEvent = Arc<dyn Fn(Vec<InputEvent>) + Send + Sync>;

/// What the reader's thread needs of the writer, and whoever owns the terminal of both.
pub(super) struct Link {
    /// The writing side.
    pub writer: Writer<Output>,
    on_event: OnEvent,
    /// The terminal is gone, and that was told.
    is_closed: Arc<AtomicBool>,
    knows_kitty: AtomicBool,
    has_answered: AtomicBool,
    /// Another program has the terminal.
    is_away: AtomicBool,
}

impl Link {
    /// Starts the writer.
    pub fn start(
        output: Output,
        terminal: OwnedFd,
        on_event: impl Fn(Vec<InputEvent>) + Send + Sync + 'static,
        on_written: impl Fn() + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let on_event: OnEvent = Arc::new(on_event);
        let is_closed = Arc::new(AtomicBool::new(false));
        let (tell, told) = (on_event.clone(), is_closed.clone());
        let writer = Writer::start(terminal, output, move |said| match said {
            Said::Written => on_written(),
            Said::Closed if !told.swap(true, Ordering::SeqCst) => tell(vec![InputEvent::Closed]),
            Said::Closed => {}
        })?;
        Ok(Arc::new(Self {
            writer,
            on_event,
            is_closed,
            knows_kitty: AtomicBool::new(false),
            has_answered: AtomicBool::new(false),
            is_away: AtomicBool::new(false),
        }))
    }

    /// Takes what came from the terminal and passes it on.
    pub fn take(&self, events: Vec<InputEvent>) {
        let events: Vec<_> = events.into_iter().filter(|event| self.sees(event)).collect();
        if !events.is_empty() {
            (self.on_event)(events);
        }
    }

    /// Draws conclusions for the terminal itself. Whether the event is passed on.
    fn sees(&self, event: &InputEvent) -> bool {
        match event {
            InputEvent::Report(report) => self.learn(report),
            InputEvent::Resize { columns, rows } => self.writer.with(|output| output.resize(*columns, *rows)),
            InputEvent::Closed => return !self.is_closed.swap(true, Ordering::SeqCst),
            InputEvent::Resumed => self.resumed(),
            _ => {}
        }
        true
    }

    fn learn(&self, report: &Report) {
        match report {
            Report::KittyKeyboard(_) => self.knows_kitty.store(true, Ordering::SeqCst),
            Report::Attributes(_) => {
                let is_first = !self.has_answered.swap(true, Ordering::SeqCst);
                if is_first && !self.knows_kitty.load(Ordering::SeqCst) {
                    let sequence = guard::change(Modes::with_other_keys);
                    self.writer.with(|output| output.sequence(sequence.as_bytes()));
                }
            }
            _ => {
                self.writer.with(|output| output.capabilities.learn(report));
            }
        }
    }

    /// Whether the terminal has answered the last question.
    pub fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::SeqCst)
    }

    /// The process went on after somebody stopped it: the shell had the terminal meanwhile, and it is in what modes ever.
    fn resumed(&self) {
        if self.is_away.load(Ordering::SeqCst) {
            return;
        }
        if let Some(modes) = guard::retake() {
            self.begin(modes);
        }
    }

    /// Puts the terminal into our modes, out of whatever modes.
    fn begin(&self, modes: Modes) {
        self.writer.with(|output| {
            output.invalidate();
            output.sequence(modes.end().as_bytes());
            output.sequence(modes.begin().as_bytes());
        });
    }

    /// Stops drawing, with nothing left of the live area.
    pub fn leave(&self, patience: Duration) {
        self.is_away.store(true, Ordering::SeqCst);
        self.writer.with(Output::clear_live);
        self.writer.flush(patience);
        self.writer.with(|output| output.set_away(true));
    }

    /// Draws again, on a terminal that shows nothing of ours.
    pub fn come_back(&self, modes: Modes) {
        self.is_away.store(false, Ordering::SeqCst);
        self.writer.with(|output| {
            output.set_away(false);
            output.invalidate();
            output.sequence(modes.begin().as_bytes());
        });
        (self.on_event)(vec![InputEvent::Resumed]);
    }
}
