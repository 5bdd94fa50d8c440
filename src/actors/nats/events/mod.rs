//! What a run tells, line by line, in order.
//!
//! Lines are a stream of bytes that is cut into messages. Many of them are under way at the same time; when one is not
//! acknowledged, it and all behind it are sent again under their old numbers, and readers take each number once.
//!
//! | file | what |
//! |---|---|
//! | [`batch`] | from lines to messages; pure |
//! | [`order`] | from messages to lines; pure |
//! | [`sink`] | the task that sends |

mod batch;
mod order;
mod sink;

use std::{collections::VecDeque, fmt};

use tokio::time::timeout;

use self::order::Order;
pub use self::sink::EventSink;
use super::{
    Hub, NatsError,
    follow::{Follow, Start},
    names::run_id,
    wire::PATIENCE,
};

/// How many messages of a run are under way at most.
const WINDOW: u64 = 64;

/// The lines of a run. After an error, reading goes on where it was.
pub struct Events {
    hub: Hub,
    follow: Follow,
    order: Order,
    lines: VecDeque<String>,
    /// The sequence up to which [`Self::next_stored`] reads.
    end: u64,
    /// The sequence that was read last.
    read: u64,
}

impl Hub {
    /// Where the lines of a run go, for the owner with this epoch of its lease. Lines of owners before it are not shown
    /// any longer once it has sent one.
    ///
    /// # Errors
    /// The run's id cannot be used.
    pub fn publish_events(&self, run: &str, epoch: u64) -> Result<EventSink, NatsError> {
        Ok(EventSink::start(self, self.0.names.subject("events", run_id(run)?), epoch))
    }

    /// The lines of a run: all that are still there, or only those that come from now on.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn events(&self, run: &str, from_start: bool) -> Result<Events, NatsError> {
        let subject = self.0.names.subject("events", run_id(run)?);
        let stream = self.0.names.events();
        let (start, read) = if from_start {
            (Start::First, 0)
        } else {
            let action = "read the events of a run";
            let info = self.ask_again(action, &stream, PATIENCE, || self.0.jetstream.get_stream(&stream)).await?;
            let last = info.cached_info().state.last_sequence;
            (Start::At(last + 1), last)
        };
        let follow = Follow::new(self, stream, subject, start);
        let (hub, order, lines) = (self.clone(), Order::default(), VecDeque::new());
        let mut events = Events { hub, follow, order, lines, end: read, read };
        if from_start {
            events.to_end().await?;
        }
        Ok(events)
    }
}

impl Events {
    /// The next line, without its line feed. Waits for it, also while the server is away. Can be dropped in the middle
    /// without a loss.
    ///
    /// # Errors
    /// The server ended it.
    pub async fn next(&mut self) -> Result<String, NatsError> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Ok(line);
            }
            self.read().await?;
        }
    }

    /// Has [`Self::next_stored`] give what is stored by now, too.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn to_end(&mut self) -> Result<(), NatsError> {
        let last = self.hub.last(self.follow.stream(), self.follow.subject(), PATIENCE).await?;
        self.end = last.map_or(0, |last| last.sequence);
        Ok(())
    }

    /// The next line that was stored already when the reading began, or when [`Self::to_end`] was asked for; none when all
    /// of them have been given.
    ///
    /// # Errors
    /// The server ended it.
    pub async fn next_stored(&mut self) -> Result<Option<String>, NatsError> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Ok(Some(line));
            }
            if self.read >= self.end {
                return Ok(None);
            }
            match timeout(PATIENCE, self.read()).await {
                Ok(read) => read?,
                // The server is away, or the end is gone by age or size.
                Err(_) => self.to_end().await?,
            }
        }
    }

    async fn read(&mut self) -> Result<(), NatsError> {
        let read = self.follow.next().await?;
        self.read = read.sequence;
        self.lines.extend(self.order.take(read.message.headers.as_ref(), &read.message.payload));
        Ok(())
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("lines", &self.lines.len()).field("read", &self.read).finish_non_exhaustive()
    }
}
