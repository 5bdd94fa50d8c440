//! How hosts of the Messages API differ: the switches that a model may set, and what known hosts need by default.

use serde::Deserialize;

use crate::{protocol::Model, providers::compat::read};

/// The switches as a model may set them; names and values are those of pi's `models.json`. Message threads are an
/// optimisation of Anthropic's own host that is not used here: every request holds the whole conversation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Overrides {
    supports_eager_tool_input_streaming: Option<bool>,
    supports_long_cache_retention: Option<bool>,
    send_session_affinity_headers: Option<bool>,
    session_affinity_format: Option<String>,
    supports_cache_control_on_tools: Option<bool>,
    force_adaptive_thinking: Option<bool>,
    allow_empty_signature: Option<bool>,
    supports_strict_tools: Option<bool>,
    supports_mid_convo_effort: Option<bool>,
    supports_mid_convo_system_messages: Option<bool>,
    supports_mid_convo_tool_changes: Option<bool>,
    allowed_fallback_models: Option<Vec<String>>,
}

/// The switches of one model, resolved.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are named as in models.json, where they are documented")]
pub struct Compat {
    pub eager_tool_input: bool,
    pub long_cache_retention: bool,
    /// The header that keeps the requests of a session on one server.
    pub session_header: Option<&'static str>,
    pub cache_marks_on_tools: bool,
    pub adaptive_thinking: bool,
    pub empty_signatures: bool,
    pub strict_tools: bool,
    pub managed_effort: bool,
    pub late_system: bool,
    pub late_tools: bool,
    pub fallback_models: Vec<String>,
}

impl Compat {
    /// The switches of a model. A setting that cannot be read counts as not made.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let set: Overrides = read(model.compat.as_ref());
        let at = |id: &str, host: &str| model.provider == id || model.base_url.contains(host);
        let fireworks = at("fireworks", "api.fireworks.ai");
        let openrouter = at("openrouter", "openrouter.ai");
        let affinity = set.send_session_affinity_headers.unwrap_or(fireworks || openrouter);
        let by_session = set.session_affinity_format.map_or(openrouter, |format| format == "openrouter");
        let late_system = set.supports_mid_convo_system_messages.unwrap_or(false);
        Self {
            eager_tool_input: set.supports_eager_tool_input_streaming.unwrap_or(!fireworks),
            long_cache_retention: set.supports_long_cache_retention.unwrap_or(!fireworks),
            session_header: affinity.then_some(if by_session { "x-session-id" } else { "x-session-affinity" }),
            cache_marks_on_tools: set.supports_cache_control_on_tools.unwrap_or(!fireworks),
            adaptive_thinking: set.force_adaptive_thinking.unwrap_or(fireworks),
            empty_signatures: set.allow_empty_signature.unwrap_or(fireworks),
            strict_tools: set.supports_strict_tools.unwrap_or(false),
            managed_effort: set.supports_mid_convo_effort.unwrap_or(false),
            late_system,
            // Changes of the tools are written into later system messages.
            late_tools: late_system && set.supports_mid_convo_tool_changes.unwrap_or(false),
            fallback_models: set.allowed_fallback_models.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::providers::testing::{object, plain_model};

    fn compat(provider: &str, base_url: &str, set: Value) -> Compat {
        let mut model = plain_model("anthropic-messages");
        (model.provider, model.base_url) = (provider.into(), base_url.into());
        model.compat = Some(object(set));
        Compat::of(&model)
    }

    #[test]
    fn hosts_have_defaults_and_settings_win() {
        let own = compat("anthropic", "https://api.anthropic.com", json!({}));
        assert!(own.eager_tool_input && own.long_cache_retention && own.cache_marks_on_tools && !own.empty_signatures);
        assert_eq!(own.session_header, None);
        let fireworks = compat("x", "https://api.fireworks.ai/inference", json!({"supportsLongCacheRetention": true}));
        assert!(!fireworks.eager_tool_input && fireworks.empty_signatures && fireworks.adaptive_thinking);
        assert!(fireworks.long_cache_retention);
        assert_eq!(fireworks.session_header, Some("x-session-affinity"));
        assert_eq!(compat("openrouter", "", json!({})).session_header, Some("x-session-id"));
        let set = json!({"sendSessionAffinityHeaders": true, "allowEmptySignature": "yes", "supportsMidConvoToolChanges": true});
        let odd = compat("custom", "", set);
        assert_eq!(
            (odd.session_header, odd.empty_signatures, odd.late_tools),
            (Some("x-session-affinity"), false, false)
        );
    }
}
