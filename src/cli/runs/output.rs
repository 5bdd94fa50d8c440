//! What a run prints on standard output.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle},
};

use super::{args::OutputForm, folder::RunFolder, result::RunResult};
use crate::{
    actors::front::complain,
    cli::{
        exit::Exit,
        run::{write_out, write_records},
    },
    protocol::{
        Event, Published, Seq,
        wire::{WireMode, WireState, write_event},
    },
};

/// Copies the whole lines of a growing file to standard output, in a thread of its own: a reader that does not read
/// must not hold the supervisor up.
pub struct EventCopy {
    wake: Sender<()>,
    thread: Option<JoinHandle<()>>,
    refused: Arc<AtomicBool>,
}

impl EventCopy {
    /// Begins at this place of the file.
    #[must_use]
    pub fn begin(path: PathBuf, from: u64) -> Self {
        let (wake, woken) = channel::<()>();
        let refused = Arc::<AtomicBool>::default();
        let told = refused.clone();
        let copy = move || {
            let mut at = from;
            let mut more = true;
            while more {
                more = woken.recv().is_ok();
                // One look for all that woke it meanwhile.
                while woken.try_recv().is_ok() {}
                if let Err(error) = copy_lines(&path, &mut at) {
                    // The run goes on: its events are in its folder.
                    told.store(is_refused(&error), Ordering::Relaxed);
                    return;
                }
            }
        };
        // Without the thread the events are in the folder alone.
        let thread = thread::Builder::new().name("events".into()).spawn(copy).ok();
        Self { wake, thread, refused }
    }

    /// Becomes true when standard output takes no more, for another reason than that nobody reads it.
    pub fn refused(&self) -> Arc<AtomicBool> {
        self.refused.clone()
    }

    /// There may be more.
    pub fn wake(&self) {
        // The thread ends only when nobody reads.
        let _ = self.wake.send(());
    }

    /// Copies what is there, and ends.
    pub fn finish(self) {
        drop(self.wake);
        if let Some(thread) = self.thread {
            // It does not panic, and nothing depends on it.
            let _ = thread.join();
        }
    }
}

/// Copies the whole lines behind `at`, and moves it there.
fn copy_lines(path: &std::path::Path, at: &mut u64) -> io::Result<()> {
    /// Bytes of one look.
    const LOOK: u64 = 256 << 10;
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let mut look = LOOK;
    loop {
        file.seek(SeekFrom::Start(*at))?;
        let mut bytes = Vec::new();
        (&mut file).take(look).read_to_end(&mut bytes)?;
        match memchr::memrchr(b'\n', &bytes) {
            Some(end) => {
                write_records(&bytes[..=end])?;
                *at += end as u64 + 1;
            }
            // A line that is longer than the look.
            None if bytes.len() as u64 == look => look *= 2,
            None => return Ok(()),
        }
    }
}

/// The record, a line of JSON with its end, that stands between the events of two workers.
pub fn restart_line(cause: &str) -> Vec<u8> {
    let event = Event::Restarted { actor: "worker".to_owned(), cause: cause.to_owned() };
    let mut line = Vec::new();
    write_event(&Published { seq: Seq::default(), event }, &mut WireState::new(WireMode::Json), &mut line);
    line
}

/// Prints all events of a run that has ended; false when standard output does not take them.
pub fn print_events(folder: &RunFolder) -> bool {
    !copy_lines(&folder.file("events.jsonl"), &mut 0).is_err_and(|error| is_refused(&error))
}

/// Whether an error is one of standard output itself, which is told, and not that its reader went away.
fn is_refused(error: &io::Error) -> bool {
    if error.kind() == io::ErrorKind::BrokenPipe {
        tracing::debug!(%error, "nobody reads on");
        return false;
    }
    complain(&format!("Error: standard output cannot be written: {error}"));
    true
}

/// How a command ends whose output was refused: that is a failure, unless there is a worse one.
pub fn with_refusal(exit: Exit, is_refused: bool) -> Exit {
    if is_refused && exit == Exit::Done { Exit::Failed } else { exit }
}

/// Prints the result; what people should know goes to standard error. How the command ends: a result that nobody can read is
/// a failure, unless the run has a worse one.
pub fn print_result(result: &RunResult, form: OutputForm) -> Exit {
    let text = match form {
        OutputForm::Json => serde_json::to_string(result).ok(),
        // What a run said that is not done is no answer.
        OutputForm::Text => result.answer.clone().filter(|_| !result.outcome.can_go_on()),
        OutputForm::Events => None,
    };
    let written = text.filter(|text| !text.is_empty()).map_or(Ok(()), |text| write_out(&format!("{text}\n")));
    let refused = written.is_err_and(|error| is_refused(&error));
    if !result.denied.is_empty() {
        let calls = if result.denied.len() == 1 { "call was" } else { "calls were" };
        complain(&format!("Warning: {} {calls} denied:", result.denied.len()));
        result.denied.iter().for_each(|text| complain(&format!("- {text}")));
    }
    if result.exit != 0 {
        let reason = result.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        complain(&format!("Error: the run {} ended: {}{reason}", result.run_id, result.outcome.told()));
    }
    if let Some(resume) = &result.resume {
        complain(&format!("Go on with it: {resume}"));
    }
    with_refusal(result.exit(), refused)
}
