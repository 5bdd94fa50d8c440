//! What entries of a tree say, in a line.

use std::{borrow::Cow, sync::Arc};

use crate::{
    protocol::{AgentMessage, Entry, EntryBody, message::StopReason},
    store::tree::EntryRef,
    tui::{text::one_line, work::WorkDone, working::WorkContext},
};

/// Characters of an entry that are shown and searched.
const SHOWN: usize = 400;
/// Entries that are looked at before they are told.
const CHUNK: usize = 4_096;

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Who or what says it, such as `user`.
    pub who: Cow<'static, str>,
    /// The beginning of the text, on one line, fit to be drawn.
    pub text: Box<str>,
    /// It is an answer that holds nothing but calls.
    pub silent: bool,
}

impl Said {
    /// What an entry says. Reads it.
    #[must_use]
    pub fn by(entry: &EntryRef<'_>) -> Self {
        Self::of(&entry.entry_once())
    }

    fn of(entry: &Entry) -> Self {
        let said = |who: &'static str, text: &str| Self { who: who.into(), text: shown(text), silent: false };
        match &entry.body {
            EntryBody::Message { message } => Self::of_message(message),
            EntryBody::ModelChange { provider, model_id } => said("model", &format!("{provider}/{model_id}")),
            EntryBody::ThinkingLevelChange { thinking_level } => said("thinking", thinking_level),
            EntryBody::Usage { kind, .. } => said("usage", kind),
            EntryBody::Compaction { summary, .. } => said("compaction", summary),
            EntryBody::ContextEdit { target_id, .. } => said("edit", target_id.as_str()),
            EntryBody::BranchSummary { summary, .. } => said("branch summary", summary),
            EntryBody::Custom { custom_type, .. } => said("custom", custom_type),
            EntryBody::CustomMessage { custom_type, content, .. } => {
                Self { who: one_line(custom_type).into(), text: shown(&content.text(" ")), silent: false }
            }
            EntryBody::Label { label, .. } => said("label", label.as_deref().unwrap_or("(cleared)")),
            EntryBody::SessionInfo { name } => said("name", name.as_deref().unwrap_or("(cleared)")),
            EntryBody::Unknown(_) => Self { who: one_line(entry.body.kind()).into(), text: "".into(), silent: false },
        }
    }

    fn of_message(message: &AgentMessage) -> Self {
        let said = |who: &'static str, text: &str| Self { who: who.into(), text: shown(text), silent: false };
        match message {
            AgentMessage::User(user) => said("user", &user.content.text(" ")),
            AgentMessage::Assistant(answer) => {
                let text = crate::protocol::message::text_of(&answer.content, " ");
                let failure = match answer.stop_reason {
                    StopReason::Error => Some(answer.error_message.as_deref().unwrap_or("error")),
                    StopReason::Aborted => Some("aborted"),
                    _ => None,
                };
                match (text.trim(), failure) {
                    ("", Some(failure)) => said("assistant", &format!("({failure})")),
                    ("", None) => {
                        let calls: Vec<&str> = answer.tool_calls().map(|call| &*call.name).collect();
                        let silent = !calls.is_empty();
                        let text = if silent { format!("calls {}", calls.join(", ")) } else { "(nothing)".to_owned() };
                        Self { silent, ..said("assistant", &text) }
                    }
                    (text, _) => said("assistant", text),
                }
            }
            AgentMessage::ToolResult(result) => {
                let text = crate::protocol::message::text_of(&result.content, " ");
                Self { who: one_line(&result.tool_name).into(), text: shown(&text), silent: false }
            }
            AgentMessage::BashExecution(bash) => said("$", &bash.command),
            AgentMessage::System(_) => said("system", ""),
            other => Self { who: one_line(other.role()).into(), text: "".into(), silent: false },
        }
    }
}

fn shown(text: &str) -> Box<str> {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if words.len() > 4 * SHOWN {
            break;
        }
    }
    let end = words.char_indices().nth(SHOWN).map_or(words.len(), |(at, _)| at);
    one_line(&words[..end]).into()
}

/// The text of an entry as it is copied: all of it.
#[must_use]
pub fn whole(entry: &Entry) -> String {
    match &entry.body {
        EntryBody::Message { message } => match message {
            AgentMessage::User(user) => user.content.text("\n"),
            AgentMessage::Assistant(answer) => crate::protocol::message::text_of(&answer.content, "\n\n"),
            AgentMessage::ToolResult(result) => crate::protocol::message::text_of(&result.content, "\n"),
            AgentMessage::BashExecution(bash) => format!("$ {}\n{}", bash.command, bash.output),
            _ => String::new(),
        },
        EntryBody::Compaction { summary, .. } | EntryBody::BranchSummary { summary, .. } => summary.clone(),
        EntryBody::CustomMessage { content, .. } => content.text("\n"),
        _ => String::new(),
    }
}

/// Looks at the first entries of the session, the last of them first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextsWork {
    /// So many of them.
    pub count: usize,
}

/// What some entries say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextsFound {
    /// The position of the first.
    pub from: usize,
    /// What they say, in order.
    pub said: Arc<[Said]>,
}

impl TextsWork {
    /// Reads and tells, piece by piece.
    pub fn run(self, context: &WorkContext) {
        let Some(tree) = context.shared.tree() else { return };
        let mut end = self.count.min(tree.len());
        while end > 0 && !context.cancelled.is_cancelled() {
            let from = end.saturating_sub(CHUNK);
            let entries = (from..end).filter_map(|position| tree.entry_at(position));
            let said = entries.map(|entry| Said::by(&entry)).collect();
            context.send(WorkDone::TreeTexts(TextsFound { from, said }));
            end = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::testing::{answer, compaction, line, user, view};

    #[test]
    fn entries_are_told_in_a_line() {
        let calls = |stop: &str| {
            let call = json!({"type": "toolCall", "id": "1", "name": "read", "arguments": {}});
            json!({"message": {"role": "assistant", "content": [call], "stopReason": stop, "timestamp": 1}})
        };
        let lines = [
            user("a", "", "one\n\ttwo \u{1b}[2J"),
            answer("b", "a", "fine"),
            line("message", "c", "b", calls("toolUse")),
            line("message", "d", "c", calls("aborted")),
            compaction("e", "d", "All of it.", "a"),
            line("model_change", "f", "e", json!({"provider": "p", "modelId": "m"})),
        ];
        let tree = view(&lines);
        let told: Vec<_> = tree.entries().map(|entry| Said::by(&entry)).collect();
        let told: Vec<_> = told.iter().map(|said| (&*said.who, &*said.text, said.silent)).collect();
        assert_eq!(
            told,
            [
                ("user", "one two <U+001B>[2J", false),
                ("assistant", "fine", false),
                ("assistant", "calls read", true),
                ("assistant", "(aborted)", false),
                ("compaction", "All of it.", false),
                ("model", "p/m", false),
            ]
        );
    }
}
