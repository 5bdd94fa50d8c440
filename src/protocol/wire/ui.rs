//! What extensions ask people through a client (pi's extension UI sub-protocol).
//!
//! Dialogs wait for an [`UiResponse`] with their id; the others expect none. A dialog that times out or is withdrawn
//! is not reported to the client, and its late answer names an id that nobody waits for: it is dropped.

use serde::Serialize;
use serde_json::{Map, Value};

use super::json::{Record, write_value};
use crate::protocol::{
    display::Display,
    question::{Dialog, Question},
};

pub use crate::protocol::{display::WidgetPlacement, event::NoticeLevel as NotifyType, question::Answer as UiAnswer};

/// A request to show something.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum UiRequest {
    /// Dialog: one of several options. Answered by [`UiAnswer::Value`].
    Select {
        /// What is asked.
        title: String,
        /// What can be chosen.
        options: Vec<String>,
        /// Milliseconds until the asker gives up.
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout: Option<u64>,
    },
    /// Dialog: yes or no. Answered by [`UiAnswer::Confirmed`].
    Confirm {
        /// What is asked.
        title: String,
        /// More about it.
        message: String,
        /// Milliseconds until the asker gives up.
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout: Option<u64>,
    },
    /// Dialog: one line of text. Answered by [`UiAnswer::Value`].
    Input {
        /// What is asked.
        title: String,
        /// Shown while nothing is typed.
        #[serde(skip_serializing_if = "Option::is_none")]
        placeholder: Option<String>,
        /// Milliseconds until the asker gives up.
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout: Option<u64>,
    },
    /// Dialog: text of several lines. Answered by [`UiAnswer::Value`].
    Editor {
        /// What is asked.
        title: String,
        /// The text to begin with.
        #[serde(skip_serializing_if = "Option::is_none")]
        prefill: Option<String>,
    },
    /// A message that goes away by itself.
    Notify {
        /// The text.
        message: String,
        /// How bad it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        notify_type: Option<NotifyType>,
    },
    /// A field of the status line.
    SetStatus {
        /// The field.
        status_key: String,
        /// Its text; none removes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_text: Option<String>,
    },
    /// Lines beside the editor.
    SetWidget {
        /// Which widget.
        widget_key: String,
        /// Its lines; none removes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        widget_lines: Option<Vec<String>>,
        /// Where it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        widget_placement: Option<WidgetPlacement>,
    },
    /// The terminal's title.
    SetTitle {
        /// The title.
        title: String,
    },
    /// The editor's text.
    #[serde(rename = "set_editor_text")]
    SetEditorText {
        /// The text.
        text: String,
    },
}

/// A client's answer to a dialog.
#[derive(Clone, Debug, PartialEq)]
pub struct UiResponse {
    /// The dialog.
    pub id: String,
    /// The answer.
    pub answer: UiAnswer,
}

impl From<&Question> for UiRequest {
    fn from(question: &Question) -> Self {
        let (title, timeout) = (question.title.clone(), question.timeout_ms);
        match question.dialog.clone() {
            Dialog::Select { options } => Self::Select { title, options, timeout },
            Dialog::Confirm { message } => Self::Confirm { title, message, timeout },
            Dialog::Input { placeholder } => Self::Input { title, placeholder, timeout },
            // Whoever writes a text is not hurried.
            Dialog::Editor { prefill } => Self::Editor { title, prefill },
        }
    }
}

impl From<&Display> for UiRequest {
    fn from(display: &Display) -> Self {
        match display.clone() {
            Display::Notify { message, level } => Self::Notify { message, notify_type: level },
            Display::Status { key, text } => Self::SetStatus { status_key: key, status_text: text },
            Display::Widget { key, lines, placement } => {
                Self::SetWidget { widget_key: key, widget_lines: lines, widget_placement: placement }
            }
            Display::Title { title } => Self::SetTitle { title },
            Display::EditorText { text } => Self::SetEditorText { text },
        }
    }
}

