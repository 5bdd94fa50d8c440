//! What is done about workers that die and a disk that refuses: nothing is lost, and nothing fails in silence.

use std::mem;

use super::{OpenCalls, Phase, Then, Turn};
use crate::{
    actors::turn_io::{Effect, Note},
    protocol::{
        CommandError, Event, Failure, FailureClass, RunMessages, StopReason, command::QueueKind, event::NoticeLevel,
    },
};

/// How often workers that die are started again within one trace before the turn fails.
const RESPAWNS: u32 = 3;

impl Turn {
    /// A worker died before it answered. What it did is done again where that is safe: the session is the same as if
    /// nothing had happened. Three deaths in a trace are a defect that does not pass, and fail the turn.
    pub(super) fn gone(&mut self, actor: &'static str, cause: &str) {
        if !matches!(self.phase, Phase::Preparing | Phase::Streaming | Phase::RunningTools) {
            return match self.phase {
                Phase::Asking(_) => self.asked(None),
                Phase::Compacting(..) => self.compacted(Err(format!("the compactor failed: {cause}"))),
                _ => {}
            };
        }
        let trace = self.trace();
        trace.respawns += 1;
        let (spent, aborted) = (trace.respawns > RESPAWNS, trace.aborted);
        if !aborted && !spent {
            self.publish(Event::Restarted { actor: actor.to_owned(), cause: cause.to_owned() });
        }
        match self.phase {
            Phase::RunningTools if aborted || spent => self.batch_done(),
            Phase::RunningTools => match self.trace().batch.take() {
                Some(batch) => self.recover(batch),
                None => self.store_results(),
            },
            _ if aborted => self.answer_aborted(),
            _ if spent => self.failed_before_start(Failure::new(
                FailureClass::Internal,
                format!("the worker for the model call ({actor}) failed repeatedly: {cause}"),
            )),
            _ => self.call_model(),
        }
    }

    /// The disk refuses: the trace ends here, visibly, and nothing that was queued or done is lost.
    pub(super) fn store_failed(&mut self, then: Then, cause: String) {
        let text = format!(
            "The session could not be saved: {cause}. The run ends here; what was done last may be missing in the session."
        );
        self.publish(Event::Notice { level: NoticeLevel::Error, text: text.clone() });
        match then {
            Then::Append(ticket) => self.reply(ticket, Err(CommandError::Store(cause.clone()))),
            Then::Compaction(reason, ticket, _) => {
                self.compaction_failed(reason, ticket, &cause, CommandError::Store(cause.clone()));
            }
            Then::Results => self.keep_results(),
            _ => {}
        }
        if self.trace.is_none() {
            return self.idle_again();
        }
        self.return_messages(&cause);
        if mem::take(&mut self.trace().in_turn) {
            let message = self.empty_answer(StopReason::Error, &text);
            self.publish(Event::TurnEnd { message, tool_results: Vec::new() });
        }
        if mem::take(&mut self.trace().in_run) {
            let messages = RunMessages::of(mem::take(&mut self.trace().messages));
            self.publish(Event::AgentEnd { messages, will_retry: false });
        }
        self.fail_retry(&cause);
        self.settled();
    }

    /// Results that could not be stored are stored before the next prompt: the calls do not run again.
    fn keep_results(&mut self) {
        let trace = self.trace();
        let results = mem::take(&mut trace.results);
        if let (Some(batch), Some((_, message))) = (trace.batch.take(), trace.answer.clone()) {
            self.open = Some(OpenCalls { batch, message, results });
        }
    }

    /// Gives back what was about to be stored: messages to their queue, the prompt to whoever sent it. A prompt of an
    /// earlier process has nobody to go back to and waits in the queue.
    fn return_messages(&mut self, cause: &str) {
        let trace = self.trace();
        let prompt = trace.prompt.take();
        if let Some((pending, kind)) = trace.leaving.take().or(trace.next.take()) {
            self.queues.put_back(kind, pending);
        }
        match prompt {
            Some((_, Some(ticket))) => self.reply(ticket, Err(CommandError::Store(cause.to_owned()))),
            Some((pending, None)) => {
                let kind = QueueKind::Steer;
                self.out.push(Effect::Journal(Note::Accepted { kind: Some(kind), pending: pending.clone() }));
                self.queues.push(kind, pending);
                self.publish_queues();
            }
            None => {}
        }
    }
}
