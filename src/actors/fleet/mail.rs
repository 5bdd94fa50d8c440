//! Messages to siblings.

use ractor::ActorRef;

use super::{
    FleetMsg, FleetState,
    family_msg::{Answer, Noted},
    household::Who,
};
use crate::{
    actors::{
        family_notes::{Note, TaskNote},
        reply::ReplyTo,
    },
    protocol::{
        Command, CommandError,
        command::{Input, QueueKind},
        sibling::{Receipt, SendMode, SiblingError, SiblingState},
    },
    store::tree::ids::fresh_id,
};

impl FleetState {
    pub(super) async fn send_message(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        parent: &str,
        id: &str,
        text: String,
        mode: SendMode,
        reply: Answer<Receipt>,
    ) {
        let Some(parent) = self.agent(parent) else { return drop(reply.send(Err(SiblingError::Lost))) };
        let who = match parent.kin.board.resolve(&parent.kin.id, id) {
            Ok(id) => (parent.kin.root.clone(), id),
            Err(error) => return drop(reply.send(Err(error))),
        };
        self.deliver(myself, who, text, mode, reply).await;
    }

    pub(super) async fn deliver(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        who: Who,
        text: String,
        mode: SendMode,
        reply: Answer<Receipt>,
    ) {
        let Some((state, task)) = self.look(&who, |member| (member.state(), member.task())) else {
            return drop(reply.send(Ok(Receipt::Dead)));
        };
        match state {
            SiblingState::Gone => drop(reply.send(Ok(Receipt::Dead))),
            SiblingState::Stopping => drop(reply.send(Ok(Receipt::Missed))),
            _ if state == SiblingState::Starting || self.households.ending.contains_key(&who) => {
                self.households.deferred.entry(who).or_default().push((text, mode, reply));
            }
            SiblingState::Idle => self.next_task(myself, &who, task + 1, text, reply),
            _ => {
                let Some(agent) = self.live(&who) else { return drop(reply.send(Ok(Receipt::Missed))) };
                let kind = match mode {
                    SendMode::Steer => QueueKind::Steer,
                    SendMode::FollowUp => QueueKind::FollowUp,
                };
                let answer = ReplyTo::new(move |result| {
                    drop(reply.send(match result {
                        Ok(_) => Ok(Receipt::Queued { task }),
                        Err(CommandError::Lost) => Ok(Receipt::Missed),
                        Err(error) => Err(SiblingError::Refused(error.to_string())),
                    }));
                });
                let input = Input { verbatim: true, ..Input::text(text) };
                self.command(&agent.id, Command::Prompt { input, behavior: Some(kind) }, answer);
            }
        }
    }

    /// An idle agent gets its next task: noted in its parent's session before it begins.
    pub(super) fn next_task(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        who: &Who,
        task: u32,
        message: String,
        reply: Answer<Receipt>,
    ) {
        let Some(board) = self.board(&who.0) else { return drop(reply.send(Ok(Receipt::Dead))) };
        let limit = board.limits().running;
        let (running, _) = board.counts();
        if running >= limit {
            return drop(reply.send(Err(board.full())));
        }
        if let Some(exhausted) = self.look(who, |member| member.account.exhausted()).flatten() {
            return drop(reply.send(Err(SiblingError::Refused(exhausted.text()))));
        }
        let entry = fresh_id(|_| false);
        let note = TaskNote { id: who.1.clone(), task, message, entry };
        self.change(who, |member| {
            member.forget_stop();
            member.next_task(note.clone());
        });
        self.households.sending.insert(who.clone(), reply);
        self.note(myself, who, vec![Note::Task(note).entry().into()], Noted::Task { task });
    }

    pub(super) async fn send_deferred(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        for (text, mode, reply) in self.households.deferred.remove(who).unwrap_or_default() {
            Box::pin(self.deliver(myself, who.clone(), text, mode, reply)).await;
        }
    }
}
