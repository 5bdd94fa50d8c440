//! Questions to a run, wherever it is: one request, one answer.

use std::time::Duration;

use bytes::Bytes;

use super::{Hub, NatsError};

/// Requests to a run that works here. Dropped, nobody answers for the run.
#[derive(Debug)]
pub struct Requests(());

/// One request.
#[derive(Debug)]
pub struct RunRequest {
    /// What was asked.
    pub request: Bytes,
}

impl Hub {
    /// Answers for a run from now on.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn serve(&self, run: &str) -> Result<Requests, NatsError> {
        let _ = run;
        todo!()
    }

    /// Asks a run, and waits `limit` for the answer.
    ///
    /// # Errors
    /// [`NatsError::NoOne`] when the run works nowhere right now; no answer in time.
    pub async fn ask(&self, run: &str, request: &[u8], limit: Duration) -> Result<Bytes, NatsError> {
        let _ = (run, request, limit);
        todo!()
    }
}

impl Requests {
    /// The next request; none when the connection is closed for good.
    pub async fn next(&mut self) -> Option<RunRequest> {
        todo!()
    }
}

impl RunRequest {
    /// Answers it. An answer that is larger than the server takes goes in parts.
    ///
    /// # Errors
    /// The connection is closed.
    pub async fn answer(self, answer: &[u8]) -> Result<(), NatsError> {
        let _ = answer;
        todo!()
    }
}
