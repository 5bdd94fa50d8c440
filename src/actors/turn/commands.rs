//! What commands do, in each phase.

use std::mem;

use super::{Phase, Then, Turn, opening};
use crate::{
    actors::{
        compaction::CANCELLED,
        queues::Pending,
        turn_io::{Effect, Input, NewEntry, Note, Ticket},
    },
    protocol::{
        CommandError, Reply,
        command::{DeliverAs, Disposition, QueueKind},
        event::CompactionReason,
    },
};

/// Why a retry ended when somebody cancelled it.
pub(super) const RETRY_CANCELLED: &str = "Retry cancelled";

/// Whether an input comes from outside, not from the machine's own workers.
pub(super) fn is_command(input: &Input) -> bool {
    matches!(
        input,
        Input::Prompt { .. }
            | Input::Queue { .. }
            | Input::Message { .. }
            | Input::ClearQueue(_)
            | Input::SetQueueMode(..)
            | Input::Abort(_)
            | Input::AbortRetry(_)
            | Input::WaitIdle(_)
            | Input::Compact { .. }
            | Input::Append { .. }
    )
}

impl Turn {
    pub(super) fn prompt(&mut self, pending: Pending, behavior: Option<QueueKind>, ticket: Ticket) {
        if !self.is_idle() && self.trace.is_none() {
            let busy = "A compaction is running. Wait for it, or abort it, before sending a prompt.";
            return self.reply(ticket, Err(CommandError::Refused(busy.into())));
        }
        if !self.is_idle() {
            return match behavior {
                Some(kind) => self.enqueue(kind, pending, ticket),
                None => self.reply(ticket, Err(CommandError::Busy)),
            };
        }
        if self.identity.is_none() {
            return self.reply(ticket, Err(CommandError::NoModel));
        }
        self.out.push(Effect::Journal(Note::Started));
        self.out.push(Effect::Journal(Note::Accepted { kind: None, pending: pending.clone() }));
        self.trace().prompt = Some((pending, Some(ticket)));
        match self.open.take() {
            Some(open) => self.recover_open(open),
            None => self.begin_trace(),
        }
    }

    pub(super) fn enqueue(&mut self, kind: QueueKind, pending: Pending, ticket: Ticket) {
        self.out.push(Effect::Journal(Note::Accepted { kind: Some(kind), pending: pending.clone() }));
        self.queues.push(kind, pending);
        self.publish_queues();
        self.reply(ticket, Ok(Reply::Input(Disposition::Queued)));
    }

    /// A message of an extension: answered, queued, stored now, or kept for later.
    pub(super) fn message(
        &mut self,
        pending: Pending,
        trigger_turn: Option<bool>,
        deliver_as: DeliverAs,
        ticket: Ticket,
    ) {
        let Some(queue) = deliver_as.queue() else {
            self.behind_prompt.push(opening::body_of(pending.message));
            return self.reply(ticket, Ok(Reply::Done));
        };
        match (self.trace.is_some(), trigger_turn) {
            (true, None | Some(true)) => self.enqueue(queue, pending, ticket),
            (false, Some(true)) => self.prompt(pending, None, ticket),
            (true, Some(false)) if self.in_turn() => {
                self.after_turn.push(opening::body_of(pending.message));
                self.reply(ticket, Ok(Reply::Done));
            }
            _ => self.append(vec![opening::body_of(pending.message).into()], ticket),
        }
    }

    fn in_turn(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.in_turn)
    }

    pub(super) fn clear_queue(&mut self, ticket: Ticket) {
        let (steering, follow_up) = self.queues.texts();
        if !self.queues.is_empty() {
            let (a, b) = self.queues.clear();
            self.out.push(Effect::Journal(Note::Cleared(a.into_iter().chain(b).map(|p| p.op).collect())));
            self.publish_queues();
        }
        self.reply(ticket, Ok(Reply::Queue { steering, follow_up }));
    }

    pub(super) fn append(&mut self, entries: Vec<NewEntry>, ticket: Ticket) {
        match self.phase {
            Phase::Idle => self.store(entries, false, Then::Append(ticket)),
            _ => {
                // Whoever sends an entry during a trace is not kept waiting for the end of it.
                self.out.push(Effect::Journal(Note::Held(entries.clone())));
                self.held.extend(entries);
                self.reply(ticket, Ok(Reply::Done));
            }
        }
    }

    pub(super) fn compact(&mut self, instructions: Option<String>, ticket: Ticket) {
        if self.next_compaction.is_some() || (self.trace.is_none() && !self.is_idle()) {
            let busy = "A compaction is running already. Wait for it, or abort it.";
            return self.reply(ticket, Err(CommandError::Refused(busy.into())));
        }
        if self.trace.is_some() {
            // The run ends first, with what it has; nothing of it is lost, and it does not go on afterwards.
            self.next_compaction = Some((instructions, ticket));
            return self.abort_trace();
        }
        self.start_compaction(CompactionReason::Manual, instructions, Some(ticket));
    }

    pub(super) fn abort(&mut self, ticket: Ticket) {
        if self.is_idle() {
            return self.reply(ticket, Ok(Reply::Done));
        }
        if let Some((_, ticket)) = self.next_compaction.take() {
            self.reply(ticket, Err(CommandError::Refused(CANCELLED.into())));
        }
        match self.trace.as_mut() {
            Some(trace) => trace.abort_waiters.push(ticket),
            None => {
                self.idle_waiters.push(ticket);
                if matches!(self.phase, Phase::Compacting(..)) {
                    self.out.push(Effect::Cancel);
                    self.compacted(Err(CANCELLED.into()));
                }
            }
        }
        self.abort_trace();
    }

    fn abort_trace(&mut self) {
        let Some(trace) = self.trace.as_mut() else { return };
        let asking = matches!(self.phase, Phase::Asking(_));
        // Whoever aborts again does not want to wait for extensions that are asked about the end either.
        if mem::replace(&mut trace.aborted, true) && !asking {
            return;
        }
        trace.mute |= asking;
        match self.phase {
            // The entry is on its way to the disk; the next step sees the abort.
            Phase::Idle | Phase::Storing(_) => {}
            // The worker ends by itself with what it has, or is killed.
            Phase::Streaming | Phase::RunningTools => self.out.push(Effect::Cancel),
            Phase::Asking(_) => {
                self.out.push(Effect::Cancel);
                self.asked(None);
            }
            Phase::Preparing => {
                self.out.push(Effect::Cancel);
                self.answer_aborted();
            }
            Phase::RetryWait => self.before_settle(),
            Phase::Compacting(..) => {
                self.out.push(Effect::Cancel);
                self.compacted(Err(CANCELLED.into()));
            }
        }
    }

    pub(super) fn abort_retry(&mut self, ticket: Ticket) {
        // It can be given up as soon as it is announced; the failure is still left out first.
        if matches!(self.phase, Phase::RetryWait | Phase::Storing(Then::Omit(Some(_)))) {
            self.fail_retry(RETRY_CANCELLED);
        }
        self.reply(ticket, Ok(Reply::Done));
        if matches!(self.phase, Phase::RetryWait) {
            self.before_settle();
        }
    }
}
