//! An agent as a row of the list.

use crate::{
    protocol::supervision::AgentInfo,
    tui::{
        overlay::{
            list::{Item, Look},
            panel::between,
        },
        text::{StyledLine, one_line},
        theme::ThemeColor,
        view::cards::{name, sign, spent, word},
    },
};

/// See the module.
pub(super) struct Row {
    pub info: AgentInfo,
    /// What a search looks at.
    text: String,
}

impl Row {
    pub fn new(info: AgentInfo) -> Self {
        let status = &info.status;
        let text = format!("{} {} {}", name(status), status.role, status.title);
        Self { info, text }
    }
}

impl Item for Row {
    fn text(&self) -> &str {
        &self.text
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let status = &self.info.status;
        let (sign, color) = sign(status);
        let indent = "  ".repeat(usize::try_from(status.depth).unwrap_or(0).min(look.width / 8));
        let mut left = StyledLine::of(format!("{indent}{sign} "), look.theme.fg(color));
        left.push(name(status), look.name());
        left.push(format!(" {}", word(status)), look.theme.fg(color));
        if let Some(tool) = &status.tool {
            left.push(format!(", {}", one_line(tool)), look.theme.fg(color));
        }
        if !status.title.is_empty() {
            left.push(format!("  {}", one_line(&status.title)), look.aside());
        }
        let mut right = StyledLine::default();
        if self.info.waiting > 0 {
            right.push(format!("{} waiting  ", self.info.waiting), look.aside());
        }
        if self.info.restarts > 0 {
            right.push(format!("↻{}  ", self.info.restarts), look.theme.fg(ThemeColor::Warning));
        }
        right.push(spent(status), look.aside());
        between(&left, &right, look.width)
    }
}
