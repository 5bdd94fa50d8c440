//! The Chat Completions request: URL, headers, fields.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{
    compat::{CacheKeyMode, Compat, SessionAffinity, is_nvidia},
    messages::{Writer, tools},
    thinking::add_thinking,
    wire::{CacheMark, WireContent, WireMessage, WireSystem, WireTool},
};
use crate::{
    protocol::{Failure, Model},
    providers::{
        CacheRetention, Request, azure,
        call_ids::IdForm,
        headers::{Headers, has_own_authorization},
        hosts::{copilot_headers, session_headers},
        limits::output_cap,
        prompt::{Prompt, ToolMode},
        request_json::{RequestBody, written},
        sampling::{add_sampling, free_text_tools},
        transform::{Target, turns},
        wire_api::{Outgoing, join_url},
    },
};

/// The prompt of a request as its host takes it.
fn prompt(request: &Request, compat: &Compat) -> Prompt {
    let mode = if compat.late_tools { ToolMode::Additions } else { ToolMode::Listed };
    Prompt::read(&request.messages, compat.late_system, mode)
}

/// The arguments that the texts of free-text tools become, by tool.
pub(super) fn free_text(request: &Request, compat: &Compat) -> HashMap<String, String> {
    let prompt = prompt(request, compat);
    let tools = free_text_tools(prompt.known_tools(&request.messages), compat.grammar_tools);
    tools.into_iter().map(|(name, property)| (name.to_owned(), property.to_owned())).collect()
}

/// Writes a request.
pub(super) fn write(request: &Request) -> Result<Outgoing, Failure> {
    let compat = Compat::of(&request.model);
    let body = body(request, &compat)?;
    let url = match is_azure(&request.model) {
        true => azure::url(request, "/chat/completions")?,
        false => join_url(&request.model.base_url, "/chat/completions"),
    };
    Ok(Outgoing { url, headers: headers(request, &compat)?, body })
}

fn body(request: &Request, compat: &Compat) -> Result<Bytes, Failure> {
    let model = &*request.model;
    let prompt = prompt(request, compat);
    let declared: HashSet<&str> = prompt.known_tools(&request.messages).map(|tool| tool.name.as_str()).collect();
    let free_text = free_text_tools(prompt.known_tools(&request.messages), compat.grammar_tools);
    let target = Target { model, ids: IdForm::Chat, late_system: compat.late_system, declared: &declared };
    let mut writer = Writer { model, compat, prompt: &prompt, free_text: &free_text, out: Vec::new() };
    writer.prompt(&prompt.text);
    writer.turns(turns(&request.messages, &target))?;
    let mut messages = writer.out;
    let mut tools = tools(&prompt.tools, compat)?;
    if compat.cache_marks && request.cache != CacheRetention::None {
        let hour = request.cache == CacheRetention::Long && compat.long_cache_retention;
        mark(&mut messages, &mut tools, CacheMark::new(hour));
    }
    let wire = RequestBody {
        fields: fields(request, compat, !tools.is_empty()),
        tools: (!tools.is_empty() || (compat.tools_with_tool_history && has_tool_history(&messages))).then_some(tools),
        messages,
    };
    written(&wire, model)
}

fn fields(request: &Request, compat: &Compat, has_tools: bool) -> Map<String, Value> {
    let model = &*request.model;
    let cap = output_cap(request);
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    let name = if is_azure(model) { azure::deployment(request) } else { model.id.as_str().into() };
    set("model", name.into());
    set("stream", true.into());
    if compat.usage_in_streaming {
        set("stream_options", json!({"include_usage": true}));
    }
    if compat.store {
        set("store", false.into());
    }
    if cap > 0 {
        set(&compat.max_tokens_field, cap.into());
    }
    if let Some(key) = cache_key(request, compat) {
        set("prompt_cache_key", key.into());
    }
    if request.cache == CacheRetention::Long && compat.long_cache_retention && !compat.cache_marks {
        set("prompt_cache_retention", "24h".into());
    }
    if compat.zai_tool_stream && has_tools {
        set("tool_stream", true.into());
    }
    if let Some(priority) = &compat.vllm_priority {
        set("priority", priority.clone());
    }
    if let Some(routing) = &compat.open_router_routing {
        set("provider", routing.clone());
    }
    if let Some(routing) = &compat.vercel_gateway_routing {
        set("providerOptions", json!({ "gateway": routing }));
    }
    add_thinking(&mut fields, model, compat, request.thinking, &request.thinking_budgets, cap);
    add_sampling(&mut fields, request, "messages");
    fields
}

fn cache_key(request: &Request, compat: &Compat) -> Option<String> {
    let wanted = match compat.cache_key_mode {
        CacheKeyMode::Enabled => true,
        CacheKeyMode::Disabled => false,
        CacheKeyMode::Auto => {
            compat.is_openai || (request.cache == CacheRetention::Long && compat.long_cache_retention)
        }
    };
    request.cache_key().filter(|_| wanted)
}

/// Marks the prompt, the last tool and the newest text.
fn mark(messages: &mut [WireMessage<'_>], tools: &mut [WireTool<'_>], mark: CacheMark) {
    if let Some(WireMessage::System(WireSystem { content, .. }) | WireMessage::Developer(WireSystem { content, .. })) =
        messages.first_mut()
    {
        content.as_mut().map(|content| content.mark(mark));
    }
    if let Some(WireTool::Function { cache_control, .. }) = tools.last_mut() {
        *cache_control = Some(mark);
    }
    let _ = messages
        .iter_mut()
        .rev()
        .filter_map(WireMessage::markable)
        .any(|content: &mut WireContent<'_>| content.mark(mark));
}

fn has_tool_history(messages: &[WireMessage<'_>]) -> bool {
    messages.iter().any(|message| match message {
        WireMessage::Tool { .. } => true,
        WireMessage::Assistant(message) => !message.tool_calls.is_empty(),
        _ => false,
    })
}

/// Whether the model is a deployment at Azure.
fn is_azure(model: &Model) -> bool {
    model.provider == "azure"
}

fn headers(request: &Request, compat: &Compat) -> Result<Headers, Failure> {
    let model = &*request.model;
    let mut headers = Headers::base();
    if let Some(key) = &request.api_key
        && !has_own_authorization(request)
    {
        match model.provider.as_str() {
            provider if is_azure(model) => azure::authorize(key, provider, &mut headers)?,
            "cloudflare-ai-gateway" => headers.set_key("cf-aig-authorization", "Bearer ", key, &model.provider)?,
            provider => headers.set_key("authorization", "Bearer ", key, provider)?,
        }
    }
    if is_nvidia(model) {
        // Otherwise a long request turns into polling.
        headers.set("nvcf-poll-seconds", "3600");
    }
    if let (Some(session), Some(form)) = (request.cached_session(), compat.session_affinity) {
        let names: &[&'static str] = match form {
            SessionAffinity::Openai => &["session_id", "x-client-request-id", "x-session-affinity"],
            SessionAffinity::OpenaiNosession => &["x-client-request-id", "x-session-affinity"],
            SessionAffinity::Openrouter => &["x-session-id"],
        };
        names.iter().for_each(|name| headers.set(name, session));
    }
    session_headers(&mut headers, request);
    copilot_headers(&mut headers, request);
    headers.overlay(request)?;
    Ok(headers)
}

#[cfg(test)]
mod tests;
