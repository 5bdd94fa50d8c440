//! The JSON of Chat Completions requests, borrowing from the conversation.

use std::{borrow::Cow, fmt};

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, value::RawValue};

use crate::protocol::ImageBlock;

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

/// A plain string where that will do: many local servers know no other form.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WireContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<WirePart<'a>>),
}

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

/// A picture as a data URL, written without building the text: pictures are megabytes.
#[derive(Debug)]
pub(super) struct DataUrl<'a>(pub(super) &'a ImageBlock);

impl fmt::Display for DataUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "data:{};base64,", self.0.mime_type)?;
        f.write_str(&self.0.data)
    }
}

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

/// Anthropic's way to mark the end of a prefix that is worth caching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct CacheMark {
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
pub(super) struct WireFunctionCall<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: JsonText<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct WireCustomCall<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) input: &'a str,
}

/// An object as a string of JSON.
#[derive(Debug)]
pub(super) struct JsonText<'a>(pub(super) &'a Map<String, Value>);

impl Serialize for JsonText<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&serde_json::to_string(self.0).map_err(serde::ser::Error::custom)?)
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum WireTool<'a> {
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
pub(super) struct WireFunction<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}

#[derive(Debug, Serialize)]
pub(super) struct WireCustom<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) format: WireFormat<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum WireFormat<'a> {
    Grammar { grammar: WireGrammar<'a> },
}

#[derive(Debug, Serialize)]
pub(super) struct WireGrammar<'a> {
    pub(super) syntax: &'static str,
    pub(super) definition: &'a str,
}

/// The whole request: small fields in a map, so that settings can overrule each of them, and the large ones beside it.
pub(super) struct WireBody<'a> {
    pub(super) fields: Map<String, Value>,
    pub(super) messages: Vec<WireMessage<'a>>,
    pub(super) tools: Option<Vec<WireTool<'a>>>,
}

impl Serialize for WireBody<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        if let Some(tools) = self.tools.as_ref().filter(|_| !self.fields.contains_key("tools")) {
            map.serialize_entry("tools", tools)?;
        }
        map.serialize_entry("messages", &self.messages)?;
        map.end()
    }
}
