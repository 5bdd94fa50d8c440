//! Following a record, also when the connection breaks off.

use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::{sync::mpsc, task::JoinHandle, time::sleep};

use crate::actors::nats::Hub;

/// Before a watch that broke off is begun again.
const AGAIN: Duration = Duration::from_secs(1);

/// A record that is followed, as long as this lives.
pub struct Followed<T> {
    states: mpsc::Receiver<Option<T>>,
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
                if let Ok(mut watch) = hub.watch::<T>(&run, kind).await {
                    while let Ok(record) = watch.next().await {
                        if sender.send(record.map(|record| record.value)).await.is_err() {
                            return;
                        }
                    }
                }
                tracing::debug!(run, kind, "a record is followed anew");
                sleep(AGAIN).await;
            }
        });
        Self { states, task }
    }

    /// What the record is: now, then after each change; none when there is none. May be dropped while it waits.
    pub async fn next(&mut self) -> Option<T> {
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
