//! The events of a Responses stream, as far as they are read. All else in them is skipped without being built.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::WireUsage;
use crate::providers::lax::{Count, List, Obj, Text};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) output_index: Count,
    pub(super) summary_index: Count,
    pub(super) content_index: Count,
    #[serde(borrow)]
    pub(super) item_id: Text<'a>,
    #[serde(borrow)]
    pub(super) delta: Text<'a>,
    /// All arguments of a call, at their end.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    /// All text of a free-text call, at its end.
    #[serde(borrow)]
    pub(super) input: Text<'a>,
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) response: Obj<Response<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) service_tier: Text<'a>,
    #[serde(borrow)]
    pub(super) incomplete_details: Obj<Details<'a>>,
    pub(super) usage: Obj<WireUsage>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) output: List<&'a RawValue>,
    #[serde(borrow)]
    end_turn: Option<&'a RawValue>,
    /// What the server left out of the request.
    #[serde(borrow)]
    pub(super) input_transformations: List<Obj<Details<'a>>>,
}

impl Response<'_> {
    /// Whether the model is done; otherwise it would go on.
    pub(super) fn ends_turn(&self) -> Option<bool> {
        serde_json::from_str(self.end_turn?.get()).ok()
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Details<'a> {
    #[serde(borrow)]
    pub(super) reason: Text<'a>,
}

/// An item of the output.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WireItem<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Text<'a>,
    #[serde(borrow)]
    pub(super) phase: Text<'a>,
    #[serde(borrow)]
    content: List<Obj<Part<'a>>>,
    #[serde(borrow)]
    summary: List<Obj<Part<'a>>>,
    #[serde(borrow)]
    pub(super) encrypted_content: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    refusal: Text<'a>,
}

impl<'a> WireItem<'a> {
    pub(super) fn read(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str::<Obj<Self>>(raw.get()).ok()?.0
    }

    /// The text of a message; refusals are text too.
    pub(super) fn text(&self) -> String {
        joined(&self.content, "")
    }

    /// The readable text of reasoning: the summary, else the reasoning itself.
    pub(super) fn thinking(&self) -> String {
        let summary = joined(&self.summary, "\n\n");
        if summary.is_empty() { joined(&self.content, "\n\n") } else { summary }
    }

    /// The argument text of a call.
    pub(super) fn arguments(&self) -> Cow<'a, str> {
        match self.input.filled() {
            Some(input) => Cow::Owned(input.to_owned()),
            None => argument_text(self.arguments),
        }
    }
}

fn joined(parts: &List<Obj<Part<'_>>>, separator: &str) -> String {
    let texts = parts.0.iter().filter_map(|part| part.0.as_ref());
    let texts: Vec<&str> = texts.filter_map(|part| part.text.get().or(part.refusal.get())).collect();
    texts.join(separator)
}

/// An argument text: a string, or the object that some servers send in its place.
pub(super) fn argument_text(raw: Option<&RawValue>) -> Cow<'_, str> {
    match raw.map(RawValue::get) {
        Some(object) if object.starts_with('{') => Cow::Borrowed(object),
        Some(text) => serde_json::from_str::<Cow<'_, str>>(text).unwrap_or_default(),
        None => Cow::Borrowed(""),
    }
}
