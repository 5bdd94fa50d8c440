//! The end of a loop run and what may follow it: retry, recovery from an overflow, queued messages, settling.

use std::{mem, sync::Arc};

use super::{After, Leaving, Phase, Then, Turn, commands::RETRY_CANCELLED};
use crate::{
    actors::{
        compaction::CANCELLED,
        turn_io::{Compacted, Effect, NewEntry, Note, Ticket},
    },
    protocol::{
        CommandError, Entry, EntryBody, Event, FailureClass, Reply, RunMessages,
        ask::{Ask, BeforeSettleAsk},
        command::QueueKind,
        event::{CompactionReason, CompactionResult, NoticeLevel},
    },
};

impl Turn {
    pub(super) fn run_over(&mut self) {
        let retry = self.retry;
        let trace = self.trace();
        trace.in_run = false;
        trace.batch = None;
        let messages = RunMessages::of(mem::take(&mut trace.messages));
        let failure = trace.failure.clone().filter(|_| !trace.aborted);
        let attempt = trace.attempt + 1;
        let overflow = failure.as_ref().is_some_and(|failure| failure.class == FailureClass::ContextOverflow);
        let fallback = trace.fallback;
        let delay = failure.as_ref().filter(|_| !overflow).and_then(|failure| retry.delay(attempt, failure, fallback));
        self.publish(Event::AgentEnd { messages, will_retry: delay.is_some() });
        let Some(failure) = failure else { return self.run_ended_well() };
        if overflow && self.auto_compaction {
            return self.recover_from_overflow(&failure.message);
        }
        match delay {
            Some(delay_ms) => {
                self.trace().attempt = attempt;
                self.publish(Event::AutoRetryStart {
                    attempt,
                    max_attempts: retry.max_retries,
                    delay_ms,
                    error_message: failure.message,
                });
                self.omit_failed(Some(delay_ms));
            }
            None => self.before_settle(),
        }
    }

    /// What was answered stands; the conversation goes on in less room where it must.
    fn run_ended_well(&mut self) {
        let compacts = self.auto_compaction && !self.is_aborted();
        let trace = self.trace();
        let (short, overflow) = (mem::take(&mut trace.short), mem::take(&mut trace.overflow));
        if compacts && short {
            return self.recover_from_overflow("the answer was cut off again");
        }
        if compacts && overflow {
            return self.start_compaction(CompactionReason::Overflow, None, None);
        }
        match self.should_compact() {
            true => self.compact_first(After::Settle),
            false => self.before_settle(),
        }
    }

    /// Whether the context is to be compacted by itself before anything is added to it.
    pub(super) fn should_compact(&self) -> bool {
        let spent = self.trace.as_ref().is_none_or(|trace| trace.aborted || trace.compaction_failed);
        self.full && self.auto_compaction && !self.stays_full && !spent
    }

    pub(super) fn compact_first(&mut self, after: After) {
        self.trace().after_compaction = after;
        self.start_compaction(CompactionReason::Threshold, None, None);
    }

    /// Compacts and tries again, once for each message of the user and each success.
    fn recover_from_overflow(&mut self, cause: &str) {
        if !mem::replace(&mut self.trace().overflow_tried, true) {
            return self.omit_failed(None);
        }
        self.publish(Event::CompactionEnd {
            reason: CompactionReason::Overflow,
            result: None,
            aborted: false,
            will_retry: false,
            error_message: Some(format!(
                "Context overflow recovery failed after one compact-and-retry attempt: {cause}"
            )),
        });
        self.before_settle();
    }

    /// Leaves the failed attempt, answer and results, out of the context; the entries stay.
    fn omit_failed(&mut self, delay_ms: Option<u64>) {
        let trace = self.trace();
        let targets = trace.answer.iter().map(|(id, _)| id).chain(trace.results.iter().map(|(id, _)| id));
        let entries =
            targets.map(|id| EntryBody::ContextEdit { target_id: id.clone(), replacement: None }.into()).collect();
        self.store(entries, false, Then::Omit(delay_ms));
    }

