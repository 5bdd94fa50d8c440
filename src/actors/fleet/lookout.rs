//! Watches what siblings do, so that those above them see it: a few times a second at most, however fast they stream.

use std::{collections::HashMap, sync::Arc, time::Duration};

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::Agents;
use crate::{
    actors::{
        address::{Addr, Recipient},
        event_bus::{self, BusMsg},
        family_board::Face,
        shared::AgentShared,
        subscriber::{Delivered, Delivery, SubscriberKind},
    },
    protocol::{Event, StreamEvent, event::Published},
};

/// How often at most what a sibling does is told.
const STEP: Duration = Duration::from_millis(500);

/// Bytes of the last line that are kept.
const LINE: usize = 160;

/// What the lookout is told.
pub enum LookoutMsg {
    /// Watch an agent.
    Watch(Arc<AgentShared>),
    /// An agent is closed.
    Forget(Arc<str>),
    /// Something happened in one.
    Delivery(Delivery),
    /// It is time to tell.
    Tell,
}

/// An agent that is watched.
struct Watched {
    agent: Arc<AgentShared>,
    subscriber: u64,
    face: Face,
    /// Tools that run, in order.
    tools: Vec<(usize, String)>,
    changed: bool,
    owes_ready: bool,
}

/// State of the lookout.
pub struct LookoutState {
    me: Addr<LookoutMsg>,
    agents: Agents,
    watched: HashMap<Arc<str>, Watched>,
    /// A bus waits to hear that it can send more.
    owes: bool,
    /// A [`LookoutMsg::Tell`] is on its way.
    tells: bool,
}

/// The actor.
pub struct Lookout;

impl Actor for Lookout {
    type Msg = LookoutMsg;
    type State = LookoutState;
    type Arguments = Agents;

    async fn pre_start(
        &self,
        myself: ActorRef<LookoutMsg>,
        agents: Agents,
    ) -> Result<LookoutState, ActorProcessingErr> {
        Ok(LookoutState { me: Addr::of(&myself), agents, watched: HashMap::new(), owes: false, tells: false })
    }

    async fn handle(
        &self,
        myself: ActorRef<LookoutMsg>,
        message: LookoutMsg,
        state: &mut LookoutState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            LookoutMsg::Watch(agent) => state.watch(agent),
            LookoutMsg::Forget(agent) => drop(state.watched.remove(&agent)),
            LookoutMsg::Delivery(delivery) => state.take(&delivery),
            LookoutMsg::Tell => state.tell(),
        }
        if state.owes && !state.tells {
            state.tells = true;
            myself.send_after(STEP, || LookoutMsg::Tell);
        }
        Ok(())
    }
}

impl LookoutState {
    fn watch(&mut self, agent: Arc<AgentShared>) {
        if let Some(known) = self.watched.get(&agent.id)
            && Arc::ptr_eq(&known.agent, &agent)
        {
            return;
        }
        let to = Recipient::new(self.me.clone(), LookoutMsg::Delivery);
        let subscriber = event_bus::subscriber(SubscriberKind::Coalescing, to);
        let watched = Watched {
            agent: agent.clone(),
            subscriber: subscriber.id,
            face: Face::default(),
            tools: Vec::new(),
            changed: false,
            owes_ready: false,
        };
        self.watched.insert(agent.id.clone(), watched);
        agent.subscribers.add(subscriber.clone());
        agent.bus.tell(BusMsg::Subscribe(subscriber));
    }

    fn take(&mut self, delivery: &Delivery) {
        let Some(watched) = self.watched.get_mut(&delivery.agent) else { return };
        match &delivery.content {
            Delivered::Snapshot(view) => {
                // What had begun before the agent was watched is in no event.
                watched.tools = view.tools.iter().map(|(call, _)| (call.place, call.tool_name.clone())).collect();
                watched.show_tool();
                self.owes = true;
            }
            Delivered::Events(events) => {
                events.iter().for_each(|event| watched.fold(event));
                watched.owes_ready = true;
                self.owes = true;
            }
        }
    }

    /// Tells what changed, and lets the buses send more.
    fn tell(&mut self) {
        (self.tells, self.owes) = (false, false);
        for watched in self.watched.values_mut() {
            if std::mem::take(&mut watched.changed) {
                watched.tell(&self.agents);
            }
            if std::mem::take(&mut watched.owes_ready) {
                watched.agent.bus.tell(BusMsg::Ready(watched.subscriber));
            }
        }
    }
}

impl Watched {
    fn fold(&mut self, published: &Published) {
        match &published.event {
            Event::MessageStart { message: crate::protocol::AgentMessage::Assistant(_) } => self.face.last_line.clear(),
            Event::MessageUpdate { events } => {
                for event in events {
                    if let StreamEvent::TextDelta { delta, .. } = event {
                        self.write(delta);
                    }
                }
            }
            Event::ToolExecutionStart { call } => self.tools.push((call.place, call.tool_name.clone())),
            Event::ToolExecutionEnd { call, .. } => self.tools.retain(|(place, _)| *place != call.place),
            Event::AgentSettled { .. } => self.tools.clear(),
            _ => return,
        }
        self.show_tool();
    }

    fn show_tool(&mut self) {
        self.face.tool = self.tools.first().map(|(_, name)| name.clone());
        self.changed = true;
    }

    /// Goes on with the last line; an empty one does not take its place.
    fn write(&mut self, text: &str) {
        let trimmed = text.trim_end_matches('\n');
        let (begins, rest) = match trimmed.rsplit_once('\n') {
            Some((_, last)) => (true, last),
            None => (self.face.last_line.ends_with('\n'), trimmed),
        };
        let line = &mut self.face.last_line;
        if begins && !rest.is_empty() {
            line.clear();
        }
        if line.len() < LINE {
            let end = crate::tools::truncate::floor_char_boundary(rest, LINE - line.len());
            line.push_str(&rest[..end]);
        }
        if text.ends_with('\n') && !line.ends_with('\n') {
            line.push('\n');
        }
    }

    fn tell(&self, agents: &Agents) {
        let kin = &self.agent.kin;
        let face = Face { last_line: self.face.last_line.trim().to_owned(), ..self.face.clone() };
        kin.board.change(&kin.id, |member| member.face = face);
        let agent = |name: &str| agents.get(name).map(|entry| entry.value().clone());
        let parent = kin.parent.as_ref().and_then(|name| agent(name));
        if let Some(status) = kin.board.status(&kin.id) {
            let sibling = Arc::new(status);
            publish(parent, agent(&kin.root), || Event::SiblingUpdate { sibling: sibling.clone() });
        }
    }
}

/// Tells those who watch an agent's parent, and those who watch the root.
pub(super) fn publish(parent: Option<Arc<AgentShared>>, root: Option<Arc<AgentShared>>, event: impl Fn() -> Event) {
    let is_root = |agent: &Arc<AgentShared>| root.as_ref().is_some_and(|root| Arc::ptr_eq(root, agent));
    if let Some(parent) = parent.filter(|parent| !is_root(parent)) {
        parent.publish(vec![event()]);
    }
    if let Some(root) = root {
        root.publish(vec![event()]);
    }
}
