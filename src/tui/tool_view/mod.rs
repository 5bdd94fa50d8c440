//! Calls of tools, as rows: what was asked for, and what came of it.
//!
//! Pure: a view is made of what is known of the call, the width, the theme and the time. Only what is shown is laid
//! out, so that a megabyte in one line, or a long output that is folded, costs little.
//!
//! | module | what |
//! |---|---|
//! | `title` | the first line: the tool and what it is about |
//! | `body` | what a call asked for and gave, by tool |
//! | `agents` | calls of the tools for siblings |
//! | `excerpt` | the beginning or the end of a long text |
//! | `ending` | what tools say below their output |

use std::path::Path;

use ratatui::style::Style;
use serde_json::{Map, Value};

use super::{
    picture::Pictures,
    text::{Hang, StyledLine, StyledSpan, one_line, wrap},
    theme::{Theme, ThemeColor},
};
use crate::protocol::Block;

mod agents;
mod body;
mod ending;
pub(super) mod excerpt;
#[cfg(test)]
mod tests;
mod title;

/// Blanks beside what is in the box.
const PADDING: usize = 1;
/// Columns below which the box has no blanks beside it.
const NARROW: usize = 8;

/// A call of a tool, and how it is to be shown.
#[derive(Clone, Debug)]
pub struct ToolCallView<'a> {
    /// The tool.
    pub name: &'a str,
    /// The arguments, as far as they are known.
    pub args: &'a Map<String, Value>,
    /// How far it is.
    pub state: ToolState<'a>,
    /// Whether all of it is shown.
    pub expanded: bool,
    /// Columns, at least 1.
    pub width: usize,
    /// The colours.
    pub theme: &'a Theme,
    /// The folder that paths are relative to.
    pub cwd: &'a Path,
    /// The user's home folder, shown as `~`.
    pub home: Option<&'a Path>,
    /// The time in milliseconds, by the clock of [`ToolState::Running`].
    pub now: u64,
    /// The key that shows all of it, for the hint: `ctrl+o`.
    pub expand_key: &'a str,
    /// Pictures, where they are shown.
    pub pictures: Option<&'a Pictures>,
}

/// How far a call is.
#[derive(Clone, Copy, Debug)]
pub enum ToolState<'a> {
    /// Its arguments are still being written.
    Preparing,
    /// It waits for other calls, or for permission.
    Waiting,
    /// It runs.
    Running {
        /// Since when, in milliseconds.
        since: u64,
        /// What it gave so far.
        output: Option<Output<'a>>,
    },
    /// It is over.
    Done {
        /// What it gave.
        output: Output<'a>,
        /// Whether it failed.
        is_error: bool,
        /// How long it took, in milliseconds; none when it did not run.
        duration_ms: Option<u64>,
    },
}

/// What a call gave.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// Text and images.
    pub content: &'a [Block],
    /// Facts for screens.
    pub details: Option<&'a Value>,
}

impl Output<'_> {
    /// A fact.
    fn detail(&self, key: &str) -> Option<&Value> {
        self.details?.get(key)
    }
}

impl ToolCallView<'_> {
    /// The rows of the call: a box as wide as it may be.
    #[must_use]
    pub fn lines(&self) -> Vec<StyledLine> {
        let ground = self.theme.bg(match self.state {
            ToolState::Done { is_error: true, .. } => ThemeColor::ToolErrorBg,
            ToolState::Done { .. } => ThemeColor::ToolSuccessBg,
            _ => ThemeColor::ToolPendingBg,
        });
        let padding = if self.width < NARROW { 0 } else { PADDING };
        let mut rows = vec![StyledLine::default().filled(ground)];
        for mut row in self.content(self.width.saturating_sub(2 * padding).max(1)) {
            if padding > 0 {
                row.spans.insert(0, StyledSpan::new(" ", Style::new()));
            }
            // What has a ground of its own keeps it.
            for span in &mut row.spans {
                span.style = ground.patch(span.style);
            }
            rows.push(row.filled(ground));
        }
        rows.push(StyledLine::default().filled(ground));
        rows
    }

    /// What is in the box.
    fn content(&self, width: usize) -> Vec<StyledLine> {
        let mut rows = self.title(width);
        let body = self.body(width);
        if !body.is_empty() {
            rows.push(StyledLine::default());
            rows.extend(body);
        }
        rows
    }

    /// A text of the arguments.
    fn text(&self, key: &str) -> Option<&str> {
        self.args.get(key)?.as_str()
    }

    /// The path that the arguments name.
    fn path(&self) -> Option<&str> {
        ["path", "file_path"].iter().find_map(|key| self.text(key)).filter(|path| !path.is_empty())
    }

    /// A row, or several, of one text in one colour.
    fn note(&self, text: &str, color: ThemeColor, width: usize) -> Vec<StyledLine> {
        wrap(&StyledLine::of(one_line(text), self.theme.fg(color)), width, &Hang::default())
    }

    /// Says that something is not shown, and how it is.
    fn more(&self, what: &str, width: usize) -> Vec<StyledLine> {
        self.note(&format!("… {what} ({} to expand)", self.expand_key), ThemeColor::Dim, width)
    }
}

/// A number of things.
fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// A time for people: `340ms`, `2.5s`, `1m 05s`.
fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{}m {:02}s", ms / 60_000, ms / 1_000 % 60),
    }
}
