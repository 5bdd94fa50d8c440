//! How hosts of Chat Completions differ: thirty switches, found by provider and host and set per model.
//!
//! Detection looks at the provider's id and at the base URL, so that a custom provider at a known host behaves right.
//! A switch that the model sets wins, field by field.

use serde::Deserialize;
use serde_json::{Map, Value};

pub use crate::providers::compat::{CacheKeyMode, SessionAffinity};
use crate::{protocol::Model, providers::compat::read};

/// The switches as a model may set them; names and values are those of pi's `models.json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Overrides {
    supports_store: Option<bool>,
    supports_developer_role: Option<bool>,
    supports_reasoning_effort: Option<bool>,
    supports_usage_in_streaming: Option<bool>,
    supports_finish_reason: Option<bool>,
    max_tokens_field: Option<String>,
    requires_tool_result_name: Option<bool>,
    requires_assistant_after_tool_result: Option<bool>,
    requires_non_null_assistant_content: Option<bool>,
    requires_tools_with_tool_history: Option<bool>,
    requires_thinking_as_text: Option<bool>,
    requires_reasoning_content_on_assistant_messages: Option<bool>,
    thinking_format: Option<ThinkingFormat>,
    chat_template_kwargs: Option<Map<String, Value>>,
    chat_template_args: Option<Map<String, Value>>,
    open_router_routing: Option<Value>,
    vercel_gateway_routing: Option<Value>,
    zai_tool_stream: Option<bool>,
    thinking_token_budget_field: Option<String>,
    supports_thinking_token_budget: Option<bool>,
    #[serde(rename = "supportsOpenAIGrammarTools")]
    supports_openai_grammar_tools: Option<bool>,
    supports_mid_convo_system_messages: Option<bool>,
    supports_mid_convo_tool_additions: Option<bool>,
    supports_strict_mode: Option<bool>,
    cache_control_format: Option<String>,
    send_session_affinity_headers: Option<bool>,
    session_affinity_format: Option<SessionAffinity>,
    prompt_cache_key_mode: Option<CacheKeyMode>,
    supports_long_cache_retention: Option<bool>,
    vllm_priority: Option<Value>,
}

/// How a host is told to think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the hosts' own")]
pub enum ThinkingFormat {
    #[default]
    Openai,
    Openrouter,
    Deepseek,
    Zai,
    Qwen,
    QwenChatTemplate,
    ChatTemplate,
    Baseten,
    Together,
    StringThinking,
    AntLing,
}

/// The switches of one model, resolved.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are named as in models.json, where they are documented")]
pub struct Compat {
    pub is_openai: bool,
    pub store: bool,
    pub developer_role: bool,
    pub reasoning_effort: bool,
    pub usage_in_streaming: bool,
    pub finish_reason: bool,
    pub max_tokens_field: String,
    pub tool_result_name: bool,
    pub assistant_after_tool_result: bool,
    pub non_null_assistant_content: bool,
    pub tools_with_tool_history: bool,
    pub thinking_as_text: bool,
    pub reasoning_content_on_assistant: bool,
    pub thinking_format: ThinkingFormat,
    pub chat_template_kwargs: Map<String, Value>,
    pub chat_template_args: Map<String, Value>,
    pub open_router_routing: Option<Value>,
    pub vercel_gateway_routing: Option<Value>,
    pub zai_tool_stream: bool,
    pub thinking_budget_field: Option<String>,
    pub grammar_tools: bool,
    pub late_system: bool,
    pub late_tools: bool,
    pub strict_mode: bool,
    pub cache_marks: bool,
    pub session_affinity: Option<SessionAffinity>,
    pub cache_key_mode: CacheKeyMode,
    pub long_cache_retention: bool,
    pub vllm_priority: Option<Value>,
}

/// Hosts that are known to differ, with the ids and the parts of URLs that give them away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Host {
    OpenAi,
    OpenRouter,
    DeepSeek,
    Zai,
    Moonshot,
    Together,
    Xai,
    Nvidia,
    Cerebras,
    Chutes,
    OpenCode,
    CloudflareWorkers,
    CloudflareGateway,
    AntLing,
}

