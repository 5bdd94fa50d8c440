//! What a call asked for and gave, by tool.

use std::borrow::Cow;

use ratatui::style::Style;
use serde_json::{Map, Value};

use super::{
    Output, ToolCallView, ToolState, counted,
    ending::{self, Ending},
    excerpt::{self, Excerpt},
};
use crate::{
    protocol::{Block, message::text_of},
    resources::markup::Language,
    tools::{diff, truncate},
    tui::{
        text::{self, Hang, StyledLine, StyledSpan, one_line, printed, wrap},
        theme::ThemeColor,
    },
};

/// Rows of an output that is folded.
const OUTPUT_ROWS: usize = 5;
/// Lines of a file that is folded.
const FILE_LINES: usize = 10;
/// Lines of a difference that is folded.
const DIFF_LINES: usize = 30;
/// Rows of an error that is folded.
const ERROR_ROWS: usize = 10;
/// Arguments of any tool that are shown when it is folded.
const ARGUMENTS: usize = 6;
/// Bytes of texts whose difference is looked for before an edit is made.
const PREVIEWED: usize = 16 << 10;

impl ToolCallView<'_> {
    /// The rows below the title.
    pub(super) fn body(&self, width: usize) -> Vec<StyledLine> {
        let mut rows = self.asked(width);
        let given = match self.state {
            ToolState::Preparing | ToolState::Waiting | ToolState::Running { output: None, .. } => Vec::new(),
            ToolState::Running { output: Some(output), .. } => self.given(&output, false, width),
            ToolState::Done { output, is_error, .. } => self.given(&output, is_error, width),
        };
        if !rows.is_empty() && !given.is_empty() {
            rows.push(StyledLine::default());
        }
        rows.extend(given);
        rows
    }

    /// What the call asks for, as far as the title does not say it.
    fn asked(&self, width: usize) -> Vec<StyledLine> {
        match self.name {
            "write" => self.text("content").map(|content| self.written(content, width)).unwrap_or_default(),
            "edit" => self.edits(width),
            "bash" | "read" | "grep" | "find" | "ls" => Vec::new(),
            _ if self.is_about_agents() => self.asked_of_agents(width),
            _ => self.arguments(width),
        }
    }

    /// The text that a `write` writes: its beginning, or its end while that is being written.
    fn written(&self, content: &str, width: usize) -> Vec<StyledLine> {
        if content.is_empty() {
            return Vec::new();
        }
        let language = self.path().and_then(Language::of_file);
        let code = |part: &str| text::code(part, language, None, width, self.theme);
        if self.expanded {
            return code(content);
        }
        if matches!(self.state, ToolState::Preparing) {
            let (part, hidden) = excerpt::last_lines(content, FILE_LINES);
            return self.behind(hidden, last_rows(code(&excerpt::short_lines(part, width)), FILE_LINES), width);
        }
        let (part, hidden) = excerpt::first_lines(content, FILE_LINES);
        self.limited(code(&excerpt::short_lines(part, width)), 2 * FILE_LINES, hidden, width)
    }

    /// What an `edit` changed, or will.
    fn edits(&self, width: usize) -> Vec<StyledLine> {
        let made = match self.state {
            ToolState::Done { is_error: true, .. } => return Vec::new(),
            ToolState::Done { output, .. } => output.details.and_then(|details| details.get("diff")?.as_str()),
            _ => None,
        };
        let wanted = || {
            let hunks: Vec<String> = edits(self.args).into_iter().map(|(old, new)| preview(old, new)).collect();
            hunks.join("\n ...\n")
        };
        let display = made.map_or_else(wanted, str::to_owned);
        if display.is_empty() {
            return Vec::new();
        }
        if self.expanded {
            return text::diff(&display, width, self.theme);
        }
        let (part, hidden) = excerpt::first_lines(&display, DIFF_LINES);
        self.limited(text::diff(&excerpt::short_lines(part, width), width, self.theme), 2 * DIFF_LINES, hidden, width)
    }

    /// The arguments of a tool that nothing is known of, a row each; all of them in full when expanded.
    pub(super) fn arguments(&self, width: usize) -> Vec<StyledLine> {
        let muted = self.theme.fg(ThemeColor::Muted);
        let shown = if self.expanded { usize::MAX } else { ARGUMENTS };
        let mut rows = Vec::new();
        for (key, value) in self.args.iter().take(shown) {
            let key = StyledSpan::new(format!("{}: ", one_line(key)), muted);
            let value: Cow<'_, str> = match value {
                Value::String(text) => text.into(),
                value if self.expanded => serde_json::to_string_pretty(value).unwrap_or_default().into(),
                value => value.to_string().into(),
            };
            if self.expanded {
                let style = self.theme.fg(ThemeColor::ToolOutput);
                if value.contains('\n') {
                    rows.extend(wrap(&StyledLine::from_spans(vec![key]), width, &Hang::default()));
                    rows.extend(excerpt::all(&value, width, style));
                } else {
                    let line = StyledLine::from_spans(vec![key, StyledSpan::new(one_line(&value), style)]);
                    rows.extend(wrap(&line, width, &Hang::indent(2)));
                }
            } else {
                let to = truncate::floor_char_boundary(&value, width * 8);
                let value = StyledSpan::new(one_line(&value[..to]), self.theme.fg(ThemeColor::ToolOutput));
                rows.push(text::cut(&StyledLine::from_spans(vec![key, value]), width));
            }
        }
        self.followed_by(rows, self.args.len().saturating_sub(shown), ("argument", "arguments"), width)
    }

    /// What the call gave.
    fn given(&self, output: &Output<'_>, is_error: bool, width: usize) -> Vec<StyledLine> {
        let text = text_of(output.content, "\n");
        let text = printed(&text);
        let Ending { output: text, status, notices } = ending::split(&text, is_error);
        let mut rows = match self.name {
            _ if is_error && status.is_none() => self.error(text, width),
            "write" | "edit" => Vec::new(),
            "read" => self.file(text, output, width),
            "grep" | "find" | "ls" => self.listing(text, width),
            _ if self.is_about_agents() => self.told_of_agents(text, output, width),
            _ => self.printed(text, is_error, width),
        };
        for block in output.content {
            match block {
                Block::Image(image) => {
                    let size = truncate::size(image.data.len() / 4 * 3);
                    let note = format!("[image: {}, {size}]", image.mime_type);
                    rows.extend(self.note(&note, ThemeColor::Muted, width));
                    if let Some(pictures) = self.pictures {
                        rows.extend(pictures.rows(image, width, Style::new()));
                    }
                }
                Block::Text(_) => {}
                _ => rows.extend(self.note("[something that this version cannot show]", ThemeColor::Muted, width)),
            }
        }
        if let Some(seconds) = output.detail("silentSeconds").and_then(Value::as_u64).filter(|seconds| *seconds > 0) {
            let note = format!("no output for {}", super::duration(seconds * 1_000));
            rows.extend(self.note(&note, ThemeColor::Warning, width));
        }
        for notice in notices {
            rows.extend(self.note(notice, ThemeColor::Warning, width));
        }
        if let Some(status) = status {
            rows.extend(self.note(status, ThemeColor::Error, width));
        }
        rows
    }

    /// The end of what was printed; all of it when expanded.
    fn printed(&self, text: &str, is_error: bool, width: usize) -> Vec<StyledLine> {
        // Where the ground does not say that it failed, the text does.
        let [good, bad] = [ThemeColor::ToolSuccessBg, ThemeColor::ToolErrorBg].map(|ground| self.theme.color(ground));
        let is_marked = is_error && good == bad;
        let style = self.theme.fg(if is_marked { ThemeColor::Error } else { ThemeColor::ToolOutput });
        match text.trim_end_matches(['\n', ' ']) {
            "" => Vec::new(),
            text if self.expanded => excerpt::all(text, width, style),
            text => {
                let Excerpt { rows, hidden } = excerpt::tail(text, OUTPUT_ROWS, width, style);
                self.behind(hidden, rows, width)
            }
        }
    }

    /// Why it failed.
    fn error(&self, text: &str, width: usize) -> Vec<StyledLine> {
        let style = self.theme.fg(ThemeColor::Error);
        match text.trim_end() {
            "" => self.note("It failed and does not say why.", ThemeColor::Error, width),
            // Errors are sentences: they are broken between words.
            text if self.expanded => text::plain(text, width, style),
            text => {
                let (part, hidden) = excerpt::first_lines(text, ERROR_ROWS);
                let rows = text::plain(&excerpt::short_lines(part, width), width, style);
                self.limited(rows, ERROR_ROWS, hidden, width)
            }
        }
    }

    /// The text that was read.
    fn file(&self, text: &str, output: &Output<'_>, width: usize) -> Vec<StyledLine> {
        let is_picture = output.content.iter().any(|block| matches!(block, Block::Image(_)));
        if self.expanded && !is_picture {
            let language = self.path().and_then(Language::of_file);
            let first = self.args.get("offset").and_then(Value::as_u64).unwrap_or(1).max(1);
            return text::code(text, language, Some(first), width, self.theme);
        }
        if is_picture || text.is_empty() {
            return self.note(text, ThemeColor::Muted, width);
        }
        self.more(&counted(truncate::count_lines(text), "line", "lines"), width)
    }

    /// What was found.
    fn listing(&self, text: &str, width: usize) -> Vec<StyledLine> {
        if self.expanded {
            return excerpt::all(text, width, self.theme.fg(ThemeColor::ToolOutput));
        }
        let says_none = ["No matches found", "No files found", "(empty directory)"];
        if text.is_empty() || says_none.iter().any(|none| text.starts_with(none)) {
            return self.note(text, ThemeColor::Muted, width);
        }
        let lines = truncate::count_lines(text);
        self.more(
            &match self.name {
                "grep" => counted(lines, "line", "lines"),
                "find" => counted(lines, "path", "paths"),
                _ => counted(lines, "entry", "entries"),
            },
            width,
        )
    }

    /// Rows, and before them how many lines are left out.
    fn behind(&self, hidden: usize, rows: Vec<StyledLine>, width: usize) -> Vec<StyledLine> {
        if hidden == 0 {
            return rows;
        }
        let mut all = self.more(&counted(hidden, "earlier line", "earlier lines"), width);
        all.extend(rows);
        all
    }

    /// At most so many rows, and behind them that something is left out.
    pub(super) fn limited(
        &self,
        mut rows: Vec<StyledLine>,
        most: usize,
        hidden: usize,
        width: usize,
    ) -> Vec<StyledLine> {
        if hidden == 0 && rows.len() > most {
            rows.truncate(most);
            rows.extend(self.more("more", width));
            return rows;
        }
        rows.truncate(most);
        self.followed(rows, hidden, width)
    }

    /// Rows, and behind them how many lines are left out.
    fn followed(&self, rows: Vec<StyledLine>, hidden: usize, width: usize) -> Vec<StyledLine> {
        self.followed_by(rows, hidden, ("more line", "more lines"), width)
    }

    fn followed_by(
        &self,
        mut rows: Vec<StyledLine>,
        hidden: usize,
        (one, many): (&str, &str),
        width: usize,
    ) -> Vec<StyledLine> {
        if hidden > 0 {
            rows.extend(self.more(&counted(hidden, one, many), width));
        }
        rows
    }
}

