//! What waits to be delivered: steering messages and follow-ups, each with its own mode. Pure.

use std::collections::VecDeque;

use crate::protocol::{
    AgentMessage, EntryId,
    command::{QueueKind, QueueMode},
};

/// A user's message on its way into the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// The operation that brought it.
    pub op: String,
    /// The entry that it will become: reserved when it was accepted, so that after a crash nobody has to guess
    /// whether it was delivered.
    pub entry_id: EntryId,
    /// The text that queues show.
    pub text: String,
    /// The message.
    pub message: AgentMessage,
}

/// The two queues of an agent.
#[derive(Clone, Debug, Default)]
pub struct Queues {
    steering: VecDeque<Pending>,
    follow_up: VecDeque<Pending>,
    /// How steering is delivered.
    pub steering_mode: QueueMode,
    /// How follow-ups are delivered.
    pub follow_up_mode: QueueMode,
}

impl Queues {
    /// Puts a message at the end of a queue.
    pub fn push(&mut self, kind: QueueKind, pending: Pending) {
        self.queue(kind).0.push_back(pending);
    }

    /// Puts messages that could not be delivered back to the front of their queue.
    pub fn put_back(&mut self, kind: QueueKind, pending: Vec<Pending>) {
        let (queue, _) = self.queue(kind);
        for pending in pending.into_iter().rev() {
            queue.push_front(pending);
        }
    }

    /// Takes what one delivery takes: the oldest message or all, by the queue's mode.
    pub fn poll(&mut self, kind: QueueKind) -> Vec<Pending> {
        let (queue, mode) = self.queue(kind);
        match mode {
            QueueMode::OneAtATime => queue.pop_front().into_iter().collect(),
            QueueMode::All => queue.drain(..).collect(),
        }
    }

    /// Takes everything back.
    pub fn clear(&mut self) -> (Vec<Pending>, Vec<Pending>) {
        (self.steering.drain(..).collect(), self.follow_up.drain(..).collect())
    }

    /// Sets a queue's mode.
    pub fn set_mode(&mut self, kind: QueueKind, mode: QueueMode) {
        match kind {
            QueueKind::Steer => self.steering_mode = mode,
            QueueKind::FollowUp => self.follow_up_mode = mode,
        }
    }

    /// The texts that wait, steering first.
    #[must_use]
    pub fn texts(&self) -> (Vec<String>, Vec<String>) {
        let texts = |queue: &VecDeque<Pending>| queue.iter().map(|pending| pending.text.clone()).collect();
        (texts(&self.steering), texts(&self.follow_up))
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steering.is_empty() && self.follow_up.is_empty()
    }

    /// How many messages wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steering.len() + self.follow_up.len()
    }

    fn queue(&mut self, kind: QueueKind) -> (&mut VecDeque<Pending>, QueueMode) {
        match kind {
            QueueKind::Steer => (&mut self.steering, self.steering_mode),
            QueueKind::FollowUp => (&mut self.follow_up, self.follow_up_mode),
        }
    }
}

#[cfg(test)]
pub(super) fn pending(text: &str) -> Pending {
    Pending {
        op: text.to_owned(),
        entry_id: EntryId::from(format!("id-{text}")),
        text: text.to_owned(),
        message: AgentMessage::user(text, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_queue_is_delivered_in_order_and_by_its_own_mode() {
        let mut queues = Queues { steering_mode: QueueMode::All, ..Queues::default() };
        for text in ["s1", "s2"] {
            queues.push(QueueKind::Steer, pending(text));
        }
        for text in ["f1", "f2"] {
            queues.push(QueueKind::FollowUp, pending(text));
        }
        let polled = |list: Vec<Pending>| list.into_iter().map(|p| p.text).collect::<Vec<_>>();
        assert_eq!(polled(queues.poll(QueueKind::Steer)), ["s1", "s2"]);
        assert_eq!(polled(queues.poll(QueueKind::FollowUp)), ["f1"]);
        queues.put_back(QueueKind::Steer, vec![pending("a"), pending("b")]);
        assert_eq!(queues.texts().0, ["a", "b"]);
        assert_eq!(queues.len(), 3);
    }
}
