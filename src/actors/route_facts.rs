//! What a router may know of a branch: why the next request is made, what answered before, and its own state. Pure.

use std::{collections::HashSet, sync::Arc};

use serde_json::Value;

use crate::{
    protocol::{
        AgentMessage, AssistantMessage, Entry, EntryBody, ModelRef,
        route::{Dispatch, FailedDispatch, RouteReason, VIRTUAL_API, state_in},
    },
    store::{
        jsonl::{EntryKind, Role},
        tree::TreeView,
    },
};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteFacts {
    /// Why the request is made.
    pub reason: RouteReason,
    /// What the last good answer was made with.
    pub previous: Option<Dispatch>,
    /// What is tried again; none when the routing itself failed.
    pub failed: Option<FailedDispatch>,
    /// The router's state.
    pub state: Option<Value>,
}

impl RouteFacts {
    /// The facts of a request outside the loop, such as a summary: it has no state and leaves none.
    #[must_use]
    pub fn direct() -> Self {
        Self { reason: RouteReason::Direct, previous: None, failed: None, state: None }
    }

    /// The facts of the next request of the virtual model `name` at the leaf.
    #[must_use]
    pub fn at_leaf(tree: &TreeView, name: &ModelRef) -> Self {
        // The state may lie far above what the other facts are found in: only entries that can hold it are parsed.
        let customs = tree.ancestors().filter(|entry| entry.kind() == EntryKind::Custom).map(|entry| entry.entry());
        Self::read(newest_first(tree), customs, name)
    }

    /// Reads the facts off a branch, newest entry first; `customs` are those of its entries that may hold a state. The
    /// request is a retry when the last answer failed and is left out of the context; a message of the user after that
    /// answer is what counts otherwise.
    #[must_use]
    pub fn read(
        branch: impl Iterator<Item = Arc<Entry>>,
        mut customs: impl Iterator<Item = Arc<Entry>>,
        name: &ModelRef,
    ) -> Self {
        let mut omitted = HashSet::new();
        let state = customs.find_map(|entry| state_in(&entry.body, name).cloned());
        let mut facts = Self { reason: RouteReason::User, previous: None, failed: None, state };
        let mut reason_known = false;
        for entry in branch {
            match &entry.body {
                EntryBody::ContextEdit { target_id, replacement: None } => {
                    omitted.insert(target_id.clone());
                }
                EntryBody::Message { message: AgentMessage::User(_) } => reason_known = true,
                EntryBody::Message { message: AgentMessage::Assistant(answer) } => {
                    if !reason_known {
                        reason_known = true;
                        if answer.is_failed() && omitted.contains(&entry.id) {
                            facts.reason = RouteReason::Retry;
                            facts.failed = failed(answer);
                        } else {
                            facts.reason = RouteReason::Continuation;
                        }
                    }
                    if facts.previous.is_none() && is_good(answer) {
                        facts.previous = Some(Dispatch::of(answer));
                    }
                }
                _ => {}
            }
            if reason_known && facts.previous.is_some() {
                break;
            }
        }
        facts
    }
}

/// The physical model of the last good answer on the branch.
#[must_use]
pub fn last_dispatch(tree: &TreeView) -> Option<Dispatch> {
    let mut answers =
        newest_first(tree).filter_map(|entry| entry.body.as_message().and_then(AgentMessage::as_assistant).cloned());
    answers.find(|answer| is_good(answer)).map(|answer| Dispatch::of(&answer))
}

fn is_good(answer: &AssistantMessage) -> bool {
    !answer.is_failed() && answer.api != VIRTUAL_API
}

fn failed(answer: &Arc<AssistantMessage>) -> Option<FailedDispatch> {
    let routed = answer.api != VIRTUAL_API;
    routed.then(|| FailedDispatch { dispatch: Dispatch::of(answer), message: answer.clone() })
}

