//! The request to Mistral: URL, headers, fields.

use std::collections::HashSet;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::{
    compat::Compat,
    messages::{messages, tools},
};
use crate::{
    protocol::{Failure, Model, ThinkingLevel},
    providers::{
        Request,
        call_ids::IdForm,
        headers::{Headers, has_own_authorization},
        limits::output_cap,
        prompt::{Prompt, ToolMode},
        request_json::{RequestBody, written},
        thinking::{active, cannot_stop, mapped},
        transform::{Target, turns},
        wire_api::{Outgoing, join_v1_url},
    },
};

/// Writes a request.
pub(super) fn write(request: &Request) -> Result<Outgoing, Failure> {
    Ok(Outgoing {
        url: join_v1_url(&request.model.base_url, "/chat/completions"),
        headers: headers(request)?,
        body: body(request)?,
    })
}

fn body(request: &Request) -> Result<Bytes, Failure> {
    let model = &*request.model;
    let compat = Compat::of(model);
    let late_system = compat.supports_mid_convo_system_messages;
    let prompt = Prompt::read(&request.messages, late_system, ToolMode::Listed);
    let declared: HashSet<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    let target = Target { model, ids: IdForm::Mistral, late_system, declared: &declared };
    let tools = tools(&prompt.tools, compat)?;
    let wire = RequestBody {
        fields: fields(request),
        messages: messages(&prompt.text, turns(&request.messages, &target)),
        tools: (!tools.is_empty()).then_some(tools),
    };
    written(&wire, model)
}

fn fields(request: &Request) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    set("model", request.model.id.as_str().into());
    set("stream", true.into());
    let cap = output_cap(request);
    if cap > 0 {
        set("max_tokens", cap.into());
    }
    if let Some((name, word)) = thinking(&request.model, request.thinking) {
        set(name, word.into());
    }
    if let Some(key) = request.cache_key() {
        set("prompt_cache_key", key.into());
    }
    fields
}

/// The field that says how much to think. Models with a level map know an effort, and those that always think the same
/// know a mode. An effort that the map does not name is the one that every such model has.
fn thinking(model: &Model, level: ThinkingLevel) -> Option<(&'static str, &str)> {
    if !model.reasoning {
        return None;
    }
    let wanted = active(model, level);
    if model.thinking_level_map.is_none() {
        return wanted.map(|_| ("prompt_mode", "reasoning"));
    }
    let word = |level, default| mapped(model, level).and_then(Value::as_str).unwrap_or(default);
    match wanted {
        Some(level) => Some(("reasoning_effort", word(level, "high"))),
        None if cannot_stop(model) => None,
        None => Some(("reasoning_effort", word(ThinkingLevel::Off, "none"))),
    }
}

fn headers(request: &Request) -> Result<Headers, Failure> {
    let mut headers = Headers::base();
    headers.set("accept", "text/event-stream");
    if let Some(key) = &request.api_key
        && !has_own_authorization(request)
    {
        headers.set_key("authorization", "Bearer ", key, &request.model.provider)?;
    }
    if let Some(session) = request.cached_session() {
        headers.set("x-affinity", session);
    }
    headers.overlay(request)?;
    Ok(headers)
}

#[cfg(test)]
mod tests;
