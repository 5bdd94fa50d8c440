//! How many colours a terminal shows, and the nearest of them.

use ratatui::style::Color;

/// How many colours a terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColorLevel {
    /// None: attributes alone tell things apart.
    None,
    /// The 16 of its palette.
    Ansi,
    /// 256.
    Indexed,
    /// All.
    #[default]
    TrueColor,
}

/// The steps of the 6x6x6 cube of the 256 colours.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// What the 16 colours usually look like; palettes differ, their names do not.
const ANSI: [(Color, [u8; 3]); 16] = [
    (Color::Black, [0, 0, 0]),
    (Color::Red, [205, 0, 0]),
    (Color::Green, [0, 205, 0]),
    (Color::Yellow, [205, 205, 0]),
    (Color::Blue, [0, 0, 238]),
    (Color::Magenta, [205, 0, 205]),
    (Color::Cyan, [0, 205, 205]),
    (Color::Gray, [229, 229, 229]),
    (Color::DarkGray, [127, 127, 127]),
    (Color::LightRed, [255, 0, 0]),
    (Color::LightGreen, [0, 255, 0]),
    (Color::LightYellow, [255, 255, 0]),
    (Color::LightBlue, [92, 92, 255]),
    (Color::LightMagenta, [255, 0, 255]),
    (Color::LightCyan, [0, 255, 255]),
    (Color::White, [255, 255, 255]),
];

/// The nearest colour that a terminal of this level shows.
#[must_use]
pub fn lower(color: Color, level: ColorLevel) -> Color {
    match (level, color) {
        (ColorLevel::TrueColor, _) | (_, Color::Reset) => color,
        (ColorLevel::None, _) => Color::Reset,
        (ColorLevel::Indexed, Color::Rgb(r, g, b)) => Color::Indexed(indexed([r, g, b])),
        (ColorLevel::Indexed, _) => color,
        (ColorLevel::Ansi, Color::Rgb(r, g, b)) => ansi([r, g, b]),
        (ColorLevel::Ansi, Color::Indexed(index)) => match usize::from(index) {
            index @ 0..16 => ANSI[index].0,
            _ => ansi(rgb_of_index(index)),
        },
        (ColorLevel::Ansi, _) => color,
    }
}

/// Red, green and blue of one of the 256 colours, as it usually looks.
#[must_use]
pub fn rgb_of_index(index: u8) -> [u8; 3] {
    match index {
        0..16 => ANSI[usize::from(index)].1,
        16..232 => {
            let cell = usize::from(index - 16);
            [STEPS[cell / 36], STEPS[cell / 6 % 6], STEPS[cell % 6]]
        }
        232.. => [8 + (index - 232) * 10; 3],
    }
}

fn indexed(rgb: [u8; 3]) -> u8 {
    // The first 16 are the user's own, whatever they look like.
    (16..=255).min_by_key(|index| distance(rgb_of_index(*index), rgb)).unwrap_or(16)
}

fn ansi(rgb: [u8; 3]) -> Color {
    /// From this on a colour is more than a tinge of grey.
    const COLOURFUL: u8 = 48;
    let near = ANSI.iter().min_by_key(|(_, of)| distance(*of, rgb)).unwrap_or(&ANSI[0]);
    // A pale red is nearer to grey than to red, but red is what it says.
    if chroma(near.1) == 0 && chroma(rgb) >= COLOURFUL { colourful(rgb) } else { near.0 }
}

/// How far a colour is from grey.
fn chroma(rgb: [u8; 3]) -> u8 {
    let [r, g, b] = rgb;
    r.max(g).max(b) - r.min(g).min(b)
}

/// The colour of the 16 that has the hue of one that is no grey. Dark ones are meant for light ground, where cyan and
/// yellow cannot be read.
fn colourful(rgb: [u8; 3]) -> Color {
    const LIGHT: u8 = 176;
    let [r, g, b] = rgb;
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    // What is left without the white in it: which parts have nearly half of the strongest or more?
    let has = |part: u8| u32::from(part - least) * 20 >= u32::from(most - least) * 9;
    match (has(r), has(g), has(b), most >= LIGHT) {
        (true, false, false, true) => Color::LightRed,
        (true, false, false, false) => Color::Red,
        (true, true, false, true) => Color::LightYellow,
        (false, true, false, true) => Color::LightGreen,
        (false, true, false, false) => Color::Green,
        (false, true, true, true) => Color::LightCyan,
        (false, false, true, true) => Color::LightBlue,
        (false, _, true, false) => Color::Blue,
        (true, false, true, true) => Color::LightMagenta,
        _ => Color::Magenta,
    }
}

/// How different two colours look, roughly: eyes see green best.
fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    let squared = |at: usize| u32::from(a[at].abs_diff(b[at])).pow(2);
    squared(0) * 2 + squared(1) * 4 + squared(2) * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_the_nearest_that_the_terminal_has() {
        use Color::{Black, Blue, DarkGray, Green, Indexed, LightCyan, LightMagenta, LightRed, Reset, Rgb};
        for (color, level, wanted) in [
            (Rgb(1, 2, 3), ColorLevel::TrueColor, Rgb(1, 2, 3)),
            (Rgb(255, 0, 0), ColorLevel::Indexed, Indexed(196)),
            (Rgb(8, 8, 8), ColorLevel::Indexed, Indexed(232)),
            (Rgb(250, 10, 10), ColorLevel::Ansi, LightRed),
            // pale, but not grey
            (Rgb(240, 138, 132), ColorLevel::Ansi, LightRed),
            (Rgb(138, 190, 183), ColorLevel::Ansi, LightCyan),
            (Rgb(195, 161, 236), ColorLevel::Ansi, LightMagenta),
            (Rgb(23, 99, 42), ColorLevel::Ansi, Green),
            (Rgb(11, 87, 164), ColorLevel::Ansi, Blue),
            // grey, but for a tinge
            (Rgb(130, 170, 130), ColorLevel::Ansi, DarkGray),
            (Rgb(40, 50, 40), ColorLevel::Ansi, Black),
            (Indexed(9), ColorLevel::Ansi, LightRed),
            (Indexed(196), ColorLevel::Ansi, LightRed),
            (Indexed(196), ColorLevel::Indexed, Indexed(196)),
            (Reset, ColorLevel::Ansi, Reset),
            (Rgb(255, 0, 0), ColorLevel::None, Reset),
            (Indexed(3), ColorLevel::None, Reset),
        ] {
            assert_eq!(lower(color, level), wanted, "{color:?} {level:?}");
        }
    }
}
