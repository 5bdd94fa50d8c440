//! Counts, tokens and cost of a session for `get_session_stats`.

use crate::{
    actors::shared::AgentShared,
    protocol::wire::{ContextUsage, StatsData, TokenTotals},
    store::tree::TreeView,
};

/// The statistics of a session.
#[must_use]
pub fn stats(shared: &AgentShared, tree: &TreeView) -> StatsData {
    let totals = tree.totals();
    let usage = totals.usage;
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
        context_usage: window_usage(shared, tree),
    }
}

/// How full the model's window is; none when the window is not known.
#[must_use]
pub fn window_usage(shared: &AgentShared, tree: &TreeView) -> Option<ContextUsage> {
    let window = shared.window(tree);
    (window > 0).then(|| context_usage(tree.known_tokens(), window))
}

/// Nobody knows how long a context is that was just compacted.
fn context_usage(tokens: Option<u64>, window: u64) -> ContextUsage {
    #[allow(clippy::cast_precision_loss)]
    let percent = tokens.map(|tokens| tokens as f64 / window as f64 * 100.0);
    ContextUsage { tokens, context_window: window, percent }
}
