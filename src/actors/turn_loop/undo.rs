//! Undoing changes of files: between traces, and while a worker does it, nothing else begins.

use std::mem;

use ractor::{ActorId, ActorRef};

use super::{LoopMsg, LoopState};
use crate::{
    actors::{
        address::Recipient,
        reply::ReplyTo,
        session_writer::WriterMsg,
        spawn::spawn_worker,
        turn::Turn,
        undoing::{UndoWork, Undoing},
    },
    protocol::{CommandError, EntryBody, Reply, checkpoint::Undo},
    tools::checkpoints::Undone,
};

/// An undo that a worker carries out. Commands that come meanwhile wait, as they do before the loop knows where things
/// stand.
pub(super) struct Restoring {
    worker: ActorId,
    turn: Turn,
    reply: ReplyTo,
}

/// What is left to do when the loop knows where the conversation goes on.
pub(super) struct AfterMove {
    message: Option<EntryBody>,
    reply: ReplyTo,
    value: Reply,
}

impl LoopState {
    pub(super) async fn undo(&mut self, myself: &ActorRef<LoopMsg>, ask: Undo, reply: ReplyTo) {
        let Some(turn) = self.turn.take_if(|turn| turn.is_idle() && self.intake.is_empty()) else {
            let text = "The agent is working. Abort the run, or wait for it, before undoing changes.";
            return reply.send(Err(CommandError::Refused(text.into())));
        };
        let to = Recipient::new(self.me.clone(), LoopMsg::Undone);
        let work = UndoWork::Undo { shared: self.shared.clone(), ask, to };
        match spawn_worker("Undoing", "", Undoing, (), work, myself.get_cell()).await {
            Ok(worker) => self.restoring = Some(Restoring { worker: worker.id(), turn, reply }),
            Err(exit) => {
                self.turn = Some(turn);
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
        let Some(Restoring { turn, reply, .. }) = self.restoring.take() else { return };
        match result {
            Err(error) => reply.send(Err(error)),
            Ok(Undone { mut report, message, leaf: Some(leaf) }) if !report.dry_run => {
                report.leaf_id.clone_from(&leaf);
                self.after_move = Some(AfterMove { message, reply, value: Reply::Undone(report) });
                self.shared.writer.tell(WriterMsg::MoveLeaf(leaf));
                let to = Recipient::new(self.me.clone(), LoopMsg::Resume);
                self.shared.writer.tell(WriterMsg::Resume(to));
                return;
            }
            Ok(Undone { report, message, .. }) => {
                self.turn = Some(turn);
                self.tell_undone(myself, message, reply, Reply::Undone(report)).await;
                return self.early_commands(myself).await;
            }
        }
        self.turn = Some(turn);
        self.early_commands(myself).await;
    }

    /// The worker died before it said anything; whoever asked learns that the answer is lost.
    pub(super) async fn undo_lost(&mut self, myself: &ActorRef<LoopMsg>, worker: ActorId) {
        if let Some(Restoring { turn, .. }) = self.restoring.take_if(|restoring| restoring.worker == worker) {
            self.turn = Some(turn);
            self.early_commands(myself).await;
        }
    }

    /// The loop knows where the conversation goes on.
    pub(super) async fn moved(&mut self, myself: &ActorRef<LoopMsg>) {
        if let Some(AfterMove { message, reply, value }) = self.after_move.take() {
            self.tell_undone(myself, message, reply, value).await;
        }
    }

    async fn tell_undone(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        message: Option<EntryBody>,
        reply: ReplyTo,
        value: Reply,
    ) {
        match message {
            Some(message) => self.append_then(myself, vec![message], reply, value).await,
            None => reply.send(Ok(value)),
        }
    }

    pub(super) async fn early_commands(&mut self, myself: &ActorRef<LoopMsg>) {
        let mut early = mem::take(&mut self.early).into_iter();
        while let Some((command, reply)) = early.next() {
            self.command(myself, command, reply).await;
            if self.turn.is_none() {
                // It was an undo: the rest waits for that one.
                self.early = early.collect();
                return;
            }
        }
    }
}
