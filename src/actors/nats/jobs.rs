//! What is to be run, and who takes it: a queue for each pool of workers.

use std::{fmt, time::Duration};

use async_nats::jetstream::{
    AckKind, Message,
    consumer::{AckPolicy, Consumer, DeliverPolicy, pull},
    message::PublishMessage,
};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::{
    Hub, NatsError,
    names::{run_id, word},
    wire::PATIENCE,
};

/// How long one request for a job stands. One to a queue that is gone gets no answer, so it is looked after before each.
const PULL: Duration = Duration::from_secs(10);
/// The pause before the next request, when one failed.
const PAUSE: Duration = Duration::from_millis(200);
/// So many that fail one after another while the connection stands are no hiccup: the queue is gone, say.
const FAILURES: u32 = 10;
/// How many jobs of a pool may be worked on at the same time.
const UNDER_WAY: i64 = 1 << 16;

/// A request to work on a run. What is to be done stands in the run's records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The run.
    pub run: String,
    /// The number of the request, from 1: the first, then each that continues the run.
    pub number: u32,
}

/// The queue of a pool.
pub struct Jobs {
    hub: Hub,
    pool: String,
    consumer: Consumer<pull::Config>,
}

/// A job that was given to us, for the time of a lease unless [`Self::progress`] is said.
pub struct Delivery {
    /// The job.
    pub job: Job,
    /// How often it was delivered, with this time.
    pub deliveries: u64,
    hub: Hub,
    message: Message,
}

impl Hub {
    /// Queues a job. False when it was queued before, in the last two minutes.
    ///
    /// # Errors
    /// The server did not take it.
    pub async fn submit(&self, pool: &str, job: &Job) -> Result<bool, NatsError> {
        let subject = self.0.names.subject("jobs", word(pool)?);
        let run = run_id(&job.run)?;
        // A string and a number can always be written.
        let payload = serde_json::to_vec(job).unwrap_or_default();
        let message =
            PublishMessage::build().payload(payload.into()).message_id(format!("{run}.{number}", number = job.number));
        let ack = self.publish(&format!("queue the run {run}"), &subject, &message).await?;
        Ok(!ack.duplicate)
    }

    /// The queue of a pool.
    ///
    /// # Errors
    /// It cannot be made.
    pub async fn jobs(&self, pool: &str) -> Result<Jobs, NatsError> {
        let name = consumer_of(word(pool)?);
        let config = pull::Config {
            durable_name: Some(name.clone()),
            deliver_policy: DeliverPolicy::All,
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.lease_time(),
            max_ack_pending: UNDER_WAY,
            filter_subject: self.0.names.subject("jobs", pool),
            ..pull::Config::default()
        };
        if let Err(error) = self.make_streams().await {
            // What is missing is told by what needs it.
            tracing::debug!(%error, "streams could not be made");
        }
        let queue = self.0.names.jobs();
        let stream = &self.stream(&queue).await?;
        let action = format!("use the queue of the pool {pool}");
        let mut consumer =
            self.ask_again(&action, &queue, PATIENCE, || stream.get_or_create_consumer(&name, config.clone())).await?;
        if consumer.cached_info().config.ack_wait != config.ack_wait {
            // It was made when leases had another length.
            consumer = self.ask_again(&action, &queue, PATIENCE, || stream.create_consumer(config.clone())).await?;
        }
        Ok(Jobs { hub: self.clone(), pool: pool.to_owned(), consumer })
    }
}

/// The consumer of a pool.
fn consumer_of(pool: &str) -> String {
    format!("pool-{pool}")
}

impl Jobs {
    /// The next job. Waits for it, for as long as it takes, also while the server is away. After an error the queue is to be
    /// asked for again. Whoever drops the future in
    /// the middle may leave a job undelivered for the time of a lease.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn next(&mut self) -> Result<Delivery, NatsError> {
        let mut failures = 0;
        loop {
            let link = &self.hub.0.link;
            link.up().await;
            let known = link.now();
            let next = tokio::select! {
                next = self.pull() => next,
                () = link.renewed(known) => Ok(None),
            };
            match next {
                Ok(Some(message)) => match self.delivery(message).await {
                    Some(delivery) => return Ok(delivery),
                    None => continue,
                },
                Ok(None) => failures = 0,
                Err(cause) => {
                    let action = format!("take a job of the pool {}", self.pool);
                    if let Some(cause) = link.take_refusal(&self.hub.0.names.jobs()) {
                        return Err(NatsError::Forbidden { action, cause });
                    }
                    failures = if link.now().up { failures + 1 } else { 0 };
                    if failures == FAILURES {
                        return Err(NatsError::Failed { action, cause });
                    }
                    tracing::debug!(cause, "no job could be taken");
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// One request; none when there was no job for as long as it stood.
    async fn pull(&self) -> Result<Option<Message>, String> {
        let stream = self.hub.stream(&self.hub.0.names.jobs()).await.map_err(|error| error.to_string())?;
        stream.consumer_info(consumer_of(&self.pool)).await.map_err(|error| error.to_string())?;
        // Without idle heartbeats: behind one, a batch of the client crate (0.51) does not wake up for its message.
        let batch = self.consumer.batch().max_messages(1).expires(PULL);
        let mut messages = batch.messages().await.map_err(|error| error.to_string())?;
        messages.next().await.transpose().map_err(|error| error.to_string())
    }

    /// What a message stands for; none for what is no job, which nobody gets again.
    async fn delivery(&self, message: Message) -> Option<Delivery> {
        let deliveries = message.info().ok().and_then(|info| u64::try_from(info.delivered).ok()).unwrap_or(1);
        match serde_json::from_slice::<Job>(&message.payload) {
            Ok(job) if run_id(&job.run).is_ok() => Some(Delivery { job, deliveries, hub: self.hub.clone(), message }),
            _ => {
                tracing::warn!(pool = self.pool, "a message in the queue is no job");
                // It comes back when this does not arrive.
                let _ = message.ack_with(AckKind::Term).await;
                None
            }
        }
    }
}

impl Delivery {
    /// Says that the job is being worked on. To be said every third of the lease time.
    ///
    /// # Errors
    /// The connection is closed for good.
    pub async fn progress(&self) -> Result<(), NatsError> {
        let said = self.message.ack_with(AckKind::Progress).await;
        said.map_err(|error| self.failed("go on with", error.to_string()))
    }

    /// The job is over: nobody gets it again.
    ///
    /// # Errors
    /// The server is away.
    pub async fn done(&self) -> Result<(), NatsError> {
        self.settle("settle", AckKind::Ack).await
    }

    /// Somebody else may do it, `after` a while.
    ///
    /// # Errors
    /// The server is away.
    pub async fn give_back(&self, after: Duration) -> Result<(), NatsError> {
        self.settle("give back", AckKind::Nak((!after.is_zero()).then_some(after))).await
    }

    async fn settle(&self, verb: &str, how: AckKind) -> Result<(), NatsError> {
        let action = format!("{verb} the job of run {}", self.job.run);
        self.hub.ask_again(&action, &self.hub.0.names.jobs(), PATIENCE, || self.message.double_ack_with(how)).await
    }

    fn failed(&self, verb: &str, cause: String) -> NatsError {
        NatsError::Failed { action: format!("{verb} the job of run {}", self.job.run), cause }
    }
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Delivery");
        shown.field("job", &self.job).field("deliveries", &self.deliveries).finish_non_exhaustive()
    }
}
