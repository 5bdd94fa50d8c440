//! What is known without any configuration: the providers of `builtin/` and the two models inside this program.
//!
//! Windows, prices and abilities are those that vendors publish. Where none was found, sizes are set low (an output
//! limit of 128 Ki tokens for models whose only known limit is the window itself) and there is no price.

mod data;

use std::sync::Arc;

use crate::{
    protocol::{
        Model,
        model::{InputKind, ModelCost},
    },
    providers::models_json::ProviderEntry,
};

/// The provider of the models inside the program; also the prefix of their wire APIs' names.
pub const TROUPE: &str = "troupe";
/// The deterministic example model.
pub const OFFLINE: &str = "offline";
/// The model that plays a script.
pub const SCRIPT: &str = "script";

/// Variables that hold keys whatever `models.json` makes of the built-in providers; programs that a model starts do not
/// get them.
const KEY_VARIABLES: [&str; 16] = [
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_OPENAI_API_KEY",
    "CLOUDFLARE_API_KEY",
    "COPILOT_GITHUB_TOKEN",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_CLOUD_API_KEY",
    "LLAMA_API_KEY",
    "LM_API_TOKEN",
    "META_API_KEY",
    "MISTRAL_API_KEY",
    "OPENCODE_API_KEY",
    "RADIUS_API_KEY",
    "TYPESAFE_API_KEY",
    "VLLM_API_KEY",
    "XAI_API_KEY",
];

/// The built-in providers in order of preference.
#[must_use]
pub fn providers() -> Vec<ProviderEntry> {
    // The files are part of the program: a fault in them is found by the tests, not by users.
    data::read().unwrap_or_default()
}

/// Variables that hold keys, whether or not a provider here reads them.
#[must_use]
pub fn other_key_variables() -> Vec<String> {
    KEY_VARIABLES.map(str::to_owned).to_vec()
}

/// The id that a provider has today: sessions, settings and files may hold an older one.
#[must_use]
pub fn current_id(provider: &str) -> &str {
    match provider {
        "azure-openai-responses" => "azure",
        id => id,
    }
}

/// The models inside the program.
#[must_use]
pub fn inside() -> Vec<Arc<Model>> {
    let model = |id: &str, name: &str, input: &[InputKind], reasoning| {
        Arc::new(Model {
            id: id.to_owned(),
            name: name.to_owned(),
            api: format!("{TROUPE}-{id}"),
            provider: TROUPE.to_owned(),
            base_url: String::new(),
            reasoning,
            thinking_level_map: None,
            input: input.to_vec(),
            input_limits: None,
            cost: ModelCost::default(),
            prompt_cache: None,
            context_window: 200_000,
            max_tokens: 16_384,
            sampling_params: None,
            sampling_params_by_thinking_level: None,
            headers: None,
            compat: None,
        })
    };
    vec![
        model(OFFLINE, "Troupe offline example", &[InputKind::Text], false),
        model(SCRIPT, "Troupe script", &[InputKind::Text, InputKind::Image], true),
    ]
}
