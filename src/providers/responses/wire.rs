//! The JSON of Responses requests, borrowing from the conversation.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    protocol::ImageBlock,
    providers::request_json::{DataUrl, JsonText, TextOrParts},
};

/// An item of the request's input.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WireItem<'a> {
    /// What a person or the program says.
    Said { role: Role, content: WireContent<'a> },
    /// A reasoning item as it came.
    Reasoning(&'a RawValue),
    /// What the model said and did, and what came of it.
    Done(DoneItem<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    System,
    Developer,
    User,
    Assistant,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum DoneItem<'a> {
    Message {
        role: Role,
        id: Cow<'a, str>,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<Cow<'a, str>>,
        content: [OutputText<'a>; 1],
    },
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Cow<'a, str>>,
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: JsonText<'a>,
    },
    CustomToolCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Cow<'a, str>>,
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: &'a str,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: WireContent<'a>,
    },
    CustomToolCallOutput {
        call_id: Cow<'a, str>,
        output: WireContent<'a>,
    },
}

/// A text of the model.
#[derive(Debug, Serialize)]
pub(super) struct OutputText<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    annotations: [(); 0],
}

impl<'a> OutputText<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { kind: "output_text", text, annotations: [] }
    }
}

pub(super) type WireContent<'a> = TextOrParts<'a, WirePart<'a>>;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum WirePart<'a> {
    InputText { text: &'a str },
    InputImage { detail: &'static str, image_url: DataUrl<'a> },
}

impl<'a> WirePart<'a> {
    pub(super) fn image(image: &'a ImageBlock) -> Self {
        Self::InputImage { detail: "auto", image_url: DataUrl(image) }
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum WireTool<'a> {
    Function { name: &'a str, description: &'a str, parameters: Cow<'a, Value>, strict: Option<bool> },
    Custom { name: &'a str, description: &'a str, format: WireFormat<'a> },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum WireFormat<'a> {
    Grammar { syntax: &'static str, definition: &'a str },
}

/// The whole request: small fields in a map, so that settings can overrule each of them, and the large ones beside it.
pub(super) struct WireBody<'a> {
    pub(super) fields: Map<String, Value>,
    pub(super) tools: Vec<WireTool<'a>>,
    pub(super) input: Vec<WireItem<'a>>,
}

impl Serialize for WireBody<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        if !self.tools.is_empty() && !self.fields.contains_key("tools") {
            map.serialize_entry("tools", &self.tools)?;
        }
        map.serialize_entry("input", &self.input)?;
        map.end()
    }
}
