//! Who watches an agent, and how data reaches them without holding the agent up or growing without bound.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::{Notify, OwnedSemaphorePermit};

use super::address::Recipient;
use crate::protocol::{Event, Published, StreamEvent, event::Seq, view::View};

/// Streamed batches of one agent that may be on their way to lossless subscribers at once.
pub const STREAM_PERMITS: usize = 64;
/// A lossless subscriber below both marks does not hold up the next request.
const LOW_WATER_EVENTS: usize = 1_024;
/// See [`LOW_WATER_EVENTS`]; bytes.
const LOW_WATER_BYTES: usize = 8 << 20;
/// What a lagging observer keeps at most; above it loses updates and gets a gap notice.
const PENDING_EVENTS: usize = 1_024;

/// How a subscriber wants its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriberKind {
    /// Every event; a subscriber that stops reading stops the provider's socket.
    Lossless,
    /// It asks for the next batch when it is ready; adjacent deltas merge meanwhile. Never slows the agent.
    Coalescing,
}

/// What a subscriber is sent.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The agent.
    pub agent: Arc<str>,
    /// What.
    pub content: Delivered,
    /// Frees the stream when the last lossless subscriber has let the event go.
    pub permit: Option<Arc<OwnedSemaphorePermit>>,
}

/// Contents of a delivery.
#[derive(Clone, Debug)]
pub enum Delivered {
    /// How things are; later events go on from its sequence number. Comes first, and again after a restart.
    Snapshot(Box<View>),
    /// Events in order.
    Events(Vec<Arc<Published>>),
}

/// What is on its way to a lossless subscriber.
#[derive(Debug, Default)]
pub struct Backlog {
    events: AtomicUsize,
    bytes: AtomicUsize,
    drained: Notify,
}

impl Backlog {
    fn add(&self, bytes: usize) {
        self.events.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The subscriber has let an event of this weight go.
    pub fn release(&self, bytes: usize) {
        self.events.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        if self.is_low() {
            self.drained.notify_waiters();
        }
    }

    fn is_low(&self) -> bool {
        self.events.load(Ordering::Relaxed) < LOW_WATER_EVENTS && self.bytes.load(Ordering::Relaxed) < LOW_WATER_BYTES
    }

    async fn wait_low(&self) {
        loop {
            let drained = self.drained.notified();
            if self.is_low() {
                return;
            }
            drained.await;
        }
    }
}

/// Somebody who watches an agent.
#[derive(Clone, Debug)]
pub struct Subscriber {
    /// Its number.
    pub id: u64,
    /// How it wants its events.
    pub kind: SubscriberKind,
    /// Where they go.
    pub to: Recipient<Delivery>,
    /// What is on its way there.
    pub backlog: Arc<Backlog>,
}

/// All who watch an agent. Kept apart from the bus, so that a restarted bus knows them.
#[derive(Clone, Debug, Default)]
pub struct Subscribers(Arc<Mutex<Vec<Subscriber>>>);

impl Subscribers {
    /// Adds one, unless it is there.
    pub fn add(&self, subscriber: Subscriber) {
        let mut all = self.lock();
        if all.iter().all(|known| known.id != subscriber.id) {
            all.push(subscriber);
        }
    }

    /// Removes one.
    pub fn remove(&self, id: u64) {
        self.lock().retain(|subscriber| subscriber.id != id);
    }

    /// All of them now.
    #[must_use]
    pub fn all(&self) -> Vec<Subscriber> {
        self.lock().clone()
    }

