//! What an extension shows to people beside the conversation. Nobody answers.
//!
//! Fronts that have a place for it show it; the others leave it out.

use serde::{Deserialize, Serialize};

use super::event::NoticeLevel;

/// Something to show, or to take away again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Display {
    /// A message that goes away by itself.
    Notify {
        /// The text.
        message: String,
        /// How bad it is; none: for information.
        level: Option<NoticeLevel>,
    },
    /// A field of the status line.
    Status {
        /// Which field.
        key: String,
        /// Its text; none removes it.
        text: Option<String>,
    },
    /// Lines beside the editor.
    Widget {
        /// Which widget.
        key: String,
        /// Its lines; none removes it.
        lines: Option<Vec<String>>,
        /// Where it is; none: above the editor.
        placement: Option<WidgetPlacement>,
    },
    /// The terminal's title.
    Title {
        /// The title.
        title: String,
    },
    /// The editor's text.
    EditorText {
        /// The text.
        text: String,
    },
}

/// Where a widget is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WidgetPlacement {
    /// Above the editor.
    AboveEditor,
    /// Below the editor.
    BelowEditor,
}