/// The entries of the branch that matter here; the others need not be parsed.
fn newest_first(tree: &TreeView) -> impl Iterator<Item = Arc<Entry>> {
    let matters =
        |kind: EntryKind| matches!(kind, EntryKind::Message(Role::User | Role::Assistant) | EntryKind::ContextEdit);
    tree.ancestors().filter(move |entry| matters(entry.kind())).map(|entry| entry.entry())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::{StopReason, ThinkingLevel, ToolResultMessage, route::state_entry};

    fn name(id: &str) -> ModelRef {
        ModelRef { provider: "team".into(), model_id: id.into() }
    }

    /// A branch in words: `user`, `good:MODEL`, `bad:MODEL`, `omit:NUMBER` (the entry's place), `result`, `state:N`,
    /// `other:N` (another virtual model's state), `unrouted` (a failure of the routing itself).
    fn branch(words: &str) -> Vec<Arc<Entry>> {
        let answer = |model: &str, api: &str, stop_reason| {
            let message = AssistantMessage {
                provider: "p".into(),
                model: model.into(),
                api: api.into(),
                stop_reason,
                thinking_level: Some("low".into()),
                ..AssistantMessage::default()
            };
            EntryBody::Message { message: AgentMessage::Assistant(Arc::new(message)) }
        };
        let body = |word: &str| {
            let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
            match kind {
                "user" => EntryBody::Message { message: AgentMessage::user("hi", 0) },
                "good" => answer(rest, "a", StopReason::Stop),
                "bad" => answer(rest, "a", StopReason::Error),
                "unrouted" => answer("auto", VIRTUAL_API, StopReason::Error),
                "omit" => EntryBody::ContextEdit { target_id: format!("e{rest}").into(), replacement: None },
                "result" => {
                    let result = AgentMessage::ToolResult(Arc::new(ToolResultMessage::default()));
                    EntryBody::Message { message: result }
                }
                "state" => state_entry(&name("auto"), json!(rest)),
                "other" => state_entry(&name("other"), json!(rest)),
                "note" => EntryBody::SessionInfo { name: None },
                word => panic!("{word}"),
            }
        };
        let entry = |(at, word): (usize, &str)| {
            Arc::new(Entry { body: body(word), id: format!("e{at}").into(), parent_id: None, timestamp: String::new() })
        };
        words.split_whitespace().enumerate().map(entry).collect()
    }

    fn read(words: &str) -> String {
        let newest_first = || branch(words).into_iter().rev();
        let facts = RouteFacts::read(newest_first(), newest_first(), &name("auto"));
        let mut out = facts.reason.name().to_owned();
        if let Some(previous) = facts.previous {
            assert_eq!(previous.thinking_level, ThinkingLevel::Low);
            out += &format!(" previous={}", previous.model.model_id);
        }
        if let Some(failed) = facts.failed {
            out += &format!(" failed={}", failed.dispatch.model.model_id);
        }
        if let Some(state) = facts.state {
            out += &format!(" state={}", state.as_str().unwrap());
        }
        out
    }

    #[test]
    fn a_branch_tells_why_the_next_request_is_made_and_what_was_before() {
        let table = [
            ("", "user"),
            ("user", "user"),
            ("user state:1", "user state=1"),
            ("user state:1 good:m result", "continuation previous=m state=1"),
            ("user state:1 good:m result state:2", "continuation previous=m state=2"),
            ("user good:m user", "user previous=m"),
            ("user good:m result user other:9", "user previous=m"),
            ("user state:1 bad:m omit:2", "retry failed=m state=1"),
            ("user state:1 bad:m omit:2 state:2", "retry failed=m state=2"),
            ("user good:n result bad:m omit:3", "retry previous=n failed=m"),
            ("user bad:m omit:1 user", "user"),
            ("user unrouted omit:1", "retry"),
            ("user good:m unrouted", "continuation previous=m"),
            // Given up: what follows is no retry.
            ("user bad:m", "continuation"),
            ("user bad:m omit:1 bad:n omit:3 note", "retry failed=n"),
        ];
        for (words, expected) in table {
            assert_eq!(read(words), expected, "{words}");
        }
    }
}
