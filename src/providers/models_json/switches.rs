//! The switches of `compat`: their names, what each holds and which wire APIs know it.

use serde_json::{Map, Value};

use crate::store::document::{Fault, Field, Object};

/// What a switch holds.
#[derive(Clone, Copy)]
enum Kind {
    Flag,
    Number,
    Object,
    Texts,
    OneOf(&'static [&'static str]),
}

use Kind::{Flag, Number, OneOf, Texts};

/// Wire APIs that share switches, as bits.
const COMPLETIONS: u8 = 1;
const RESPONSES: u8 = 2;
const ANTHROPIC: u8 = 4;
const BEDROCK: u8 = 8;
const MISTRAL: u8 = 16;

/// All wire APIs and whose switches they take.
const APIS: [(&str, u8); 9] = [
    ("anthropic-messages", ANTHROPIC),
    ("azure-openai-responses", RESPONSES),
    ("bedrock-converse-stream", BEDROCK),
    ("google-generative-ai", 0),
    ("google-vertex", 0),
    ("mistral-conversations", MISTRAL),
    ("openai-codex-responses", RESPONSES),
    ("openai-completions", COMPLETIONS),
    ("openai-responses", RESPONSES),
];

const FORMATS: Kind = OneOf(&[
    "openai",
    "openrouter",
    "deepseek",
    "zai",
    "qwen",
    "qwen-chat-template",
    "chat-template",
    "baseten",
    "together",
    "string-thinking",
    "ant-ling",
]);
const BUDGET_FIELDS: Kind = OneOf(&["thinking_token_budget", "thinking_budget", "thinking_budget_tokens"]);
const MAX_TOKENS_FIELDS: Kind = OneOf(&["max_completion_tokens", "max_tokens"]);
const AFFINITY: Kind = OneOf(&["openai", "openai-nosession", "openrouter"]);
const KEY_MODES: Kind = OneOf(&["auto", "enabled", "disabled"]);

/// Name, what it holds, which APIs know it: those of pi's `models.json`.
const SWITCHES: [(&str, Kind, u8); 46] = [
    ("allowEmptySignature", Flag, ANTHROPIC),
    ("allowedFallbackModels", Texts, ANTHROPIC),
    ("cacheControlFormat", OneOf(&["anthropic"]), COMPLETIONS),
    ("chatTemplateArgs", Kind::Object, COMPLETIONS),
    ("chatTemplateKwargs", Kind::Object, COMPLETIONS),
    ("forceAdaptiveThinking", Flag, ANTHROPIC),
    ("maxTokensField", MAX_TOKENS_FIELDS, COMPLETIONS),
    ("openRouterRouting", Kind::Object, COMPLETIONS),
    ("promptCacheKeyMode", KEY_MODES, COMPLETIONS | RESPONSES),
    ("requiresAssistantAfterToolResult", Flag, COMPLETIONS),
    ("requiresNonNullAssistantContent", Flag, COMPLETIONS),
    ("requiresReasoningContentOnAssistantMessages", Flag, COMPLETIONS),
    ("requiresThinkingAsText", Flag, COMPLETIONS),
    ("requiresToolResultName", Flag, COMPLETIONS),
    ("requiresToolsWithToolHistory", Flag, COMPLETIONS),
    ("sendSessionAffinityHeaders", Flag, COMPLETIONS | ANTHROPIC),
    ("sessionAffinityFormat", AFFINITY, COMPLETIONS | RESPONSES | ANTHROPIC),
    ("supportsAdditionalTools", Flag, RESPONSES),
    ("supportsCacheControlOnTools", Flag, ANTHROPIC),
    ("supportsDeveloperRole", Flag, COMPLETIONS | RESPONSES),
    ("supportsEagerToolInputStreaming", Flag, ANTHROPIC),
    ("supportsExplicitPromptCacheMode", Flag, RESPONSES),
    ("supportsFinishReason", Flag, COMPLETIONS),
    ("supportsLongCacheRetention", Flag, COMPLETIONS | RESPONSES | ANTHROPIC),
    ("supportsMaxOutputTokens", Flag, RESPONSES),
    ("supportsMessageThreads", Flag, ANTHROPIC),
    ("supportsMidConvoEffort", Flag, RESPONSES | ANTHROPIC),
    ("supportsMidConvoSystemMessages", Flag, COMPLETIONS | RESPONSES | ANTHROPIC | MISTRAL),
    ("supportsMidConvoToolAdditions", Flag, COMPLETIONS),
    ("supportsMidConvoToolChanges", Flag, ANTHROPIC),
    ("supportsOpenAIGrammarTools", Flag, COMPLETIONS | RESPONSES),
    ("supportsReasoningEffort", Flag, COMPLETIONS),
    ("supportsStore", Flag, COMPLETIONS),
    ("supportsStrictMode", Flag, COMPLETIONS | RESPONSES | BEDROCK | MISTRAL),
    ("supportsStrictTools", Flag, ANTHROPIC),
    ("supportsTemperature", Flag, ANTHROPIC),
    ("supportsThinkingTokenBudget", Flag, COMPLETIONS),
    ("supportsToolSearch", Flag, RESPONSES),
    ("supportsUsageInStreaming", Flag, COMPLETIONS),
    ("thinkingFormat", FORMATS, COMPLETIONS),
    ("thinkingTokenBudgetField", BUDGET_FIELDS, COMPLETIONS),
    ("vercelGatewayRouting", Kind::Object, COMPLETIONS),
    ("vllmPriority", Number, COMPLETIONS),
    ("zaiToolStream", Flag, COMPLETIONS),
    // Of classifiers, which are no chat models: known, and without effect here.
    ("imageInput", OneOf(&["assets", "images", "state-image-urls"]), 0),
    ("sendImageOptInHeader", Flag, 0),
];

