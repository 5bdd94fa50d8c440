//! What `grep`, `find` and `ls` share: limits, and the notices below a listing.

use serde_json::{Map, Value, json};

use super::truncate::{self, Limits, MAX_BYTES};
use crate::protocol::{Block, ToolOutput};

/// A limit as a model gave it: at least 1, without fraction.
#[must_use]
pub fn limit(given: Option<f64>, default: usize) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "out of range means the nearest number")]
    given.map_or(default, |given| given as usize).max(1)
}

/// A listing that becomes a result: its text, and what must be said about it, in the order of the calls.
#[derive(Debug, Default)]
pub struct Listing {
    text: String,
    notices: Vec<String>,
    details: Map<String, Value>,
}

impl Listing {
    /// Says something below the listing, and notes it in the details.
    pub fn notice(&mut self, key: &str, value: impl Into<Value>, notice: String) {
        self.details.insert(key.to_owned(), value.into());
        self.notices.push(notice);
    }

    /// Sets the text, cut to the limit of bytes.
    pub fn text(&mut self, text: &str) {
        let cut = truncate::head(text, Limits::BYTES_ONLY);
        if cut.truncated {
            self.notice("truncation", json!(cut), format!("{} limit reached", truncate::size(MAX_BYTES)));
        }
        self.text = cut.content;
    }

    /// The result: the text, and the notices in one pair of brackets below it.
    #[must_use]
    pub fn result(self) -> ToolOutput {
        let text = match self.notices.as_slice() {
            [] => self.text,
            notices => format!("{}\n\n[{}]", self.text, notices.join(". ")),
        };
        ToolOutput {
            content: vec![Block::text(text)],
            details: (!self.details.is_empty()).then_some(Value::Object(self.details)),
            ..ToolOutput::default()
        }
    }
}
