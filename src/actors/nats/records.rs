//! What is known of runs: `spec`, `state`, `result`, and whatever else has a name.

use std::{fmt, marker::PhantomData};

use async_nats::{
    HeaderMap,
    jetstream::{message::PublishMessage, object_store::ObjectStore},
};
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::{Instant, sleep};

use super::{
    Hub, NatsError,
    follow::{Follow, Start},
    names::{run_id, word},
    wire::{PATIENCE, PAUSE, Refusal},
};

/// The header of a message that stands for no value, as key-value buckets have it.
pub(super) const OPERATION: &str = "KV-Operation";
/// Its value for a record that was removed.
pub(super) const REMOVED: &str = "DEL";

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
pub struct Watch<T> {
    follow: Follow,
    what: String,
    of: PhantomData<fn() -> T>,
}

impl Hub {
    /// Stores a record unless there is one. An answer that is lost does no harm: what is there is compared with `value`.
    ///
    /// # Errors
    /// The server did not take it, or what is there cannot be read.
    pub async fn put_new<T: Serialize + DeserializeOwned>(
        &self,
        run: &str,
        kind: &str,
        value: &T,
    ) -> Result<Put<T>, NatsError> {
        let (subject, bytes) = (self.record(run, kind)?, self.encoded(run, kind, value)?);
        let mut expected = 0;
        loop {
            if self.store_at(run, kind, expected, bytes.clone()).await?.is_some() {
                return Ok(Put::New);
            }
            expected = match self.last(&self.0.names.runs(), &subject, PATIENCE).await? {
                Some(there) if !is_removed(Some(&there.headers)) => {
                    return Ok(Put::There(decoded(&subject, &there.payload)?));
                }
                // Behind what says that it was removed.
                there => there.map_or(0, |marker| marker.sequence),
            };
        }
    }

    /// Stores a record in place of what was there; its revision.
    ///
    /// # Errors
    /// The server did not take it.
    pub async fn put<T: Serialize>(&self, run: &str, kind: &str, value: &T) -> Result<u64, NatsError> {
        let subject = self.record(run, kind)?;
        let message = PublishMessage::build().payload(self.encoded(run, kind, value)?);
        let ack = self.publish(&format!("store the {kind} of run {run}"), &subject, &message).await?;
        Ok(ack.sequence)
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
        self.store_at(run, kind, revision, self.encoded(run, kind, value)?).await
    }

    /// A record; none when there is none.
    ///
    /// # Errors
    /// The server does not answer, or what is there cannot be read.
    pub async fn get<T: DeserializeOwned>(&self, run: &str, kind: &str) -> Result<Option<Versioned<T>>, NatsError> {
        let subject = self.record(run, kind)?;
        let there = self.last(&self.0.names.runs(), &subject, PATIENCE).await?;
        let Some(message) = there.filter(|message| !is_removed(Some(&message.headers))) else { return Ok(None) };
        let value = decoded(&subject, &message.payload)?;
        Ok(Some(Versioned { value, revision: message.sequence }))
    }

    /// Removes a record, if there is one.
    ///
    /// # Errors
    /// The server did not do it.
    pub async fn delete(&self, run: &str, kind: &str) -> Result<(), NatsError> {
        let subject = self.record(run, kind)?;
        // It stays, so that those who watch see it whenever they come.
        let marker = PublishMessage::build().header(OPERATION, REMOVED);
        self.publish(&format!("remove the {kind} of run {run}"), &subject, &marker).await.map(drop)
    }

