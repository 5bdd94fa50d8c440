//! Reads a subject message by message, in order, each once, over any number of connections.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use futures_util::StreamExt as _;
use tokio::time::sleep;

use super::{Hub, NatsError, link::LinkState, wire::PATIENCE};

/// How long the server remembers a reader that is gone.
const FORGET: Duration = Duration::from_secs(60);
/// How long one request for messages stands.
const PULL: Duration = Duration::from_secs(30);
/// How often the server says that it is still there.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// The pause before a reader that broke is made anew.
const PAUSE: Duration = Duration::from_millis(200);

/// Where reading begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// With the first message that is there.
    First,
    /// With the last one that is there.
    Last,
    /// With a sequence, or what comes after it.
    At(u64),
}

/// A message that was read.
#[derive(Debug)]
pub(super) struct Read {
    /// The message.
    pub(super) message: async_nats::Message,
    /// Its place in the stream.
    pub(super) sequence: u64,
}

/// See the module.
pub(super) struct Follow {
    hub: Hub,
    stream: String,
    subject: String,
    start: Start,
    live: Option<(pull::Stream, LinkState)>,
}

impl Follow {
    /// Begins nothing yet.
    pub(super) fn new(hub: &Hub, stream: String, subject: String, start: Start) -> Self {
        Self { hub: hub.clone(), stream, subject, start, live: None }
    }

    /// The stream that it reads.
    pub(super) fn stream(&self) -> &str {
        &self.stream
    }

    /// The subject that it reads.
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }

    /// The next message. Waits for it, also while the server is away.
    pub(super) async fn next(&mut self) -> Result<Read, NatsError> {
        loop {
            let (messages, link) = match &mut self.live {
                Some(live) => live,
                live => live.insert(open(&self.hub, &self.stream, &self.subject, self.start).await?),
            };
            let next = tokio::select! {
                next = messages.next() => next,
                () = self.hub.0.link.renewed(*link) => None,
            };
            match next {
                Some(Ok(message)) => {
                    let sequence = match message.info() {
                        Ok(info) => info.stream_sequence,
                        Err(error) => {
                            return Err(NatsError::Unreadable { what: self.subject.clone(), cause: error.to_string() });
                        }
                    };
                    self.start = Start::At(sequence + 1);
                    return Ok(Read { message: message.split().0, sequence });
                }
                other => {
                    if let Some(Err(error)) = other {
                        tracing::debug!(%error, subject = self.subject, "a reader is made anew");
                    }
                    self.live = None;
                    sleep(PAUSE).await;
                }
            }
        }
    }
}

async fn open(hub: &Hub, stream: &str, subject: &str, start: Start) -> Result<(pull::Stream, LinkState), NatsError> {
    let deliver_policy = match start {
        Start::First => DeliverPolicy::All,
        Start::Last => DeliverPolicy::LastPerSubject,
        Start::At(start_sequence) => DeliverPolicy::ByStartSequence { start_sequence },
    };
    let config = pull::Config {
        deliver_policy,
        ack_policy: AckPolicy::None,
        filter_subject: subject.to_owned(),
        inactive_threshold: FORGET,
        memory_storage: true,
        ..pull::Config::default()
    };
    loop {
        hub.0.link.up().await;
        let link = hub.0.link.now();
        let made = hub
            .ask_again("read from the server", stream, PATIENCE, || {
                hub.0.jetstream.create_consumer_on_stream(config.clone(), stream)
            })
            .await;
        let consumer = match made {
            Ok(consumer) => consumer,
            Err(error) if hub.is_connected() => return Err(error),
            Err(_) => continue,
        };
        match consumer.stream().heartbeat(HEARTBEAT).expires(PULL).messages().await {
            Ok(messages) => return Ok((messages, link)),
            Err(error) => {
                tracing::debug!(%error, subject, "a reader could not begin");
                sleep(PAUSE).await;
            }
        }
    }
}
