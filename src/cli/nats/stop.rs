//! Stopping a run that may be anywhere, or nowhere.

use super::{
    address::Client,
    ending::store,
    record::{Ended, STOP, StopWish, Submitted, standing},
};
use crate::{
    actors::{
        front::unattended::{outcome::Outcome, words::Report},
        nats::NatsError,
    },
    cli::{exit::Exit, runs::result::RunResult},
};

/// What becomes of a request that is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// A node has it, and settles it.
    Settles,
    /// No node had it: it is over.
    Over,
}

/// Wishes that the request ends; `signal` stands for the wish. The node that has the run sees it. When no node has it, the
/// request is over with this: a node that takes its job later finds the result.
///
/// # Errors
/// The server cannot be used.
pub async fn stop(client: &Client, submitted: &Submitted, signal: Exit) -> Result<Stopping, NatsError> {
    let (hub, run, number) = (&client.hub, &submitted.spec.id, submitted.number);
    // The wish comes first: a node looks for wishes after it has the lease.
    hub.put(run, STOP, &StopWish { number, exit: signal.code() }).await?;
    if hub.owner(run).await?.is_some() {
        return Ok(Stopping::Settles);
    }
    if submitted.end(hub).await?.is_none() {
        let standing = standing(hub, run).await?;
        let report = Report::bare(Outcome::Cancelled, "it was stopped while no worker had it");
        let result = RunResult::new(&submitted.spec, &standing.state, report, Some(signal));
        store(hub, run, &Ended { number, epoch: 0, node: None, result }).await?;
    }
    Ok(Stopping::Over)
}