/// The names of all wire APIs.
pub(super) fn api_names() -> Vec<&'static str> {
    APIS.iter().map(|(name, _)| *name).collect()
}

/// The names of the switches that one of these APIs knows; of all when one of them is strange here (an extension may
/// bring it).
pub(super) fn names<'a>(apis: impl IntoIterator<Item = &'a str>) -> Vec<&'static str> {
    let bits = apis.into_iter().try_fold(0, |bits, api| {
        let known = APIS.iter().find(|(name, _)| *name == api)?;
        Some(bits | known.1)
    });
    let fits = |of: u8| bits.is_none_or(|bits| of & bits != 0);
    SWITCHES.iter().filter(|(_, _, of)| fits(*of)).map(|(name, ..)| *name).collect()
}

/// Checks what the known switches of a `compat` object hold.
///
/// # Errors
/// One holds something else.
pub(super) fn check(compat: &Object<'_>) -> Result<(), Fault> {
    for (name, kind, _) in SWITCHES {
        compat.read(name, |field| kind.check(field))?;
    }
    Ok(())
}

impl Kind {
    fn check(self, field: &Field<'_>) -> Result<(), Fault> {
        match self {
            Self::Flag => field.flag().map(|_| ()),
            Self::Number => field.number().map(|_| ()),
            Self::Object => field.object().map(|_| ()),
            Self::Texts => field.items()?.iter().try_for_each(|item| item.text().map(|_| ())),
            Self::OneOf(names) => field.one_of(names).map(|_| ()),
        }
    }
}

/// What is wrong with the switches of a model of this API, for data that comes from no file.
#[must_use]
pub fn compat_faults(api: &str, compat: Option<&Map<String, Value>>) -> Vec<String> {
    let Some(compat) = compat else { return Vec::new() };
    let value = Value::Object(compat.clone());
    let Ok(object) = Field::of(&value).object() else { return Vec::new() };
    let names = names([api]);
    let strange = object.unknown(&names).into_iter().map(|(field, _)| field.fault("unknown").describe());
    strange.chain(check(&object).err().map(|fault| fault.describe())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_api_knows_as_many_switches_as_pi_s_does() {
        let table = [
            ("openai-completions", 30),
            ("openai-responses", 12),
            ("azure-openai-responses", 12),
            ("anthropic-messages", 14),
            ("bedrock-converse-stream", 1),
            ("mistral-conversations", 2),
            ("google-vertex", 0),
        ];
        for (api, count) in table {
            assert_eq!(names([api]).len(), count, "{api}");
        }
        assert_eq!(names(["of-an-extension"]).len(), SWITCHES.len());
    }

    #[test]
    fn every_wire_api_of_this_program_has_its_switches_here() {
        for (api, _) in APIS {
            if let Some(wire) = crate::providers::wire_api(api) {
                assert_eq!(wire.name(), api);
            }
        }
        for api in ["openai-completions", "anthropic-messages"] {
            assert!(crate::providers::wire_api(api).is_some());
        }
    }
}
