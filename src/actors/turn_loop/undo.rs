//! Undoing changes of files: between traces, and while a worker does it, nothing else begins.

use ractor::{ActorId, ActorRef};

use super::{
    LoopMsg, LoopState,
    moves::{Arrival, Aside, Doing},
};
use crate::{
    actors::{
        address::Recipient,
        reply::ReplyTo,
        spawn::spawn_worker,
        undoing::{UndoWork, Undoing},
    },
    protocol::{CommandError, Reply, checkpoint::Undo, navigation::leaf_entry},
    tools::checkpoints::Undone,
};

impl LoopState {
    pub(super) async fn undo(&mut self, myself: &ActorRef<LoopMsg>, ask: Undo, reply: ReplyTo) {
        let Some(turn) = self.put_aside() else {
            let text = "The agent is working. Abort the run, or wait for it, before undoing changes.";
            return reply.send(Err(CommandError::Refused(text.into())));
        };
        let to = Recipient::new(self.me.clone(), LoopMsg::Undone);
        let work = UndoWork::Undo { shared: self.shared.clone(), ask, to };
        match spawn_worker("Undoing", "", Undoing, (), work, myself.get_cell()).await {
            Ok(worker) => self.aside = Some(Aside { turn, reply, doing: Doing::Restoring(worker.id()) }),
            Err(exit) => {
                self.give_back(turn);
                reply.send(Err(CommandError::Refused(exit.cause().to_owned())));
            }
        }
    }

    pub(super) async fn list_checkpoints(&mut self, myself: &ActorRef<LoopMsg>, reply: ReplyTo) {
        let work = UndoWork::List { shared: self.shared.clone(), reply };
        // A worker that does not start drops the duty to answer, which answers.
        drop(spawn_worker("Undoing", "", Undoing, (), work, myself.get_cell()).await);
    }

    /// The worker is done with the files.
    pub(super) async fn undone(&mut self, myself: &ActorRef<LoopMsg>, result: Result<Undone, CommandError>) {
        let restoring = |aside: &mut Aside| matches!(aside.doing, Doing::Restoring(_));
        let Some(Aside { turn, reply, .. }) = self.aside.take_if(restoring) else { return };
        match result {
            Err(error) => reply.send(Err(error)),
            Ok(Undone { mut report, message, leaf: Some(leaf) }) if !report.dry_run => {
                report.leaf_id.clone_from(&leaf);
                let entry = message.unwrap_or_else(leaf_entry);
                return self.move_to(turn, reply, leaf, vec![entry.into()], Arrival::Undone(report));
            }
            Ok(Undone { report, message: Some(message), .. }) => {
                self.give_back(turn);
                self.append_then(myself, vec![message], reply, Reply::Undone(report)).await;
                return self.early_commands(myself).await;
            }
            Ok(Undone { report, .. }) => reply.send(Ok(Reply::Undone(report))),
        }
        self.take_back(myself, turn).await;
    }

    /// The worker died before it said anything; whoever asked learns that the answer is lost.
    pub(super) async fn undo_lost(&mut self, myself: &ActorRef<LoopMsg>, worker: ActorId) {
        let of_worker = |aside: &mut Aside| matches!(aside.doing, Doing::Restoring(id) if id == worker);
        if let Some(Aside { turn, .. }) = self.aside.take_if(of_worker) {
            self.take_back(myself, turn).await;
        }
    }
}