    /// Ids of the runs that have a record of this kind, or had one that was removed alone, in order.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn runs(&self, kind: &str) -> Result<Vec<String>, NatsError> {
        let ending = format!(".{}", word(kind)?);
        let all = self.0.names.of_bucket("runs");
        let start = all.trim_end_matches('>');
        let id = |subject: &String| Some(subject.strip_prefix(start)?.strip_suffix(&ending)?.to_owned());
        let mut runs: Vec<String> = self.subjects("list the runs", &all).await?.iter().filter_map(id).collect();
        runs.sort_unstable();
        Ok(runs)
    }

    /// Follows a record: what is there now, then each change.
    ///
    /// # Errors
    /// The run's id or the kind cannot be used.
    pub async fn watch<T: DeserializeOwned>(&self, run: &str, kind: &str) -> Result<Watch<T>, NatsError> {
        let what = self.record(run, kind)?;
        let follow = Follow::new(self, self.0.names.runs(), what.clone(), Start::Last);
        Ok(Watch { follow, what, of: PhantomData })
    }

    /// Forgets everything of a run: its records, events, sessions and snapshots.
    ///
    /// # Errors
    /// The server did not do it.
    pub async fn forget(&self, run: &str) -> Result<(), NatsError> {
        let (run, names) = (run_id(run)?, &self.0.names);
        self.purge(&names.events(), &names.subject("events", run), None).await?;
        self.purge(&names.log(), &names.subject("log", run), None).await?;
        let store = self.snapshots().await?;
        let mine = format!("{run}/");
        let listed = store.list().await.map_err(|error| snapshots_failed(&error))?;
        let objects: Vec<_> = listed.try_collect().await.map_err(|error| snapshots_failed(&error))?;
        for object in objects.iter().filter(|object| object.name.starts_with(&mine)) {
            store.delete(&object.name).await.map_err(|error| snapshots_failed(&error))?;
        }
        for kind in self.kinds(run).await? {
            self.delete(run, &kind).await?;
            self.purge(&self.0.names.runs(), &self.record(run, &kind)?, None).await?;
        }
        Ok(())
    }

    /// The kinds of records that a run has.
    async fn kinds(&self, run: &str) -> Result<Vec<String>, NatsError> {
        let subjects = self.subjects("list the records of a run", &self.0.names.record(run, "*")).await?;
        Ok(subjects.iter().filter_map(|subject| Some(subject.rsplit_once('.')?.1.to_owned())).collect())
    }

    /// The subjects of records that fit a pattern.
    async fn subjects(&self, action: &str, pattern: &str) -> Result<Vec<String>, NatsError> {
        let stream = &self.stream(&self.0.names.runs()).await?;
        let subjects: Vec<(String, usize)> = self
            .ask_again(action, &self.0.names.runs(), PATIENCE, || async move {
                let listed = stream.info_with_subjects(pattern).await.map_err(|error| error.to_string())?;
                listed.try_collect().await.map_err(|error| error.to_string())
            })
            .await?;
        Ok(subjects.into_iter().map(|(subject, _)| subject).collect())
    }

    /// Where snapshots are.
    pub(super) async fn snapshots(&self) -> Result<ObjectStore, NatsError> {
        let bucket = &self.0.names.sessions();
        self.ask_again("use the store of snapshots", bucket, PATIENCE, || self.0.jetstream.get_object_store(bucket))
            .await
    }

    /// Stores what comes behind a revision; none when another one is there.
    async fn store_at(&self, run: &str, kind: &str, revision: u64, bytes: Bytes) -> Result<Option<u64>, NatsError> {
        let subject = self.record(run, kind)?;
        let action = format!("store the {kind} of run {run}");
        self.store_behind(&action, &self.0.names.runs(), &subject, revision, &bytes, Instant::now() + PATIENCE).await
    }

    /// Stores `bytes` as the next message of `subject` behind the sequence `expected`; none when another one is there.
    /// After an answer that was lost, the message that is there is ours when it has the same bytes.
    pub(super) async fn store_behind(
        &self,
        action: &str,
        stream: &str,
        subject: &str,
        expected: u64,
        bytes: &Bytes,
        deadline: Instant,
    ) -> Result<Option<u64>, NatsError> {
        let message = PublishMessage::build().payload(bytes.clone()).expected_last_subject_sequence(expected);
        let mut in_doubt = false;
        loop {
            match self.publish_once(subject.to_owned(), message.clone(), deadline).await {
                Ok(ack) => return Ok(Some(ack.sequence)),
                Err(Refusal::Sequence) if in_doubt => {
                    let there = self.last(stream, subject, PATIENCE).await?;
                    return Ok(there.filter(|there| there.payload == *bytes).map(|there| there.sequence));
                }
                Err(Refusal::Sequence) => return Ok(None),
                Err(Refusal::TooLarge) => {
                    let (size, limit) = (bytes.len(), self.room());
                    return Err(NatsError::TooLarge { what: action.to_owned(), size, limit });
                }
                Err(Refusal::Unknown(cause)) if Instant::now() >= deadline => {
                    return Err(NatsError::Failed { action: action.to_owned(), cause });
                }
                Err(Refusal::Unknown(_)) => in_doubt = true,
            }
            sleep(PAUSE).await;
        }
    }

    fn record(&self, run: &str, kind: &str) -> Result<String, NatsError> {
        Ok(self.0.names.record(run_id(run)?, word(kind)?))
    }

    fn encoded<T: Serialize>(&self, run: &str, kind: &str, value: &T) -> Result<Bytes, NatsError> {
        let what = || format!("the {kind} of run {run}");
        let bytes = serde_json::to_vec(value)
            .map_err(|error| NatsError::Unreadable { what: what(), cause: error.to_string() })?;
        match (bytes.len(), self.room()) {
            (size, limit) if size > limit => Err(NatsError::TooLarge { what: what(), size, limit }),
            _ => Ok(bytes.into()),
        }
    }
}

impl<T: DeserializeOwned> Watch<T> {
    /// The next state of the record; none inside when it was removed. Waits while the server is away. That a run was
    /// forgotten is not always told.
    ///
    /// # Errors
    /// The server ended the watch, or what is there cannot be read.
    pub async fn next(&mut self) -> Result<Option<Versioned<T>>, NatsError> {
        let read = self.follow.next().await?;
        if is_removed(read.message.headers.as_ref()) {
            return Ok(None);
        }
        let value = decoded(&self.what, &read.message.payload)?;
        Ok(Some(Versioned { value, revision: read.sequence }))
    }
}

impl<T> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("what", &self.what).finish_non_exhaustive()
    }
}

/// Whether a message of a bucket says that there is no value.
pub(super) fn is_removed(headers: Option<&HeaderMap>) -> bool {
    headers.is_some_and(|headers| headers.get(OPERATION).is_some())
}

pub(super) fn decoded<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, NatsError> {
    serde_json::from_slice(bytes)
        .map_err(|error| NatsError::Unreadable { what: what.to_owned(), cause: error.to_string() })
}

fn snapshots_failed(error: &dyn fmt::Display) -> NatsError {
    NatsError::Failed { action: "remove snapshots".to_owned(), cause: error.to_string() }
}
