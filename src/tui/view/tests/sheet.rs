//! Screens as text.

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};

use crate::tui::{
    model::Model,
    terminal::Frame,
    testing::screen,
    view::{self, regular},
};

/// The sizes that screens are looked at in.
pub const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (200, 60)];

/// The screen in each of these sizes. Rows that are blank in a row are counted.
pub fn sheet(model: &mut Model, sizes: &[(u16, u16)]) -> String {
    let mut text = String::new();
    for (columns, rows) in sizes {
        model.size = (*columns, *rows);
        let _ = writeln!(text, "=== {columns} x {rows}");
        push_rows(&mut text, screen(model).split('\n'));
    }
    text
}

fn push_rows<'t>(text: &mut String, rows: impl Iterator<Item = &'t str>) {
    let mut blank = 0;
    let end = |text: &mut String, blank: &mut usize| {
        match std::mem::take(blank) {
            0 => {}
            1 => text.push('\n'),
            rows => drop(writeln!(text, "~ {rows} blank rows")),
        };
    };
    for row in rows {
        if row.trim_end().is_empty() {
            blank += 1;
        } else {
            end(text, &mut blank);
            let _ = writeln!(text, "{row}");
        }
    }
    end(text, &mut blank);
}

/// What the regular mode writes for good, and its live part.
pub fn regular(model: &mut Model, size: (u16, u16)) -> String {
    model.size = size;
    let (over, frame) = regular::draw(model);
    let mut text = String::from("=== above\n");
    push_rows(&mut text, over.iter().map(|line| line.text()).collect::<Vec<_>>().iter().map(String::as_str));
    text.push_str("=== live\n");
    push_rows(&mut text, rows(&frame).iter().map(|(row, _)| row.as_str()));
    text
}

/// The screen with what each cell looks like: behind each row as many letters, and what the letters mean.
pub fn styled(model: &mut Model, size: (u16, u16)) -> String {
    model.size = size;
    let frame = view::draw(model);
    let mut known: Vec<Style> = vec![Style::new()];
    let mut text = String::new();
    for (row, styles) in rows(&frame) {
        let letters: String = styles.iter().map(|style| letter(&mut known, *style)).collect();
        let letters = letters.trim_end_matches('.');
        if !letters.is_empty() {
            let _ = writeln!(text, "{row:<width$}|{letters}", width = usize::from(size.0));
        }
    }
    for (at, style) in known.iter().enumerate().skip(1) {
        let _ = writeln!(text, "{} {}", name(at), words(*style));
    }
    text
}

fn letter(known: &mut Vec<Style>, style: Style) -> char {
    let at = known.iter().position(|other| *other == style).unwrap_or_else(|| {
        known.push(style);
        known.len() - 1
    });
    name(at)
}

/// `.` for no style, then letters.
fn name(at: usize) -> char {
    ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".chars().nth(at).unwrap_or('?')
}

/// Rows as text, with the styles of their cells.
fn rows(frame: &Frame) -> Vec<(String, Vec<Style>)> {
    let area = frame.area();
    let row = |y: u16| {
        let cells = || (0..area.width).map(|x| &frame.buffer[(x, y)]);
        let style = |cell: &ratatui::buffer::Cell| {
            let mut style = Style::new().add_modifier(cell.modifier);
            style.fg = Some(cell.fg).filter(|color| *color != Color::Reset);
            style.bg = Some(cell.bg).filter(|color| *color != Color::Reset);
            style
        };
        let text: String = cells().map(|cell| cell.symbol()).collect();
        (text.trim_end().to_owned(), cells().map(style).collect())
    };
    (0..area.height).map(row).collect()
}

fn words(style: Style) -> String {
    let mut words = Vec::new();
    words.extend(style.fg.map(|color| format!("text {color}")));
    words.extend(style.bg.map(|color| format!("ground {color}")));
    let modifiers = [
        (Modifier::BOLD, "bold"),
        (Modifier::ITALIC, "italic"),
        (Modifier::UNDERLINED, "underlined"),
        (Modifier::DIM, "dim"),
        (Modifier::REVERSED, "reversed"),
        (Modifier::CROSSED_OUT, "crossed out"),
    ];
    let has = |(modifier, _): &&(Modifier, &str)| style.add_modifier.contains(*modifier);
    words.extend(modifiers.iter().filter(has).map(|(_, name)| (*name).to_owned()));
    words.join(", ")
}
