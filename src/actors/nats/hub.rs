//! The connection, and the streams and buckets that it needs.

use std::{fmt, sync::Arc, time::Duration};

use async_nats::{
    Client,
    jetstream::{
        self,
        context::{CreateStreamError, CreateStreamErrorKind},
        object_store,
        stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream},
    },
};

use super::{NatsAddress, NatsError, connect::connect, link::Link, names::Names, wire::PATIENCE};

/// How long one question to the server waits for its answer.
const ANSWER: Duration = Duration::from_secs(3);
/// How long events are kept.
const EVENTS_AGE: Duration = Duration::from_secs(7 * 24 * 3600);
/// How many bytes of events are kept, of all runs together. The server sets them aside; where there is less room, it is asked
/// for a quarter, and again, down to the least.
const EVENTS_BYTES: i64 = 1 << 30;
/// The least.
const LEAST_EVENTS_BYTES: i64 = 16 << 20;
/// Error codes of a stream for which there is no room on the server, or in the account: `JSAccountResourcesExceededErr`,
/// `JSInsufficientResourcesErr`, `JSStorageResourcesExceededErr`, `JSStreamMaxStreamBytesExceeded`.
const NO_ROOM: [u64; 4] = [10_002, 10_023, 10_047, 10_122];
/// Error codes of servers and accounts without JetStream: `JSNotEnabledErr`, `JSNotEnabledForAccountErr`.
const NO_JETSTREAM: [u64; 2] = [10_076, 10_039];
/// The error code of a stream that is there with another configuration: `JSStreamNameExistErr`.
const IN_USE: u64 = 10_058;

/// What the streams are made with, where they are missing. Streams that are there stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a lease lasts without a heartbeat.
    pub lease: Duration,
    /// How many servers of a cluster keep a copy.
    pub replicas: usize,
    /// How many bytes the log of a run grows by until all of its files are stored in one piece.
    pub snapshot_after: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { lease: Duration::from_secs(15), replicas: 1, snapshot_after: 64 << 20 }
    }
}

/// A connection. Clones are handles of the same one; it reconnects by itself.
#[derive(Clone)]
pub struct Hub(pub(super) Arc<Inner>);

/// What the parts of this folder work with.
pub(super) struct Inner {
    pub(super) client: Client,
    pub(super) jetstream: jetstream::Context,
    pub(super) link: Link,
    pub(super) names: Names,
    pub(super) lease: Duration,
    /// How many servers keep a copy of what is made.
    replicas: usize,
    pub(super) snapshot_after: u64,
    /// The servers without secrets.
    pub(super) servers: String,
}

impl Hub {
    /// Connects, and makes the streams and buckets that are missing. `name` is what the server calls the connection.
    ///
    /// # Errors
    /// The server cannot be reached or used.
    pub async fn connect(address: &NatsAddress, name: &str, limits: Limits) -> Result<Self, NatsError> {
        let names = Names::new(&address.prefix)?;
        let link = Link::new();
        let client = connect(address, name, &link).await?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(ANSWER);
        let made = Making { jetstream: &jetstream, link: &link, servers: address.shown(), replicas: limits.replicas };
        let lease = made.all(&names, limits.lease).await?;
        let servers = address.shown();
        let Limits { replicas, snapshot_after, .. } = limits;
        Ok(Self(Arc::new(Inner { client, jetstream, link, names, lease, replicas, snapshot_after, servers })))
    }

    /// Makes the streams and buckets that are missing by now: a server may have lost them.
    ///
    /// # Errors
    /// The server refuses.
    pub(super) async fn make_streams(&self) -> Result<(), NatsError> {
        let Inner { jetstream, link, names, lease, replicas, servers, .. } = &*self.0;
        let making = Making { jetstream, link, servers: servers.clone(), replicas: *replicas };
        making.all(names, *lease).await.map(drop)
    }

    /// How long a lease lasts without a heartbeat, as the server's bucket says.
    #[must_use]
    pub fn lease_time(&self) -> Duration {
        self.0.lease
    }

    /// What tells the store of runs from all others: another server has another one, and so has a server that has lost its
    /// own.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn store_id(&self) -> Result<String, NatsError> {
        let name = self.0.names.runs();
        let stream = &self.stream(&name).await?;
        let info = self.ask_again("look at the store of runs", &name, PATIENCE, || stream.get_info()).await?;
        Ok(format!("{name} of {}", info.created.unix_timestamp_nanos()))
    }

    /// Whether the connection stands right now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.0.link.now().up
    }

    /// The servers, without secrets.
    #[must_use]
    pub fn servers(&self) -> &str {
        &self.0.servers
    }

    /// Bytes of one message's contents, with room for its headers.
    pub(super) fn room(&self) -> usize {
        // Headers of ours have some hundred bytes.
        self.0.client.max_payload().saturating_sub(2048).max(1024)
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub")
            .field("servers", &self.0.servers)
            .field("link", &self.0.link.now())
            .finish_non_exhaustive()
    }
}

