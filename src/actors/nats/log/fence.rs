//! The fence: each message is stored only behind the one that its writer believes to be the last. Whoever lost the log
//! does not get past it.

use std::time::Duration;

use async_nats::jetstream::message::StreamMessage;
use bytes::Bytes;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{
    super::{
        Hub, NatsError,
        clock::Moment,
        names::run_id,
        wire::{PATIENCE, Refusal},
    },
    confirmed::Confirmed,
    stamp::{Kind, Stamp},
};
use crate::store::replica::Lost;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// How long one look at the last message may take.
const LOOK: Duration = Duration::from_secs(3);

/// See the module.
pub(super) struct Fence {
    pub(super) hub: Hub,
    pub(super) stream: String,
    pub(super) subject: String,
    run: String,
    /// Who we are.
    stamp: Stamp,
    /// The sequence of the last message, which is ours.
    pub(super) last: u64,
    /// When the server last confirmed that the log is ours.
    pub(super) confirmed: Confirmed,
}

/// Whose the last message is.
enum Last {
    /// Ours, the one that was just sent.
    Sent(u64),
    /// Ours, an older one.
    Older,
    /// Somebody else's, or it is gone.
    Lost(String),
    /// The server did not say.
    Unknown(String),
}

impl Fence {
    /// Takes the log over. From now on nobody who had it before can add to it.
    pub(super) async fn take(hub: &Hub, run: &str, epoch: u64) -> Result<Self, NatsError> {
        let names = &hub.0.names;
        let subject = names.subject("log", run_id(run)?);
        let stamp = Stamp { epoch, writer: Uuid::new_v4().simple().to_string(), number: 1, kind: Kind::Taken };
        let (run, stream) = (run.to_owned(), names.log());
        let confirmed = Confirmed::new(Moment::now(), hub.lease_time());
        let mut fence = Self { hub: hub.clone(), stream, subject, run, stamp, last: 0, confirmed };
        let deadline = Instant::now() + PATIENCE;
        loop {
            let asked = Moment::now();
            let there = hub.last(&fence.stream, &fence.subject, PATIENCE).await?;
            if let Some(cause) = there.as_ref().and_then(|there| fence.is_later(there)) {
                return Err(NatsError::Lost(Lost(cause)));
            }
            if there.as_ref().and_then(|there| Stamp::of(&there.headers)).as_ref() == Some(&fence.stamp) {
                // Our own, whose acknowledgement was lost.
                fence.stored(there.map_or(0, |there| there.sequence), asked);
                break;
            }
            let last = there.map_or(0, |there| there.sequence);
            let message = fence.stamp.message(Bytes::new(), last);
            match hub.publish_once(fence.subject.clone(), message, deadline).await {
                Ok(ack) if ack.duplicate => match fence.look().await {
                    Last::Sent(sequence) => {
                        fence.stored(sequence, asked);
                        break;
                    }
                    Last::Lost(cause) => return Err(NatsError::Lost(Lost(cause))),
                    Last::Older | Last::Unknown(_) => sleep(PAUSE).await,
                },
                Ok(ack) => {
                    fence.stored(ack.sequence, asked);
                    break;
                }
                // Whoever has it added something meanwhile.
                Err(Refusal::Sequence) if Instant::now() < deadline => continue,
                Err(refusal) if Instant::now() >= deadline || refusal == Refusal::TooLarge => {
                    let action = format!("take over the log of run {}", fence.run);
                    return Err(NatsError::Failed { action, cause: format!("{refusal:?}") });
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
        // Who had it looks at once. Who does not hear it meets the fence.
        let told = hub.0.client.publish(names.subject("taken", &fence.run), Bytes::new()).await;
        if let Err(error) = told {
            tracing::debug!(%error, "the owner before was not told");
        }
        Ok(fence)
    }

    /// Adds a message; its sequence. Tries again while the server is away, for the time of a lease. When it returns, nobody
    /// else can have the log: an answer that was read late says only that we had it when it was given.
    pub(super) async fn append(&mut self, kind: Kind, payload: Bytes) -> Result<u64, Lost> {
        self.confirm().await?;
        let sequence = self.store(kind, payload).await?;
        self.confirm().await?;
        Ok(sequence)
    }

    /// Returns when it is known that the log is ours now.
    async fn confirm(&mut self) -> Result<(), Lost> {
        while !self.confirmed.counts() {
            if !self.check().await? {
                sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    async fn store(&mut self, kind: Kind, payload: Bytes) -> Result<u64, Lost> {
        self.stamp.number += 1;
        self.stamp.kind = kind;
        let message = self.stamp.message(payload, self.last);
        let deadline = self.confirmed.until();
        loop {
            let asked = Moment::now();
            let cause = match self.hub.publish_once(self.subject.clone(), message.clone(), deadline.timer()).await {
                Ok(ack) if !ack.duplicate => return Ok(self.stored(ack.sequence, asked)),
                Err(Refusal::TooLarge) => {
                    return Err(Lost(format!("the server takes no message of {} bytes any longer", self.hub.room())));
                }
                Err(Refusal::Unknown(cause)) => cause,
                // A server that has the message says so whatever came behind it.
                Ok(_) | Err(Refusal::Sequence) => match self.look().await {
                    Last::Sent(sequence) => return Ok(self.stored(sequence, asked)),
                    Last::Lost(cause) => return Err(Lost(cause)),
                    Last::Older => "the server is not settled".to_owned(),
                    Last::Unknown(cause) => cause,
                },
            };
            if Moment::now() >= deadline {
                return Err(self.out_of_reach(&cause));
            }
            tracing::debug!(cause, run = self.run, "a message of the log is sent again");
            sleep(PAUSE).await;
        }
    }

    /// Looks whether the log is still ours; false when the server does not say. That is no reason to believe otherwise, for
    /// the time of a lease.
    pub(super) async fn check(&mut self) -> Result<bool, Lost> {
        let asked = Moment::now();
        let found = match self.hub.is_last(&self.stream, &self.subject, self.last, LOOK).await {
            Ok(true) => Last::Older,
            Ok(false) => self.look().await,
            Err(error) => Last::Unknown(error.to_string()),
        };
        match found {
            Last::Sent(_) | Last::Older => {
                self.confirmed.renew(asked);
                Ok(true)
            }
            Last::Lost(cause) => Err(Lost(cause)),
            Last::Unknown(cause) if Moment::now() >= self.confirmed.until() => Err(self.out_of_reach(&cause)),
            Last::Unknown(_) => Ok(false),
        }
    }

    /// What it is called when the server was away for too long.
    pub(super) fn out_of_reach(&self, cause: &str) -> Lost {
        let seconds = self.hub.lease_time().as_secs_f32();
        Lost(format!("the NATS server took nothing for {seconds} s: {cause}"))
    }

    async fn look(&self) -> Last {
        let there = match self.hub.last(&self.stream, &self.subject, LOOK).await {
            Ok(Some(there)) => there,
            Ok(None) => return Last::Lost("the log of the run was removed".to_owned()),
            Err(error) => return Last::Unknown(error.to_string()),
        };
        match Stamp::of(&there.headers) {
            Some(stamp) if stamp.writer == self.stamp.writer && stamp.number == self.stamp.number => {
                Last::Sent(there.sequence)
            }
            Some(stamp) if stamp.writer == self.stamp.writer => Last::Older,
            Some(stamp) => Last::Lost(format!("another worker has taken the run over (epoch {})", stamp.epoch)),
            None => Last::Lost("somebody else wrote into the log of the run".to_owned()),
        }
    }

    /// What to say when the last message is of a later owner.
    fn is_later(&self, there: &StreamMessage) -> Option<String> {
        let stamp = Stamp::of(&there.headers)?;
        (stamp.epoch > self.stamp.epoch).then(|| format!("another worker has the run (epoch {})", stamp.epoch))
    }

    /// Notes the sequence of our last message, and that the log was ours when we `asked`.
    fn stored(&mut self, sequence: u64, asked: Moment) -> u64 {
        self.last = sequence;
        self.confirmed.renew(asked);
        sequence
    }
}
