//! Ends of siblings on their way to the model: before the next request, before the agent settles, or as what wakes it.

use ractor::ActorRef;

use super::{LoopMsg, LoopState, commands::pending_message};
use crate::{
    actors::{reply::ReplyTo, turn_io::Input},
    protocol::{
        Event,
        ask::{Ask, BeforeSettleVerdict, Verdict},
        command::DeliverAs,
        sibling::SiblingEnd,
    },
    store::TreeView,
};

impl LoopState {
    /// Whether there is an end that the model has not heard of.
    fn has_sibling_news(&self) -> bool {
        let kin = &self.shared.kin;
        !self.sibling_news.untold(&kin.board, &kin.id).is_empty()
    }

    /// A sibling's task has ended. While something runs, the model hears of it at the next boundary.
    pub(super) async fn tell_news(&mut self, myself: &ActorRef<LoopMsg>) {
        let is_idle = self.turn.as_ref().is_some_and(crate::actors::turn::Turn::is_idle);
        if !is_idle || !self.intake.is_empty() || self.aside.is_some() {
            return;
        }
        let kin = &self.shared.kin;
        let Some(message) = self.sibling_news.message(&kin.board, &kin.id) else { return kin.tell_idle() };
        let (pending, ticket) = (pending_message(message), self.ticket(ReplyTo::nobody()));
        let input = Input::Message { pending, trigger_turn: Some(true), deliver_as: DeliverAs::FollowUp, ticket };
        self.feed(myself, input).await;
    }

    /// The answer to a question before settling when nobody else is asked: with news the model is asked once more.
    pub(super) fn settle_verdict(&mut self, ask: &Ask) -> Option<Verdict> {
        let Ask::BeforeSettle(ask) = ask else { return None };
        let goes_on = !ask.failed && self.has_sibling_news();
        goes_on.then(|| Verdict::BeforeSettle(BeforeSettleVerdict { entries: None, continue_run: true }))
    }

    /// Takes note of how the last trace of a branch ended.
    pub(super) fn note_rest_of(&mut self, branch: &TreeView) {
        let last = branch.last_message(|message| message.as_assistant().cloned());
        self.rests = last.is_some_and(|answer| answer.is_failed());
    }

    /// An end that would have woken the model was noted, and whoever was to tell of it died before: the model is woken
    /// now.
    pub(super) fn tell_old_news(&self) {
        let kin = &self.shared.kin;
        if !self.rests && self.sibling_news.untold(&kin.board, &kin.id).iter().any(SiblingEnd::wakes) {
            self.me.tell(LoopMsg::News);
        }
    }

    /// Takes note of how a trace ended.
    pub(super) fn note_rest(&mut self, event: &Event) {
        match event {
            Event::AgentStart => self.rests = false,
            Event::AgentSettled { aborted } => self.rests |= *aborted,
            Event::TurnEnd { message, .. } => self.rests = message.is_failed(),
            _ => {}
        }
    }

    /// The trace is over. What ended while it did is told now; not right behind an abort or a failure.
    pub(super) fn settled(&mut self) {
        if self.shared.kin.parent.is_some() {
            // It may wait long for its next task, and be one of a thousand.
            self.declared = None;
        }
        self.shared.kin.tell_idle();
        if !self.rests && self.has_sibling_news() {
            self.me.tell(LoopMsg::News);
        }
    }
}
