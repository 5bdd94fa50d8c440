//! The Messages request: URL, headers, fields.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{
    compat::Compat,
    messages::{Writer, tools},
    thinking::{BETA_INTERLEAVED, Thinking},
    wire::{CacheMark, Role, WireBlock, WireBody},
};
use crate::{
    protocol::Failure,
    providers::{
        CacheRetention, Request,
        call_ids::IdForm,
        headers::{Headers, has_own_authorization},
        hosts::{copilot_headers, session_headers},
        prompt::{Prompt, ToolMode},
        request_json::written,
        transform::{Target, turns},
        wire_api::{Outgoing, join_v1_url},
    },
};

const VERSION: &str = "2023-06-01";
/// What the tokens of plans are recognised by; they go out as bearer tokens.
const OAUTH_TOKEN: &str = "sk-ant-oat";

const BETA_OAUTH: &str = "oauth-2025-04-20";
const BETA_FINE_GRAINED: &str = "fine-grained-tool-streaming-2025-05-14";
const BETA_FALLBACK: &str = "server-side-fallback-2026-07-01";
const BETA_EFFORT: [&str; 2] = ["mid-conversation-output-config-2026-07-01", "thinking-binding-controls-2026-08-01"];
const BETA_INLINE_TOOLS: &str = "inline-tools-2026-09-15";

/// The effort that is recorded with the answer, when it is set per message.
pub(super) fn managed_effort<'a>(request: &'a Request, compat: &Compat) -> Option<&'a str> {
    match Thinking::of(request, compat).0 {
        Thinking::Managed(effort) => Some(effort),
        _ => None,
    }
}

/// Writes a request.
pub(super) fn write(request: &Request) -> Result<Outgoing, Failure> {
    let compat = Compat::of(&request.model);
    let model = &*request.model;
    let mode = if compat.late_tools { ToolMode::Changes } else { ToolMode::Listed };
    let prompt = Prompt::read(&request.messages, compat.late_system, mode);
    let (thinking, cap) = Thinking::of(request, &compat);
    let declared: HashSet<&str> = prompt.known_tools(&request.messages).map(|tool| tool.name.as_str()).collect();
    let target = Target { model, ids: IdForm::Anthropic, late_system: compat.late_system, declared: &declared };
    let effort = match thinking {
        Thinking::Managed(effort) => Some(effort),
        _ => None,
    };
    let mut writer = Writer { compat: &compat, prompt: &prompt, effort, out: Vec::new(), held: Vec::new() };
    writer.turns(turns(&request.messages, &target))?;
    let mut body = WireBody {
        fields: fields(request, &compat, thinking, cap),
        system: (!prompt.text.is_empty()).then(|| WireBlock::text(prompt.text.as_str())),
        tools: tools(&prompt.tools, &compat)?,
        messages: writer.out,
    };
    if request.cache != CacheRetention::None {
        let hour = request.cache == CacheRetention::Long && compat.long_cache_retention;
        mark(&mut body, CacheMark::new(hour), compat.cache_marks_on_tools);
    }
    let has_tools = !body.tools.is_empty();
    let changes_tools = (0..request.messages.len()).any(|place| prompt.is_anchored(place));
    Ok(Outgoing {
        url: join_v1_url(&model.base_url, "/messages"),
        headers: headers(request, &compat, &betas(request, &compat, thinking, has_tools, changes_tools))?,
        body: written(&body, model)?,
    })
}

fn fields(request: &Request, compat: &Compat, thinking: Thinking<'_>, cap: u64) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("model".into(), request.model.id.as_str().into());
    fields.insert("max_tokens".into(), cap.into());
    fields.insert("stream".into(), true.into());
    thinking.write(&mut fields);
    if !compat.fallback_models.is_empty() {
        let models = compat.fallback_models.iter().map(|model| json!({ "model": model }));
        fields.insert("fallbacks".into(), models.collect());
    }
    fields
}

/// Marks the system prompt, the last tool, and the end of the newest message that is not the model's own.
fn mark(body: &mut WireBody<'_>, mark: CacheMark, on_tools: bool) {
    if let Some(system) = &mut body.system {
        system.mark(mark);
    }
    if let Some(tool) = body.tools.last_mut().filter(|_| on_tools) {
        tool.cache_control = Some(mark);
    }
    let mut newest = body.messages.iter_mut().rev().filter(|message| message.role != Role::Assistant);
    if let Some(block) = newest.find_map(|message| message.content.last_mut()) {
        block.mark(mark);
    }
}

fn betas(
    request: &Request,
    compat: &Compat,
    thinking: Thinking<'_>,
    has_tools: bool,
    changes_tools: bool,
) -> Vec<&'static str> {
    let mut betas = Vec::new();
    if uses_oauth(request) {
        betas.push(BETA_OAUTH);
    }
    match thinking {
        Thinking::Budget(_) => betas.push(BETA_INTERLEAVED),
        Thinking::Managed(_) => betas.extend(BETA_EFFORT),
        Thinking::Unsaid | Thinking::Disabled | Thinking::Adaptive(_) => {}
    }
    if has_tools && !compat.eager_tool_input {
        betas.push(BETA_FINE_GRAINED);
    }
    if !compat.fallback_models.is_empty() {
        betas.push(BETA_FALLBACK);
    }
    if changes_tools {
        betas.push(BETA_INLINE_TOOLS);
    }
    betas
}

fn uses_oauth(request: &Request) -> bool {
    request.api_key.as_ref().is_some_and(|key| key.expose().contains(OAUTH_TOKEN))
}

fn headers(request: &Request, compat: &Compat, betas: &[&str]) -> Result<Headers, Failure> {
    let model = &*request.model;
    let mut headers = Headers::base();
    headers.set("anthropic-version", VERSION);
    if !betas.is_empty() {
        headers.set("anthropic-beta", &betas.join(","));
    }
    if let Some(key) = &request.api_key
        && !has_own_authorization(request)
    {
        match model.provider.as_str() {
            "cloudflare-ai-gateway" => headers.set_key("cf-aig-authorization", "Bearer ", key, &model.provider)?,
            provider if provider == "github-copilot" || uses_oauth(request) => {
                headers.set_key("authorization", "Bearer ", key, provider)?;
            }
            provider => headers.set_key("x-api-key", "", key, provider)?,
        }
    }
    if let (Some(session), Some(name)) = (request.cached_session(), compat.session_header) {
        headers.set(name, session);
    }
    session_headers(&mut headers, request);
    copilot_headers(&mut headers, request);
    headers.overlay(request)?;
    Ok(headers)
}

#[cfg(test)]
mod tests;