const HOSTS: &[(Host, &[&str], &[&str])] = &[
    (Host::OpenAi, &["openai"], &["api.openai.com"]),
    (Host::OpenRouter, &["openrouter"], &["openrouter.ai"]),
    (Host::DeepSeek, &["deepseek"], &["deepseek.com"]),
    (Host::Zai, &["zai", "zai-coding-cn"], &["api.z.ai", "open.bigmodel.cn"]),
    (
        Host::Moonshot,
        &["moonshotai", "moonshotai-cn", "kimi-coding"],
        &["api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"],
    ),
    (Host::Together, &["together"], &["api.together.ai", "api.together.xyz"]),
    (Host::Xai, &["xai"], &["api.x.ai"]),
    (Host::Nvidia, &["nvidia"], &["integrate.api.nvidia.com"]),
    (Host::Cerebras, &["cerebras"], &["cerebras.ai"]),
    (Host::Chutes, &["chutes"], &["chutes.ai"]),
    (Host::OpenCode, &["opencode", "opencode-go"], &["opencode.ai"]),
    (Host::CloudflareGateway, &["cloudflare-ai-gateway"], &["gateway.ai.cloudflare.com"]),
    (Host::CloudflareWorkers, &["cloudflare-workers-ai"], &["api.cloudflare.com"]),
    (Host::AntLing, &["ant-ling"], &["api.ant-ling.com"]),
];

impl Compat {
    /// The switches of a model. Settings that cannot be read count as not made.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let set: Overrides = read(model.compat.as_ref());
        let host = host_of(model);
        let is = |hosts: &[Host]| host.is_some_and(|host| hosts.contains(&host));
        let long_cache_hosts =
            [Host::Together, Host::CloudflareGateway, Host::CloudflareWorkers, Host::Nvidia, Host::AntLing];
        let no_effort = [
            Host::Xai,
            Host::Zai,
            Host::Moonshot,
            Host::Together,
            Host::CloudflareGateway,
            Host::Nvidia,
            Host::AntLing,
        ];
        let max_tokens = [
            Host::Chutes,
            Host::DeepSeek,
            Host::Moonshot,
            Host::CloudflareGateway,
            Host::Together,
            Host::Nvidia,
            Host::AntLing,
            Host::Zai,
        ];
        let budget_field = set.supports_thinking_token_budget.unwrap_or(false).then(|| "thinking_token_budget".into());
        let affinity = set.send_session_affinity_headers.unwrap_or(is(&[Host::OpenRouter]));
        let affinity_form = match is(&[Host::OpenRouter]) {
            true => SessionAffinity::Openrouter,
            false => SessionAffinity::Openai,
        };
        Self {
            is_openai: is(&[Host::OpenAi]),
            store: set.supports_store.unwrap_or(host.is_none() || is(&[Host::OpenAi, Host::OpenRouter])),
            developer_role: set.supports_developer_role.unwrap_or(is(&[Host::OpenAi])),
            reasoning_effort: set.supports_reasoning_effort.unwrap_or(!is(&no_effort)),
            usage_in_streaming: set.supports_usage_in_streaming.unwrap_or(true),
            finish_reason: set.supports_finish_reason.unwrap_or(true),
            max_tokens_field: set
                .max_tokens_field
                .unwrap_or_else(|| if is(&max_tokens) { "max_tokens" } else { "max_completion_tokens" }.to_owned()),
            tool_result_name: set.requires_tool_result_name.unwrap_or(false),
            assistant_after_tool_result: set.requires_assistant_after_tool_result.unwrap_or(false),
            non_null_assistant_content: set.requires_non_null_assistant_content.unwrap_or(false),
            tools_with_tool_history: set.requires_tools_with_tool_history.unwrap_or(false),
            thinking_as_text: set.requires_thinking_as_text.unwrap_or(false),
            reasoning_content_on_assistant: set
                .requires_reasoning_content_on_assistant_messages
                .unwrap_or(is(&[Host::DeepSeek])),
            thinking_format: set.thinking_format.unwrap_or(match host {
                Some(Host::DeepSeek) => ThinkingFormat::Deepseek,
                Some(Host::Zai) => ThinkingFormat::Zai,
                Some(Host::Together) => ThinkingFormat::Together,
                Some(Host::AntLing) => ThinkingFormat::AntLing,
                Some(Host::OpenRouter) => ThinkingFormat::Openrouter,
                _ => ThinkingFormat::Openai,
            }),
            chat_template_kwargs: set.chat_template_kwargs.unwrap_or_default(),
            chat_template_args: set.chat_template_args.unwrap_or_default(),
            open_router_routing: set.open_router_routing,
            vercel_gateway_routing: set.vercel_gateway_routing,
            zai_tool_stream: set.zai_tool_stream.unwrap_or(is(&[Host::Zai])),
            thinking_budget_field: set.thinking_token_budget_field.or(budget_field),
            grammar_tools: set.supports_openai_grammar_tools.unwrap_or(false),
            late_system: set.supports_mid_convo_system_messages.unwrap_or(false),
            late_tools: set.supports_mid_convo_tool_additions.unwrap_or(false),
            strict_mode: set.supports_strict_mode.unwrap_or(false),
            cache_marks: match set.cache_control_format {
                Some(format) => format == "anthropic",
                None => is(&[Host::OpenRouter]) && model.id.starts_with("anthropic/"),
            },
            session_affinity: affinity.then(|| set.session_affinity_format.unwrap_or(affinity_form)),
            cache_key_mode: set.prompt_cache_key_mode.unwrap_or_default(),
            long_cache_retention: set.supports_long_cache_retention.unwrap_or(!is(&long_cache_hosts)),
            vllm_priority: set.vllm_priority,
        }
    }
}

