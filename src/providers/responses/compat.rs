//! How hosts of the Responses API differ: the switches that a model may set, and what known hosts need by default.

use serde::Deserialize;

use super::dialect::Dialect;
use crate::{
    protocol::Model,
    providers::compat::{CacheKeyMode, SessionAffinity, read},
};

/// The switches as a model may set them; names and values are those of pi's `models.json`. Tools that change in the
/// middle of a conversation are always declared in the request's own list, and the effort is always the request's: the
/// switches `supportsAdditionalTools`, `supportsToolSearch` and `supportsMidConvoEffort` ask for optional savings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Overrides {
    supports_developer_role: Option<bool>,
    supports_mid_convo_system_messages: Option<bool>,
    session_affinity_format: Option<SessionAffinity>,
    prompt_cache_key_mode: Option<CacheKeyMode>,
    supports_long_cache_retention: Option<bool>,
    supports_strict_mode: Option<bool>,
    #[serde(rename = "supportsOpenAIGrammarTools")]
    supports_openai_grammar_tools: Option<bool>,
    supports_explicit_prompt_cache_mode: Option<bool>,
    supports_max_output_tokens: Option<bool>,
}

/// The switches of one model, resolved.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are named as in models.json, where they are documented")]
pub struct Compat {
    /// The prompt goes to developers. Only models that think know them; the plans' backend knows nothing else.
    pub developer_role: bool,
    pub late_system: bool,
    pub session_affinity: SessionAffinity,
    pub cache_key: bool,
    pub long_cache_retention: bool,
    pub strict_mode: bool,
    pub grammar_tools: bool,
    pub explicit_cache_mode: bool,
    pub max_output_tokens: bool,
    /// xAI gives encrypted reasoning only to those who ask, and answers worse without.
    pub always_include_reasoning: bool,
}

impl Compat {
    /// The switches of a model. A setting that cannot be read counts as not made.
    pub(super) fn of(model: &Model, dialect: Dialect) -> Self {
        let set: Overrides = read(model.compat.as_ref());
        let is_plan = dialect == Dialect::Codex;
        let xai = model.provider == "xai" || model.base_url.contains("api.x.ai");
        Self {
            developer_role: (model.reasoning || is_plan) && set.supports_developer_role.unwrap_or(true),
            late_system: set.supports_mid_convo_system_messages.unwrap_or(false),
            session_affinity: set.session_affinity_format.unwrap_or_default(),
            cache_key: set.prompt_cache_key_mode != Some(CacheKeyMode::Disabled),
            long_cache_retention: set.supports_long_cache_retention.unwrap_or(!xai && !is_plan),
            strict_mode: set.supports_strict_mode.unwrap_or(false),
            grammar_tools: set.supports_openai_grammar_tools.unwrap_or(false),
            explicit_cache_mode: set.supports_explicit_prompt_cache_mode.unwrap_or(false),
            // The plans' backend refuses a request that limits its output.
            max_output_tokens: set.supports_max_output_tokens.unwrap_or(!is_plan),
            always_include_reasoning: xai || is_plan,
        }
    }
}
