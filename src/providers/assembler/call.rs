//! A tool call while it streams.

use std::collections::HashSet;

use uuid::Uuid;

use crate::{protocol::ToolCall, providers::arguments};

/// A call that may still grow.
#[derive(Default)]
pub(super) struct CallDraft {
    pub(super) call: ToolCall,
    /// The argument text as the provider sends it.
    raw: String,
    /// The call takes free text: it becomes the value of this argument.
    property: Option<String>,
    /// The JSON around a free text has been begun.
    begun: bool,
    closed: bool,
    /// The event of its end was sent.
    pub(super) ended: bool,
}

impl CallDraft {
    pub(super) fn new(id: &str, name: &str) -> Self {
        let call = ToolCall { id: id.to_owned(), name: name.to_owned(), ..ToolCall::default() };
        Self { call, ..Self::default() }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn is_bare(&self) -> bool {
        self.raw.trim().is_empty()
    }

    pub(super) fn take_free_text(&mut self, property: &str) {
        self.property = Some(property.to_owned());
    }

    /// Adds a piece; gives it as JSON text.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.raw.push_str(piece);
        match &self.property {
            None => piece.to_owned(),
            Some(property) => {
                let start = if self.begun { String::new() } else { format!("{{{}:\"", quoted(property)) };
                self.begun = true;
                let escaped = quoted(piece);
                format!("{start}{}", &escaped[1..escaped.len() - 1])
            }
        }
    }

    /// Takes the whole text as the provider states it at the end; gives the piece that was not streamed.
    pub(super) fn complete(&mut self, whole: &str) -> Option<String> {
        let says_nothing = if self.property.is_some() { whole.is_empty() } else { whole.trim().is_empty() };
        if says_nothing {
            return None;
        }
        match whole.strip_prefix(self.raw.as_str()) {
            Some("") => None,
            Some(rest) => Some(self.push(rest)),
            None => {
                whole.clone_into(&mut self.raw);
                None
            }
        }
    }

    /// Reads the arguments and gives the call an id that is not in `ids`. Gives the end of the JSON around a free text.
    pub(super) fn close(&mut self, ids: &mut HashSet<String>) -> Option<String> {
        if std::mem::replace(&mut self.closed, true) {
            return None;
        }
        let id = self.call.id.trim();
        if id.is_empty() || id == "null" || ids.contains(&self.call.id) {
            self.call.id = format!("call_{}", Uuid::new_v4().simple());
        }
        ids.insert(self.call.id.clone());
        let Some(property) = self.property.take() else {
            match arguments::parse(&self.raw) {
                Ok(parsed) => self.call.arguments = parsed,
                Err(problem) => self.call.arguments_error = Some(problem),
            }
            return None;
        };
        let end = if self.begun { "\"}".to_owned() } else { format!("{{{}:\"\"}}", quoted(&property)) };
        self.call.arguments.insert(property, self.raw.as_str().into());
        Some(end)
    }
}

/// The text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