    pub(super) fn failed_omitted(&mut self, delay_ms: Option<u64>) {
        if self.is_aborted() {
            return self.before_settle();
        }
        let Some(ms) = delay_ms else {
            self.trace().after_compaction = After::Retry;
            return self.start_compaction(CompactionReason::Overflow, None, None);
        };
        if self.trace().attempt == 0 {
            return self.before_settle();
        }
        let work = self.next_work();
        self.phase = Phase::RetryWait;
        self.out.push(Effect::Wait { work, ms });
    }

    /// An answer: the retry that was under way has worked.
    pub(super) fn retry_worked(&mut self) {
        self.end_retry(None);
    }

    /// The retry that was under way has come to nothing.
    pub(super) fn fail_retry(&mut self, cause: &str) {
        self.end_retry(Some(cause.to_owned()));
    }

    fn end_retry(&mut self, final_error: Option<String>) {
        let attempt = mem::take(&mut self.trace().attempt);
        if attempt > 0 {
            self.publish(Event::AutoRetryEnd { success: final_error.is_none(), attempt, final_error });
        }
    }

    pub(super) fn start_compaction(
        &mut self,
        reason: CompactionReason,
        instructions: Option<String>,
        ticket: Option<Ticket>,
    ) {
        let work = self.next_work();
        self.phase = Phase::Compacting(reason, ticket);
        self.publish(Event::CompactionStart { reason });
        let will_retry = self.trace.as_ref().is_some_and(|trace| trace.after_compaction == After::Retry);
        self.out.push(Effect::Compact { work, reason, instructions, will_retry });
    }

    pub(super) fn compacted(&mut self, result: Result<Box<Compacted>, String>) {
        let Phase::Compacting(reason, ticket) = self.phase else { return };
        self.next_work();
        let cause = match result {
            Ok(made) => {
                let Compacted { body, estimated_tokens_after } = *made;
                return self.store(vec![body.into()], false, Then::Compaction(reason, ticket, estimated_tokens_after));
            }
            Err(cause) => cause,
        };
        self.compaction_failed(reason, ticket, &cause, CommandError::Refused(cause.clone()));
        match self.take_after() {
            Some(After::Retry) => self.before_settle(),
            after => self.go_on_after(after),
        }
    }

    /// What follows the compaction; none outside a trace.
    fn take_after(&mut self) -> Option<After> {
        self.trace.as_mut().map(|trace| mem::take(&mut trace.after_compaction))
    }

    fn go_on_after(&mut self, after: Option<After>) {
        match after {
            Some(After::Begin) => self.ask_before_start(),
            Some(After::NextTurn) => self.go_to_next_turn(),
            Some(After::Retry) if !self.is_aborted() => self.start_run(None),
            Some(After::Retry | After::Settle) => self.before_settle(),
            None => self.idle_again(),
        }
    }

    /// Tells of a compaction that came to nothing.
    pub(super) fn compaction_failed(
        &mut self,
        reason: CompactionReason,
        ticket: Option<Ticket>,
        cause: &str,
        error: CommandError,
    ) {
        if let Some(trace) = &mut self.trace {
            trace.compaction_failed = true;
        }
        let aborted = cause == CANCELLED;
        let kind = match reason {
            CompactionReason::Manual => "Compaction failed",
            CompactionReason::Threshold => "Auto-compaction failed",
            CompactionReason::Overflow => "Context overflow recovery failed",
        };
        let error_message = (!aborted).then(|| format!("{kind}: {cause}"));
        self.publish(Event::CompactionEnd {
            reason,
            result: None,
            aborted,
            will_retry: false,
            error_message: error_message.clone(),
        });
        self.publish(Event::SessionCompactFailed { reason, error_message, aborted });
        if let Some(ticket) = ticket {
            self.reply(ticket, Err(error));
        }
    }

