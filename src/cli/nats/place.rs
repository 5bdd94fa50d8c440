//! The agent's side: the log of its session is on the server, and this process writes it as long as it owns it.

use std::{io::stdin, os::fd::AsFd, path::PathBuf, process, sync::Arc, time::Duration};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::sleep;

use crate::{
    actors::{
        front::complain,
        nats::{Hub, Limits, NatsAddress, NatsError, SessionLog},
    },
    cli::exit::Exit,
    store::replica::{Lost, Replica as _},
    tools::operations::local::kill_all_commands,
};

/// Between two attempts to reach the server.
const AGAIN: Duration = Duration::from_secs(1);
/// Between two looks whether the supervisor is there.
const LOOK: Duration = Duration::from_millis(200);

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
/// for, as long as the supervisor of this process is there: it ends this process when the run is not its node's any more.
pub async fn take(place: &Value) -> Result<Arc<SessionLog>, NatsError> {
    let unreadable = |error: serde_json::Error| NatsError::Unreadable {
        what: "the place of the log".to_owned(),
        cause: error.to_string(),
    };
    let place: LogPlace = serde_json::from_value(place.clone()).map_err(unreadable)?;
    let taking = async {
        loop {
            match attempt(&place).await {
                Err(error) if error.may_pass() => {
                    complain(&format!("Warning: {error}"));
                    sleep(AGAIN).await;
                }
                taken => break taken,
            }
        }
    };
    let log = tokio::select! {
        taken = taking => Arc::new(taken?),
        // Nobody reads the orders before the run is opened, and nothing of it is begun.
        () = end_of_orders(stdin()) => return Err(Lost("the supervisor of this process is gone".to_owned()).into()),
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

/// Returns when the other end of the pipe is closed. What is in the pipe stays there.
async fn end_of_orders(pipe: impl AsFd) {
    loop {
        let mut look = [PollFd::new(&pipe, PollFlags::empty())];
        // What cannot be looked at is no pipe of a supervisor.
        if poll(&mut look, Some(&Timespec::default())).is_ok() && look[0].revents().contains(PollFlags::HUP) {
            return;
        }
        sleep(LOOK).await;
    }
}

async fn attempt(place: &LogPlace) -> Result<SessionLog, NatsError> {
    let hub = Hub::connect(&place.address, &format!("troupe run {}", place.run), Limits::default()).await?;
    SessionLog::take(&hub, &place.run, place.epoch, &place.folder).await
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _, pipe};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_supervisor_is_seen_though_nobody_reads_its_orders() {
        let (mut orders, mut supervisor) = pipe().unwrap();
        supervisor.write_all(b"unread").unwrap();
        let quiet = tokio::time::timeout(LOOK * 10, end_of_orders(&orders)).await;
        assert!(quiet.is_err(), "the supervisor lives");
        drop(supervisor);
        end_of_orders(&orders).await;
        let mut left = String::new();
        orders.read_to_string(&mut left).unwrap();
        assert_eq!(left, "unread");
    }
}
