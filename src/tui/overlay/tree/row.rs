//! A row of the tree as it is drawn.

use ratatui::style::Style;

use super::texts::Said;
use crate::{
    store::{
        jsonl::{EntryKind, Role},
        tree::Label,
    },
    tui::{
        text::{StyledLine, cut, one_line},
        theme::{Theme, ThemeColor},
    },
};

/// What a row looks like, apart from its text.
pub struct RowLook<'r> {
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The lines that lead to it.
    pub guides: String,
    /// It is the marked one.
    pub marked: bool,
    /// The entry is on the branch in use.
    pub active: bool,
    /// The conversation stands there.
    pub is_place: bool,
    /// What hangs on it is not shown.
    pub folded: bool,
    /// Its label.
    pub label: Option<&'r Label>,
    /// The time of the label is shown.
    pub times: bool,
}

/// The row.
pub fn line(said: Option<&Said>, look: &RowLook<'_>, width: usize, theme: &Theme) -> StyledLine {
    let style = |color| theme.fg(color);
    let mut line = StyledLine::of(if look.marked { "→ " } else { "  " }, style(ThemeColor::Accent));
    line.push(look.guides.clone(), style(ThemeColor::Dim));
    if look.folded {
        line.push("▸ ", style(ThemeColor::Warning));
    }
    if look.active {
        line.push("• ", style(ThemeColor::Accent));
    }
    if let Some(label) = look.label {
        line.push(format!("[{}] ", one_line(&label.text)), style(ThemeColor::Warning));
        if look.times {
            line.push(format!("{} ", time(&label.timestamp)), style(ThemeColor::Dim));
        }
    }
    if let Some(said) = said {
        let (who, text) = colors(look.kind, theme);
        line.push(format!("{}: ", said.who), who);
        line.push(said.text.to_string(), text);
    }
    if look.is_place {
        line.push(" ← here", style(ThemeColor::Success));
    }
    let line = cut(&line, width);
    if look.marked { line.filled(theme.bg(ThemeColor::SelectedBg)) } else { line }
}

/// The colours of who says it, and of what is said.
fn colors(kind: EntryKind, theme: &Theme) -> (Style, Style) {
    let (who, text) = match kind {
        EntryKind::Message(Role::User) => (ThemeColor::Accent, ThemeColor::Text),
        EntryKind::Message(Role::Assistant) => (ThemeColor::Success, ThemeColor::Text),
        EntryKind::Message(Role::BashExecution) => (ThemeColor::BashMode, ThemeColor::Muted),
        EntryKind::Compaction | EntryKind::BranchSummary | EntryKind::CustomMessage => {
            (ThemeColor::CustomMessageLabel, ThemeColor::Muted)
        }
        _ => (ThemeColor::Muted, ThemeColor::Dim),
    };
    (theme.fg(who), theme.fg(text))
}

/// A time of ISO-8601 as people read it: day and minute.
fn time(timestamp: &str) -> String {
    let shown: String = timestamp.chars().take(16).collect();
    one_line(&shown.replace('T', " "))
}
