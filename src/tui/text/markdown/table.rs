//! Tables: boxes whose columns line up, or one block a row where there is no room for columns.

use ratatui::style::Modifier;

use super::{
    super::{
        StyledLine, StyledSpan, width_of,
        wrap::{Hang, blanks, wrap},
    },
    Layout, inline,
};
use crate::{
    resources::markup::{Span, markdown::Align},
    tui::theme::ThemeColor,
};

/// Columns that a cell has at least.
const NARROWEST: usize = 4;

/// A table's cells, each as its lines.
type Row = Vec<Vec<StyledLine>>;

/// A table in rows of at most `width` columns.
pub(super) fn rows(
    layout: &Layout<'_>,
    alignments: &[Align],
    head: &[Vec<Span>],
    body: &[Vec<Vec<Span>>],
    width: usize,
) -> Vec<StyledLine> {
    let bold = layout.text.add_modifier(Modifier::BOLD);
    let head: Row = head.iter().map(|cell| inline::lines(layout, cell, bold)).collect();
    let row = |row: &Vec<Vec<Span>>| row.iter().map(|cell| inline::lines(layout, cell, layout.text)).collect();
    let body: Vec<Row> = body.iter().map(row).collect();
    match column_widths(&head, &body, width) {
        Some(widths) => boxed(layout, alignments, &head, &body, &widths),
        None => listed(layout, &head, &body, width),
    }
}

/// The widths of the columns without what is around them; none when they do not fit.
fn column_widths(head: &Row, body: &[Row], width: usize) -> Option<Vec<usize>> {
    let columns = head.len();
    // A line before each cell and behind the last, and a blank on both sides of each.
    let room = width.checked_sub(3 * columns + 1)?;
    let of = |column: usize, measure: fn(&StyledLine) -> usize| {
        let cells = std::iter::once(head).chain(body).filter_map(move |row| row.get(column));
        cells.flatten().map(measure).max().unwrap_or(0).max(1)
    };
    let wanted: Vec<usize> = (0..columns).map(|column| of(column, StyledLine::width)).collect();
    if wanted.iter().sum::<usize>() <= room {
        return Some(wanted);
    }
    if room < columns * NARROWEST {
        return None;
    }
    let words: Vec<usize> = (0..columns).map(|column| of(column, longest_word)).collect();
    match words.iter().sum::<usize>() <= room {
        true => Some(shared(&words, &wanted, room)),
        false => Some(shared(&vec![1; columns], &wanted, room)),
    }
}

/// Widths from `least` up to `wanted` with the sum `room`: every column gets one more in turn while it wants.
fn shared(least: &[usize], wanted: &[usize], room: usize) -> Vec<usize> {
    let mut widths = least.to_vec();
    let mut rest = room.saturating_sub(widths.iter().sum());
    while rest > 0 {
        let Some((narrowest, _)) =
            widths.iter().enumerate().filter(|(at, width)| **width < wanted[*at]).min_by_key(|(_, width)| **width)
        else {
            break;
        };
        widths[narrowest] += 1;
        rest -= 1;
    }
    widths
}

fn longest_word(line: &StyledLine) -> usize {
    line.text().split(' ').map(width_of).max().unwrap_or(0)
}

fn boxed(layout: &Layout<'_>, alignments: &[Align], head: &Row, body: &[Row], widths: &[usize]) -> Vec<StyledLine> {
    let line = layout.theme.fg(ThemeColor::MdCodeBlockBorder);
    let rule = |left: &str, between: &str, right: &str| {
        let cells: Vec<String> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
        StyledLine::of(format!("{left}{}{right}", cells.join(between)), line)
    };
    let wrapped = |row: &Row| -> Vec<Vec<StyledLine>> {
        let cell = |column: usize| row.get(column).map_or(&[][..], Vec::as_slice);
        let wrapped = |(column, width): (usize, &usize)| {
            cell(column).iter().flat_map(|line| wrap(line, *width, &Hang::default())).collect()
        };
        widths.iter().enumerate().map(wrapped).collect()
    };
    let draw = |row: Vec<Vec<StyledLine>>, out: &mut Vec<StyledLine>| {
        let height = row.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for y in 0..height {
            let mut drawn = StyledLine::of("│", line);
            for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
                let text = cell.get(y).map_or(&[][..], |line| line.spans.as_slice());
                let free = width - text.iter().map(|span| width_of(&span.text)).sum::<usize>().min(*width);
                let before = match alignments.get(column).copied().unwrap_or_default() {
                    Align::Start => 0,
                    Align::Center => free / 2,
                    Align::End => free,
                };
                drawn.spans.push(blanks(1 + before));
                drawn.spans.extend_from_slice(text);
                drawn.spans.push(blanks(1 + free - before));
                drawn.push("│", line);
            }
            out.push(drawn);
        }
    };
    let mut out = vec![rule("┌", "┬", "┐")];
    draw(wrapped(head), &mut out);
    out.push(rule("├", "┼", "┤"));
    let body: Vec<_> = body.iter().map(wrapped).collect();
    // Where cells have several lines, nothing else shows where a row ends.
    let is_high = body.iter().flatten().any(|cell| cell.len() > 1);
    for (at, row) in body.into_iter().enumerate() {
        if at > 0 && is_high {
            out.push(rule("├", "┼", "┤"));
        }
        draw(row, &mut out);
    }
    out.push(rule("└", "┴", "┘"));
    out
}

/// Each row as a block of `name: value` lines.
fn listed(layout: &Layout<'_>, head: &Row, body: &[Row], width: usize) -> Vec<StyledLine> {
    let mut out = Vec::new();
    if body.is_empty() {
        return head.iter().flatten().flat_map(|line| wrap(line, width, &Hang::default())).collect();
    }
    for (at, row) in body.iter().enumerate() {
        if at > 0 {
            out.push(StyledLine::of("─".repeat(width.min(8)), layout.theme.fg(ThemeColor::MdCodeBlockBorder)));
        }
        for (column, cell) in row.iter().enumerate() {
            let mut line = StyledLine::default();
            for name in head.get(column).into_iter().flatten() {
                line.spans.extend_from_slice(&name.spans);
            }
            if line.width() > 0 {
                line.spans.push(StyledSpan::new(": ", layout.text));
            }
            for (at, value) in cell.iter().enumerate() {
                if at > 0 {
                    line.spans.push(StyledSpan::new(" ", layout.text));
                }
                line.spans.extend_from_slice(&value.spans);
            }
            out.extend(wrap(&line, width, &Hang::indent(2)));
        }
    }
    out
}