fn last_rows(mut rows: Vec<StyledLine>, most: usize) -> Vec<StyledLine> {
    rows.drain(..rows.len().saturating_sub(most));
    rows
}

/// The replacements of an `edit`: the list, or the one that stands by itself.
fn edits(arguments: &Map<String, Value>) -> Vec<(&str, &str)> {
    fn pair(edit: &Map<String, Value>) -> Option<(&str, &str)> {
        Some((edit.get("oldText")?.as_str()?, edit.get("newText").and_then(Value::as_str).unwrap_or_default()))
    }
    let listed = arguments.get("edits").and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_object).chain([arguments]).filter_map(pair).collect()
}

/// The difference that a replacement will make, without numbers: nobody has looked for its place yet.
fn preview(old: &str, new: &str) -> String {
    if old.len() + new.len() > PREVIEWED {
        return format!(" ... {} become {}", truncate::size(old.len()), truncate::size(new.len()));
    }
    let Some(diff) = diff::diff("", old, new) else { return String::new() };
    let without_number = |line: &str| {
        let (sign, rest) = line.split_at(line.len().min(1));
        let rest = rest.trim_start_matches(' ').trim_start_matches(|c: char| c.is_ascii_digit());
        format!("{sign}{rest}")
    };
    diff.display.split('\n').map(without_number).collect::<Vec<_>>().join("\n")
}
