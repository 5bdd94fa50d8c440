//! One compaction: from the branch to the entry that folds its beginning away.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::{
    actors::{
        compaction::{self, CANCELLED, Plan, conversation, prompts, request::Summariser},
        shared::AgentShared,
        turn_io::Compacted,
    },
    protocol::{
        AgentMessage, EntryBody, EntryId, Failure,
        ask::AskPoint,
        compaction::{BeforeCompactAsk, BeforeCompactVerdict, CompactionDraft, CompactionPreparation},
        event::{CompactionReason, SummarySource},
        time::now_ms,
        tokens,
    },
    store::{settings::values::CompactionSettings, tree::TreeView},
};

/// What is asked.
#[derive(Clone)]
pub(super) struct Job {
    /// Why.
    pub reason: CompactionReason,
    /// What the summary should care about.
    pub instructions: Option<String>,
    /// The run goes on afterwards.
    pub will_retry: bool,
}

pub(super) async fn compact(
    shared: &Arc<AgentShared>,
    job: Job,
    cancel: CancellationToken,
) -> Result<Compacted, String> {
    let tree = shared.tree().ok_or("the session is not open")?;
    let model = shared.selection().model.as_ref().map(|model| model.reference());
    let settings = shared.config.settings.compaction(model.as_ref());
    let room = compaction::room(shared.window(&tree), settings.reserve_tokens);
    let keep = compaction::keep(settings.keep_recent_tokens, room);
    let plan = compaction::plan(&tree, keep).map_err(|refusal| refusal.to_string())?;
    if shared.config.chain.has(AskPoint::BeforeCompact)
        && let Some(draft) = ask_extensions(shared, &tree, &plan, &job, settings).await?
    {
        return Ok(drafted(&tree, &plan, draft));
    }
    let source = SummarySource::Compaction(job.reason);
    let summariser = Summariser::new(shared.clone(), source, settings.reserve_tokens, cancel);
    let summariser = summariser.ok_or("no model is selected")?;
    let summary = summary(&summariser, &plan, job.instructions.as_deref()).await.map_err(|failure| failure.message)?;
    let summary = summary + &plan.files.block();
    let estimated_tokens_after = plan.tokens_kept + tokens::of_text(&summary);
    let body = EntryBody::Compaction {
        summary,
        first_kept_entry_id: plan.first_kept,
        tokens_before: plan.tokens_before,
        system_message: Some(Arc::new(plan.system.to_message(now_ms()))),
        details: Some(plan.files.details()),
        usage: Some(summariser.usage()),
        from_hook: None,
    };
    Ok(Compacted { body, estimated_tokens_after })
}

/// The summary. That of the beginning of a turn that was cut needs nothing of the history's: both are asked for at the
/// same time, and the failure of one ends the other.
async fn summary(summariser: &Summariser, plan: &Plan, instructions: Option<&str>) -> Result<String, Failure> {
    let prompt = |piece: &str, so_far: Option<&str>| prompts::history(piece, so_far, instructions);
    let history = async {
        if plan.history.is_empty() {
            return Ok(plan.previous.clone());
        }
        let text = conversation::texts(&plan.history).join("\n\n");
        summariser.summary(&text, plan.previous.clone(), &prompt).await.map(Some)
    };
    let prefix = async {
        if plan.prefix.is_empty() {
            return Ok(None);
        }
        let text = conversation::texts(&plan.prefix).join("\n\n");
        summariser.summary(&text, None, &prompts::prefix).await.map(Some)
    };
    let (history, prefix) = tokio::try_join!(history, prefix)?;
    Ok(match prefix {
        None => history.unwrap_or_default(),
        Some(prefix) => prompts::joined(history.as_deref(), &prefix),
    })
}

/// Asks extensions: their own compaction when they have one. The error is that they want none.
async fn ask_extensions(
    shared: &AgentShared,
    tree: &TreeView,
    plan: &Plan,
    job: &Job,
    settings: CompactionSettings,
) -> Result<Option<CompactionDraft>, String> {
    let ask = BeforeCompactAsk {
        preparation: CompactionPreparation {
            first_kept_entry_id: plan.first_kept.clone(),
            messages_to_summarize: plan.history.clone(),
            turn_prefix_messages: plan.prefix.clone(),
            tokens_before: plan.tokens_before,
            previous_summary: plan.previous.clone(),
            files_read: plan.files.only_read().cloned().collect(),
            files_modified: plan.files.modified.iter().cloned().collect(),
            reserve_tokens: settings.reserve_tokens,
            keep_recent_tokens: settings.keep_recent_tokens,
        },
        branch: Arc::new(tree.path().iter().map(|entry| entry.entry()).collect()),
        custom_instructions: job.instructions.clone(),
        reason: job.reason,
        will_retry: job.will_retry,
    };
    let asking = shared.asking();
    let check = |draft: &CompactionDraft| tree.check(&body(plan, draft)).map_err(|fault| fault.to_string());
    let walked = shared.config.chain.before_compact(&asking, ask, check).await;
    shared.report_failures(AskPoint::BeforeCompact, walked.failures);
    match walked.value {
        BeforeCompactVerdict::Continue => Ok(None),
        BeforeCompactVerdict::Cancel => Err(CANCELLED.to_owned()),
        BeforeCompactVerdict::Replace(draft) => Ok(Some(draft)),
    }
}

/// The compaction of an extension.
fn drafted(tree: &TreeView, plan: &Plan, draft: CompactionDraft) -> Compacted {
    let system = AgentMessage::System(Arc::new(plan.system.to_message(0)));
    let kept = kept_tokens(tree, draft.first_kept_entry_id.as_ref());
    let estimated_tokens_after = tokens::of_message(&system) + kept + tokens::of_text(&draft.summary);
    Compacted { body: body(plan, &draft), estimated_tokens_after }
}

fn body(plan: &Plan, draft: &CompactionDraft) -> EntryBody {
    EntryBody::Compaction {
        summary: draft.summary.clone(),
        // The empty id stands for the entry's own, which is not known yet: nothing is kept.
        first_kept_entry_id: draft.first_kept_entry_id.clone().unwrap_or_else(|| EntryId::from("")),
        tokens_before: draft.tokens_before.unwrap_or(plan.tokens_before),
        system_message: Some(Arc::new(plan.system.to_message(now_ms()))),
        details: draft.details.clone(),
        usage: draft.usage,
        from_hook: Some(true),
    }
}

/// Estimated tokens of what stays from an entry on, prompt and tools left out.
fn kept_tokens(tree: &TreeView, first: Option<&EntryId>) -> u64 {
    let Some(first) = first else { return 0 };
    let context = tree.context();
    // What lies above the context comes back into it.
    let from = context.entries.iter().position(|entry| entry.id == *first).unwrap_or_default();
    let messages = context.entries[from..].iter().flat_map(|entry| context.messages_of(entry));
    messages.filter(|message| !matches!(message, AgentMessage::System(_))).map(tokens::of_message).sum()
}
