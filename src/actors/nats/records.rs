//! What is known of runs: `spec`, `state`, `result`, and whatever else has a name.

use std::marker::PhantomData;

use serde::{Serialize, de::DeserializeOwned};

use super::{Hub, NatsError};

/// What became of a record that was to be new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put<T> {
    /// It is.
    New,
    /// There was one: this.
    There(T),
}

/// A record with its revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The record.
    pub value: T,
    /// Its revision.
    pub revision: u64,
}

/// Follows a record.
#[derive(Debug)]
pub struct Watch<T>(PhantomData<T>);

impl Hub {
    /// Stores a record unless there is one. A lost answer does no harm: it is asked again.
    ///
    /// # Errors
    /// The server did not take it, or what is there cannot be read.
    pub async fn put_new<T: Serialize + DeserializeOwned + PartialEq>(
        &self,
        run: &str,
        kind: &str,
        value: &T,
    ) -> Result<Put<T>, NatsError> {
        let _ = (run, kind, value);
        todo!()
    }

    /// Stores a record in place of what was there; its revision.
    ///
    /// # Errors
    /// The server did not take it.
    pub async fn put<T: Serialize>(&self, run: &str, kind: &str, value: &T) -> Result<u64, NatsError> {
        let _ = (run, kind, value);
        todo!()
    }

    /// Stores a record in place of the one with this revision; the new revision, none when another one is there.
    ///
    /// # Errors
    /// The server did not take it.
    pub async fn update<T: Serialize>(
        &self,
        run: &str,
        kind: &str,
        revision: u64,
        value: &T,
    ) -> Result<Option<u64>, NatsError> {
        let _ = (run, kind, revision, value);
        todo!()
    }

    /// A record; none when there is none.
    ///
    /// # Errors
    /// The server does not answer, or what is there cannot be read.
    pub async fn get<T: DeserializeOwned>(&self, run: &str, kind: &str) -> Result<Option<Versioned<T>>, NatsError> {
        let _ = (run, kind);
        todo!()
    }

    /// Removes a record, if there is one.
    ///
    /// # Errors
    /// The server did not do it.
    pub async fn delete(&self, run: &str, kind: &str) -> Result<(), NatsError> {
        let _ = (run, kind);
        todo!()
    }

    /// Ids of the runs that have a record of this kind, in order.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn runs(&self, kind: &str) -> Result<Vec<String>, NatsError> {
        let _ = kind;
        todo!()
    }

    /// Follows a record: what is there now, then each change.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn watch<T: DeserializeOwned>(&self, run: &str, kind: &str) -> Result<Watch<T>, NatsError> {
        let _ = (run, kind);
        todo!()
    }

    /// Forgets everything of a run: its records, events, sessions and snapshots.
    ///
    /// # Errors
    /// The server did not do it.
    pub async fn forget(&self, run: &str) -> Result<(), NatsError> {
        let _ = run;
        todo!()
    }
}

impl<T: DeserializeOwned> Watch<T> {
    /// The next state of the record; none inside when it was removed. Waits while the server is away.
    ///
    /// # Errors
    /// The server ended the watch, or what is there cannot be read.
    pub async fn next(&mut self) -> Result<Option<Versioned<T>>, NatsError> {
        todo!()
    }
}
