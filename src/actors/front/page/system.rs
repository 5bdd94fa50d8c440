//! What the model was told: the system prompt and the tools.

use super::{
    blocks, code,
    html::{self, details},
    numbers::counted,
};
use crate::{
    protocol::{
        AgentMessage, EntryBody,
        system::{SystemMessage, SystemState},
        tool::ToolDeclaration,
    },
    store::{
        jsonl::{EntryKind, Role},
        tree::TreeView,
    },
};

/// The state at the leaf. Unlike [`TreeView::system`], it keeps nothing of what it reads.
fn at_leaf(view: &TreeView) -> SystemState {
    let mut state = SystemState::default();
    for part in view.context_window() {
        if !matches!(part.kind(), EntryKind::Message(Role::System) | EntryKind::Compaction) {
            continue;
        }
        match &part.entry_once().body {
            EntryBody::Message { message: AgentMessage::System(message) } => state.apply(message),
            EntryBody::Compaction { system_message: Some(message), .. } => state.apply(message),
            _ => {}
        }
    }
    state
}

/// Adds the prompt and the tools at the end of the branch, closed; nothing when there are none.
pub fn panel(out: &mut String, view: &TreeView) {
    let state = at_leaf(view);
    if state == SystemState::default() {
        return;
    }
    let summary = |out: &mut String| {
        out.push_str("System prompt and tools");
        let tools = counted(state.tools.len(), "tool");
        html::element(out, "span", "size", &format!("{tools}, as they are at the end of the branch"));
    };
    let inside = |out: &mut String| {
        for text in &state.texts {
            code::folded(out, "text", text, None, false);
        }
        sections(out, state.sections.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        state.tools.iter().for_each(|tool| self::tool(out, tool));
    };
    details(out, "told", false, summary, inside);
}

/// Adds a change of the prompt or the tools, closed.
pub fn change(out: &mut String, message: &SystemMessage) {
    let text = message.content.text("\n\n");
    let named = message.sections.iter().flatten();
    let added = message.tools_added.as_deref().unwrap_or_default();
    let removed = message.tools_removed.as_deref().unwrap_or_default();
    let mut says: Vec<String> = named.clone().map(|(name, _)| name.clone()).collect();
    says.extend(added.iter().map(|tool| format!("+{}", tool.name)));
    says.extend(removed.iter().map(|tool| format!("-{}", tool.name)));
    let summary = |out: &mut String| {
        out.push_str("Told to the model");
        html::element(out, "span", "size", &html::preview(&says.join(", "), 120));
    };
    details(out, "fold", false, summary, |out| {
        if !text.is_empty() {
            code::folded(out, "text", &text, None, false);
        }
        sections(out, named.map(|(name, text)| (name.as_str(), text.as_str().unwrap_or("(removed)"))));
        added.iter().for_each(|tool| self::tool(out, tool));
    });
}

fn sections<'a>(out: &mut String, sections: impl Iterator<Item = (&'a str, &'a str)>) {
    for (name, text) in sections {
        code::folded(out, name, text, None, false);
    }
}

fn tool(out: &mut String, tool: &ToolDeclaration) {
    let summary = |out: &mut String| {
        html::element(out, "b", "tool", &tool.name);
        html::element(out, "span", "size", &html::preview(&tool.description, 90));
    };
    details(out, "fold", false, summary, |out| {
        html::element(out, "p", "lines", &tool.description);
        blocks::json(out, "arguments", &tool.parameters);
    });
}
