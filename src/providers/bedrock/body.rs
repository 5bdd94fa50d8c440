//! The Converse request: URL, headers, fields, signature.

use std::collections::HashSet;

use reqwest::Url;
use serde::Deserialize;

use super::{
    endpoint::Endpoint,
    family::Family,
    messages::{Writer, tools},
    thinking::thinking,
    wire::{CachePoint, InferenceConfig, Role, ToolConfig, WireBlock, WireBody, WireMessage},
};
use crate::{
    protocol::{Failure, time::Millis},
    providers::{
        CacheRetention, Request, Secret,
        aws::{
            chain, region,
            sigv4::{Scope, Unsigned, sign},
        },
        call_ids::IdForm,
        compat::read,
        headers::Headers,
        prompt::{Prompt, ToolMode},
        request_json::written,
        transform::{Target, turns},
        wire_api::Outgoing,
    },
};

/// The service's name in signatures.
const SERVICE: &str = "bedrock";

/// The switches that a model may set; `forceAdaptiveThinking` of Claude's own API is understood too.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Switches {
    supports_strict_mode: bool,
}

/// Writes a request, to be sent at `now`.
pub(super) fn write(request: &Request, now: Millis) -> Result<Outgoing, Failure> {
    let model = &*request.model;
    let family = Family::of(model);
    let endpoint = Endpoint::of(model, &request.environment);
    let prompt = Prompt::read(&request.messages, false, ToolMode::Listed);
    let declared: HashSet<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    let target = Target { model, ids: IdForm::Anthropic, late_system: false, declared: &declared };
    let is_government = region::is_government(&endpoint.region) || model.id.contains("us-gov");
    let (fields, max_tokens) = thinking(request, family, is_government);
    let switches: Switches = read(model.compat.as_ref());
    let tools = tools(&prompt.tools, switches.supports_strict_mode)?;
    let mut body = WireBody {
        system: (!prompt.text.trim().is_empty()).then(|| WireBlock::text(prompt.text.as_str())).into_iter().collect(),
        messages: Writer::new(family, !tools.is_empty()).turns(turns(&request.messages, &target)),
        inference_config: InferenceConfig { max_tokens },
        tool_config: (!tools.is_empty()).then_some(ToolConfig { tools }),
        additional_model_request_fields: fields,
    };
    if let Some(point) = cache_point(request, family) {
        mark(&mut body, point);
    }
    let json = written(&body, model)?;
    Ok(Outgoing { headers: headers(request, &endpoint, &json, now)?, url: endpoint.url, body: json })
}

fn cache_point(request: &Request, family: Family) -> Option<CachePoint> {
    let forced = request.environment.get("AWS_BEDROCK_FORCE_CACHE") == Some("1");
    let wanted = request.cache != CacheRetention::None && (forced || family.takes_cache_points());
    wanted.then(|| CachePoint::new(request.cache == CacheRetention::Long))
}

/// Marks the end of the system prompt and of the newest message of the user's side.
fn mark(body: &mut WireBody<'_>, point: CachePoint) {
    if !body.system.is_empty() {
        body.system.push(WireBlock::CachePoint(point));
    }
    let is_users = |message: &&mut WireMessage<'_>| message.role == Role::User;
    if let Some(message) = body.messages.iter_mut().rev().find(is_users) {
        message.content.push(WireBlock::CachePoint(point));
    }
}

fn headers(request: &Request, endpoint: &Endpoint, body: &[u8], now: Millis) -> Result<Headers, Failure> {
    let provider = request.model.provider.as_str();
    let mut headers = Headers::base();
    headers.set("accept", "application/vnd.amazon.eventstream");
    // What says who asks is not for others to set.
    headers.overlay_where(request, |name| {
        !matches!(name, "authorization" | "host" | "x-api-key") && !name.starts_with("x-amz-")
    })?;
    if chain::skips_auth(&request.environment) {
        return Ok(headers);
    }
    if let Some(key) = &request.api_key {
        headers.set_key("authorization", "Bearer ", key, provider)?;
    } else if let Some(credentials) = &request.aws
        && let Ok(url) = Url::parse(&endpoint.url)
    {
        let content_type = headers.get("content-type").unwrap_or_default().to_owned();
        let own = [("content-type", content_type.as_str())];
        let signed = if content_type.is_empty() { &own[..0] } else { &own[..] };
        let unsigned = Unsigned { method: "POST", url: &url, headers: signed, body };
        let scope = Scope { region: &endpoint.region, service: SERVICE, time: now };
        let signature = sign(&unsigned, credentials, &scope);
        headers.set("x-amz-date", &signature.date);
        if let Some(token) = &signature.session_token {
            headers.set_key("x-amz-security-token", "", token, provider)?;
        }
        headers.set_key("authorization", "", &Secret::new(&signature.authorization), provider)?;
    }
    Ok(headers)
}

#[cfg(test)]
mod tests;
