//! The JSON of Chat Completions requests, borrowing from the conversation.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::providers::request_json::{DataUrl, JsonText, TextOrParts};

/// A message of the request.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum WireMessage<'a> {
    System(WireSystem<'a>),
    Developer(WireSystem<'a>),
    User {
        content: WireContent<'a>,
    },
    Assistant(Box<WireAssistant<'a>>),
    Tool {
        tool_call_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<Cow<'a, str>>,
        content: WireContent<'a>,
    },
}

impl<'a> WireMessage<'a> {
    /// The content that a cache mark may go to.
    pub(super) fn markable(&mut self) -> Option<&mut WireContent<'a>> {
        match self {
            Self::System(_) | Self::Developer(_) => None,
            Self::User { content } | Self::Tool { content, .. } => Some(content),
            Self::Assistant(message) => message.content.as_mut(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct WireSystem<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<WireContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Vec<WireTool<'a>>>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct WireAssistant<'a> {
    pub(super) content: Option<WireContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<WireCall<'a>>,
}

pub(super) type WireContent<'a> = TextOrParts<'a, WirePart<'a>>;

impl WireContent<'_> {
    /// Puts a cache mark on the last text; false when there is none.
    pub(super) fn mark(&mut self, mark: CacheMark) -> bool {
        if let Self::Text(text) = self {
            if text.is_empty() {
                return false;
            }
            *self = Self::Parts(vec![WirePart::Text { text: std::mem::take(text), cache_control: None }]);
        }
        let Self::Parts(parts) = self else { return false };
        for part in parts.iter_mut().rev() {
            if let WirePart::Text { cache_control, .. } = part {
                *cache_control = Some(mark);
                return true;
            }
        }
        false
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum WirePart<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    ImageUrl {
        image_url: ImageUrl<'a>,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct ImageUrl<'a> {
    pub(super) url: DataUrl<'a>,
}

/// Anthropic's way to mark the end of a prefix that is worth caching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(in crate::providers) struct CacheMark {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheMark {
    pub(super) fn new(hour: bool) -> Self {
        Self { kind: "ephemeral", ttl: hour.then_some("1h") }
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum WireCall<'a> {
    Function { id: Cow<'a, str>, function: WireFunctionCall<'a> },
    Custom { id: Cow<'a, str>, custom: WireCustomCall<'a> },
}

#[derive(Debug, Serialize)]
pub(in crate::providers) struct WireFunctionCall<'a> {
    pub(in crate::providers) name: Cow<'a, str>,
    pub(in crate::providers) arguments: JsonText<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct WireCustomCall<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) input: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(in crate::providers) enum WireTool<'a> {
    Function {
        function: WireFunction<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    Custom {
        custom: WireCustom<'a>,
    },
}

#[derive(Debug, Serialize)]
pub(in crate::providers) struct WireFunction<'a> {
    pub(in crate::providers) name: &'a str,
    pub(in crate::providers) description: &'a str,
    pub(in crate::providers) parameters: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::providers) strict: Option<bool>,
}

#[derive(Debug, Serialize)]
pub(in crate::providers) struct WireCustom<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) format: WireFormat<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(in crate::providers) enum WireFormat<'a> {
    Grammar { grammar: WireGrammar<'a> },
}

#[derive(Debug, Serialize)]
pub(in crate::providers) struct WireGrammar<'a> {
    pub(super) syntax: &'static str,
    pub(super) definition: &'a str,
}
