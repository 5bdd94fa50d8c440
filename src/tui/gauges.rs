//! Numbers of the session that take time to find out: a worker looks, the status lines show what it found.

use crate::{
    actors::{route_facts::last_dispatch, shared::AgentShared},
    protocol::{
        AgentMessage, ThinkingLevel,
        route::{Dispatch, VIRTUAL_API},
    },
    providers::credentials::Kind,
    store::{
        jsonl::{EntryKind, Role},
        tree::{Totals, TreeView},
    },
};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gauges {
    /// Tokens and cost of all branches.
    pub totals: Totals,
    /// Tokens of the context; none while nobody knows, such as right after a compaction.
    pub context: Option<u64>,
    /// How much of the last request's input came from the provider's cache, in per cent.
    pub cache_hit: Option<f64>,
    /// The model is used through a login, so that the price is not what is paid.
    pub subscription: bool,
    /// Models of more than one provider can be used: a model's name alone does not say whose it is.
    pub several_providers: bool,
    /// The model that answered last for a virtual one, and its level.
    pub routed: Option<(String, ThinkingLevel)>,
}

impl Gauges {
    /// What is so now. Costs time in what was added to the session since the last look, and in the number of models.
    #[must_use]
    pub fn of(shared: &AgentShared) -> Self {
        let tree = shared.tree();
        let model = shared.selection().model.clone();
        let catalogue = shared.config.catalogue.now();
        let login = |provider: &str| catalogue.credentials().source(provider).is_some_and(|of| of.kind == Kind::Login);
        let mut providers = catalogue.available().into_iter().map(|model| model.provider.clone());
        let first = providers.next();
        let is_virtual = model.as_ref().is_some_and(|model| model.api == VIRTUAL_API);
        let routed = tree.as_ref().filter(|_| is_virtual).and_then(last_dispatch);
        Self {
            totals: tree.as_ref().map(TreeView::totals).unwrap_or_default(),
            context: tree.as_ref().and_then(TreeView::known_tokens),
            cache_hit: tree.as_ref().and_then(cache_hit),
            subscription: model.is_some_and(|model| login(&model.provider)),
            several_providers: providers.any(|provider| Some(provider) != first),
            routed: routed.map(|Dispatch { model, thinking_level }| (model.model_id, thinking_level)),
        }
    }
}

/// The part of the last answer's input that came from the cache, in per cent.
fn cache_hit(tree: &TreeView) -> Option<f64> {
    let last = tree.ancestors().find(|entry| entry.kind() == EntryKind::Message(Role::Assistant))?;
    let entry = last.entry();
    let usage = entry.body.as_message().and_then(AgentMessage::as_assistant)?.usage;
    hit_rate(&usage)
}

/// The part of the input that was read from the cache, in per cent; none when there was no input.
#[must_use]
pub fn hit_rate(usage: &crate::protocol::Usage) -> Option<f64> {
    let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    super::view::numbers::percent(usage.cache_read, input)
}
