//! Model servers on this machine: found where they usually listen, asked for their models and windows.
//!
//! Nothing here runs unless somebody asks for it: a list of models asks all servers at once and waits for a moment, a
//! model's name that begins with a server's id asks that server alone. What answers on these ports may be anything, so
//! answers are bounded in size and time and what is no list of models counts as no server.
//!
//! | module | what |
//! |---|---|
//! | `address` | where servers listen |
//! | `ask`, `probe` | which questions each server answers; one question, bounded in size and time |
//! | `listing` | from answers to models: pure |

mod address;
mod ask;
mod listing;
mod probe;

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use reqwest::Url;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    credentials::KeySources, environment::Environment, http::shown, models_json::ProviderEntry, wire_api::join_url,
};
use crate::protocol::{
    Model,
    model::{InputKind, ModelCost},
};
use address::is_this_machine;
use listing::Listed;
use probe::{Probe, ProbeError};

/// How long a list of models waits for all servers together.
const LIST_PATIENCE: Duration = Duration::from_millis(300);
/// How long a server that was named may take.
const NAMED_PATIENCE: Duration = Duration::from_secs(3);
/// The window of a model whose server does not tell it: what Ollama gives on a machine of medium size.
const UNTOLD_WINDOW: u64 = 32_768;
/// Output at most: small windows must have room for the prompt.
const MAX_OUTPUT: u64 = 16_384;

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the servers' own")]
pub enum Server {
    Ollama,
    LmStudio,
    LlamaCpp,
    Vllm,
    Sglang,
}

impl Server {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Ollama, Self::LmStudio, Self::LlamaCpp, Self::Vllm, Self::Sglang];

    /// The id that names of its models begin with.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::LmStudio => "lmstudio",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vllm",
            Self::Sglang => "sglang",
        }
    }

    /// The name that people know it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
            Self::Sglang => "SGLang",
        }
    }

    /// The server that a model's name or a provider's names.
    #[must_use]
    pub fn named_by(name: &str) -> Option<Self> {
        let provider = name.split('/').next().unwrap_or_default();
        Self::ALL.into_iter().find(|server| server.id().eq_ignore_ascii_case(provider))
    }

    /// The variable that holds its key, for those that may want one.
    fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::LlamaCpp => Some("LLAMA_API_KEY"),
            Self::LmStudio => Some("LM_API_TOKEN"),
            Self::Vllm => Some("VLLM_API_KEY"),
            Self::Ollama | Self::Sglang => None,
        }
    }
}

/// A server that answered.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its provider with all models.
    pub provider: ProviderEntry,
    /// Where it is.
    pub address: String,
    /// Ids of models whose window is a guess.
    pub guessed: Vec<String>,
}

/// A server that was named and is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name} does not answer at {tried}: start it, set {variable} to its address, or describe it in models.json as provider \"{id}\""
)]
pub struct NotThere {
    name: &'static str,
    id: &'static str,
    variable: &'static str,
    /// Each address with what happened there.
    tried: String,
}

/// All servers that answer at once. Offline, only this machine is asked.
pub async fn find_all(environment: &Environment, offline: bool) -> Vec<Found> {
    find_among(&address::all(environment, offline), environment, LIST_PATIENCE).await
}

async fn find_among(servers: &[(Server, Vec<Url>)], environment: &Environment, patience: Duration) -> Vec<Found> {
    let deadline = Instant::now() + patience;
    let asked = servers.iter().map(|(server, urls)| first_answer(*server, urls, environment, deadline));
    join_all(asked).await.into_iter().filter_map(Result::ok).collect()
}

/// One server that somebody named.
///
/// # Errors
/// It does not answer, or with something that is no list of models: the text says what was tried and what to do.
pub async fn find(server: Server, environment: &Environment) -> Result<Found, NotThere> {
    find_at(server, &address::candidates(server, environment), environment).await
}

async fn find_at(server: Server, urls: &[Url], environment: &Environment) -> Result<Found, NotThere> {
    let found = first_answer(server, urls, environment, Instant::now() + NAMED_PATIENCE).await;
    found.map_err(|tried| NotThere {
        name: server.name(),
        id: server.id(),
        variable: address::variable(server),
        tried: tried.iter().map(|(url, why)| format!("{} ({why})", shown(url))).collect::<Vec<_>>().join(" or "),
    })
}

