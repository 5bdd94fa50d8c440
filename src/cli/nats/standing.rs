//! The record of where a run stands, as a node writes it: not over what another node has written since.

use super::record::{STATE, Standing};
use crate::actors::nats::{Hub, NatsError, Put, Versioned};

/// See the module.
#[derive(Debug)]
pub struct StandingRecord {
    hub: Hub,
    run: String,
    /// What the record says, or is to say.
    pub standing: Standing,
    /// The revision that we read or wrote last; none while there is no record.
    revision: Option<u64>,
}

impl StandingRecord {
    /// Reads the record of a run.
    ///
    /// # Errors
    /// The server cannot be used.
    pub async fn read(hub: &Hub, run: &str) -> Result<Self, NatsError> {
        let known: Option<Versioned<Standing>> = hub.get(run, STATE).await?;
        let revision = known.as_ref().map(|record| record.revision);
        let standing = known.map(|record| record.value).unwrap_or_default();
        Ok(Self { hub: hub.clone(), run: run.to_owned(), standing, revision })
    }

    /// Writes it. False when somebody else has written it: the run is theirs.
    ///
    /// # Errors
    /// The server cannot be used.
    pub async fn write(&mut self) -> Result<bool, NatsError> {
        let (hub, run) = (&self.hub, &self.run);
        let written = match self.revision {
            Some(revision) => hub.update(run, STATE, revision, &self.standing).await?,
            None => match hub.put_new(run, STATE, &self.standing).await? {
                Put::There(_) => None,
                Put::New => hub
                    .get::<Standing>(run, STATE)
                    .await?
                    .filter(|record| record.value == self.standing)
                    .map(|record| record.revision),
            },
        };
        self.revision = written.or(self.revision);
        Ok(written.is_some())
    }
}
