//! A shell command of the user as lines.

use ratatui::style::Modifier;

use super::{layout::LayoutContext, lines::parted};
use crate::{
    protocol::message::BashExecution,
    tui::{
        text::{StyledLine, plain, printed},
        theme::ThemeColor,
        tool_view::excerpt,
    },
};

/// Rows of a command's output that are shown while it is folded.
const FOLDED_ROWS: usize = 10;

/// A shell command of the user, as it runs or as it is stored.
pub(super) struct BashView<'b> {
    pub command: &'b str,
    pub output: &'b str,
    pub excluded: bool,
    /// What became of it, or that it runs.
    pub end: String,
    pub failed: bool,
    pub full_output: Option<&'b str>,
}

impl<'b> BashView<'b> {
    pub fn of(bash: &'b BashExecution) -> Self {
        let (end, failed) = end_of(bash.cancelled, bash.exit_code);
        Self {
            command: &bash.command,
            output: &bash.output,
            excluded: bash.exclude_from_context == Some(true),
            end,
            failed,
            full_output: bash.full_output_path.as_deref(),
        }
    }

    /// Its lines; of a long output the end, unless all of it is wanted.
    pub fn lines(&self, expanded: bool, context: &LayoutContext<'_>) -> Vec<StyledLine> {
        let theme = context.theme;
        let width = context.inner();
        let color = if self.excluded { ThemeColor::Dim } else { ThemeColor::BashMode };
        let title = format!("$ {}", self.command);
        let mut lines = plain(&title, width, theme.fg(color).add_modifier(Modifier::BOLD));
        let output = printed(self.output);
        let output = output.trim_end();
        let style = theme.fg(ThemeColor::Muted);
        if expanded && !output.is_empty() {
            lines.extend(excerpt::all(output, width, style));
        } else if !output.is_empty() {
            let excerpt = excerpt::tail(output, FOLDED_ROWS, width, style);
            if excerpt.hidden > 0 {
                let hint = format!("… {} earlier lines ({} to expand)", excerpt.hidden, context.expand_key);
                lines.extend(plain(&hint, width, theme.fg(ThemeColor::Dim)));
            }
            lines.extend(excerpt.rows);
        }
        if !self.end.is_empty() {
            let color = if self.failed { ThemeColor::Error } else { ThemeColor::Muted };
            lines.extend(plain(&self.end, width, theme.fg(color)));
        }
        if let Some(path) = self.full_output {
            lines.extend(plain(&format!("Full output: {path}"), width, theme.fg(ThemeColor::Dim)));
        }
        parted(context.with_margin(lines))
    }
}

/// What is said of the end of a command, and whether it failed.
pub(super) fn end_of(cancelled: bool, exit_code: Option<i32>) -> (String, bool) {
    match (cancelled, exit_code) {
        (true, _) => ("(cancelled)".to_owned(), true),
        (false, Some(0)) => (String::new(), false),
        (false, Some(code)) => (format!("(exit {code})"), true),
        (false, None) => ("(no exit code)".to_owned(), true),
    }
}
