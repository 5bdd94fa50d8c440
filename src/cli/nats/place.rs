//! The agent's side: the log of its session is on the server, and this process writes it as long as it owns it.

use std::{path::PathBuf, process, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::sleep;

use crate::{
    actors::{
        front::complain,
        nats::{Hub, Limits, NatsAddress, NatsError, SessionLog},
    },
    cli::exit::Exit,
    store::replica::Replica as _,
    tools::operations::local::kill_all_commands,
};

/// Between two attempts to reach the server.
const AGAIN: Duration = Duration::from_secs(1);

/// Where the log of a run is, and as whom it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogPlace {
    /// The server.
    pub address: NatsAddress,
    /// The run.
    pub run: String,
    /// The epoch of the node's lease.
    pub epoch: u64,
    /// The folder with the run's sessions.
    pub folder: PathBuf,
}

/// Takes the log that the node named. When it is lost later, this process ends at once, with a code that says so.
///
/// # Errors
/// [`NatsError::Lost`] when a later owner has it; what the server or the disk refuses. A server that is away is waited
/// for: the node ends this process when it does not come back in time.
pub async fn take(place: &Value) -> Result<Arc<SessionLog>, NatsError> {
    let unreadable = |error: serde_json::Error| NatsError::Unreadable {
        what: "the place of the log".to_owned(),
        cause: error.to_string(),
    };
    let place: LogPlace = serde_json::from_value(place.clone()).map_err(unreadable)?;
    let log = loop {
        match attempt(&place).await {
            Err(error @ (NatsError::Unreachable { .. } | NatsError::Failed { .. })) => {
                complain(&format!("Warning: {error}"));
                sleep(AGAIN).await;
            }
            taken => break Arc::new(taken?),
        }
    };
    let lost = log.lost().clone();
    tokio::spawn(async move {
        lost.cancelled().await;
        complain("The run is another worker's by now: this process ends.");
        kill_all_commands();
        process::exit(i32::from(Exit::TakenOver.code()));
    });
    Ok(log)
}

async fn attempt(place: &LogPlace) -> Result<SessionLog, NatsError> {
    let hub = Hub::connect(&place.address, &format!("troupe run {}", place.run), Limits::default()).await?;
    SessionLog::take(&hub, &place.run, place.epoch, &place.folder).await
}
