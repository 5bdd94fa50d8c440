//! Copying the last answer.

use super::SlashCommand;
use crate::{
    protocol::{AgentMessage, event::NoticeLevel, message::Block},
    store::{
        jsonl::{EntryKind, Role},
        tree::TreeView,
    },
    tui::{effect::Effect, model::Model},
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] =
    &[SlashCommand { name: "copy", argument: "", description: "Copy the last answer to the clipboard", run: copy }];

fn copy(model: &mut Model, _: &str) -> Vec<Effect> {
    let Some(text) = model.facts.tree.as_ref().and_then(last_answer) else {
        model.transcript.notice(NoticeLevel::Warning, "There is no answer to copy yet.");
        return Vec::new();
    };
    model.flash("The last answer was copied");
    vec![Effect::Copy(text)]
}

/// The text of the last answer on the branch that has one.
#[must_use]
pub fn last_answer(tree: &TreeView) -> Option<String> {
    let answers = tree.ancestors().filter(|entry| entry.kind() == EntryKind::Message(Role::Assistant));
    let mut texts = answers.filter_map(|entry| {
        let entry = entry.entry();
        let answer = entry.body.as_message().and_then(AgentMessage::as_assistant)?;
        let texts = answer.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n\n");
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    });
    texts.next()
}
