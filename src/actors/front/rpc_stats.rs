//! Counts, tokens and cost of a session for `get_session_stats`.

use crate::{
    actors::{route_facts::last_dispatch, shared::AgentShared},
    protocol::{
        Message,
        context::convert_to_llm,
        route::VIRTUAL_API,
        wire::{ContextUsage, StatsData, TokenTotals},
    },
    providers::limits,
    store::tree::TreeView,
};

/// The statistics of a session.
#[must_use]
pub fn stats(shared: &AgentShared, tree: &TreeView) -> StatsData {
    let totals = tree.totals();
    let messages = tree.context().messages;
    let usage = totals.usage;
    let window = window(shared, tree);
    StatsData {
        session_file: shared.place.file(),
        session_id: tree.header().id.clone(),
        user_messages: totals.user_messages,
        assistant_messages: totals.assistant_messages,
        tool_calls: totals.tool_calls,
        tool_results: totals.tool_results,
        total_messages: totals.messages,
        tokens: TokenTotals {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            total: usage.total_tokens,
        },
        cost: usage.cost.total,
        context_usage: (window > 0).then(|| context_usage(&convert_to_llm(&messages), window)),
    }
}

/// The window of the selected model; for a virtual one that of the model that answered last, and its own until then.
fn window(shared: &AgentShared, tree: &TreeView) -> u64 {
    let Some(model) = shared.selection().model.clone() else { return 0 };
    let answered = (model.api == VIRTUAL_API).then(|| last_dispatch(tree)).flatten();
    let physical = answered.and_then(|dispatch| shared.config.catalogue.now().find(&dispatch.model));
    physical.unwrap_or(model).context_window
}

fn context_usage(messages: &[Message], window: u64) -> ContextUsage {
    let tokens = limits::estimate_input(messages);
    #[allow(clippy::cast_precision_loss)]
    let percent = tokens as f64 / window as f64 * 100.0;
    ContextUsage { tokens: Some(tokens), context_window: window, percent: Some(percent) }
}
