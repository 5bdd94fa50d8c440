//! Questions to the server that outlast its absence: one attempt each, and what is tried again.

use std::{fmt::Display, future::Future, time::Duration};

use async_nats::jetstream::{
    context::PublishErrorKind,
    message::{PublishMessage, StreamMessage},
    publish::PublishAck,
    stream::{LastRawMessageErrorKind, Stream},
};
use tokio::time::{Instant, sleep, timeout_at};

use super::{Hub, NatsError, link::is_refusal};

/// How long a question is asked again while the server is away.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// The pause between two attempts while the connection stands.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// Why a message was not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Its subject is not at the expected sequence.
    Sequence,
    /// It is too large for this server.
    TooLarge,
    /// Nobody knows whether it was stored.
    Unknown(String),
}

impl Hub {
    /// Publishes once. Waits for the connection and the answer until `deadline`; a connection that breaks and comes back
    /// ends the wait for the answer.
    pub(super) async fn publish_once(
        &self,
        subject: String,
        message: PublishMessage,
        deadline: Instant,
    ) -> Result<PublishAck, Refusal> {
        let unknown = |cause: &str| Refusal::Unknown(format!("{} {cause}", self.0.servers));
        timeout_at(deadline, self.0.link.up()).await.map_err(|_| unknown("is away"))?;
        let link = self.0.link.now();
        let attempt = async { self.0.jetstream.send_publish(subject.clone(), message).await?.await };
        let result = tokio::select! {
            result = timeout_at(deadline, attempt) => result.map_err(|_| unknown("does not answer"))?,
            () = self.0.link.renewed(link) => return Err(Refusal::Unknown("the connection broke".to_owned())),
        };
        result.map_err(|error| match error.kind() {
            PublishErrorKind::WrongLastSequence => Refusal::Sequence,
            PublishErrorKind::MaxPayloadExceeded => Refusal::TooLarge,
            _ => Refusal::Unknown(self.0.link.take_refusal(&quoted(&subject)).unwrap_or_else(|| error.to_string())),
        })
    }

    /// Publishes what may be stored twice, or has an id of its own, and tries again while the server is away.
    pub(super) async fn publish(
        &self,
        action: &str,
        subject: &str,
        message: &PublishMessage,
    ) -> Result<PublishAck, NatsError> {
        let deadline = Instant::now() + PATIENCE;
        // What was forbidden before is not about this.
        drop(self.0.link.take_refusal(&quoted(subject)));
        loop {
            let cause = match self.publish_once(subject.to_owned(), message.clone(), deadline).await {
                Ok(ack) => return Ok(ack),
                Err(Refusal::Unknown(cause)) => cause,
                Err(refusal) => {
                    return Err(NatsError::Failed { action: action.to_owned(), cause: format!("{refusal:?}") });
                }
            };
            if is_refusal(&cause) {
                return Err(NatsError::Forbidden { action: action.to_owned(), cause });
            }
            if Instant::now() >= deadline {
                return Err(NatsError::Failed { action: action.to_owned(), cause });
            }
            sleep(PAUSE).await;
        }
    }

    /// Asks until there is an answer, or the patience is over. A refusal for want of a permission ends it at once: one of a
    /// subject with the words `about` in it.
    pub(super) async fn ask_again<T, E, F>(
        &self,
        action: &str,
        about: &str,
        patience: Duration,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, NatsError>
    where
        E: Display,
        F: Future<Output = Result<T, E>>,
    {
        let deadline = Instant::now() + patience;
        // What was forbidden before is not about this.
        drop(self.0.link.take_refusal(about));
        loop {
            let cause = match self.ask_once(deadline, attempt()).await {
                Ok(answer) => return Ok(answer),
                Err(cause) => cause,
            };
            if let Some(cause) = self.0.link.take_refusal(about) {
                return Err(NatsError::Forbidden { action: action.to_owned(), cause });
            }
            if Instant::now() >= deadline {
                return Err(NatsError::Failed { action: action.to_owned(), cause });
            }
            sleep(PAUSE).await;
        }
    }

    async fn ask_once<T, E: Display>(
        &self,
        deadline: Instant,
        attempt: impl Future<Output = Result<T, E>>,
    ) -> Result<T, String> {
        timeout_at(deadline, self.0.link.up()).await.map_err(|_| format!("{} is away", self.0.servers))?;
        let link = self.0.link.now();
        tokio::select! {
            result = attempt => result.map_err(|error| error.to_string()),
            () = self.0.link.renewed(link) => Err("the connection broke".to_owned()),
        }
    }

    /// The last message of a subject; none when it has none.
    pub(super) async fn last(
        &self,
        stream: &str,
        subject: &str,
        patience: Duration,
    ) -> Result<Option<StreamMessage>, NatsError> {
        let (name, stream) = (stream, &self.stream(stream).await?);
        self.ask_again("read from the server", &reading(name), patience, || async move {
            match stream.get_last_raw_message_by_subject(subject).await {
                Ok(message) => Ok(Some(message)),
                Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
                Err(error) => Err(error),
            }
        })
        .await
    }

    /// Whether a subject has nothing behind a sequence. The answer is short, whatever the messages are.
    pub(super) async fn is_last(
        &self,
        stream: &str,
        subject: &str,
        sequence: u64,
        patience: Duration,
    ) -> Result<bool, NatsError> {
        let (name, stream) = (stream, &self.stream(stream).await?);
        self.ask_again("read from the server", &reading(name), patience, || async move {
            let next = stream.raw_message_builder().sequence(sequence + 1).next_by_subject(subject);
            match next.send().await {
                Ok(_) => Ok(false),
                Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(true),
                Err(error) => Err(error),
            }
        })
        .await
    }

    /// Removes the messages of a subject, all of them or those below a sequence.
    pub(super) async fn purge(&self, stream: &str, subject: &str, below: Option<u64>) -> Result<(), NatsError> {
        let (about, stream) = (format!("STREAM.PURGE.{stream}"), &self.stream(stream).await?);
        self.ask_again("remove what is outdated", &about, PATIENCE, || async move {
            let purge = stream.purge().filter(subject);
            match below {
                Some(below) => purge.sequence(below).await.map(drop),
                None => purge.await.map(drop),
            }
        })
        .await
    }

    /// A stream that is there.
    pub(super) async fn stream(&self, name: &str) -> Result<Stream<()>, NatsError> {
        // Asks nobody.
        self.0
            .jetstream
            .get_stream_no_info(name)
            .await
            .map_err(|error| NatsError::Failed { action: format!("use the stream {name}"), cause: error.to_string() })
    }
}

/// A subject as the server names it.
fn quoted(subject: &str) -> String {
    format!("\"{subject}\"")
}

/// What the subjects of questions for single messages have in them.
fn reading(stream: &str) -> String {
    format!("MSG.GET.{stream}")
}