/// The first address that answers, in their order.
async fn first_answer(
    server: Server,
    urls: &[Url],
    environment: &Environment,
    deadline: Instant,
) -> Result<Found, Vec<(Url, ProbeError)>> {
    let key = server.key_variable().and_then(|name| environment.get(name));
    let answers = urls.iter().map(async |url| {
        let probe = Probe::new(url, key, deadline)?;
        ask::models(server, &probe, environment).await
    });
    let mut failed = Vec::new();
    for (url, answer) in urls.iter().zip(join_all(answers).await) {
        match answer {
            Ok(models) => return Ok(found(server, url, models)),
            Err(why) => failed.push((url.clone(), why)),
        }
    }
    Err(failed)
}

fn found(server: Server, url: &Url, listed: Vec<Listed>) -> Found {
    let base_url = join_url(url.as_str(), "/v1");
    let guessed = listed.iter().filter(|model| model.window.is_none()).map(|model| model.id.clone()).collect();
    let models = listed.into_iter().map(|listed| Arc::new(model(server, &base_url, listed))).collect();
    let env = server.key_variable().map(str::to_owned).into_iter().collect();
    let provider = ProviderEntry {
        id: server.id().to_owned(),
        name: server.name().to_owned(),
        base_url: Some(base_url),
        api: Some(API.to_owned()),
        default_model: None,
        keys: KeySources { env, keyless: true, ..KeySources::default() },
        models,
    };
    Found { provider, address: shown(url), guessed }
}

const API: &str = "openai-completions";

fn model(server: Server, base_url: &str, listed: Listed) -> Model {
    let window = listed.window.unwrap_or(UNTOLD_WINDOW.min(listed.largest_window.unwrap_or(UNTOLD_WINDOW)));
    let map = |value: Value| value.as_object().cloned();
    let input = if listed.images { vec![InputKind::Text, InputKind::Image] } else { vec![InputKind::Text] };
    Model {
        name: listed.id.clone(),
        id: listed.id,
        api: API.to_owned(),
        provider: server.id().to_owned(),
        base_url: base_url.to_owned(),
        reasoning: listed.reasoning,
        thinking_level_map: listed.reasoning.then(|| map(json!({"off": "none", "minimal": "low"}))).flatten(),
        input,
        input_limits: None,
        cost: ModelCost::default(),
        prompt_cache: None,
        context_window: window,
        max_tokens: (window / 2).clamp(1, MAX_OUTPUT),
        sampling_params: None,
        sampling_params_by_thinking_level: None,
        headers: None,
        // Chat templates know no developer role; old builds refuse fields that they do not know.
        compat: map(json!({
            "supportsDeveloperRole": false, "supportsStore": false, "supportsStrictMode": false,
            "maxTokensField": "max_tokens",
        })),
    }
}

/// What to say about a model whose server does not tell its window; none for others.
#[must_use]
pub fn guess_note(found: &[Found], model: &Model) -> Option<String> {
    let of = found.iter().find(|found| found.provider.id == model.provider)?;
    let ollama = if model.provider == Server::Ollama.id() {
        "Ollama cuts longer prompts without a word: set OLLAMA_CONTEXT_LENGTH to what it is to use, for it and for troupe."
    } else {
        "Describe the model in models.json if it is another."
    };
    let guessed = of.guessed.contains(&model.id);
    guessed.then(|| {
        format!(
            "{} does not tell its context window; {} tokens are assumed. {ollama}",
            model.reference(),
            model.context_window
        )
    })
}

/// How to use what was found, for people who have no other model. None when nothing was.
#[must_use]
pub fn how_to_use(found: &[Found]) -> Option<String> {
    let names: Vec<_> = found.iter().flat_map(|found| &found.provider.models).map(|model| model.reference()).collect();
    let first = names.first()?;
    let shown: Vec<_> = names.iter().take(5).map(ToString::to_string).collect();
    let more = if names.len() > shown.len() { " and more (troupe --list-models)" } else { "" };
    Some(format!("This machine has {}{more}. To use one: troupe --model {first}", shown.join(", ")))
}

#[cfg(test)]
mod tests;
