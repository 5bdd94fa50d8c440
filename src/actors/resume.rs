//! Where an agent goes on: read off the session's branch and the run state beside it. Pure.

use std::{collections::HashSet, sync::Arc};

use super::{
    batch::Batch,
    queues::{Pending, Queues},
    turn_io::NewEntry,
};
use crate::protocol::{
    AgentMessage, AssistantMessage, Entry, EntryBody, EntryId, Failure, FailureClass, ToolResultMessage,
    navigation::is_leaf_entry,
};

/// What a new incarnation of the turn loop begins with.
#[derive(Debug, Default)]
pub struct Resume {
    /// A trace was running and is to go on.
    pub active: bool,
    /// Its prompt, when it was accepted and not yet stored.
    pub prompt: Option<Pending>,
    /// What waits.
    pub queues: Queues,
    /// Entries that waited for the end of a trace.
    pub held: Vec<NewEntry>,
    /// Where the branch ends.
    pub position: Position,
    /// The retry that was under way, from 1.
    pub attempt: u32,
}

/// Where a branch ends.
#[derive(Debug, Default)]
pub enum Position {
    /// There is nothing to go on with.
    #[default]
    Nothing,
    /// The model owes an answer to what was delivered.
    NeedsAnswer,
    /// The last answer failed and is left out of the context: it is to be tried again.
    Retry,
    /// The last answer asks for tools.
    Calls {
        /// Its calls, with the results that are stored.
        batch: Batch,
        /// The answer.
        message: Arc<AssistantMessage>,
        /// The stored results with their entries.
        results: Vec<(EntryId, Arc<ToolResultMessage>)>,
    },
    /// The last answer asks for nothing, or failed.
    Answered {
        /// Its entry.
        entry: EntryId,
        /// The answer.
        message: Arc<AssistantMessage>,
        /// Why it failed.
        failure: Option<Failure>,
    },
}

/// Reads the position off a branch, leaf first: `branch` gives it, as often as it is called, and only as much of it is
/// taken as tells. `classify` judges the error text of a failed answer, as the failure itself is not stored. The number
/// is that of the retry under way: failed attempts at the end of the branch that are left out of the context already.
#[must_use]
pub fn position<B: Iterator<Item = Arc<Entry>>>(
    branch: impl Fn() -> B,
    classify: impl Fn(&AssistantMessage) -> Failure,
) -> (Position, u32) {
    (end_of(branch(), &classify), retries(branch(), &classify))
}

fn end_of(branch: impl Iterator<Item = Arc<Entry>>, classify: impl Fn(&AssistantMessage) -> Failure) -> Position {
    let mut omitted = HashSet::new();
    let mut answer_omitted = false;
    let mut results = Vec::new();
    for entry in branch {
        let message = match &entry.body {
            EntryBody::ContextEdit { target_id, replacement: None } => {
                omitted.insert(target_id.clone());
                continue;
            }
            EntryBody::Message { message } if omitted.contains(&entry.id) => {
                answer_omitted |= matches!(message, AgentMessage::Assistant(_));
                continue;
            }
            EntryBody::Message { message } => message,
            EntryBody::CustomMessage { .. } if !omitted.contains(&entry.id) => return owed(answer_omitted),
            // The conversation came back to what is above: nothing of that is to be gone on with.
            EntryBody::BranchSummary { .. } => return Position::Nothing,
            body if is_leaf_entry(body) => return Position::Nothing,
            _ => continue,
        };
        match message {
            AgentMessage::ToolResult(result) => results.push((entry.id.clone(), result.clone())),
            AgentMessage::Assistant(_) if answer_omitted => return owed(answer_omitted),
            AgentMessage::Assistant(message) => {
                results.reverse();
                return answered(entry.id.clone(), message, results, classify);
            }
            AgentMessage::System(_) | AgentMessage::Unknown(_) | AgentMessage::BashExecution(_) => {}
            _ => return owed(answer_omitted),
        }
    }
    Position::Nothing
}

/// What the model owes, given whether its last answer is left out.
fn owed(answer_omitted: bool) -> Position {
    if answer_omitted { Position::Retry } else { Position::NeedsAnswer }
}

/// Counts the failed attempts that are left out of the context, back from the end of the branch; the last failure may
/// not be left out yet. A success, or a message of the user, ends the count. An overflow is no retry.
fn retries(branch: impl Iterator<Item = Arc<Entry>>, classify: impl Fn(&AssistantMessage) -> Failure) -> u32 {
    let mut omitted = HashSet::new();
    let mut count = 0;
    let mut newest = true;
    for entry in branch {
        match &entry.body {
            EntryBody::ContextEdit { target_id, replacement: None } => {
                omitted.insert(target_id.clone());
            }
            EntryBody::Message { message: AgentMessage::Assistant(message) } => {
                let is_omitted = omitted.contains(&entry.id);
                if !message.is_failed() || !(is_omitted || newest) {
                    break;
                }
                if is_omitted && classify(message).class != FailureClass::ContextOverflow {
                    count += 1;
                }
                newest = false;
            }
            EntryBody::Message { message: AgentMessage::User(_) } | EntryBody::CustomMessage { .. } => break,
            _ => {}
        }
    }
    count
}

