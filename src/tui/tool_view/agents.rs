//! Calls of the tools for siblings: whom they are about, and how it went.

use serde_json::Value;

use super::{Output, ToolCallView, excerpt};
use crate::{
    tools::siblings::NAMES,
    tui::{
        text::{Hang, StyledLine, one_line, plain, wrap},
        theme::ThemeColor,
    },
};

/// Rows of a task or a message that is folded.
const TASK_ROWS: usize = 3;
/// Rows of an answer that is folded.
const ANSWER_ROWS: usize = 6;

impl ToolCallView<'_> {
    /// Whether the call is one of these tools.
    pub(super) fn is_about_agents(&self) -> bool {
        NAMES.contains(&self.name)
    }

    /// Whom the call is about, as far as its arguments say.
    pub(super) fn about(&self) -> String {
        let word = |key: &str| self.text(key).filter(|text| !text.is_empty()).map(one_line);
        let listed = |key: &str| {
            let ids = self.args.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            ids.map(one_line).collect::<Vec<_>>().join(", ")
        };
        match self.name {
            "agent_spawn" => word("name").or_else(|| word("role")).unwrap_or_default(),
            "agent_send" => word("id").unwrap_or_default(),
            "agent_wait" | "agent_stop" => listed("ids"),
            _ => String::new(),
        }
    }

    /// How the call is meant, behind whom it is about.
    pub(super) fn manner(&self) -> String {
        let says = |key: &str, value: &str| self.text(key) == Some(value);
        let mut words = Vec::new();
        if let Some(model) = self.text("model") {
            words.push(one_line(model));
        }
        if says("isolation", "worktree") {
            words.push("in a worktree".to_owned());
        }
        if self.args.get("background").and_then(Value::as_bool) == Some(true) {
            words.push("in the background".to_owned());
        }
        if says("mode", "any") {
            words.push("the first that ends".to_owned());
        }
        if says("mode", "follow_up") {
            words.push("when it would stop".to_owned());
        }
        words.join(", ")
    }

    /// The task or the message; all arguments when expanded.
    pub(super) fn asked_of_agents(&self, width: usize) -> Vec<StyledLine> {
        if self.expanded {
            return self.arguments(width);
        }
        let Some(text) = self.text("task").or_else(|| self.text("message")) else { return Vec::new() };
        let (part, hidden) = excerpt::first_lines(text.trim_end(), TASK_ROWS);
        let style = self.theme.fg(ThemeColor::ToolOutput);
        self.limited(plain(&excerpt::short_lines(part, width), width, style), TASK_ROWS, hidden, width)
    }

    /// How tasks ended, a row each, and below them the beginning of what the model was told.
    pub(super) fn told_of_agents(&self, text: &str, output: &Output<'_>, width: usize) -> Vec<StyledLine> {
        let mut rows: Vec<_> = output
            .detail("ends")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .flat_map(|end| wrap(&self.end(end), width, &Hang::indent(2)))
            .collect();
        let style = self.theme.fg(ThemeColor::ToolOutput);
        if self.expanded {
            rows.extend(excerpt::all(text, width, style));
            return rows;
        }
        let (part, hidden) = excerpt::first_lines(text.trim_end(), ANSWER_ROWS);
        rows.extend(self.limited(plain(&excerpt::short_lines(part, width), width, style), ANSWER_ROWS, hidden, width));
        rows
    }

    /// A row about an end.
    fn end(&self, end: &Value) -> StyledLine {
        let word = |key: &str| one_line(end[key].as_str().unwrap_or_default());
        let outcome = word("outcome");
        let (sign, color) = match outcome.as_str() {
            "done" => ("✓", ThemeColor::Success),
            "stopped" => ("■", ThemeColor::Warning),
            _ => ("✗", ThemeColor::Error),
        };
        let mut line = StyledLine::of(format!("{sign} "), self.theme.fg(color));
        line.push(word("id"), self.theme.fg(ThemeColor::Text));
        line.push(format!(" {outcome}"), self.theme.fg(color));
        line
    }
}
