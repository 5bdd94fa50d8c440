//! The events of an agent as a stream: how a program watches.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_stream::Stream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::client::AgentClient;
use crate::{
    actors::{
        address::Recipient,
        event_bus::BusMsg,
        shared::AgentShared,
        subscriber::{Backlog, Delivered, Delivery, SubscriberKind},
    },
    protocol::{Published, view::View},
};

/// Events of an agent, in order, from the moment of [`Events::of`] on. Ends when the agent is closed.
///
/// A lossless stream gets every event. Whoever holds one and does not read it holds up the agent: first the streaming
/// answer, then the next request. A coalescing one never does: while it is not read, adjacent deltas merge, and when it
/// lags too far, updates are left out and [`crate::protocol::Event::Gap`] says which.
pub struct Events {
    deliveries: mpsc::UnboundedReceiver<Delivery>,
    waiting: VecDeque<Arc<Published>>,
    /// Held until the events of its delivery are read.
    permit: Option<Arc<OwnedSemaphorePermit>>,
    /// All events of the last delivery were read, and the bus was not told.
    owes_ready: bool,
    view: View,
    kind: SubscriberKind,
    /// The subscriber's number.
    id: u64,
    backlog: Arc<Backlog>,
    /// The agent is closed.
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
    shared: Arc<AgentShared>,
}

impl Events {
    /// Begins to watch. The stream ends when `closed` is cancelled and all that came before is read.
    #[must_use]
    pub fn of(agent: &AgentClient, kind: SubscriberKind, closed: CancellationToken) -> Self {
        let (sender, deliveries) = mpsc::unbounded_channel();
        let subscriber = agent.subscribe(kind, Recipient::of_channel(sender));
        Self {
            kind,
            id: subscriber.id,
            backlog: subscriber.backlog,
            closed: Box::pin(closed.cancelled_owned()),
            deliveries,
            waiting: VecDeque::new(),
            permit: None,
            owes_ready: false,
            view: View::default(),
            shared: agent.shared.clone(),
        }
    }

    /// What is going on in the agent, as of the last event that was read.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }

    fn take(&mut self, delivery: Delivery) {
        match delivery.content {
            Delivered::Snapshot(view) => self.view = *view,
            Delivered::Events(events) => {
                self.waiting.extend(events);
                self.permit = delivery.permit;
                self.owes_ready = self.kind == SubscriberKind::Coalescing;
            }
        }
    }

    fn let_go(&mut self, event: &Published) {
        if self.kind == SubscriberKind::Lossless {
            self.backlog.release(event.event.weight());
        }
        if self.waiting.is_empty() {
            self.permit = None;
        }
    }
}

impl Stream for Events {
    type Item = Arc<Published>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Arc<Published>>> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.view.apply(&event);
                self.let_go(&event);
                return Poll::Ready(Some(event));
            }
            if std::mem::take(&mut self.owes_ready) {
                self.shared.bus.tell(BusMsg::Ready(self.id));
            }
            match self.deliveries.poll_recv(context) {
                Poll::Ready(Some(delivery)) => self.take(delivery),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => {
                    ready!(self.closed.as_mut().poll(context));
                    return Poll::Ready(None);
                }
            }
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        // Whoever waits for a slow reader need not wait any more.
        self.shared.subscribers.remove(self.id);
        self.shared.bus.tell(BusMsg::Unsubscribe(self.id));
    }
}