    /// Waits until every lossless subscriber is below its low-water mark: ten thousand turns against a paused pipe
    /// stay bounded. Subscribers that went away are not waited for.
    pub async fn wait_low(&self) {
        for subscriber in self.all() {
            if subscriber.kind != SubscriberKind::Lossless {
                continue;
            }
            loop {
                let waited = tokio::time::timeout(Duration::from_secs(1), subscriber.backlog.wait_low()).await;
                if waited.is_ok() || !self.lock().iter().any(|known| known.id == subscriber.id) {
                    break;
                }
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Subscriber>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bus's side of one subscriber.
pub(super) struct Line {
    pub subscriber: Subscriber,
    ready: bool,
    pending: Vec<Arc<Published>>,
}

impl Line {
    pub(super) fn new(subscriber: Subscriber) -> Self {
        Self { subscriber, ready: true, pending: Vec::new() }
    }

    /// Passes an event on; false when the subscriber is gone.
    pub(super) fn pass(
        &mut self,
        agent: &Arc<str>,
        event: &Arc<Published>,
        permit: Option<&Arc<OwnedSemaphorePermit>>,
    ) -> bool {
        match self.subscriber.kind {
            SubscriberKind::Lossless => {
                self.subscriber.backlog.add(event.event.weight());
                self.deliver(agent, vec![event.clone()], permit.cloned())
            }
            SubscriberKind::Coalescing => {
                coalesce(&mut self.pending, event.clone());
                !self.ready || self.flush(agent)
            }
        }
    }

    /// The subscriber can take the next batch; false when it is gone.
    pub(super) fn make_ready(&mut self, agent: &Arc<str>) -> bool {
        self.ready = true;
        self.pending.is_empty() || self.flush(agent)
    }

    fn flush(&mut self, agent: &Arc<str>) -> bool {
        self.ready = false;
        let events = std::mem::take(&mut self.pending);
        self.deliver(agent, events, None)
    }

    fn deliver(
        &self,
        agent: &Arc<str>,
        events: Vec<Arc<Published>>,
        permit: Option<Arc<OwnedSemaphorePermit>>,
    ) -> bool {
        self.subscriber.to.deliver(Delivery { agent: agent.clone(), content: Delivered::Events(events), permit })
    }
}

/// Adds an event to what waits for a lagging subscriber. Adjacent deltas of a block become one, and the latest output
/// of a call stands for all; when too much waits all the same, further updates are left out and a gap notice stands in
/// their place. What is no update is always kept.
fn coalesce(pending: &mut Vec<Arc<Published>>, next: Arc<Published>) {
    let full = pending.len() >= PENDING_EVENTS;
    let Some(last) = pending.last_mut() else { return pending.push(next) };
    let seq = next.seq;
    match (&last.event, &next.event) {
        (Event::MessageUpdate { .. }, Event::MessageUpdate { events: more }) => {
            let last = Arc::make_mut(last);
            if let Event::MessageUpdate { events } = &mut last.event {
                more.iter().for_each(|event| merge(events, event));
            }
            last.seq = seq;
        }
        (Event::ToolExecutionUpdate { call: old, .. }, Event::ToolExecutionUpdate { call: new, .. })
            if old.place == new.place =>
        {
            *last = next;
        }
        (Event::Gap { from, .. }, update) if update.is_update() => *last = gap(*from, seq),
        (_, update) if full && update.is_update() => pending.push(gap(seq, seq)),
        _ => pending.push(next),
    }
}

fn gap(from: Seq, to: Seq) -> Arc<Published> {
    Arc::new(Published { seq: to, event: Event::Gap { from, to } })
}

/// Adds a step behind others; adjacent deltas of a block become one.
pub(in crate::actors) fn merge(events: &mut Vec<StreamEvent>, next: &StreamEvent) {
    match (events.last_mut(), next) {
        (Some(StreamEvent::TextDelta { index, delta }), StreamEvent::TextDelta { index: same, delta: more })
            if index == same =>
        {
            delta.push_str(more)
        }
        (
            Some(StreamEvent::ThinkingDelta { index, delta }),
            StreamEvent::ThinkingDelta { index: same, delta: more },
        ) if index == same => delta.push_str(more),
        (
            Some(StreamEvent::ToolCallDelta { index, delta }),
            StreamEvent::ToolCallDelta { index: same, delta: more },
        ) if index == same => delta.push_str(more),
        _ => events.push(next.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{ToolOutput, event::CallLabel};

    fn text(n: u64, delta: &str) -> Arc<Published> {
        let events = vec![StreamEvent::TextDelta { index: 0, delta: delta.into() }];
        Arc::new(Published { seq: Seq { epoch: 1, n }, event: Event::MessageUpdate { events } })
    }

    #[test]
    fn adjacent_deltas_of_a_lagging_subscriber_merge_and_no_text_is_lost() {
        let mut pending = Vec::new();
        for n in 0..10_000 {
            coalesce(&mut pending, text(n, "x"));
        }
        assert_eq!(pending.len(), 1);
        assert_eq!(pending[0].seq.n, 9_999);
        let Event::MessageUpdate { events } = &pending[0].event else { panic!() };
        assert_eq!(events, &[StreamEvent::TextDelta { index: 0, delta: "x".repeat(10_000) }]);
    }

    #[test]
    fn what_is_no_update_is_never_left_out_and_gaps_say_what_is_missing() {
        let mut pending = Vec::new();
        for n in 1..=4_000 {
            let event =
                if n % 4 == 0 { Event::TurnStart } else { Event::BashExecutionUpdate { id: None, delta: "y".into() } };
            coalesce(&mut pending, Arc::new(Published { seq: Seq { epoch: 1, n }, event }));
        }
        let turns = pending.iter().filter(|event| event.event == Event::TurnStart).count();
        assert_eq!(turns, 1_000);
        let mut next = 1;
        for event in &pending {
            if let Event::Gap { from, to } = event.event {
                assert_eq!((from.n, to.n), (next, next + 2), "a gap covers the three updates between two turns");
            } else {
                assert_eq!(event.seq.n, next);
            }
            next = event.seq.n + 1;
        }
        assert_eq!(next, 4_001);
        assert!(pending.len() < 1_024 + 2 * 1_000, "{}", pending.len());
    }

    #[test]
    fn the_latest_output_of_a_call_stands_for_all_that_waited() {
        let mut pending = Vec::new();
        for n in 1..=9 {
            let place = usize::from(n > 6);
            let call = CallLabel { place, tool_call_id: String::new(), tool_name: String::new(), args: Arc::default() };
            let partial = Arc::new(ToolOutput::text(n.to_string()));
            let event = Event::ToolExecutionUpdate { call, partial };
            coalesce(&mut pending, Arc::new(Published { seq: Seq { epoch: 1, n }, event }));
        }
        let numbers: Vec<_> = pending.iter().map(|event| event.seq.n).collect();
        assert_eq!(numbers, [6, 9]);
    }
}
