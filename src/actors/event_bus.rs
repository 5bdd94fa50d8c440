//! The event bus of an agent: owns the order of its events, numbers them, folds them into a view, and passes them on.
//! It never waits for anybody.

use std::sync::{Arc, atomic::Ordering};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::OwnedSemaphorePermit;

use super::{
    shared::AgentShared,
    subscriber::{Delivered, Delivery, Line, Subscriber, SubscriberKind},
};
use crate::protocol::{Event, Published, StreamEvent, event::Seq, view::View};

/// What the bus is told.
#[derive(Debug)]
pub enum BusMsg {
    /// Events, in order.
    Publish(Vec<Event>),
    /// Steps of the streaming answer: all that one read of the socket brought.
    Stream {
        /// The steps.
        events: Vec<StreamEvent>,
        /// Held until every lossless subscriber has let them go.
        permit: Option<OwnedSemaphorePermit>,
    },
    /// Somebody wants to watch.
    Subscribe(Subscriber),
    /// Somebody does not want to watch any more.
    Unsubscribe(u64),
    /// No trace runs. When the end of one was in the mailbox of a bus that died, those who watch still wait for it.
    Idle,
    /// A coalescing subscriber can take the next batch.
    Ready(u64),
}

/// State of the bus.
pub struct BusState {
    shared: Arc<AgentShared>,
    view: View,
    lines: Vec<Line>,
}

/// The actor.
pub struct EventBus;

impl Actor for EventBus {
    type Msg = BusMsg;
    type State = BusState;
    type Arguments = Arc<AgentShared>;

    async fn pre_start(&self, _: ActorRef<BusMsg>, shared: Arc<AgentShared>) -> Result<BusState, ActorProcessingErr> {
        shared.sent.store(0, Ordering::Relaxed);
        let epoch = shared.epoch.fetch_add(1, Ordering::Relaxed) + 1;
        let view = View { seq: Seq { epoch, n: 0 }, ..View::default() };
        let mut state = BusState { view, lines: Vec::new(), shared };
        for subscriber in state.shared.subscribers.all() {
            state.greet(subscriber);
        }
        Ok(state)
    }

    async fn handle(
        &self,
        _: ActorRef<BusMsg>,
        message: BusMsg,
        state: &mut BusState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            BusMsg::Publish(events) => events.into_iter().for_each(|event| state.publish(event, None)),
            BusMsg::Stream { events, permit } => {
                state.publish(Event::MessageUpdate { events }, permit.map(Arc::new));
            }
            BusMsg::Subscribe(subscriber) => {
                // Whoever put itself on the list before this incarnation began was greeted then.
                if state.lines.iter().all(|line| line.subscriber.id != subscriber.id) {
                    state.shared.subscribers.add(subscriber.clone());
                    state.greet(subscriber);
                }
            }
            BusMsg::Idle => {
                if state.shared.told_running.load(Ordering::Relaxed) {
                    state.shared.sent.fetch_add(1, Ordering::Relaxed);
                    state.publish(Event::AgentSettled { aborted: false }, None);
                }
            }
            BusMsg::Unsubscribe(id) => state.remove(id),
            BusMsg::Ready(id) => {
                let agent = state.shared.id.clone();
                let gone = state
                    .lines
                    .iter_mut()
                    .find(|line| line.subscriber.id == id)
                    .is_some_and(|line| !line.make_ready(&agent));
                if gone {
                    state.remove(id);
                }
            }
        }
        Ok(())
    }
}

impl BusState {
    fn greet(&mut self, subscriber: Subscriber) {
        let content = Delivered::Snapshot(Box::new(self.view.clone()));
        let delivery = Delivery { agent: self.shared.id.clone(), content, permit: None };
        if subscriber.to.deliver(delivery) {
            self.lines.push(Line::new(subscriber));
        } else {
            self.shared.subscribers.remove(subscriber.id);
        }
    }

    fn remove(&mut self, id: u64) {
        self.shared.subscribers.remove(id);
        self.lines.retain(|line| line.subscriber.id != id);
    }

    fn publish(&mut self, event: Event, permit: Option<Arc<OwnedSemaphorePermit>>) {
        let seq = Seq { n: self.view.seq.n + 1, ..self.view.seq };
        let published = Arc::new(Published { seq, event });
        self.view.apply(&published);
        match &published.event {
            Event::AgentStart => self.shared.told_running.store(true, Ordering::Relaxed),
            Event::AgentSettled { .. } => self.shared.told_running.store(false, Ordering::Relaxed),
            _ => {}
        }
        let agent = &self.shared.id;
        let mut gone = Vec::new();
        for line in &mut self.lines {
            if !line.pass(agent, &published, permit.as_ref()) {
                gone.push(line.subscriber.id);
            }
        }
        for id in gone {
            self.remove(id);
        }
    }
}

#[cfg(test)]
mod tests;

/// A new subscriber with a number of its own.
#[must_use]
pub fn subscriber(kind: SubscriberKind, to: super::address::Recipient<Delivery>) -> Subscriber {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    Subscriber { id: NEXT.fetch_add(1, Ordering::Relaxed), kind, to, backlog: Arc::default() }
}