fn has_no_room(error: &CreateStreamError) -> bool {
    matches!(error.kind(), CreateStreamErrorKind::JetStream(error) if NO_ROOM.contains(&error.error_code().0))
}

/// Makes what is missing.
struct Making<'a> {
    jetstream: &'a jetstream::Context,
    link: &'a Link,
    servers: String,
    replicas: usize,
}

impl Making<'_> {
    /// Makes all streams; the time of a lease.
    async fn all(&self, names: &Names, lease: Duration) -> Result<Duration, NatsError> {
        let subjects = |kind: &str| vec![names.subject(kind, ">")];
        self.stream(Config { retention: RetentionPolicy::WorkQueue, ..self.config(names.jobs(), subjects("jobs")) })
            .await?;
        self.stream(self.config(names.log(), subjects("log"))).await?;
        self.events(Config {
            max_age: EVENTS_AGE,
            max_bytes: EVENTS_BYTES,
            discard: DiscardPolicy::Old,
            ..self.config(names.events(), subjects("events"))
        })
        .await?;
        self.stream(self.bucket(names.runs(), names.of_bucket("runs"))).await?;
        let leases = Config { max_age: lease, ..self.bucket(names.leases(), names.of_bucket("leases")) };
        let leases = self.stream(leases).await?;
        self.objects(names.sessions()).await?;
        let age = leases.cached_info().config.max_age;
        Ok(if age.is_zero() { lease } else { age })
    }

    /// What loses nothing by itself.
    fn config(&self, name: String, subjects: Vec<String>) -> Config {
        Config {
            name,
            subjects,
            storage: StorageType::File,
            discard: DiscardPolicy::New,
            num_replicas: self.replicas.max(1),
            ..Config::default()
        }
    }

    /// What others know as a key-value bucket. Its answers come from the leader, so that nobody reads what is outdated.
    fn bucket(&self, name: String, subjects: String) -> Config {
        Config {
            max_messages_per_subject: 1,
            allow_rollup: true,
            deny_delete: true,
            ..self.config(name, vec![subjects])
        }
    }

    /// Makes the stream of events as large as there is room for it.
    async fn events(&self, mut config: Config) -> Result<(), NatsError> {
        loop {
            match self.jetstream.get_or_create_stream(config.clone()).await {
                Err(error) if has_no_room(&error) && config.max_bytes > LEAST_EVENTS_BYTES => config.max_bytes /= 4,
                made => return self.made(&config.name, made).await.map(drop),
            }
        }
    }

    async fn stream(&self, config: Config) -> Result<Stream, NatsError> {
        let name = config.name.clone();
        let made = self.jetstream.get_or_create_stream(config).await;
        self.made(&name, made).await
    }

    /// What came of making a stream.
    async fn made(&self, name: &str, made: Result<Stream, CreateStreamError>) -> Result<Stream, NatsError> {
        let error = match made {
            Ok(stream) => return Ok(stream),
            Err(error) => error,
        };
        let cause = error.to_string();
        match error.kind() {
            CreateStreamErrorKind::JetStreamUnavailable => Err(self.no_jetstream()),
            CreateStreamErrorKind::JetStream(error) if NO_JETSTREAM.contains(&error.error_code().0) => {
                Err(self.no_jetstream())
            }
            // Another process made it between the two looks, with a lease of another length say.
            CreateStreamErrorKind::JetStream(error) if error.error_code().0 == IN_USE => {
                self.jetstream.get_stream(name).await.map_err(|error| self.failed(name, error.to_string()))
            }
            _ => Err(self.failed(name, cause)),
        }
    }

    async fn objects(&self, bucket: String) -> Result<(), NatsError> {
        if self.jetstream.get_object_store(&bucket).await.is_ok() {
            return Ok(());
        }
        let config = object_store::Config {
            bucket: bucket.clone(),
            storage: StorageType::File,
            num_replicas: self.replicas.max(1),
            ..object_store::Config::default()
        };
        match self.jetstream.create_object_store(config).await {
            Ok(_) => Ok(()),
            // Another process was faster, or an administrator made it differently.
            Err(_) if self.jetstream.get_object_store(&bucket).await.is_ok() => Ok(()),
            Err(error) => Err(self.failed(&bucket, error.to_string())),
        }
    }

    fn no_jetstream(&self) -> NatsError {
        NatsError::NoJetStream { servers: self.servers.clone() }
    }

    fn failed(&self, name: &str, cause: String) -> NatsError {
        let action = format!("use or make the stream {name}");
        match self.link.take_refusal(name) {
            Some(cause) => NatsError::Forbidden { action, cause },
            None => NatsError::Failed { action, cause },
        }
    }
}
