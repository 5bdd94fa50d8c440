//! Going to another entry of the session, with or without a summary of what is left, and naming entries.

use ractor::ActorRef;

use super::{
    LoopMsg, LoopState,
    moves::{Arrival, Aside, Doing},
};
use crate::{
    actors::{
        address::Recipient,
        compactor::{CompactorMsg, Left},
        navigation::{self, Place, Way},
        reply::ReplyTo,
        turn::Turn,
        turn_io::Ticket,
    },
    protocol::{
        CommandError, EntryBody, EntryId, Reply,
        ask::AskPoint,
        navigation::{Navigate, Navigated},
    },
    store::tree::TreeView,
};

impl LoopState {
    pub(super) fn navigate(&mut self, ask: Navigate, reply: ReplyTo) {
        let Some(turn) = self.put_aside() else {
            let text = "The agent is working. Abort the run, or wait for it, before going to another entry.";
            return reply.send(Err(CommandError::Refused(text.into())));
        };
        let Some(tree) = self.shared.tree() else {
            self.give_back(turn);
            return reply.send(Err(CommandError::Lost));
        };
        match navigation::way(&tree, ask.target.as_ref()) {
            Ok(Way::Go(place)) => {
                let summarises = ask.summarize && !tree.left_for(ask.target.as_ref()).is_empty();
                if summarises || self.shared.config.chain.has(AskPoint::BeforeTree) {
                    return self.leave(turn, ask, place, reply);
                }
                self.go(&tree, turn, ask, place, reply, None, None);
            }
            Ok(Way::Stay(editor_text)) => {
                self.give_back(turn);
                let leaf_id = tree.leaf().map(|leaf| leaf.id().clone());
                let navigated = Navigated { editor_text, leaf_id, ..Navigated::default() };
                reply.send(Ok(Reply::Navigated(Box::new(navigated))));
            }
            Err(error) => {
                self.give_back(turn);
                reply.send(Err(error));
            }
        }
    }

    /// Has the compactor ask extensions about the move, and summarise what is left.
    fn leave(&mut self, turn: Turn, ask: Navigate, place: Place, reply: ReplyTo) {
        self.last_ticket += 1;
        let number = self.last_ticket;
        let to = Recipient::new(self.me.clone(), move |left| LoopMsg::Left(number, Box::new(left)));
        if self.shared.compactor.try_tell(CompactorMsg::Leave { ask: ask.clone(), to }).is_err() {
            self.give_back(turn);
            return reply.send(Err(CommandError::Lost));
        }
        self.aside = Some(Aside { turn, reply, doing: Doing::Leaving { number, ask, place } });
    }

    /// The compactor is done with a branch that is left.
    pub(super) async fn left(&mut self, myself: &ActorRef<LoopMsg>, number: Ticket, left: Left) {
        let of_this = |aside: &mut Aside| matches!(aside.doing, Doing::Leaving { number: of, .. } if of == number);
        let Some(Aside { turn, reply, doing: Doing::Leaving { ask, place, .. } }) = self.aside.take_if(of_this) else {
            return;
        };
        match (left, self.shared.tree()) {
            (Left::Go { summary, label, from_extension }, Some(tree)) => {
                return self.go(&tree, turn, Navigate { label, ..ask }, place, reply, summary, from_extension);
            }
            (Left::Go { .. }, None) => reply.send(Err(CommandError::Lost)),
            (Left::Cancelled, _) => self.answer_cancelled(reply, false),
            (Left::Failed(cause), _) => reply.send(Err(CommandError::Refused(cause))),
        }
        self.take_back(myself, turn).await;
    }

    /// Whether a move waits for extensions or a summary.
    pub(super) fn is_leaving(&self) -> bool {
        matches!(&self.aside, Some(Aside { doing: Doing::Leaving { .. }, .. }))
    }

    /// Gives up a move that waits for extensions or a summary: nothing has moved.
    pub(super) async fn stay(&mut self, myself: &ActorRef<LoopMsg>) {
        let Some(Aside { turn, reply, .. }) = self.aside.take() else { return };
        // It does not mind when it has nothing to do.
        drop(self.shared.compactor.try_tell(CompactorMsg::Cancel));
        self.answer_cancelled(reply, true);
        self.take_back(myself, turn).await;
    }

    fn answer_cancelled(&self, reply: ReplyTo, aborted: bool) {
        let leaf_id = self.shared.tree().and_then(|tree| tree.leaf().map(|leaf| leaf.id().clone()));
        let navigated = Navigated { cancelled: true, aborted, leaf_id, ..Navigated::default() };
        reply.send(Ok(Reply::Navigated(Box::new(navigated))));
    }

    /// Nothing stands in the way any more.
    #[expect(clippy::too_many_arguments, reason = "what was asked, what came of it, and who waits")]
    fn go(
        &mut self,
        tree: &TreeView,
        turn: Turn,
        ask: Navigate,
        place: Place,
        reply: ReplyTo,
        summary: Option<EntryBody>,
        from_extension: Option<bool>,
    ) {
        let label = ask.label.as_deref().filter(|label| !label.trim().is_empty());
        let entries = navigation::entries(tree, ask.target.as_ref(), summary, label);
        let old_leaf = tree.leaf().map(|leaf| leaf.id().clone());
        let arrival = Arrival::Navigated { old_leaf, editor_text: place.editor_text, from_extension };
        self.move_to(turn, reply, place.leaf, entries, arrival);
    }

    /// Names an entry.
    pub(super) async fn set_label(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        target: EntryId,
        label: Option<&str>,
        reply: ReplyTo,
    ) {
        self.append_entry(myself, navigation::label_entry(target, label), reply).await;
    }
}