impl UiRequest {
    /// True when an answer is expected.
    #[must_use]
    pub fn is_dialog(&self) -> bool {
        matches!(self, Self::Select { .. } | Self::Confirm { .. } | Self::Input { .. } | Self::Editor { .. })
    }
}

/// Appends the line of a request. `id` must be unique in the process.
pub fn write_ui_request(id: &str, request: &UiRequest, out: &mut Vec<u8>) {
    let mut body = Vec::new();
    write_value(&mut body, request);
    Record::of_type("extension_ui_request", out).field("id", id).end_with(b",");
    // The request is an object that begins with its method: its fields follow those of the frame.
    out.extend_from_slice(&body[1..]);
    out.push(b'\n');
}

/// Reads an answer. What cannot be understood counts as no answer, and no answer means no.
pub(super) fn parse_ui_response(mut fields: Map<String, Value>) -> UiResponse {
    let id = match fields.remove("id") {
        Some(Value::String(id)) => id,
        _ => String::new(),
    };
    let cancelled = fields.get("cancelled") == Some(&Value::Bool(true));
    let answer = match (cancelled, fields.remove("value"), fields.remove("confirmed")) {
        (false, Some(Value::String(text)), _) => UiAnswer::Value(text),
        (false, None, Some(Value::Bool(yes))) => UiAnswer::Confirmed(yes),
        _ => UiAnswer::Cancelled,
    };
    UiResponse { id, answer }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_one_flat_record_with_pis_field_names() {
        let table = [
            (
                UiRequest::Select { title: "Pick".into(), options: vec!["a".into(), "b".into()], timeout: Some(500) },
                r#"{"type":"extension_ui_request","id":"u1","method":"select","title":"Pick","options":["a","b"],"timeout":500}"#,
            ),
            (
                UiRequest::Confirm { title: "T".into(), message: "M".into(), timeout: None },
                r#"{"type":"extension_ui_request","id":"u1","method":"confirm","title":"T","message":"M"}"#,
            ),
            (
                UiRequest::Notify { message: "m".into(), notify_type: Some(NotifyType::Warning) },
                r#"{"type":"extension_ui_request","id":"u1","method":"notify","message":"m","notifyType":"warning"}"#,
            ),
            (
                UiRequest::SetStatus { status_key: "k".into(), status_text: None },
                r#"{"type":"extension_ui_request","id":"u1","method":"setStatus","statusKey":"k"}"#,
            ),
            (
                UiRequest::SetWidget {
                    widget_key: "k".into(),
                    widget_lines: Some(vec!["l".into()]),
                    widget_placement: Some(WidgetPlacement::AboveEditor),
                },
                r#"{"type":"extension_ui_request","id":"u1","method":"setWidget","widgetKey":"k","widgetLines":["l"],"widgetPlacement":"aboveEditor"}"#,
            ),
            (
                UiRequest::SetEditorText { text: "t".into() },
                r#"{"type":"extension_ui_request","id":"u1","method":"set_editor_text","text":"t"}"#,
            ),
        ];
        for (request, wanted) in table {
            let mut out = Vec::new();
            write_ui_request("u1", &request, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{wanted}\n"));
        }
    }

    #[test]
    fn an_answer_that_makes_no_sense_is_no_answer() {
        let table = [
            (json!({"id": "a", "value": "x"}), UiAnswer::Value("x".into())),
            (json!({"id": "a", "confirmed": true}), UiAnswer::Confirmed(true)),
            (json!({"id": "a", "confirmed": false}), UiAnswer::Confirmed(false)),
            (json!({"id": "a", "cancelled": true, "value": "x"}), UiAnswer::Cancelled),
            (json!({"id": "a", "confirmed": "yes"}), UiAnswer::Cancelled),
            (json!({"id": "a", "value": 5, "confirmed": true}), UiAnswer::Cancelled),
            (json!({"id": "a"}), UiAnswer::Cancelled),
        ];
        for (line, answer) in table {
            let Value::Object(fields) = line.clone() else { panic!() };
            assert_eq!(parse_ui_response(fields), UiResponse { id: "a".into(), answer }, "{line}");
        }
    }
}
