//! The thread that reads requests from standard input, line by line.
//!
//! Lines end in LF, an optional CR before it does not matter, and a last line without LF counts. What is read ahead is
//! bounded: when the front lags, the thread stops reading, and with it the client.

use std::{
    io::{self, BufRead, BufReader},
    sync::Arc,
    thread,
};

use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};

use crate::actors::address::Recipient;

/// Lines that may wait for the front.
const AHEAD: usize = 64;

/// What comes from standard input.
#[derive(Debug)]
pub enum Line {
    /// A line without its end; the permit frees its place, which a line that waits for long has given up.
    Text(Vec<u8>, Option<OwnedSemaphorePermit>),
    /// There is no more.
    End,
}

/// Starts the thread. To be called inside a tokio runtime.
pub fn start(to: Recipient<Line>) {
    let runtime = Handle::current();
    let spawned = thread::Builder::new().name("stdin".into()).spawn(move || read(&runtime, &to));
    if let Err(error) = spawned {
        tracing::error!(%error, "the thread for standard input did not start");
    }
}

fn read(runtime: &Handle, to: &Recipient<Line>) {
    let places = Arc::new(Semaphore::new(AHEAD));
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    loop {
        let mut line = Vec::new();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                tracing::warn!(%error, "standard input cannot be read");
                break;
            }
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let Ok(place) = runtime.block_on(places.clone().acquire_owned()) else { break };
        if !to.deliver(Line::Text(line, Some(place))) {
            return;
        }
    }
    // The front is gone: nobody wants to know.
    let _ = to.deliver(Line::End);
}
