//! Questions to a run, wherever it is: one request, one answer.

use std::{fmt, time::Duration};

use async_nats::{HeaderMap, StatusCode, Subject, Subscriber};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio::time::timeout;

use super::{Hub, NatsError, names::run_id, wire::PATIENCE};

/// The header of a part of an answer that has more parts.
const MORE: &str = "Troupe-More";

/// Requests to a run that works here. Dropped, nobody answers for the run.
pub struct Requests {
    hub: Hub,
    subscriber: Subscriber,
}

/// One request.
#[derive(Debug)]
pub struct RunRequest {
    /// What was asked.
    pub request: Bytes,
    hub: Hub,
    reply: Option<Subject>,
}

impl Hub {
    /// Answers for a run from now on.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn serve(&self, run: &str) -> Result<Requests, NatsError> {
        let subject = self.0.names.subject("ctl", run_id(run)?);
        let failed = |cause| NatsError::Failed { action: format!("answer for run {run}"), cause };
        let client = &self.0.client;
        let subscriber = client.subscribe(subject).await.map_err(|error| failed(error.to_string()))?;
        // A message to ourselves, behind the subscription: when it is back, whoever asks is heard.
        let inbox = client.new_inbox();
        let mut back = client.subscribe(inbox.clone()).await.map_err(|error| failed(error.to_string()))?;
        let there_and_back = async {
            client.publish(inbox, Bytes::new()).await.map_err(|error| failed(error.to_string()))?;
            back.next().await.ok_or_else(|| failed("the connection is closed".to_owned())).map(drop)
        };
        timeout(PATIENCE, there_and_back).await.map_err(|_| failed("no answer".to_owned()))??;
        Ok(Requests { hub: self.clone(), subscriber })
    }

    /// Asks a run, and waits `limit` for the answer.
    ///
    /// # Errors
    /// [`NatsError::NoOne`] when the run works nowhere right now; no answer in time.
    pub async fn ask(&self, run: &str, request: &[u8], limit: Duration) -> Result<Bytes, NatsError> {
        let subject = self.0.names.subject("ctl", run_id(run)?);
        let asks = format!("\"{subject}\"");
        let failed = |cause: String| NatsError::Failed { action: format!("ask the run {run}"), cause };
        if request.len() > self.room() {
            let (what, size, limit) = (format!("the request to run {run}"), request.len(), self.room());
            return Err(NatsError::TooLarge { what, size, limit });
        }
        let asked = async {
            let client = &self.0.client;
            let inbox = client.new_inbox();
            let mut answers = client.subscribe(inbox.clone()).await.map_err(|error| failed(error.to_string()))?;
            let sent = client.publish_with_reply(subject, inbox, Bytes::copy_from_slice(request)).await;
            sent.map_err(|error| failed(error.to_string()))?;
            let mut answer = BytesMut::new();
            while let Some(part) = answers.next().await {
                if part.status == Some(StatusCode::NO_RESPONDERS) {
                    return Err(NatsError::NoOne);
                }
                answer.extend_from_slice(&part.payload);
                if part.headers.is_none_or(|headers| headers.get(MORE).is_none()) {
                    return Ok(answer.freeze());
                }
            }
            Err(failed("the connection is closed".to_owned()))
        };
        let answered = timeout(limit, asked).await;
        answered.unwrap_or_else(|_| {
            let cause = format!("no answer in {} s", limit.as_secs_f32());
            match self.0.link.take_refusal(&asks) {
                Some(cause) => Err(NatsError::Forbidden { action: format!("ask the run {run}"), cause }),
                None => Err(failed(cause)),
            }
        })
    }
}

impl Requests {
    /// The next request; none when the connection is closed for good.
    pub async fn next(&mut self) -> Option<RunRequest> {
        let message = self.subscriber.next().await?;
        Some(RunRequest { request: message.payload, hub: self.hub.clone(), reply: message.reply })
    }
}

impl RunRequest {
    /// Answers it. An answer that is larger than the server takes goes in parts.
    ///
    /// # Errors
    /// The connection is closed.
    pub async fn answer(self, answer: &[u8]) -> Result<(), NatsError> {
        let Some(reply) = self.reply else { return Ok(()) };
        let mut parts = answer.chunks(self.hub.room()).peekable();
        let mut part = parts.next().unwrap_or_default();
        loop {
            let payload = Bytes::copy_from_slice(part);
            let client = &self.hub.0.client;
            let sent = match parts.peek() {
                None => client.publish(reply.clone(), payload).await,
                Some(_) => {
                    let mut more = HeaderMap::new();
                    more.insert(MORE, "1");
                    client.publish_with_headers(reply.clone(), more, payload).await
                }
            };
            sent.map_err(|error| NatsError::Failed {
                action: "answer a request".to_owned(),
                cause: error.to_string(),
            })?;
            match parts.next() {
                Some(next) => part = next,
                None => return Ok(()),
            }
        }
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests").finish_non_exhaustive()
    }
}