fn host_of(model: &Model) -> Option<Host> {
    let by = |matches: &dyn Fn(&[&str], &[&str]) -> bool| {
        HOSTS.iter().find(|(_, ids, urls)| matches(ids, urls)).map(|(host, ..)| *host)
    };
    by(&|ids, _| ids.contains(&model.provider.as_str()))
        .or_else(|| by(&|_, urls| urls.iter().any(|part| model.base_url.contains(part))))
}

/// Whether the model is at NVIDIA, whose gateway must be told to hold long requests.
pub(super) fn is_nvidia(model: &Model) -> bool {
    host_of(model) == Some(Host::Nvidia)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::providers::testing::{object, plain_model};

    fn compat(provider: &str, base_url: &str, id: &str, set: Value) -> Compat {
        let mut model = plain_model("openai-completions");
        (model.provider, model.base_url, model.id) = (provider.into(), base_url.into(), id.into());
        model.compat = Some(object(set));
        Compat::of(&model)
    }

    #[test]
    fn hosts_are_known_by_id_or_by_url() {
        let table = [
            ("openai", "", "store developer effort long"),
            ("custom", "https://api.openai.com/v1", "store developer effort long"),
            ("custom", "http://localhost/v1", "store effort long"),
            ("openrouter", "", "store effort long affinity"),
            ("deepseek", "", "effort max_tokens long reasoning_content"),
            ("custom", "https://api.deepseek.com/v1", "effort max_tokens long reasoning_content"),
            ("zai", "", "max_tokens long tool_stream"),
            ("moonshotai-cn", "", "max_tokens long"),
            ("together", "", "max_tokens"),
            ("xai", "", "long"),
            ("nvidia", "", "max_tokens"),
            ("cerebras", "", "effort long"),
            ("chutes", "", "effort max_tokens long"),
            ("opencode", "", "effort long"),
            ("cloudflare-ai-gateway", "", "max_tokens"),
            ("cloudflare-workers-ai", "", "effort"),
            ("ant-ling", "", "max_tokens"),
        ];
        for (provider, url, expected) in table {
            let compat = compat(provider, url, "m", json!({}));
            let words = [
                ("store", compat.store),
                ("developer", compat.developer_role),
                ("effort", compat.reasoning_effort),
                ("max_tokens", compat.max_tokens_field == "max_tokens"),
                ("long", compat.long_cache_retention),
                ("affinity", compat.session_affinity.is_some()),
                ("reasoning_content", compat.reasoning_content_on_assistant),
                ("tool_stream", compat.zai_tool_stream),
            ];
            let words: Vec<_> = words.iter().filter(|(_, on)| *on).map(|(word, _)| *word).collect();
            assert_eq!(words.join(" "), expected, "{provider} {url}");
        }
    }

    #[test]
    fn settings_win_field_by_field_and_wrong_ones_count_as_not_made() {
        let compat = compat(
            "deepseek",
            "",
            "m",
            json!({"supportsStore": true, "thinkingFormat": "no-such", "maxTokensField": "max_completion_tokens",
                   "supportsThinkingTokenBudget": true, "supportsOpenAIGrammarTools": true, "unknownKey": 1}),
        );
        assert!(compat.store && compat.grammar_tools);
        assert_eq!(compat.thinking_format, ThinkingFormat::Deepseek);
        assert_eq!(compat.max_tokens_field, "max_completion_tokens");
        assert_eq!(compat.thinking_budget_field.as_deref(), Some("thinking_token_budget"));
    }

    #[test]
    fn cache_marks_go_to_anthropic_models_at_openrouter() {
        assert!(compat("openrouter", "", "anthropic/claude", json!({})).cache_marks);
        assert!(!compat("openrouter", "", "z-ai/glm", json!({})).cache_marks);
        assert!(compat("custom", "", "m", json!({"cacheControlFormat": "anthropic"})).cache_marks);
    }
}