    pub(super) fn compaction_stored(
        &mut self,
        entries: &[Arc<Entry>],
        reason: CompactionReason,
        ticket: Option<Ticket>,
        estimated_tokens_after: u64,
    ) {
        let result = entries.iter().find_map(|entry| match &entry.body {
            EntryBody::Compaction { summary, first_kept_entry_id, tokens_before, details, usage, .. } => {
                Some(CompactionResult {
                    summary: summary.clone(),
                    first_kept_entry_id: first_kept_entry_id.clone(),
                    tokens_before: *tokens_before,
                    estimated_tokens_after: Some(estimated_tokens_after),
                    usage: *usage,
                    details: details.clone(),
                })
            }
            _ => None,
        });
        let after = self.take_after();
        let will_retry = after == Some(After::Retry) && !self.is_aborted();
        for entry in entries {
            if let EntryBody::Compaction { from_hook, .. } = &entry.body {
                let from_extension = *from_hook == Some(true);
                self.publish(Event::SessionCompact { entry: entry.clone(), from_extension, reason, will_retry });
            }
        }
        self.publish(Event::CompactionEnd {
            reason,
            result: result.clone(),
            aborted: false,
            will_retry,
            error_message: None,
        });
        if let Some(ticket) = ticket {
            self.reply(ticket, Ok(result.map_or(Reply::Done, Reply::Compaction)));
        }
        self.stays_full = self.full;
        if self.full && self.auto_compaction {
            let text = format!(
                "The context is still too long after a compaction: about {estimated_tokens_after} tokens. The session is \
                 not compacted by itself any more until it is compacted by hand, with less to keep, or another model is \
                 selected."
            );
            self.publish(Event::Notice { level: NoticeLevel::Warning, text });
        }
        self.go_on_after(after);
    }

    /// Nothing is left to do in the loop: look at the queues once more, then ask the extensions.
    pub(super) fn before_settle(&mut self) {
        if self.is_aborted() {
            self.fail_retry(RETRY_CANCELLED);
            return self.flush_held();
        }
        let cause = self.trace().failure.as_ref().map(|failure| failure.message.clone());
        self.fail_retry(cause.as_deref().unwrap_or("The model call failed"));
        if let Some(leaving) = self.poll_queues() {
            return self.start_run(Some(leaving));
        }
        let failed = self.trace().answer.as_ref().is_some_and(|(_, message)| message.is_failed());
        self.ask(Ask::BeforeSettle(BeforeSettleAsk { failed, entries: Vec::new() }));
    }

    pub(super) fn settle_or_go_on(&mut self, go_on: bool) {
        if self.is_aborted() {
            return self.flush_held();
        }
        match self.poll_queues() {
            Some(leaving) => self.start_run(Some(leaving)),
            None if go_on => self.start_run(None),
            None => self.flush_held(),
        }
    }

    /// Takes what waits, steering first.
    fn poll_queues(&mut self) -> Option<Leaving> {
        [QueueKind::Steer, QueueKind::FollowUp].into_iter().find_map(|kind| {
            let pending = self.queues.poll(kind);
            (!pending.is_empty()).then_some((pending, kind))
        })
    }

    pub(super) fn flush_held(&mut self) {
        // A turn that broke off has no end behind which they could stand.
        let said = mem::take(&mut self.after_turn);
        self.held.extend(said.into_iter().map(NewEntry::from));
        if self.held.is_empty() {
            return self.settled();
        }
        let entries = self.take_held();
        self.store(entries, false, Then::Held);
    }

    /// What was held is stored. What came meanwhile still belongs to the trace.
    pub(super) fn held_stored(&mut self) {
        let going = self.trace.is_some() && !self.is_aborted();
        match going.then(|| self.poll_queues()).flatten() {
            Some(leaving) => self.start_run(Some(leaving)),
            None => self.flush_held(),
        }
    }

    pub(super) fn settled(&mut self) {
        let Some(trace) = self.trace.take() else { return self.idle_again() };
        self.publish(Event::AgentSettled { aborted: trace.aborted });
        self.out.push(Effect::Journal(Note::Settled));
        self.out.push(Effect::Settle);
        for ticket in trace.abort_waiters {
            self.reply(ticket, Ok(Reply::Done));
        }
        self.idle_again();
    }

    /// Nothing is under way any more.
    pub(super) fn idle_again(&mut self) {
        self.next_work();
        self.phase = Phase::Idle;
        if !self.held.is_empty() && !self.refused {
            let entries = self.take_held();
            return self.store(entries, false, Then::Held);
        }
        if let Some((instructions, ticket)) = self.next_compaction.take() {
            return self.start_compaction(CompactionReason::Manual, instructions, Some(ticket));
        }
        for ticket in mem::take(&mut self.idle_waiters) {
            self.reply(ticket, Ok(Reply::Done));
        }
        while !self.is_saving()
            && let Some(command) = self.deferred.pop_front()
        {
            self.take(command);
        }
    }
}
