//! What is to be run, and who takes it: a queue for each pool of workers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Hub, NatsError};

/// A request to work on a run. What is to be done stands in the run's records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The run.
    pub run: String,
    /// The number of the request, from 1: the first, then each that continues the run.
    pub number: u32,
}

/// The queue of a pool.
#[derive(Debug)]
pub struct Jobs(());

/// A job that was given to us, for the time of a lease unless [`Self::progress`] is said.
#[derive(Debug)]
pub struct Delivery {
    /// The job.
    pub job: Job,
    /// How often it was delivered, with this time.
    pub deliveries: u64,
}

impl Hub {
    /// Queues a job. False when it was queued before, in the last two minutes.
    ///
    /// # Errors
    /// The server did not take it.
    pub async fn submit(&self, pool: &str, job: &Job) -> Result<bool, NatsError> {
        let _ = (pool, job);
        todo!()
    }

    /// The queue of a pool.
    ///
    /// # Errors
    /// It cannot be made.
    pub async fn jobs(&self, pool: &str) -> Result<Jobs, NatsError> {
        let _ = pool;
        todo!()
    }
}

impl Jobs {
    /// The next job. Waits for it, for as long as it takes, also while the server is away. Whoever drops the future in
    /// the middle may leave a job undelivered for the time of a lease.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn next(&mut self) -> Result<Delivery, NatsError> {
        todo!()
    }
}

impl Delivery {
    /// Says that the job is being worked on. To be said every third of the lease time.
    ///
    /// # Errors
    /// The server is away.
    pub async fn progress(&self) -> Result<(), NatsError> {
        todo!()
    }

    /// The job is over: nobody gets it again.
    ///
    /// # Errors
    /// The server is away.
    pub async fn done(&self) -> Result<(), NatsError> {
        todo!()
    }

    /// Somebody else may do it, `after` a while.
    ///
    /// # Errors
    /// The server is away.
    pub async fn give_back(&self, after: Duration) -> Result<(), NatsError> {
        let _ = after;
        todo!()
    }
}