fn answered(
    entry: EntryId,
    message: &Arc<AssistantMessage>,
    results: Vec<(EntryId, Arc<ToolResultMessage>)>,
    classify: impl Fn(&AssistantMessage) -> Failure,
) -> Position {
    let mut batch = Batch::new(entry.clone(), message);
    if message.is_failed() || batch.calls.is_empty() {
        let failure = message.is_failed().then(|| classify(message));
        return Position::Answered { entry, message: message.clone(), failure };
    }
    // Ids may come twice: each result answers the first call of its id that has none.
    for (_, result) in &results {
        let place = (0..batch.calls.len())
            .find(|place| batch.calls[*place].id == result.tool_call_id && !batch.has_result(*place));
        if let Some(place) = place {
            batch.found(place, result);
        }
    }
    Position::Calls { batch, message: message.clone(), results }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Block, StopReason, ToolCall, navigation::leaf_entry};

    fn entry(id: &str, body: EntryBody) -> Arc<Entry> {
        Arc::new(Entry { body, id: id.into(), parent_id: None, timestamp: String::new() })
    }

    fn user(id: &str) -> Arc<Entry> {
        entry(id, EntryBody::Message { message: AgentMessage::user("hi", 0) })
    }

    fn assistant(id: &str, calls: &[&str], stop_reason: StopReason) -> Arc<Entry> {
        let content = calls
            .iter()
            .map(|id| Block::ToolCall(ToolCall { id: (*id).into(), name: "bash".into(), ..ToolCall::default() }))
            .collect();
        let message = AssistantMessage { content, stop_reason, ..AssistantMessage::default() };
        entry(id, EntryBody::Message { message: AgentMessage::Assistant(Arc::new(message)) })
    }

    fn result(id: &str, call: &str) -> Arc<Entry> {
        let message = ToolResultMessage { tool_call_id: call.into(), ..ToolResultMessage::default() };
        entry(id, EntryBody::Message { message: AgentMessage::ToolResult(Arc::new(message)) })
    }

    fn omit(id: &str, target: &str) -> Arc<Entry> {
        entry(id, EntryBody::ContextEdit { target_id: target.into(), replacement: None })
    }

    fn describe(branch: &[Arc<Entry>]) -> String {
        let (position, attempt) =
            position(|| branch.iter().rev().cloned(), |_| Failure::new(FailureClass::Overloaded, "busy"));
        match position {
            Position::Nothing => "nothing".into(),
            Position::NeedsAnswer => format!("needs answer, attempt {attempt}"),
            Position::Retry => format!("retry, attempt {attempt}"),
            Position::Calls { batch, results, .. } => {
                let open: Vec<_> = (0..batch.calls.len()).filter(|place| !batch.has_result(*place)).collect();
                format!("calls, open {open:?}, stored {}", results.len())
            }
            Position::Answered { failure, .. } => format!("answered, failed {}, attempt {attempt}", failure.is_some()),
        }
    }

    #[test]
    fn the_end_of_a_branch_says_where_to_go_on() {
        use StopReason::{Error, Stop, ToolUse};
        let table: Vec<(Vec<Arc<Entry>>, &str)> = vec![
            (vec![], "nothing"),
            (vec![user("u")], "needs answer, attempt 0"),
            (vec![user("u"), assistant("a", &[], Stop)], "answered, failed false, attempt 0"),
            (vec![user("u"), assistant("a", &[], Error)], "answered, failed true, attempt 0"),
            (vec![user("u"), assistant("a", &["x", "y"], ToolUse)], "calls, open [0, 1], stored 0"),
            (vec![user("u"), assistant("a", &["x", "x"], ToolUse), result("r", "x")], "calls, open [1], stored 1"),
            (vec![user("u"), assistant("a", &["x"], ToolUse), result("r", "x")], "calls, open [], stored 1"),
            (vec![user("u"), assistant("a", &["x"], ToolUse), entry("l", leaf_entry())], "nothing"),
            (
                vec![user("u"), assistant("a", &[], Stop), entry("l", leaf_entry()), user("v")],
                "needs answer, attempt 0",
            ),
            (
                vec![user("u"), assistant("a", &[], Error), omit("c", "a"), assistant("b", &[], Error), omit("d", "b")],
                "retry, attempt 2",
            ),
            (vec![user("u"), assistant("a", &[], Error), omit("c", "a"), user("steering")], "needs answer, attempt 0"),
            (
                vec![user("u"), assistant("a", &[], Error), omit("c", "a"), assistant("b", &[], Error)],
                "answered, failed true, attempt 1",
            ),
            (
                vec![user("u"), assistant("a", &[], Error), omit("c", "a"), assistant("b", &[], Stop)],
                "answered, failed false, attempt 0",
            ),
            (
                vec![user("u"), assistant("a", &["x"], ToolUse), result("r", "x"), omit("c", "r"), omit("d", "a")],
                "retry, attempt 0",
            ),
        ];
        for (branch, wanted) in table {
            assert_eq!(describe(&branch), wanted);
        }
    }
}
