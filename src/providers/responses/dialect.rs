//! Where the variants of the API differ: the place, the key, and a few fields.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::codex;
use crate::{
    protocol::Failure,
    providers::{
        Request, azure,
        headers::{Headers, has_own_authorization},
        wire_api::join_url,
    },
};

/// A variant of the Responses API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// OpenAI and compatible hosts.
    OpenAi,
    /// Azure OpenAI.
    Azure,
    /// The backend of ChatGPT plans.
    Codex,
}

impl Dialect {
    /// The wire API's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-responses",
            Self::Azure => "azure-openai-responses",
            Self::Codex => "openai-codex-responses",
        }
    }

    /// Where requests go.
    pub(super) fn url(self, request: &Request) -> Result<String, Failure> {
        match self {
            Self::OpenAi => Ok(join_url(&request.model.base_url, "/responses")),
            Self::Azure => azure::url(request, "/responses"),
            Self::Codex => Ok(codex::url(&request.model.base_url)),
        }
    }

    /// What the host calls the model.
    pub(super) fn model_name(self, request: &Request) -> Cow<'_, str> {
        match self {
            Self::Azure => azure::deployment(request),
            Self::OpenAi | Self::Codex => Cow::Borrowed(&request.model.id),
        }
    }

    /// Adds the key, and the headers that only this variant has.
    pub(super) fn authorize(self, request: &Request, headers: &mut Headers) -> Result<(), Failure> {
        let provider = request.model.provider.as_str();
        if self == Self::Codex {
            codex::identify(request, headers)?;
        }
        let Some(key) = request.api_key.as_ref().filter(|_| !has_own_authorization(request)) else { return Ok(()) };
        match self {
            Self::Azure => azure::authorize(key, provider, headers),
            Self::OpenAi if provider == "cloudflare-ai-gateway" => {
                headers.set_key("cf-aig-authorization", "Bearer ", key, provider)
            }
            Self::OpenAi | Self::Codex => headers.set_key("authorization", "Bearer ", key, provider),
        }
    }

    /// Adds the fields that only this variant has.
    pub(super) fn add_fields(self, fields: &mut Map<String, Value>) {
        if self == Self::Codex {
            fields.insert("text".into(), json!({"verbosity": "low"}));
            fields.insert("tool_choice".into(), "auto".into());
            fields.insert("parallel_tool_calls".into(), true.into());
        }
    }

    /// Whether the model's sampling parameters count: the plans' backend takes none.
    pub(super) fn takes_sampling(self) -> bool {
        self != Self::Codex
    }

    /// What `strict` says of a tool that is not strict. Left out, the API would make it strict.
    pub(super) fn not_strict(self) -> Option<bool> {
        (self != Self::Codex).then_some(false)
    }
}
