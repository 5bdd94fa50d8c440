//! Pieces of JSON that the requests of several APIs are made of, written without copying what they hold.

use std::{borrow::Cow, fmt};

use bytes::Bytes;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::transform::Part;
use crate::protocol::{Failure, FailureClass, ImageBlock, Model};

/// The bytes of a request to `model`.
///
/// # Errors
/// When the body is no JSON: a fault of this program.
pub(crate) fn written(body: &impl Serialize, model: &Model) -> Result<Bytes, Failure> {
    let json = serde_json::to_vec(body).map_err(|error| {
        let text = format!("The request for {} cannot be written: {error}", model.reference());
        Failure::new(FailureClass::Internal, text)
    })?;
    Ok(Bytes::from(json))
}

/// A content that is a plain string where that will do, or a list of parts. Many local servers know the string alone.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum TextOrParts<'a, P> {
    Text(Cow<'a, str>),
    Parts(Vec<P>),
}

impl<'a, P> TextOrParts<'a, P> {
    /// What a person said: one text alone as a string, anything else as parts.
    pub(crate) fn said(parts: &[Part<'a>], part: impl Fn(&Part<'a>) -> P) -> Self {
        match parts {
            [Part::Text(text)] => Self::Text((*text).into()),
            parts => Self::Parts(parts.iter().map(part).collect()),
        }
    }
}

/// A picture as a data URL, written without building the text: pictures are megabytes.
#[derive(Debug)]
pub(crate) struct DataUrl<'a>(pub(crate) &'a ImageBlock);

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

/// An object as a string of JSON.
#[derive(Debug)]
pub(crate) struct JsonText<'a>(pub(crate) &'a Map<String, Value>);

impl Serialize for JsonText<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&serde_json::to_string(self.0).map_err(serde::ser::Error::custom)?)
    }
}

/// A whole request: small fields in a map, so that settings can overrule each of them, and the large ones beside it.
pub(crate) struct RequestBody<M, T> {
    pub(crate) fields: Map<String, Value>,
    pub(crate) messages: Vec<M>,
    pub(crate) tools: Option<Vec<T>>,
}

impl<M: Serialize, T: Serialize> Serialize for RequestBody<M, T> {
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
