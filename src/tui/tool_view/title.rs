//! The first line of a call: the tool and what it is about.

use std::{borrow::Cow, path::Path};

use ratatui::style::Modifier;
use serde_json::Value;

use super::{ToolCallView, ToolState, duration, excerpt};
use crate::tui::{
    text::{Hang, StyledLine, StyledSpan, drawable, lines_of, one_line, wrap},
    theme::ThemeColor,
};

/// Rows of a command that is folded.
const COMMAND_ROWS: usize = 10;

impl ToolCallView<'_> {
    /// The first row, or rows.
    pub(super) fn title(&self, width: usize) -> Vec<StyledLine> {
        if self.name == "bash" {
            return self.command(width);
        }
        let bold = self.theme.fg(ThemeColor::ToolTitle).add_modifier(Modifier::BOLD);
        let accent = self.theme.fg(ThemeColor::Accent);
        let muted = self.theme.fg(ThemeColor::Muted);
        let mut line = StyledLine::of(one_line(self.name), bold);
        let mut add = |text: String, style| {
            if !text.is_empty() {
                line.push(" ", bold);
                line.push(text, style);
            }
        };
        let path = self.path().map(|path| self.shown_path(path));
        match self.name {
            "read" | "edit" | "write" => {
                let what = path.unwrap_or_else(|| "…".to_owned());
                let lines = if self.name == "read" { self.lines_read() } else { String::new() };
                add(format!("{what}{lines}"), accent);
            }
            "ls" => add(path.unwrap_or_else(|| ".".to_owned()), accent),
            "grep" | "find" => {
                let pattern = self.text("pattern").map_or_else(|| "…".to_owned(), one_line);
                add(if self.name == "grep" { format!("/{pattern}/") } else { pattern }, accent);
                add(format!("in {}", path.unwrap_or_else(|| ".".to_owned())), muted);
                add(self.text("glob").map(|glob| format!("({})", one_line(glob))).unwrap_or_default(), muted);
                let limit = self.args.get("limit").and_then(Value::as_f64);
                add(limit.map(|limit| format!("limit {limit}")).unwrap_or_default(), muted);
            }
            _ if self.is_about_agents() => {
                add(self.about(), accent);
                let manner = self.manner();
                add(if manner.is_empty() { manner } else { format!("({manner})") }, muted);
            }
            _ => {}
        }
        self.time(&mut line);
        wrap(&line, width, &Hang::indent(2))
    }

    /// `$` and the command.
    fn command(&self, width: usize) -> Vec<StyledLine> {
        let bold = self.theme.fg(ThemeColor::ToolTitle).add_modifier(Modifier::BOLD);
        let command = self.text("command").unwrap_or("…").trim_end();
        let (shown, hidden) = match self.expanded {
            true => (command, 0),
            false => excerpt::first_lines(command, COMMAND_ROWS),
        };
        let shown = if self.expanded { shown.into() } else { Cow::from(excerpt::short_lines(shown, width)) };
        let mut lines: Vec<StyledLine> = lines_of(&shown)
            .enumerate()
            .map(|(at, line)| {
                let mark = if at == 0 { "$ " } else { "  " };
                StyledLine::of(format!("{mark}{}", drawable(line, mark.len())), bold)
            })
            .collect();
        if let Some(first) = lines.first_mut() {
            let muted = self.theme.fg(ThemeColor::Muted);
            if let Some(timeout) = self.args.get("timeout").and_then(Value::as_f64) {
                first.push(format!(" (timeout {timeout}s)"), muted);
            }
            self.time(first);
        }
        let mut rows: Vec<StyledLine> = lines.iter().flat_map(|line| wrap(line, width, &Hang::indent(2))).collect();
        let is_cut = hidden > 0 || shown.len() < command.len() || rows.len() > COMMAND_ROWS;
        if !self.expanded && is_cut {
            rows.truncate(COMMAND_ROWS - 1);
            rows.extend(self.more("more of the command", width));
        }
        rows
    }

    /// How long the call runs, or ran.
    fn time(&self, line: &mut StyledLine) {
        let time = match self.state {
            // Whole seconds: the row stays as it is in between.
            ToolState::Running { since, .. } => match self.now.saturating_sub(since) / 1_000 {
                0 => return,
                seconds => duration(seconds * 1_000).replace(".0s", "s"),
            },
            ToolState::Waiting => "waiting".to_owned(),
            ToolState::Done { duration_ms: Some(ms), .. } if ms >= 1_000 => duration(ms),
            ToolState::Preparing | ToolState::Done { .. } => return,
        };
        line.spans.push(StyledSpan::new(format!("  {time}"), self.theme.fg(ThemeColor::Dim)));
    }

    /// The lines that a `read` asks for.
    fn lines_read(&self) -> String {
        let number = |key: &str| self.args.get(key).and_then(Value::as_f64);
        match (number("offset"), number("limit")) {
            (None, None) => String::new(),
            (from, None) => format!(":{}-", from.unwrap_or(1.0)),
            (from, Some(limit)) => {
                let from = from.unwrap_or(1.0).max(1.0);
                format!(":{from}-{}", from + limit - 1.0)
            }
        }
    }

    /// A path as people write it: relative to the session's folder, or to the home folder.
    pub(super) fn shown_path(&self, path: &str) -> String {
        let given = Path::new(path);
        let below = |folder: &Path| given.strip_prefix(folder).ok().map(|rest| rest.to_string_lossy().into_owned());
        let shown = match (below(self.cwd), self.home.and_then(below)) {
            (Some(rest), _) if rest.is_empty() => ".".to_owned(),
            (Some(rest), _) => rest,
            (None, Some(rest)) if rest.is_empty() => "~".to_owned(),
            (None, Some(rest)) => format!("~/{rest}"),
            (None, None) => path.to_owned(),
        };
        one_line(&shown)
    }
}
