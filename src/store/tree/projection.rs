//! The messages that one entry gives to the context.

use std::sync::Arc;

use crate::protocol::{
    AgentMessage, AssistantMessage, Entry, EntryBody, ToolResultMessage, UserMessage,
    entry::Replacement,
    message::{BranchSummaryMessage, CompactionSummaryMessage, CustomMessage},
    time::{Millis, parse_iso},
};

/// Adds the messages of `entry`, as the last context edit of it wants them, to `messages`. `checkpoint` is true for
/// the compaction that the context begins with; older ones give nothing.
pub fn project(entry: &Entry, edit: Option<&Option<Replacement>>, checkpoint: bool, messages: &mut Vec<AgentMessage>) {
    let replacement = match edit {
        Some(None) => return,
        Some(Some(replacement)) => Some(replacement),
        None => None,
    };
    match &entry.body {
        EntryBody::Message { message } => messages.push(edited(message.clone(), replacement)),
        EntryBody::CustomMessage { custom_type, content, display, details } => {
            let custom = AgentMessage::Custom(Arc::new(CustomMessage {
                custom_type: custom_type.clone(),
                content: content.clone(),
                display: *display,
                details: details.clone(),
                timestamp: millis(entry),
            }));
            messages.push(edited(custom, replacement));
        }
        EntryBody::BranchSummary { from_id, summary, .. } if !summary.is_empty() => {
            messages.push(AgentMessage::BranchSummary(Arc::new(BranchSummaryMessage {
                summary: summary.clone(),
                from_id: from_id.clone(),
                timestamp: millis(entry),
            })));
        }
        EntryBody::Compaction { summary, tokens_before, system_message, .. } if checkpoint => {
            messages.extend(system_message.clone().map(AgentMessage::System));
            messages.push(AgentMessage::CompactionSummary(Arc::new(CompactionSummaryMessage {
                summary: summary.clone(),
                tokens_before: *tokens_before,
                timestamp: millis(entry),
            })));
        }
        _ => {}
    }
}

/// The message with other content; kinds whose content cannot be replaced stay as they are.
fn edited(message: AgentMessage, replacement: Option<&Replacement>) -> AgentMessage {
    let Some(Replacement { content }) = replacement else { return message };
    match message {
        AgentMessage::User(user) => {
            AgentMessage::User(Arc::new(UserMessage { content: content.clone(), timestamp: user.timestamp }))
        }
        AgentMessage::Assistant(answer) => AgentMessage::Assistant(Arc::new(AssistantMessage {
            content: content.blocks().into_owned(),
            ..Arc::unwrap_or_clone(answer)
        })),
        AgentMessage::ToolResult(result) => AgentMessage::ToolResult(Arc::new(ToolResultMessage {
            content: content.blocks().into_owned(),
            ..Arc::unwrap_or_clone(result)
        })),
        AgentMessage::Custom(custom) => {
            AgentMessage::Custom(Arc::new(CustomMessage { content: content.clone(), ..Arc::unwrap_or_clone(custom) }))
        }
        other => other,
    }
}

fn millis(entry: &Entry) -> Millis {
    parse_iso(&entry.timestamp).unwrap_or_default()
}
