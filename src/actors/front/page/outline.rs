//! The tree beside the page: where one can go.

use super::{
    arguments,
    html::{self, preview},
    plan::Plan,
};
use crate::protocol::{
    AgentMessage, Entry, EntryBody,
    message::{Block, text_of},
};

/// Characters of an entry's line.
const LINE: usize = 72;
/// Branches that are deeper are drawn at this depth.
const MAX_DEPTH: usize = 8;

/// An entry's line in the tree.
pub struct Stop {
    class: &'static str,
    text: String,
}

impl Stop {
    /// The line of an entry; none for those that are no place to go to.
    pub fn of(entry: &Entry) -> Option<Self> {
        let (class, text) = match &entry.body {
            EntryBody::Message { message } => match message {
                AgentMessage::User(user) => ("user", preview(&user.content.text(" "), LINE)),
                AgentMessage::Assistant(answer) => {
                    let text = text_of(&answer.content, " ");
                    match (text.trim().is_empty(), answer.is_failed()) {
                        (false, _) => ("answer", preview(&plain(&text), LINE)),
                        (true, true) => ("answer", "failed".to_owned()),
                        (true, false) => ("calls", calls(&answer.content)),
                    }
                }
                AgentMessage::BashExecution(bash) => ("shell", preview(&format!("$ {}", bash.command), LINE)),
                AgentMessage::Custom(custom) if custom.display => ("custom", custom.custom_type.clone()),
                _ => return None,
            },
            EntryBody::ModelChange { provider, model_id } => ("model", format!("{provider}/{model_id}")),
            EntryBody::Compaction { .. } => ("fold", "compaction".to_owned()),
            EntryBody::BranchSummary { summary, .. } => ("fold", preview(&format!("left branch: {summary}"), LINE)),
            EntryBody::CustomMessage { custom_type, display: true, .. } => ("custom", custom_type.clone()),
            _ => return None,
        };
        let text = if text.is_empty() { "(no text)".to_owned() } else { text };
        Some(Self { class, text })
    }
}

/// A text without the marks that stand out most in a line.
fn plain(text: &str) -> String {
    text.trim_start_matches(['#', ' ', '\n']).replace("**", "").replace('`', "")
}

fn calls(content: &[Block]) -> String {
    let calls = content.iter().filter_map(Block::as_tool_call);
    let lines: Vec<_> = calls.map(|call| format!("{} {}", call.name, arguments::line(call))).collect();
    preview(&lines.join("; "), LINE)
}

/// Adds the tree. Entries of one branch stand below each other. Where branches part, those that were left come first and
/// one step further in, so that the one in use reads from top to bottom.
pub fn tree(out: &mut String, plan: &Plan<'_>, stops: &[Option<Stop>]) {
    let mut todo = below(plan, &plan.roots, 0);
    while let Some((at, depth)) = todo.pop() {
        if let Some(stop) = stops.get(at).and_then(Option::as_ref) {
            line(out, plan, at, depth, stop);
        } else if let Some(label) = plan.label(at) {
            line(out, plan, at, depth, &Stop { class: "named", text: label.text.clone() });
        }
        todo.extend(below(plan, &plan.nodes[at].children, depth));
    }
}

/// What hangs on one place, last first, with its depth.
fn below(plan: &Plan<'_>, children: &[usize], depth: usize) -> Vec<(usize, usize)> {
    let deeper = if children.len() > 1 { (depth + 1).min(MAX_DEPTH) } else { depth };
    let (used, left): (Vec<usize>, Vec<usize>) = children.iter().partition(|child| plan.on_branch[**child]);
    let left = left.into_iter().rev().map(|child| (child, deeper));
    used.into_iter().map(|child| (child, depth)).chain(left).collect()
}

fn line(out: &mut String, plan: &Plan<'_>, at: usize, depth: usize, stop: &Stop) {
    let off = if plan.on_branch[at] { "" } else { " off" };
    out.push_str(&format!("<a class=\"{} d{depth}{off}\" href=\"#e{at}\" data-n=\"{at}\" dir=\"auto\">", stop.class));
    if let Some(label) = plan.label(at).filter(|_| stop.class != "named") {
        html::element(out, "span", "label", &label.text);
    }
    html::text(out, &stop.text);
    out.push_str("</a>");
}
