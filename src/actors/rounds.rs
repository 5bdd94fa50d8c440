//! Rounds of calls that bring nothing new: the model makes the same calls again and again, and gets the same results.
//! Pure.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use crate::protocol::{AssistantMessage, ToolResultMessage};

/// Equal rounds in a row after which the model is told.
pub const TELL_AFTER: u32 = 5;
/// Equal rounds in a row after which the run ends.
pub const END_AFTER: u32 = 15;
/// A call that runs longer waits for something, which is no loop: somebody may look every minute whether a build is
/// done. Milliseconds.
const WAITS: u64 = 2_000;

/// The rounds of a run so far.
#[derive(Debug, Default)]
pub struct Rounds {
    last: Option<u64>,
    equal: u32,
}

/// What a round calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Nothing.
    GoOn,
    /// The model should be told.
    Tell,
    /// The run should end.
    End,
}

impl Rounds {
    /// Takes in a round: an answer and the results of its calls.
    pub fn note(&mut self, answer: &AssistantMessage, results: &[Arc<ToolResultMessage>]) -> Round {
        if results.iter().any(|result| result.duration_ms.is_some_and(|ms| ms > WAITS)) {
            *self = Self::default();
            return Round::GoOn;
        }
        let mark = mark(answer, results);
        self.equal = if self.last == Some(mark) { self.equal + 1 } else { 1 };
        self.last = Some(mark);
        match self.equal {
            TELL_AFTER => Round::Tell,
            END_AFTER.. => Round::End,
            _ => Round::GoOn,
        }
    }
}

/// Calls and results as one number; what the model says beside them does not count.
fn mark(answer: &AssistantMessage, results: &[Arc<ToolResultMessage>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for call in answer.tool_calls() {
        (&call.name, json(&call.arguments)).hash(&mut hasher);
    }
    for result in results {
        (result.is_error, json(&result.content)).hash(&mut hasher);
    }
    hasher.finish()
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// What the model is told.
#[must_use]
pub fn notice() -> String {
    format!(
        "Notice of the program, not of the user. The last {TELL_AFTER} rounds made the same calls and got the same results. \
         Making them again brings nothing new: use what they gave, try something else, or say what is missing. After {} \
         more such rounds the run ends.",
        END_AFTER - TELL_AFTER
    )
}

/// Why the run ends.
#[must_use]
pub fn end_text() -> String {
    format!("The run was ended: the model made the same calls {END_AFTER} times in a row and got the same results.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::{Block, ToolCall};

    /// A round in words: the path that is read, what it gave, and how many milliseconds it took.
    fn round(path: &str, text: &str, ms: u64) -> (AssistantMessage, Vec<Arc<ToolResultMessage>>) {
        let arguments = json!({"path": path}).as_object().unwrap().clone();
        let call = ToolCall { name: "read".into(), arguments, ..ToolCall::default() };
        let content = vec![Block::text(format!("at {ms}")), Block::ToolCall(call)];
        let result = ToolResultMessage {
            content: vec![Block::text(text)],
            duration_ms: Some(ms),
            ..ToolResultMessage::default()
        };
        (AssistantMessage { content, ..AssistantMessage::default() }, vec![Arc::new(result)])
    }

    #[test]
    fn fc_081_equal_rounds_are_told_and_end_and_whatever_differs_or_waits_begins_anew() {
        let mut rounds = Rounds::default();
        let mut note = |path: &str, text: &str, ms: u64| {
            let (answer, results) = round(path, text, ms);
            rounds.note(&answer, &results)
        };
        for n in 1..=16u32 {
            let wanted = match n {
                5 => Round::Tell,
                15.. => Round::End,
                _ => Round::GoOn,
            };
            assert_eq!(note("a", "x", u64::from(n)), wanted, "{n}");
        }
        for (path, text, ms) in [("b", "x", 1), ("b", "y", 1), ("b", "y", 3_000)] {
            assert_eq!(note(path, text, ms), Round::GoOn);
            let next: Vec<_> = (0..4).map(|_| note("a", "x", 1)).collect();
            assert_eq!(next, [Round::GoOn; 4], "counted from one");
        }
    }
}
