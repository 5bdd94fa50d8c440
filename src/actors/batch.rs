//! The bookkeeping of one batch of tool calls: every call gets exactly one result, whatever dies. Pure.

use std::{collections::HashSet, sync::Arc};

use crate::protocol::{AssistantMessage, EntryId, StopReason, ToolCall, ToolOutput, ToolResultMessage, time::Millis};

/// What the model reads when a call was cut off by a crash and cannot be repeated safely.
pub const INTERRUPTED: &str = "The call was interrupted by a crash of the agent before its result was stored. It may \
                               have had effects: check before repeating it.";
/// What the model reads when the user aborted before or while a call ran.
pub const ABORTED: &str = "Operation aborted";
/// What the model reads when its message hit the output limit.
pub const CUT_OFF: &str = "The call was not executed: the response hit the output token limit, so its arguments may \
                           be incomplete. Issue the call again with complete arguments.";

/// A finished call.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// What it gave.
    pub output: Arc<ToolOutput>,
    /// Milliseconds that it ran; none when it did not run.
    pub duration_ms: Option<u64>,
    /// When it ended.
    pub timestamp: Millis,
}

/// One batch: the calls of one assistant message.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The entry of the message.
    pub entry: EntryId,
    /// The calls in order.
    pub calls: Arc<[ToolCall]>,
    started: Vec<bool>,
    results: Vec<Option<Finished>>,
    /// Calls whose result is in the session already.
    stored: Vec<bool>,
}

impl Batch {
    /// The batch of a message whose calls have not begun.
    #[must_use]
    pub fn new(entry: EntryId, message: &AssistantMessage) -> Self {
        let calls: Arc<[ToolCall]> = message.tool_calls().cloned().collect();
        let count = calls.len();
        Self { entry, calls, started: vec![false; count], results: vec![None; count], stored: vec![false; count] }
    }

    /// Notes a result that is in the session already.
    pub fn found(&mut self, place: usize, result: &ToolResultMessage) {
        let output = ToolOutput {
            content: result.content.clone(),
            details: result.details.clone(),
            is_error: result.is_error,
            ..ToolOutput::default()
        };
        let finished =
            Finished { output: Arc::new(output), duration_ms: result.duration_ms, timestamp: result.timestamp };
        if let Some(stored) = self.stored.get_mut(place) {
            *stored = true;
        }
        self.finish(place, finished);
    }

    /// Notes that calls begin: from here on they may have effects.
    pub fn start(&mut self, places: &[usize]) {
        for place in places {
            if let Some(started) = self.started.get_mut(*place) {
                *started = true;
            }
        }
    }

    /// Notes a result. The first one counts.
    pub fn finish(&mut self, place: usize, finished: Finished) {
        if let Some(result @ None) = self.results.get_mut(place) {
            *result = Some(finished);
        }
    }

    /// Notes that all calls may have had effects: nobody knows which of them had begun.
    pub fn start_all(&mut self) {
        self.started.fill(true);
    }

    /// Whether a call has a result.
    #[must_use]
    pub fn has_result(&self, place: usize) -> bool {
        self.results.get(place).is_some_and(Option::is_some)
    }

