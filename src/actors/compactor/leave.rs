//! Leaving a branch: extensions are asked, and what is left is summarised when that is wanted.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::{
    actors::{
        compaction::{self, BranchPlan, conversation, prompts, request::Summariser},
        shared::AgentShared,
    },
    protocol::{
        EntryBody, Usage,
        ask::AskPoint,
        event::SummarySource,
        navigation::{BeforeTreeAsk, BeforeTreeVerdict, Navigate, SummaryDraft},
    },
    store::tree::{TreeView, with_messages},
};

/// The window of a model that does not say how large it is, in tokens (pi's number).
const UNKNOWN_WINDOW: u64 = 128_000;

/// Whether the conversation may leave its branch, and what it takes along.
#[expect(clippy::large_enum_variant, reason = "one of them for a moment")]
#[derive(Debug)]
pub enum Left {
    /// It may go.
    Go {
        /// The summary of what is left; none when none was wanted, or nothing was said there.
        summary: Option<EntryBody>,
        /// The name that is wanted by now.
        label: Option<String>,
        /// An extension wrote the summary; none when there is no summary.
        from_extension: Option<bool>,
    },
    /// An extension keeps it.
    Cancelled,
    /// There is no summary: why.
    Failed(String),
}

pub(super) async fn leave(shared: &Arc<AgentShared>, ask: Navigate, cancel: CancellationToken) -> Left {
    let Some(tree) = shared.tree() else { return Left::Failed("the session is not open".to_owned()) };
    let (ask, draft) = match ask_extensions(shared, &tree, ask).await {
        Some(answer) => answer,
        None => return Left::Cancelled,
    };
    let label = ask.label.clone();
    if !ask.summarize {
        return Left::Go { summary: None, label, from_extension: None };
    }
    if let Some(SummaryDraft { summary, details, usage }) = draft {
        let summary =
            EntryBody::BranchSummary { from_id: from_id(&tree), summary, details, usage, from_hook: Some(true) };
        return Left::Go { summary: Some(summary), label, from_extension: Some(true) };
    }
    match summarise(shared, &tree, &ask, cancel).await {
        Ok(summary) => {
            let from_extension = summary.as_ref().map(|_| false);
            Left::Go { summary, label, from_extension }
        }
        Err(cause) => Left::Failed(format!("The branch could not be summarised: {cause}")),
    }
}

/// What extensions want of the move; none when one of them prevents it.
async fn ask_extensions(
    shared: &AgentShared,
    tree: &TreeView,
    ask: Navigate,
) -> Option<(Navigate, Option<SummaryDraft>)> {
    if !shared.config.chain.has(AskPoint::BeforeTree) {
        return Some((ask, None));
    }
    let question = BeforeTreeAsk {
        ask: ask.clone(),
        old_leaf_id: tree.leaf().map(|leaf| leaf.id().clone()),
        common_ancestor_id: ask.target.as_ref().and_then(|id| tree.common_ancestor(id)).map(|entry| entry.id().clone()),
        entries_to_summarize: tree.left_for(ask.target.as_ref()).iter().rev().map(|entry| entry.entry()).collect(),
    };
    let asking = shared.asking();
    let walked = shared.config.chain.before_tree(&asking, question).await;
    shared.report_failures(AskPoint::BeforeTree, walked.failures);
    match walked.value {
        BeforeTreeVerdict::Cancel => None,
        BeforeTreeVerdict::Continue(changes) => Some((ask.changed(&changes), changes.summary)),
    }
}

/// The summary's entry; none when nothing was said on the branch that is left.
async fn summarise(
    shared: &Arc<AgentShared>,
    tree: &TreeView,
    ask: &Navigate,
    cancel: CancellationToken,
) -> Result<Option<EntryBody>, String> {
    let reserve = shared.config.settings.branch_summary_reserve();
    let window = Some(shared.window(tree)).filter(|window| *window > 0).unwrap_or(UNKNOWN_WINDOW);
    let room = compaction::room(window, reserve).unwrap_or(window);
    let BranchPlan { messages, files } = compaction::branch(&with_messages(&tree.left_for(ask.target.as_ref())), room);
    if messages.is_empty() {
        return Ok(None);
    }
    let summariser = Summariser::new(shared.clone(), SummarySource::BranchSummary, reserve, cancel);
    let summariser = summariser.ok_or("no model is selected")?;
    let text = conversation::texts(&messages).join("\n\n");
    let instructions = ask.custom_instructions.as_deref();
    let prompt =
        |piece: &str, so_far: Option<&str>| prompts::branch(piece, so_far, instructions, ask.replace_instructions);
    let summary = summariser.summary(&text, None, &prompt).await.map_err(|failure| failure.message)?;
    Ok(Some(EntryBody::BranchSummary {
        from_id: from_id(tree),
        summary: format!("{}{summary}{}", prompts::BRANCH_PREAMBLE, files.block()),
        details: Some(files.details()),
        usage: Some(summariser.usage()).filter(|usage| *usage != Usage::default()),
        from_hook: None,
    }))
}

/// The leaf that is left, as the summary's entry names it.
fn from_id(tree: &TreeView) -> String {
    tree.leaf().map_or_else(|| "root".to_owned(), |leaf| leaf.id().to_string())
}
