//! What a run tells, line by line, in order.

use super::{Hub, NatsError};

/// Where the lines of a run go. Lines are sent together where they come fast; at most some hundred wait.
#[derive(Debug)]
pub struct EventSink(());

/// The lines of a run.
#[derive(Debug)]
pub struct Events(());

impl Hub {
    /// Where the lines of a run go, for the owner with this epoch of its lease. Lines of owners before it are not shown
    /// any longer once it has sent one.
    ///
    /// # Errors
    /// The run's id cannot be used.
    pub fn publish_events(&self, run: &str, epoch: u64) -> Result<EventSink, NatsError> {
        let _ = (run, epoch);
        todo!()
    }

    /// The lines of a run: all that are still there, or only those that come from now on.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn events(&self, run: &str, from_start: bool) -> Result<Events, NatsError> {
        let _ = (run, from_start);
        todo!()
    }
}

impl EventSink {
    /// Adds a line (without its line feed). Waits for room while the server is away or slow.
    pub async fn line(&self, line: &str) {
        let _ = line;
        todo!()
    }

    /// Returns when all lines are stored. Waits while the server is away.
    pub async fn flush(&self) {
        todo!()
    }
}

impl Events {
    /// The next line, without its line feed. Waits for it, also while the server is away.
    ///
    /// # Errors
    /// The server ended it.
    pub async fn next(&mut self) -> Result<String, NatsError> {
        todo!()
    }

    /// The next line that is stored already; none when all that were stored have been given.
    ///
    /// # Errors
    /// The server ended it.
    pub async fn next_stored(&mut self) -> Result<Option<String>, NatsError> {
        todo!()
    }
}
