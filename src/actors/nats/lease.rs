//! Who owns a run: a record that is gone by itself when its owner does not beat.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::{Hub, NatsError};
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
    /// Each owner of a run has a greater one than those before.
    pub epoch: u64,
}

impl Hub {
    /// Takes the lease of a run, when nobody has it.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn take_lease(&self, run: &str, owner: &Owner) -> Result<Taking, NatsError> {
        let _ = (run, owner);
        todo!()
    }

    /// Who owns a run right now.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn owner(&self, run: &str) -> Result<Option<Owner>, NatsError> {
        let _ = run;
        todo!()
    }
}

impl Lease {
    /// How often it wants a beat.
    #[must_use]
    pub fn pace(&self) -> Duration {
        todo!()
    }

    /// Keeps it up. While the server is away it tries again, until the time of the lease is over.
    ///
    /// # Errors
    /// It is not ours any longer.
    pub async fn beat(&mut self) -> Result<(), Lost> {
        todo!()
    }

    /// Gives it back, if it is still ours: another worker may take it at once.
    ///
    /// # Errors
    /// The server does not answer: the lease ends by itself.
    pub async fn give_back(self) -> Result<(), NatsError> {
        todo!()
    }
}
