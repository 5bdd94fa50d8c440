//! Styles as escape sequences.

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};

use crate::tui::theme::{ColorLevel, lower};

/// What the next character will look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pen {
    fg: Color,
    bg: Color,
    modifiers: Modifier,
}

/// A modifier, and how it is switched on and off.
const MODIFIERS: [(Modifier, u8, u8); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

impl Pen {
    /// The pen for a style on a terminal with those colours.
    pub fn of(style: Style, level: ColorLevel) -> Self {
        let color = |color: Option<Color>| lower(color.unwrap_or_default(), level);
        Self { fg: color(style.fg), bg: color(style.bg), modifiers: style.add_modifier.difference(style.sub_modifier) }
    }

    /// Whether blanks written with it are what erasing leaves.
    pub fn is_default(self) -> bool {
        self == Self::default()
    }

    /// Writes what makes this pen the other one.
    pub fn change(&mut self, to: Self, out: &mut String) {
        if *self == to {
            return;
        }
        if to.is_default() {
            out.push_str("\x1b[m");
        } else {
            let mut separator = "\x1b[";
            for parameters in self.parameters(to) {
                out.push_str(separator);
                out.push_str(&parameters);
                separator = ";";
            }
            out.push('m');
        }
        *self = to;
    }

    fn parameters(self, to: Self) -> Vec<String> {
        let mut parameters = Vec::new();
        let mut kept = self.modifiers;
        for (modifier, _, off) in MODIFIERS {
            if kept.contains(modifier) && !to.modifiers.contains(modifier) {
                parameters.push(off.to_string());
                // One number may switch two off.
                for (other, _, _) in MODIFIERS.iter().filter(|(_, _, other_off)| *other_off == off) {
                    kept.remove(*other);
                }
            }
        }
        for (modifier, on, _) in MODIFIERS {
            if to.modifiers.contains(modifier) && !kept.contains(modifier) {
                parameters.push(on.to_string());
            }
        }
        if self.fg != to.fg {
            parameters.push(color(to.fg, 30));
        }
        if self.bg != to.bg {
            parameters.push(color(to.bg, 40));
        }
        parameters
    }
}

/// The parameters of a colour; `base` is 30 for text and 40 for the ground.
fn color(color: Color, base: u8) -> String {
    let mut text = String::new();
    let index = match color {
        Color::Reset => return (base + 9).to_string(),
        Color::Rgb(red, green, blue) => {
            let _ = write!(text, "{};2;{red};{green};{blue}", base + 8);
            return text;
        }
        Color::Indexed(index) => index,
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
    };
    match index {
        0..8 => (base + index).to_string(),
        8..16 => (base + 60 + index - 8).to_string(),
        _ => format!("{};5;{index}", base + 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_written() {
        let red = Style::new().fg(Color::Red);
        for (from, to, expected) in [
            (Style::new(), Style::new(), ""),
            (Style::new(), red, "\x1b[31m"),
            (red, red.bold(), "\x1b[1m"),
            (red.bold(), red, "\x1b[22m"),
            (red.bold(), Style::new(), "\x1b[m"),
            (red.bold().dim(), red.dim(), "\x1b[22;2m"),
            (red.bold().italic(), red.underlined().reversed(), "\x1b[22;23;4;7m"),
            (red, red.bg(Color::Rgb(1, 2, 3)), "\x1b[48;2;1;2;3m"),
            (red.on_blue(), Style::new().fg(Color::Indexed(200)), "\x1b[38;5;200;49m"),
            (red, Style::new().fg(Color::LightRed).bg(Color::White), "\x1b[91;107m"),
            (Style::new(), Style::new().fg(Color::Indexed(3)), "\x1b[33m"),
        ] {
            let mut pen = Pen::of(from, ColorLevel::TrueColor);
            let mut out = String::new();
            pen.change(Pen::of(to, ColorLevel::TrueColor), &mut out);
            assert_eq!(out, expected);
            assert_eq!(pen, Pen::of(to, ColorLevel::TrueColor));
        }
    }
}
