//! The connection, and the streams and buckets that it needs.

use std::time::Duration;

use super::{NatsAddress, NatsError};

/// What the streams are made with, where they are missing. Streams that are there stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a lease lasts without a heartbeat.
    pub lease: Duration,
    /// How many servers of a cluster keep a copy.
    pub replicas: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { lease: Duration::from_secs(15), replicas: 1 }
    }
}

/// A connection. Clones are handles of the same one; it reconnects by itself.
#[derive(Clone, Debug)]
pub struct Hub(());

impl Hub {
    /// Connects, and makes the streams and buckets that are missing. `name` is what the server calls the connection.
    ///
    /// # Errors
    /// The server cannot be reached or used.
    pub async fn connect(address: &NatsAddress, name: &str, limits: Limits) -> Result<Self, NatsError> {
        let _ = (address, name, limits);
        todo!()
    }

    /// How long a lease lasts without a heartbeat, as the server's bucket says.
    #[must_use]
    pub fn lease_time(&self) -> Duration {
        todo!()
    }

    /// Whether the connection stands right now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        todo!()
    }
}
