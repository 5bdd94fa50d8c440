//! Following a record, also when the connection breaks off.

use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::{sync::mpsc, task::JoinHandle, time::sleep};

use crate::actors::nats::{Hub, NatsError};

/// Before a watch that broke off is begun again.
const AGAIN: Duration = Duration::from_secs(1);

/// A record that is followed, as long as this lives.
pub struct Followed<T> {
    states: mpsc::Receiver<Result<Option<T>, NatsError>>,
    task: JoinHandle<()>,
}

impl<T: DeserializeOwned + Send + 'static> Followed<T> {
    /// Follows the record of this kind.
    #[must_use]
    pub fn of(hub: &Hub, run: &str, kind: &'static str) -> Self {
        let (hub, run) = (hub.clone(), run.to_owned());
        let (sender, states) = mpsc::channel(16);
        let task = tokio::spawn(async move {
            loop {
                let error = match hub.watch::<T>(&run, kind).await {
                    Ok(mut watch) => loop {
                        let state = match watch.next().await {
                            Ok(record) => record.map(|record| record.value),
                            Err(error) => break error,
                        };
                        if sender.send(Ok(state)).await.is_err() {
                            return;
                        }
                    },
                    Err(error) => error,
                };
                tracing::debug!(run, kind, %error, "a record is followed anew");
                // Whoever only waits would never hear of it.
                if !error.may_pass() && sender.send(Err(error)).await.is_err() {
                    return;
                }
                sleep(AGAIN).await;
            }
        });
        Self { states, task }
    }

    /// What the record is: now, then after each change; none when there is none. May be dropped while it waits.
    pub async fn next(&mut self) -> Option<T> {
        loop {
            if let Ok(state) = self.try_next().await {
                return state;
            }
        }
    }

    /// The same for whom it is no use to wait for a record that does not get better by itself.
    ///
    /// # Errors
    /// What is there cannot be read, or may not be: it is tried again with the next call.
    pub async fn try_next(&mut self) -> Result<Option<T>, NatsError> {
        match self.states.recv().await {
            Some(state) => state,
            // The task does not end before this.
            None => std::future::pending().await,
        }
    }
}

impl<T> Drop for Followed<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
