//! A front's side of one agent: where commands go, and where its events come from.

use std::sync::Arc;

use crate::{
    actors::{
        address::{Recipient, Slot},
        event_bus::{self, BusMsg},
        fleet::{FleetMsg, OpenAgent},
        reply::ReplyTo,
        shared::AgentShared,
        subscriber::{Delivery, Subscriber, SubscriberKind},
    },
    protocol::{Command, CommandError, session_change::SessionStartReason},
};

/// One agent, as a front or a program sees it.
#[derive(Clone)]
pub struct AgentClient {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// The fleet that it is in.
    pub fleet: Slot<FleetMsg>,
}

impl std::fmt::Debug for AgentClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AgentClient({})", self.shared.id)
    }
}

impl AgentClient {
    /// Opens the agent; the answer comes when it takes commands.
    pub fn open(&self, reply: ReplyTo) {
        let open = OpenAgent { shared: self.shared.clone(), start: Some(SessionStartReason::Startup), reply };
        // Dropping what could not be delivered answers that it is lost.
        drop(self.fleet.try_tell(FleetMsg::Open(Box::new(open))));
    }

    /// Sends a command.
    pub fn send(&self, command: Command, reply: ReplyTo) {
        let message = FleetMsg::Command { agent: self.shared.id.clone(), command, reply };
        // Dropping what could not be delivered answers that it is lost.
        drop(self.fleet.try_tell(message));
    }

    /// Sends a command and waits for the answer.
    ///
    /// # Errors
    /// Why it was not carried out.
    pub async fn command(&self, command: Command) -> Result<crate::protocol::Reply, CommandError> {
        let (reply, answer) = ReplyTo::channel();
        self.send(command, reply);
        answer.await.unwrap_or(Err(CommandError::Lost))
    }

    /// Begins to watch. The first delivery is a snapshot.
    pub fn subscribe(&self, kind: SubscriberKind, to: Recipient<Delivery>) -> Subscriber {
        let subscriber = event_bus::subscriber(kind, to);
        // A bus that dies with the message in its mailbox is followed by one that greets whoever is on the list.
        self.shared.subscribers.add(subscriber.clone());
        self.shared.bus.tell(BusMsg::Subscribe(subscriber.clone()));
        subscriber
    }
}
