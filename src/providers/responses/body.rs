//! The Responses request: URL, headers, fields.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{
    compat::Compat,
    dialect::Dialect,
    messages::{Writer, tools},
    wire::WireBody,
};
use crate::{
    protocol::{Failure, ThinkingLevel},
    providers::{
        CacheRetention, Request,
        call_ids::IdForm,
        compat::SessionAffinity,
        headers::Headers,
        hosts::{copilot_headers, session_headers},
        limits::output_cap,
        prompt::{Prompt, ToolMode},
        request_json::written,
        sampling::{add_sampling, free_text_tools},
        thinking::{active, cannot_stop, effort, mapped},
        transform::{Target, turns},
        wire_api::Outgoing,
    },
};

/// The least `max_output_tokens` that the API takes.
const MIN_OUTPUT: u64 = 16;
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";
/// What the tokens of "Sign in with ChatGPT" may not ask for.
const NOT_FOR_TOKENS: [&str; 4] =
    ["max_output_tokens", "temperature", "prompt_cache_retention", "prompt_cache_options"];

fn prompt(request: &Request, compat: &Compat) -> Prompt {
    Prompt::read(&request.messages, compat.late_system, ToolMode::Listed)
}

/// The arguments that the texts of free-text tools become, by tool.
pub(super) fn free_text(request: &Request, compat: &Compat) -> HashMap<String, String> {
    if !compat.grammar_tools {
        return HashMap::new();
    }
    let prompt = prompt(request, compat);
    let tools = free_text_tools(&prompt.tools, compat.grammar_tools);
    tools.into_iter().map(|(name, property)| (name.to_owned(), property.to_owned())).collect()
}

/// Writes a request.
pub(super) fn write(request: &Request, dialect: Dialect) -> Result<Outgoing, Failure> {
    let compat = Compat::of(&request.model, dialect);
    let body = body(request, &compat, dialect)?;
    Ok(Outgoing { url: dialect.url(request)?, headers: headers(request, &compat, dialect)?, body })
}

fn body(request: &Request, compat: &Compat, dialect: Dialect) -> Result<Bytes, Failure> {
    let model = &*request.model;
    let prompt = prompt(request, compat);
    let declared: HashSet<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    let free_text = free_text_tools(&prompt.tools, compat.grammar_tools);
    let target = Target { model, ids: IdForm::Responses, late_system: compat.late_system, declared: &declared };
    let wire = WireBody {
        fields: fields(request, compat, dialect),
        tools: tools(&prompt.tools, compat, dialect)?,
        input: Writer::new(model, compat, &free_text).write(&prompt.text, turns(&request.messages, &target)),
    };
    written(&wire, model)
}

fn fields(request: &Request, compat: &Compat, dialect: Dialect) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    set("model", dialect.model_name(request).into());
    set("stream", true.into());
    set("store", false.into());
    let cap = output_cap(request);
    if cap > 0 && compat.max_output_tokens {
        set("max_output_tokens", cap.max(MIN_OUTPUT).into());
    }
    if let Some(key) = request.cache_key().filter(|_| compat.cache_key) {
        set("prompt_cache_key", key.into());
    }
    match request.cache {
        CacheRetention::None if compat.explicit_cache_mode => set("prompt_cache_options", json!({"mode": "explicit"})),
        CacheRetention::Long if compat.long_cache_retention && compat.explicit_cache_mode => {
            set("prompt_cache_options", json!({"ttl": "30m"}));
        }
        CacheRetention::Long if compat.long_cache_retention => set("prompt_cache_retention", "24h".into()),
        CacheRetention::None | CacheRetention::Short | CacheRetention::Long => {}
    }
    let reasoning = reasoning(request);
    if compat.always_include_reasoning || reasoning.as_ref().is_some_and(|reasoning| reasoning.thinks) {
        set("include", json!([ENCRYPTED_REASONING]));
    }
    if let Some(reasoning) = reasoning {
        set("reasoning", reasoning.field);
    }
    dialect.add_fields(&mut fields);
    if dialect.takes_sampling() {
        add_sampling(&mut fields, request, "input");
    }
    if dialect == Dialect::OpenAi && signed_in(request) {
        fields.retain(|name, _| !NOT_FOR_TOKENS.contains(&name.as_str()));
    }
    fields
}

/// The `reasoning` field.
struct Reasoning {
    field: Value,
    thinks: bool,
}

/// How the model is told to think; nothing for one that does not, or cannot be told to stop.
fn reasoning(request: &Request) -> Option<Reasoning> {
    let model = &*request.model;
    if !model.reasoning {
        return None;
    }
    if let Some(level) = active(model, request.thinking) {
        let field = json!({"effort": effort(model, level), "summary": "auto"});
        return Some(Reasoning { field, thinks: true });
    }
    if cannot_stop(model) || model.provider == "github-copilot" {
        return None;
    }
    let off = mapped(model, ThinkingLevel::Off).and_then(Value::as_str).unwrap_or("none");
    Some(Reasoning { field: json!({ "effort": off }), thinks: false })
}

/// Whether the key is a token of "Sign in with ChatGPT", which begin unlike OpenAI's keys.
fn signed_in(request: &Request) -> bool {
    request.model.provider == "openai" && request.api_key.as_ref().is_some_and(|key| !key.expose().starts_with("sk-"))
}

fn headers(request: &Request, compat: &Compat, dialect: Dialect) -> Result<Headers, Failure> {
    let mut headers = Headers::base();
    dialect.authorize(request, &mut headers)?;
    // The API takes no more of a session's id in headers than in the key.
    if let Some(session) = request.cache_key() {
        let names: &[&'static str] = match compat.session_affinity {
            SessionAffinity::Openai => &["session-id", "x-client-request-id"],
            SessionAffinity::OpenaiNosession => &["x-client-request-id"],
            SessionAffinity::Openrouter => &["x-session-id"],
        };
        names.iter().for_each(|name| headers.set(name, &session));
    }
    session_headers(&mut headers, request);
    copilot_headers(&mut headers, request);
    headers.overlay(request)?;
    Ok(headers)
}

#[cfg(test)]
mod tests;
