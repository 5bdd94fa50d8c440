//! The editor between its borders.

use ratatui::layout::{Position, Rect};

use crate::{
    protocol::ThinkingLevel,
    tui::{
        editor::{Geometry, VimMode},
        model::Model,
        terminal::Frame,
        text::StyledLine,
        theme::ThemeColor,
    },
};

/// Rows that are too few for borders.
const FEW: u16 = 6;

/// The colour of the editor's border: what a prompt would do.
#[must_use]
pub fn border_color(model: &Model) -> ThemeColor {
    if model.editor.starts_with_bang() {
        return ThemeColor::BashMode;
    }
    match model.facts.thinking {
        ThinkingLevel::Off => ThemeColor::ThinkingOff,
        ThinkingLevel::Minimal => ThemeColor::ThinkingMinimal,
        ThinkingLevel::Low => ThemeColor::ThinkingLow,
        ThinkingLevel::Medium => ThemeColor::ThinkingMedium,
        ThinkingLevel::High => ThemeColor::ThinkingHigh,
        ThinkingLevel::Xhigh => ThemeColor::ThinkingXhigh,
        ThinkingLevel::Max => ThemeColor::ThinkingMax,
    }
}

/// Columns of the editor's text.
#[must_use]
pub fn text_width(model: &Model) -> usize {
    usize::from(model.size.0.saturating_sub(2 * padding(model)).max(1))
}

fn padding(model: &Model) -> u16 {
    if model.size.0 < 12 { 0 } else { model.settings.editor_padding }
}

/// Rows of text at most.
#[must_use]
pub fn most_rows(model: &Model) -> usize {
    let rows = model.size.1;
    usize::from((rows * 3 / 10).max(5).min(rows.saturating_sub(if rows < FEW { 2 } else { 5 })).max(1))
}

/// The room of the editor's text.
#[must_use]
pub fn geometry(model: &Model) -> Geometry {
    let width = u16::try_from(text_width(model)).unwrap_or(u16::MAX);
    Geometry { width, rows: u16::try_from(most_rows(model)).unwrap_or(u16::MAX) }
}

/// Rows that the editor wants.
#[must_use]
pub fn height(model: &Model) -> usize {
    let borders = if model.size.1 < FEW { 0 } else { 2 };
    model.editor.layout(geometry(model)).rows.len() + borders
}

/// The mode of vi's keys, when characters are commands.
fn mode(model: &Model) -> String {
    match model.editor.vim_mode() {
        Some(VimMode::Normal) => "normal".to_owned(),
        Some(VimMode::Visual) => "visual".to_owned(),
        Some(VimMode::Insert) | None => String::new(),
    }
}

/// Draws it.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    if area.height == 0 {
        return;
    }
    let style = model.theme.fg(border_color(model));
    let borders = u16::from(model.size.1 >= FEW && area.height > 2);
    let rows = (area.height - 2 * borders).max(1);
    let view = model.editor.layout(Geometry { rows, ..geometry(model) });
    let border = |label: String| {
        let label = if label.is_empty() { label } else { format!("─ {label} ") };
        let rest = usize::from(area.width).saturating_sub(label.chars().count());
        StyledLine::of(format!("{label}{}", "─".repeat(rest)), style)
    };
    let more = |count: usize, sign: &str| if count > 0 { format!("{sign} {count} more") } else { String::new() };
    if borders > 0 {
        frame.line(area, 0, &border([mode(model), more(view.above, "↑")].join(" ").trim().to_owned()));
        frame.line(area, area.height - 1, &border(more(view.below, "↓")));
    }
    let pad = padding(model);
    let text = Rect::new(area.x + pad, area.y + borders, area.width.saturating_sub(2 * pad), area.height - 2 * borders);
    for (row, line) in (0..text.height).zip(&view.lines(&model.theme)) {
        frame.line(text, row, line);
    }
    let (column, row) = view.cursor;
    let (column, row) = (column.min(text.width.saturating_sub(1)), row.min(text.height.saturating_sub(1)));
    frame.cursor = Some(Position::new(text.x + column, text.y + row));
}
