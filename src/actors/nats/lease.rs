//! Who owns a run: a record that is gone by itself when its owner does not beat.

use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    Hub, NatsError,
    names::run_id,
    records::{OPERATION, REMOVED, decoded, is_removed},
    wire::PATIENCE,
};
use crate::store::replica::Lost;

/// Who owns a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// The worker's name, for people.
    pub name: String,
    /// What no other process has, nor this one in another life.
    pub node: String,
}

/// What became of an attempt to take a lease.
#[derive(Debug)]
pub enum Taking {
    /// It is ours.
    Taken(Lease),
    /// It is somebody's.
    Owned(Owner),
}

/// A lease that is ours for as long as it is kept up.
#[derive(Debug)]
pub struct Lease {
    hub: Hub,
    run: String,
    subject: String,
    owner: Owner,
    /// Each owner of a run has a greater one than those before.
    pub epoch: u64,
    /// The sequence of the last beat.
    revision: u64,
    beats: u64,
    /// When the last beat that counts was sent.
    beaten: Instant,
}

/// What stands in the bucket.
#[derive(Serialize, Deserialize)]
struct Beat {
    #[serde(flatten)]
    owner: Owner,
    beats: u64,
}

impl Hub {
    /// Takes the lease of a run, when nobody has it.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn take_lease(&self, run: &str, owner: &Owner) -> Result<Taking, NatsError> {
        let subject = self.0.names.lease(run_id(run)?);
        loop {
            let there = self.last(&self.0.names.leases(), &subject, PATIENCE).await?;
            let expected = match there {
                None => 0,
                Some(marker) if is_removed(Some(&marker.headers)) => marker.sequence,
                Some(taken) => return Ok(Taking::Owned(decoded::<Beat>(&subject, &taken.payload)?.owner)),
            };
            let beaten = Instant::now();
            let bytes = encoded(owner, 0);
            let action = format!("take the lease of run {run}");
            let stream = self.0.names.leases();
            let stored =
                self.store_behind(&action, &stream, &subject, expected, &bytes, beaten + self.lease_time()).await?;
            // Somebody was faster, or the marker of the owner before ran out: look again.
            let Some(epoch) = stored else { continue };
            let (hub, run, owner) = (self.clone(), run.to_owned(), owner.clone());
            return Ok(Taking::Taken(Lease { hub, run, subject, owner, epoch, revision: epoch, beats: 0, beaten }));
        }
    }

    /// Who owns a run right now.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn owner(&self, run: &str) -> Result<Option<Owner>, NatsError> {
        let subject = self.0.names.lease(run_id(run)?);
        match self.last(&self.0.names.leases(), &subject, PATIENCE).await? {
            Some(there) if !is_removed(Some(&there.headers)) => {
                Ok(Some(decoded::<Beat>(&subject, &there.payload)?.owner))
            }
            _ => Ok(None),
        }
    }
}

impl Lease {
    /// How often it wants a beat.
    #[must_use]
    pub fn pace(&self) -> Duration {
        self.hub.lease_time() / 3
    }

    /// Keeps it up. While the server is away it tries again, until the time of the lease is over.
    ///
    /// # Errors
    /// It is not ours any longer.
    pub async fn beat(&mut self) -> Result<(), Lost> {
        let (sent, beats) = (Instant::now(), self.beats + 1);
        let deadline = self.beaten + self.hub.lease_time();
        let stream = self.hub.0.names.leases();
        let bytes = encoded(&self.owner, beats);
        let lost = |error: NatsError| Lost(format!("the lease of run {} could not be kept up: {error}", self.run));
        loop {
            let action = "keep the lease up";
            let stored = self.hub.store_behind(action, &stream, &self.subject, self.revision, &bytes, deadline).await;
            if let Some(revision) = stored.map_err(lost)? {
                (self.revision, self.beats, self.beaten) = (revision, beats, sent);
                return Ok(());
            }
            // A beat of ours that nobody waited for to the end may stand there.
            let there = self.hub.last(&stream, &self.subject, PATIENCE).await.map_err(lost)?;
            let ours = there.filter(|there| {
                decoded::<Beat>(&self.subject, &there.payload).is_ok_and(|beat| beat.owner == self.owner)
            });
            match ours {
                Some(there) if there.sequence != self.revision => self.revision = there.sequence,
                _ => return Err(Lost(format!("the lease of run {} ran out, or another worker has it", self.run))),
            }
        }
    }

    /// Gives it back, if it is still ours: another worker may take it at once.
    ///
    /// # Errors
    /// The server does not answer: the lease ends by itself.
    pub async fn give_back(self) -> Result<(), NatsError> {
        let marker = PublishMessage::build().header(OPERATION, REMOVED).expected_last_subject_sequence(self.revision);
        // Also when its time is over: the server knows better.
        let deadline = Instant::now() + self.pace();
        // Refused: it is not ours any longer, and there is nothing to give.
        match self.hub.publish_once(self.subject.clone(), marker, deadline).await {
            Ok(_) | Err(super::wire::Refusal::Sequence) => Ok(()),
            Err(refusal) => Err(NatsError::Failed {
                action: format!("give the lease of run {} back", self.run),
                cause: format!("{refusal:?}"),
            }),
        }
    }
}

fn encoded(owner: &Owner, beats: u64) -> Bytes {
    let beat = Beat { owner: owner.clone(), beats };
    // Strings and a number can always be written.
    serde_json::to_vec(&beat).unwrap_or_default().into()
}
