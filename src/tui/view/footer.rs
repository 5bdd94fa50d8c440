//! The footer: where one is, what it costs, who answers.

use crate::tui::{
    model::Model,
    text::{StyledLine, plain},
    theme::ThemeColor,
};

/// The footer's lines.
#[must_use]
pub fn lines(model: &Model, width: usize) -> Vec<StyledLine> {
    let style = model.theme.fg(ThemeColor::Dim);
    let place = model.surroundings.short(&model.facts.cwd);
    let branch = model.branch.as_ref().map_or_else(String::new, |branch| format!(" ({branch})"));
    let name = model.facts.tree.as_ref().and_then(|tree| tree.name());
    let name = name.map_or_else(String::new, |name| format!(" • {name}"));
    let usage = model.totals.usage;
    let model_name = model.facts.model.as_ref().map_or("no model", |model| &model.id);
    let second = format!("↑{} ↓{} {model_name} • {}", usage.input, usage.output, model.facts.thinking);
    [format!("{place}{branch}{name}"), second]
        .iter()
        .filter_map(|text| plain(text, width, style).into_iter().next())
        .collect()
}
