//! What a tool call looks like.

use std::{path::Path, sync::Arc};

use serde_json::{Map, Value};

use super::{
    text::{StyledLine, plain},
    theme::{Theme, ThemeColor},
};
use crate::protocol::{message::text_of, tool::ToolOutput};

/// How far a call is.
#[derive(Clone, Debug)]
pub enum CallState {
    /// The model is still writing its arguments.
    Writing,
    /// It waits for others, a guard or a person.
    Waiting,
    /// It runs.
    Running {
        /// Milliseconds that it has run.
        elapsed_ms: u64,
        /// What it printed so far.
        output: Arc<ToolOutput>,
    },
    /// It is over.
    Done {
        /// The result.
        output: Arc<ToolOutput>,
        /// Milliseconds that it ran; none when it did not run, or nobody knows.
        duration_ms: Option<u64>,
    },
    /// It has no result, and nothing runs that would give one.
    Lost,
}

/// A call to be drawn.
pub struct CallView<'c> {
    /// The tool.
    pub name: &'c str,
    /// Its arguments, as far as they are known.
    pub arguments: &'c Map<String, Value>,
    /// How far it is.
    pub state: CallState,
    /// All of it is shown.
    pub expanded: bool,
    /// Columns.
    pub width: usize,
    /// The keys that show all of it, for the hint.
    pub expand_key: &'c str,
    /// The folder that paths are relative to.
    pub cwd: &'c Path,
    /// The user's home folder.
    pub home: Option<&'c Path>,
    /// Colours.
    pub theme: &'c Theme,
}

impl CallView<'_> {
    /// The lines of the call, each filled with its ground.
    #[must_use]
    pub fn lines(&self) -> Vec<StyledLine> {
        let ground = match &self.state {
            CallState::Done { output, .. } if output.is_error => ThemeColor::ToolErrorBg,
            CallState::Done { .. } => ThemeColor::ToolSuccessBg,
            CallState::Lost => ThemeColor::ToolErrorBg,
            _ => ThemeColor::ToolPendingBg,
        };
        let title = format!("{} {}", self.name, Value::Object(self.arguments.clone()));
        let mut lines = plain(&title, self.width, self.theme.fg(ThemeColor::ToolTitle));
        if let CallState::Done { output, .. } | CallState::Running { output, .. } = &self.state {
            let text = text_of(&output.content, "\n");
            lines.extend(plain(&text, self.width, self.theme.fg(ThemeColor::ToolOutput)));
        }
        lines.into_iter().map(|line| line.filled(self.theme.bg(ground))).collect()
    }
}