    /// Whether every call has a result.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.results.iter().all(Option::is_some)
    }

    /// Gives every call without a result this error; says which.
    pub fn fail_rest(&mut self, text: &str, now: Millis) -> Vec<usize> {
        let missing: Vec<usize> = (0..self.calls.len()).filter(|place| self.results[*place].is_none()).collect();
        for place in &missing {
            self.results[*place] =
                Some(Finished { output: Arc::new(ToolOutput::error(text)), duration_ms: None, timestamp: now });
        }
        missing
    }

    /// After a crash: calls that had begun and may have had effects get an "interrupted" result. Returns the places
    /// of those that can be run (not begun, or of a tool that only reads) and of those that were interrupted.
    pub fn recover(&mut self, read_only: &HashSet<String>, now: Millis) -> (Vec<usize>, Vec<usize>) {
        let (mut runnable, mut interrupted) = (Vec::new(), Vec::new());
        for place in 0..self.calls.len() {
            if self.results[place].is_some() {
                continue;
            }
            if !self.started[place] || read_only.contains(&self.calls[place].name) {
                self.started[place] = false;
                runnable.push(place);
            } else {
                interrupted.push(place);
                self.results[place] = Some(Finished {
                    output: Arc::new(ToolOutput::error(INTERRUPTED)),
                    duration_ms: None,
                    timestamp: now,
                });
            }
        }
        (runnable, interrupted)
    }

    /// Whether the batch asks the loop to end: it has results and every one of them says so.
    #[must_use]
    pub fn terminates(&self) -> bool {
        !self.results.is_empty()
            && self.results.iter().all(|result| result.as_ref().is_some_and(|finished| finished.output.terminate))
    }

    /// The result messages that are still to be stored, in call order.
    pub fn unstored_messages(&self) -> impl Iterator<Item = ToolResultMessage> + '_ {
        self.calls.iter().zip(&self.results).zip(&self.stored).filter_map(|((call, result), stored)| {
            let finished = result.as_ref().filter(|_| !stored)?;
            let output = &finished.output;
            Some(ToolResultMessage {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                content: output.content.clone(),
                details: output.details.clone(),
                usage: output.usage,
                nested_calls: None,
                is_error: output.is_error,
                timestamp: finished.timestamp,
                duration_ms: finished.duration_ms,
            })
        })
    }
}

/// What a message's calls need: nothing, to be run, or to be refused because the message was cut off.
#[must_use]
pub fn refusal(message: &AssistantMessage) -> Option<&'static str> {
    (message.stop_reason == StopReason::Length).then_some(CUT_OFF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Block;

    fn batch(names: &[&str]) -> Batch {
        let content = names
            .iter()
            .map(|name| Block::ToolCall(ToolCall { id: "same".into(), name: (*name).into(), ..ToolCall::default() }))
            .collect();
        Batch::new(EntryId::from("e"), &AssistantMessage { content, ..AssistantMessage::default() })
    }

    fn finished(text: &str) -> Finished {
        Finished { output: Arc::new(ToolOutput::text(text)), duration_ms: Some(1), timestamp: 1 }
    }

    #[test]
    fn after_a_crash_only_what_may_have_had_effects_is_interrupted() {
        let mut batch = batch(&["read", "bash", "bash", "bash"]);
        batch.start(&[0, 1, 2]);
        batch.finish(2, finished("done"));
        let (runnable, interrupted) = batch.recover(&HashSet::from(["read".to_owned()]), 9);
        assert_eq!((runnable, interrupted), (vec![0, 3], vec![1]));
        batch.finish(0, finished("again"));
        batch.finish(0, finished("late and ignored"));
        batch.finish(3, finished("first run"));
        assert!(batch.is_complete());
        let texts: Vec<_> =
            batch.unstored_messages().map(|m| (m.is_error, m.content[0].as_text().unwrap_or("").to_owned())).collect();
        assert_eq!(
            texts,
            [
                (false, "again".to_owned()),
                (true, INTERRUPTED.to_owned()),
                (false, "done".to_owned()),
                (false, "first run".to_owned())
            ]
        );
    }

    #[test]
    fn a_batch_ends_the_loop_only_when_every_result_says_so() {
        let stop = Finished {
            output: Arc::new(ToolOutput { terminate: true, ..ToolOutput::default() }),
            duration_ms: None,
            timestamp: 0,
        };
        let mut batch = batch(&["a", "b"]);
        batch.finish(0, stop.clone());
        assert!(!batch.terminates());
        batch.finish(1, stop);
        assert!(batch.terminates());
        assert!(!super::tests::batch(&[]).terminates());
    }
}
