//! Questions to people, and their answers: a part of an agent waits, and any front that can ask may answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What tells an open question from others of the process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(String);

impl QuestionId {
    /// An id that nothing else has.
    #[must_use]
    pub fn fresh() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }
}

impl From<String> for QuestionId {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A question that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its id.
    pub id: QuestionId,
    /// What is asked.
    pub title: String,
    /// How it is answered.
    pub dialog: Dialog,
    /// Milliseconds until whoever asks gives up; none: never.
    pub timeout_ms: Option<u64>,
    /// The call that it is about, by the id that the model gave it; none when it is about something else.
    pub tool_call_id: Option<String>,
}

/// How a question is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// One of several options, by its text.
    Select {
        /// The options.
        options: Vec<String>,
    },
    /// Yes or no.
    Confirm {
        /// More about it.
        message: String,
    },
    /// A line of text.
    Input {
        /// Shown while nothing is typed.
        placeholder: Option<String>,
    },
    /// Text of several lines.
    Editor {
        /// The text to begin with.
        prefill: Option<String>,
    },
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Text, or the option that was chosen.
    Value(String),
    /// Yes or no.
    Confirmed(bool),
    /// Nothing: the dialog was closed, or the answer makes no sense.
    Cancelled,
}
