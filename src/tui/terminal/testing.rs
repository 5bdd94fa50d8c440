//! Terminals for tests: an emulator, and what it shows compared with what a frame says.

use std::num::NonZeroU16;

use proptest::prelude::*;
use ratatui::style::{Color, Modifier, Style};

use super::{Capabilities, Frame, glyph::Shape};
use crate::tui::{
    text::{StyledLine, StyledSpan},
    theme::ColorLevel,
};

/// A terminal that can do everything.
pub const ABLE: Capabilities = Capabilities {
    colors: ColorLevel::TrueColor,
    hyperlinks: true,
    images: None,
    synchronized: true,
    modern: true,
    reflows: false,
    tmux: false,
    ssh: false,
};

/// An emulator with a scrollback.
pub fn emulator(columns: u16, rows: u16) -> vt100::Parser {
    let number = |number| NonZeroU16::new(number).unwrap();
    vt100::Parser::new(number(rows), number(columns), 10_000)
}

/// Gives the emulator another size.
pub fn resize(emulator: &mut vt100::Parser, columns: u16, rows: u16) {
    let number = |number| NonZeroU16::new(number).unwrap();
    emulator.screen_mut().set_size(number(rows), number(columns));
}

/// The rows that the emulator shows, without blanks at their ends.
pub fn rows(emulator: &vt100::Parser) -> Vec<String> {
    let (_, columns) = emulator.screen().size();
    emulator.screen().rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect()
}

/// All rows that were ever shown and not erased: the scrollback and the screen.
pub fn history(emulator: &mut vt100::Parser) -> Vec<String> {
    let length = emulator.screen().scrollback_len();
    let mut all = Vec::new();
    for back in (1..=length).rev() {
        emulator.screen_mut().set_scrollback(back);
        all.extend(rows(emulator).into_iter().take(1));
    }
    emulator.screen_mut().set_scrollback(0);
    all.extend(rows(emulator));
    all
}

/// What is wrong with what the emulator shows from the row `top` on; none when it is the frame.
pub fn difference(emulator: &vt100::Parser, frame: &Frame, top: u16) -> Option<String> {
    for y in 0..frame.area().height {
        let mut x = 0;
        while x < frame.area().width {
            let cell = &frame.buffer[(x, y)];
            let shown = emulator.screen().cell(y + top, x)?;
            let shape = Shape::of(cell.symbol()).filter(|shape| x + shape.width <= frame.area().width);
            let shape = shape.unwrap_or(Shape::NARROW);
            let contents = if shown.has_contents() { shown.contents() } else { " " };
            let same = (contents == cell.symbol()
                || Shape::of(cell.symbol()).is_none_or(|own| own.width != shape.width))
                && color(shown.fgcolor()) == indexed(cell.fg)
                && color(shown.bgcolor()) == indexed(cell.bg)
                && shown.bold() == cell.modifier.contains(Modifier::BOLD)
                && shown.italic() == cell.modifier.contains(Modifier::ITALIC)
                && shown.underline() == cell.modifier.contains(Modifier::UNDERLINED)
                && shown.inverse() == cell.modifier.contains(Modifier::REVERSED);
            // The style of a blank's text does not show.
            if shape.is_plain
                && !same
                && !(contents == " "
                    && color(shown.bgcolor()) == indexed(cell.bg)
                    && cell.symbol() == " "
                    && cell.modifier.is_empty())
            {
                return Some(format!("column {x}, row {y}: {shown:?} instead of {cell:?}"));
            }
            x += shape.width;
        }
    }
    None
}

fn color(color: vt100::Color) -> Color {
    match color {
        vt100::Color::Default => Color::Reset,
        vt100::Color::Idx(index) => Color::Indexed(index),
        vt100::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    }
}

fn indexed(color: Color) -> Color {
    match color {
        Color::Red => Color::Indexed(1),
        Color::White => Color::Indexed(15),
        other => other,
    }
}

/// A style of any kind.
pub fn any_style() -> impl Strategy<Value = Style> {
    let colors = [Color::Reset, Color::Red, Color::White, Color::Indexed(200), Color::Rgb(1, 2, 3)];
    let modifiers = [Modifier::empty(), Modifier::BOLD, Modifier::ITALIC | Modifier::UNDERLINED, Modifier::REVERSED];
    let colors = || proptest::sample::select(colors.to_vec());
    (colors(), colors(), proptest::sample::select(modifiers.to_vec()))
        .prop_map(|(fg, bg, modifiers)| Style::new().fg(fg).bg(bg).add_modifier(modifiers))
}

/// A line with characters of all kinds. What the emulator shows on six columns stands at its start: the emulator knows no
/// rows that do not wrap, and would continue it on the next.
pub fn any_line() -> impl Strategy<Value = StyledLine> {
    let texts = ["a", "word ", "   ", "日本", "한", "e\u{301}", "│─", "❤\u{fe0f}", "🇨🇭", "✓", "x"];
    let span = |texts: &[&'static str]| {
        let leads = any::<bool>();
        (proptest::sample::select(texts.to_vec()), any_style(), leads).prop_map(|(text, style, leads)| StyledSpan {
            link: leads.then(|| "https://example.org/".into()),
            ..StyledSpan::new(text, style)
        })
    };
    let start = prop::option::weighted(0.2, span(&["👩\u{200d}👩\u{200d}👧"]));
    let fill = prop::option::weighted(0.2, any_style());
    (start, prop::collection::vec(span(&texts), 0..6), fill)
        .prop_map(|(start, spans, fill)| StyledLine { spans: start.into_iter().chain(spans).collect(), fill })
}

/// A frame of lines.
pub fn frame_of(columns: u16, rows: u16, lines: &[StyledLine]) -> Frame {
    let mut frame = Frame::new(columns, rows);
    for (y, line) in lines.iter().take(usize::from(rows)).enumerate() {
        let area = frame.area();
        frame.line(area, u16::try_from(y).unwrap(), line);
    }
    frame
}
