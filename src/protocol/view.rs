//! The view of a run: a pure fold of its events. The bus, the screen and RPC all use this one.

use std::sync::Arc;

use super::{
    event::{CallLabel, Event, Published, Seq},
    message::AgentMessage,
    question::Question,
    sibling::SiblingStatus,
    stream::PartialMessage,
    tool::ToolOutput,
};

/// What is going on in an agent right now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The last event that it knows.
    pub seq: Seq,
    /// A trace runs.
    pub running: bool,
    /// A compaction runs.
    pub compacting: bool,
    /// A retry waits: its attempt.
    pub retrying: Option<u32>,
    /// The streaming answer.
    pub partial: Option<PartialMessage>,
    /// Calls of the running batch that have begun and not ended, with their latest output.
    pub tools: Vec<(CallLabel, Arc<ToolOutput>)>,
    /// Questions to people that are open.
    pub questions: Vec<Arc<Question>>,
    /// Steering texts that wait.
    pub steering: Vec<String>,
    /// Follow-up texts that wait.
    pub follow_up: Vec<String>,
    /// Why the agent is no longer run.
    pub parked: Option<String>,
    /// The agents below it, parents before their children.
    pub siblings: Vec<Arc<SiblingStatus>>,
}

impl View {
    /// Folds one event in.
    pub fn apply(&mut self, published: &Published) {
        self.seq = published.seq;
        match &published.event {
            Event::AgentStart => self.running = true,
            Event::AgentSettled { .. } => {
                let queues = (std::mem::take(&mut self.steering), std::mem::take(&mut self.follow_up));
                *self = Self {
                    seq: self.seq,
                    parked: self.parked.take(),
                    siblings: std::mem::take(&mut self.siblings),
                    steering: queues.0,
                    follow_up: queues.1,
                    ..Self::default()
                };
            }
            Event::MessageStart { message: AgentMessage::Assistant(message) } => {
                self.partial = Some(PartialMessage { message: (**message).clone(), arguments: Vec::new() });
            }
            Event::MessageUpdate { events } => {
                if let Some(partial) = &mut self.partial {
                    events.iter().for_each(|event| partial.apply(event));
                }
            }
            Event::MessageEnd { message: AgentMessage::Assistant(_), .. } => self.partial = None,
            Event::ToolExecutionStart { call } => self.tools.push((call.clone(), Arc::default())),
            Event::ToolExecutionUpdate { call, partial } => {
                if let Some((_, output)) = self.tools.iter_mut().find(|(known, _)| known.place == call.place) {
                    *output = partial.clone();
                }
            }
            Event::ToolExecutionEnd { call, .. } => self.tools.retain(|(known, _)| known.place != call.place),
            Event::TurnEnd { .. } => self.tools.clear(),
            Event::QueueUpdate { steering, follow_up } => {
                self.steering.clone_from(steering);
                self.follow_up.clone_from(follow_up);
            }
            Event::QuestionAsked { question } => self.questions.push(question.clone()),
            Event::QuestionClosed { id } => self.questions.retain(|question| question.id != *id),
            Event::SiblingStart { sibling } | Event::SiblingUpdate { sibling } | Event::SiblingEnd { sibling, .. } => {
                match self.siblings.binary_search_by(|known| known.id.cmp(&sibling.id)) {
                    Ok(place) => self.siblings[place] = sibling.clone(),
                    Err(place) => self.siblings.insert(place, sibling.clone()),
                }
            }
            Event::CompactionStart { .. } => self.compacting = true,
            Event::CompactionEnd { .. } => self.compacting = false,
            Event::AutoRetryStart { attempt, .. } => {
                self.retrying = Some(*attempt);
                self.running = true;
            }
            Event::AutoRetryEnd { .. } => self.retrying = None,
            Event::Parked { cause } => {
                self.running = false;
                self.parked = Some(cause.clone());
            }
            _ => {}
        }
    }
}
