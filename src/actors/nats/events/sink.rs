//! The task that sends the lines of a run.

use std::{collections::VecDeque, fmt, future::Future, pin::Pin, time::Duration};

use async_nats::jetstream::publish::PublishAck;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep, timeout},
};
use uuid::Uuid;

use super::{
    super::{Hub, link::LinkState, wire::PATIENCE},
    WINDOW,
    batch::{Batch, Batcher},
};

/// How many lines wait at most.
const LINES: usize = 512;
/// Bytes of one message: small enough to come soon.
const BYTES: usize = 128 << 10;
/// The pause before all is sent again.
const PAUSE: Duration = Duration::from_millis(100);
/// How long a message may take to be handed to the connection.
const HANDING: Duration = Duration::from_secs(3);

/// Where the lines of a run go. Lines are sent together where they come fast; at most some hundred wait.
pub struct EventSink {
    said: mpsc::Sender<Said>,
}

enum Said {
    Line(String),
    Flush(oneshot::Sender<()>),
}

impl EventSink {
    pub(super) fn start(hub: &Hub, subject: String, epoch: u64) -> Self {
        let (said, lines) = mpsc::channel(LINES);
        let sending = Sending {
            batcher: Batcher::new(BYTES.min(hub.room())),
            hub: hub.clone(),
            subject,
            epoch,
            writer: Uuid::new_v4().simple().to_string(),
            under_way: VecDeque::new(),
            unsent: VecDeque::new(),
            flushes: VecDeque::new(),
            link: hub.0.link.now(),
            until: None,
        };
        tokio::spawn(sending.run(lines));
        Self { said }
    }

    /// Adds a line (without its line feed). Waits for room while the server is away or slow.
    pub async fn line(&self, line: &str) {
        // The task ends after us.
        let _ = self.said.send(Said::Line(line.to_owned())).await;
    }

    /// Returns when all lines are stored. Waits while the server is away.
    pub async fn flush(&self) {
        let (to, done) = oneshot::channel();
        if self.said.send(Said::Flush(to)).await.is_ok() {
            let _ = done.await;
        }
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSink").finish_non_exhaustive()
    }
}

/// The answer to a message.
type Answer = Pin<Box<dyn Future<Output = Result<PublishAck, String>> + Send>>;

struct Sending {
    hub: Hub,
    subject: String,
    epoch: u64,
    writer: String,
    batcher: Batcher,
    /// What was sent, in order, with what waits for the answers.
    under_way: VecDeque<(Batch, Answer)>,
    /// What is to be sent, in order.
    unsent: VecDeque<Batch>,
    /// Who waits until the message with this number is stored.
    flushes: VecDeque<(u64, oneshot::Sender<()>)>,
    /// The connection over which all that is under way was sent.
    link: LinkState,
    /// When to give up, once nobody adds lines any longer.
    until: Option<Instant>,
}

impl Sending {
    async fn run(mut self, mut lines: mpsc::Receiver<Said>) {
        let hub = self.hub.clone();
        loop {
            self.send().await;
            let idle = self.under_way.is_empty() && self.unsent.is_empty();
            match self.until {
                Some(_) if idle => return,
                Some(until) if Instant::now() >= until => {
                    tracing::warn!(subject = self.subject, "the last events of a run were not stored");
                    return;
                }
                _ => {}
            }
            let failed = tokio::select! {
                answer = answer(&mut self.under_way), if !self.under_way.is_empty() => match answer {
                    Ok(_) => {
                        self.under_way.pop_front();
                        self.told();
                        false
                    }
                    Err(cause) => {
                        tracing::debug!(cause, subject = self.subject, "events are sent again");
                        true
                    }
                },
                () = hub.0.link.renewed(self.link), if !idle => true,
                // What was not handed over is tried again.
                () = sleep(PAUSE), if self.under_way.is_empty() && !idle => false,
                said = lines.recv(), if self.until.is_none() && self.has_room() => {
                    self.take(said, &mut lines);
                    false
                }
            };
            if failed {
                self.go_back().await;
            }
        }
    }

    fn has_room(&self) -> bool {
        self.unsent.is_empty() && (self.under_way.len() as u64) < WINDOW
    }

    /// Takes a line and all that wait behind it.
    fn take(&mut self, first: Option<Said>, lines: &mut mpsc::Receiver<Said>) {
        let mut full = Vec::new();
        let mut next = first;
        if next.is_none() {
            self.until = Some(Instant::now() + PATIENCE);
        }
        while let Some(said) = next {
            match said {
                Said::Line(line) => self.batcher.add(&line, &mut full),
                Said::Flush(to) => {
                    full.extend(self.batcher.take());
                    let last = full.last().map(|batch| batch.number);
                    self.flushes.push_back((last.unwrap_or_else(|| self.batcher.sent()), to));
                }
            }
            next = lines.try_recv().ok();
        }
        full.extend(self.batcher.take());
        self.unsent.extend(full);
        self.told();
    }

    /// Tells those whose lines are stored.
    fn told(&mut self) {
        let first = self.under_way.front().map(|(batch, _)| batch.number);
        let waiting = first.or_else(|| self.unsent.front().map(|batch| batch.number)).unwrap_or(u64::MAX);
        while let Some((_, to)) = self.flushes.pop_front_if(|(number, _)| *number < waiting) {
            // Who waited may be gone.
            let _ = to.send(());
        }
    }

    /// Sends what there is room for.
    async fn send(&mut self) {
        while (self.under_way.len() as u64) < WINDOW && self.hub.is_connected() {
            let Some(batch) = self.unsent.pop_front() else { return };
            if self.under_way.is_empty() {
                self.link = self.hub.0.link.now();
            }
            let message = batch.message(self.epoch, &self.writer);
            match timeout(HANDING, self.hub.0.jetstream.send_publish(self.subject.clone(), message)).await {
                Ok(Ok(ack)) => {
                    let answer = async move { ack.await.map_err(|error| error.to_string()) };
                    self.under_way.push_back((batch, Box::pin(answer)));
                }
                _ => return self.unsent.push_front(batch),
            }
        }
    }

    /// All that is under way is to be sent again, in order.
    async fn go_back(&mut self) {
        while let Some((batch, _)) = self.under_way.pop_back() {
            self.unsent.push_front(batch);
        }
        self.link = self.hub.0.link.now();
        sleep(PAUSE).await;
    }
}

/// The answer to the oldest message that is under way.
async fn answer(under_way: &mut VecDeque<(Batch, Answer)>) -> Result<PublishAck, String> {
    match under_way.front_mut() {
        Some((_, answer)) => answer.await,
        None => std::future::pending().await,
    }
}
