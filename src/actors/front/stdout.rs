//! The thread that owns standard output, or another file that lines go to.
//!
//! A write to a pipe that nobody reads blocks for ever; so it happens in a thread of its own, and everything that
//! waits for it holds permits, not memory. What has piled up while a write went on goes out in the next one.

use std::{
    fs::File,
    io::{self, BufWriter, ErrorKind, IsTerminal, Write},
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, OnceLock, mpsc},
    thread,
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{
    actors::{address::Recipient, subscriber::Backlog},
    protocol::hidden,
};

/// Bytes that one write takes at most, apart from a single larger chunk.
const BLOCK: usize = 256 * 1024;

/// What is written: it decides how a terminal is spared what would make it do things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text for people.
    Text,
    /// Lines of JSON.
    Json,
}

/// Bytes on their way out, and what they hold up until they are.
#[derive(Default)]
pub struct Chunk {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Writes what comes behind them, when their time has come.
    pub stream: Option<Stream>,
    /// The backlog that they are a part of.
    pub release: Option<Release>,
    /// The permit to free.
    pub permit: Option<Arc<OwnedSemaphorePermit>>,
    /// Called when the bytes are out or thrown away.
    pub written: Option<Box<dyn FnOnce() + Send>>,
}

/// Writes what is too long to be held. An error of the writer it is given ends it.
pub type Stream = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// Releases events from a backlog when it is dropped: written or thrown away.
pub struct Release {
    /// The backlog.
    pub backlog: Arc<Backlog>,
    /// What each event weighs.
    pub weights: Vec<usize>,
}

impl Drop for Release {
    fn drop(&mut self) {
        self.weights.iter().for_each(|weight| self.backlog.release(*weight));
    }
}

/// The writing end of the thread's queue.
#[derive(Clone)]
pub struct Stdout(mpsc::Sender<Chunk>);

impl Stdout {
    /// Starts the thread. `failed` hears of the first write error; from then on everything is thrown away.
    #[must_use]
    pub fn start(form: Form, failed: Recipient<String>) -> Self {
        Self::to("stdout", form, failed, || standard_output().map(File::from))
    }

    /// The same for another file than standard output.
    #[must_use]
    pub fn start_for(file: File, form: Form, failed: Recipient<String>) -> Self {
        Self::to("lines", form, failed, || Ok(file))
    }

    fn to(
        name: &str,
        form: Form,
        failed: Recipient<String>,
        open: impl FnOnce() -> io::Result<File> + Send + 'static,
    ) -> Self {
        let (sender, receiver) = mpsc::channel();
        let spawned = thread::Builder::new().name(name.into()).spawn(move || match open() {
            // The descriptor itself: std's stdout has a line buffer that only costs here.
            Ok(out) => run(out, form, &receiver, &failed),
            // The front is gone: so is whoever wanted to know.
            Err(error) => drop(failed.deliver(error.to_string())),
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "the thread for output did not start");
        }
        Self(sender)
    }

    /// Queues bytes.
    pub fn write(&self, chunk: Chunk) {
        // The thread ends only with the process, or when it could not start, which was logged.
        let _ = self.0.send(chunk);
    }

    /// Waits until everything queued so far is out or thrown away.
    pub async fn flush(&self) {
        let (out, flushed) = oneshot::channel();
        self.flushed(move || drop(out));
        // Dropped either way: by the thread when all is out, or with the queue when the thread is gone.
        let _: Result<(), _> = flushed.await;
    }

    /// Calls `then` when everything queued so far is out or thrown away.
    pub fn flushed(&self, then: impl FnOnce() + Send + 'static) {
        self.write(Chunk { written: Some(Box::new(then)), ..Chunk::default() });
    }
}

/// What is written, for a terminal: nothing in it may do anything there. Anything else gets the bytes as they are.
fn for_terminal(block: &[u8], form: Form) -> Vec<u8> {
    let text = String::from_utf8_lossy(block);
    match form {
        Form::Text => hidden::for_terminal(&text),
        Form::Json => hidden::for_terminal_json(&text),
    }
    .into_owned()
    .into_bytes()
}

/// Standard output itself, when it is kept for records.
static KEPT: OnceLock<OwnedFd> = OnceLock::new();

/// From now on only the thread of this module writes to standard output; what anything else prints goes to standard
/// error. In a stream of records it would tear a line.
///
/// # Errors
/// The system has no descriptor left.
pub fn keep_for_records() -> io::Result<()> {
    // A second call finds standard output diverted already.
    if KEPT.get().is_none() && KEPT.set(io::stdout().as_fd().try_clone_to_owned()?).is_ok() {
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    }
    Ok(())
}

/// Writes a record at once, for those who have no thread for it: before a front runs, or without one.
///
/// # Errors
/// Nobody reads.
pub fn write_record(record: &[u8]) -> io::Result<()> {
    write_all(&mut File::from(standard_output()?), record)
}

/// A descriptor of standard output.
fn standard_output() -> io::Result<OwnedFd> {
    match KEPT.get() {
        Some(kept) => kept.try_clone(),
        None => io::stdout().as_fd().try_clone_to_owned(),
    }
}

fn run(mut out: File, form: Form, receiver: &mpsc::Receiver<Chunk>, failed: &Recipient<String>) {
    let is_terminal = out.is_terminal();
    let mut broken = false;
    let mut block = Vec::new();
    while let Ok(first) = receiver.recv() {
        let mut chunks = vec![first];
        block.clear();
        block.extend_from_slice(&chunks[0].bytes);
        while block.len() < BLOCK && chunks.last().is_none_or(|last| last.stream.is_none()) {
            match receiver.try_recv() {
                Ok(next) => {
                    block.extend_from_slice(&next.bytes);
                    chunks.push(next);
                }
                Err(_) => break,
            }
        }
        let stream = chunks.last_mut().and_then(|last| last.stream.take());
        let written = match stream.filter(|_| !broken) {
            Some(stream) if is_terminal => {
                // Nobody looks at megabytes in a terminal: here they are held.
                stream(&mut block).and_then(|()| write_all(&mut out, &for_terminal(&block, form)))
            }
            Some(stream) => write_all(&mut out, &block).and_then(|()| streamed(&mut out, stream)),
            None if is_terminal && !broken => write_all(&mut out, &for_terminal(&block, form)),
            None if broken => Ok(()),
            None => write_all(&mut out, &block),
        };
        if !broken && let Err(error) = written {
            broken = true;
            // The front is gone: so is whoever wanted to know.
            let _ = failed.deliver(error.to_string());
        }
        for mut chunk in chunks {
            if let Some(written) = chunk.written.take() {
                written();
            }
        }
        if block.capacity() > 4 * BLOCK {
            block = Vec::new();
        }
    }
}

/// Lets `stream` write, in blocks.
fn streamed(out: &mut impl Write, stream: Stream) -> io::Result<()> {
    let mut blocks = BufWriter::with_capacity(BLOCK, Patient(out));
    stream(&mut blocks)?;
    blocks.flush()
}

/// Writes all or fails, also to a pipe in non-blocking mode.
struct Patient<'a, W>(&'a mut W);

impl<W: Write> Write for Patient<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_all(self.0, bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes everything; a pipe in non-blocking mode that is full is tried again a little later.
fn write_all(out: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(10)),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
