//! The theme that follows the terminal's own colours.

use ratatui::style::Color;

use super::{
    Appearance, Theme, ThemeColor,
    contrast::{Rgb, luminance, mixed, readable},
};

/// The name of this theme in the setting `theme`.
pub const SYSTEM: &str = "system";

/// Contrast of text that is to be read.
const READABLE: f64 = 4.5;
/// Contrast of what only needs to be seen.
const VISIBLE: f64 = 3.0;

/// What a terminal said of its colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalColors {
    /// The text's.
    pub foreground: Option<Rgb>,
    /// The ground's.
    pub background: Option<Rgb>,
    /// The 16 of its palette.
    pub palette: [Option<Rgb>; 16],
    /// Whether it says that it prefers dark.
    pub prefers_dark: Option<bool>,
}

impl TerminalColors {
    /// Whether the ground is dark: what the terminal reports of it, else what it prefers, else what the variable
    /// `COLORFGBG` says, else yes.
    #[must_use]
    pub fn appearance(&self, colorfgbg: Option<&str>) -> Appearance {
        let reported = self.background.map(|ground| luminance(ground) < 0.18);
        let is_dark = reported.or(self.prefers_dark).or_else(|| is_dark_in(colorfgbg?)).unwrap_or(true);
        if is_dark { Appearance::Dark } else { Appearance::Light }
    }
}

/// What `COLORFGBG` (`foreground;background`, indices of the palette) says of the ground.
fn is_dark_in(colorfgbg: &str) -> Option<bool> {
    let ground: u8 = colorfgbg.rsplit(';').next()?.trim().parse().ok()?;
    match ground {
        0..=6 | 8 => Some(true),
        7 | 9..=15 => Some(false),
        _ => None,
    }
}

impl Theme {
    /// A theme of the terminal's own colours, made readable where they are not. A terminal that does not say what they
    /// are gets the names of its colours, and no grounds.
    #[must_use]
    pub fn system(colors: &TerminalColors, appearance: Appearance) -> Self {
        match colors.background {
            Some(background) => Palette::new(colors, background, appearance).theme(appearance),
            None => Self::new(SYSTEM, appearance, |of| by_name(of, appearance)),
        }
    }
}

/// The colours that a theme is mixed of.
struct Palette {
    background: Rgb,
    foreground: Rgb,
    red: Rgb,
    green: Rgb,
    yellow: Rgb,
    blue: Rgb,
    magenta: Rgb,
    cyan: Rgb,
}

impl Palette {
    fn new(colors: &TerminalColors, background: Rgb, appearance: Appearance) -> Self {
        let built_in = match appearance {
            Appearance::Dark => Theme::dark(),
            Appearance::Light => Theme::light(),
        };
        let foreground = colors.foreground.unwrap_or(match appearance {
            Appearance::Dark => [221; 3],
            Appearance::Light => [34; 3],
        });
        let of = |index: usize, instead: ThemeColor| {
            let built_in = match built_in.color(instead) {
                Color::Rgb(r, g, b) => [r, g, b],
                _ => foreground,
            };
            colors.palette[index].unwrap_or(built_in)
        };
        Self {
            background,
            foreground,
            red: of(1, ThemeColor::Error),
            green: of(2, ThemeColor::Success),
            yellow: of(3, ThemeColor::Warning),
            blue: of(4, ThemeColor::Accent),
            magenta: of(5, ThemeColor::SyntaxKeyword),
            cyan: of(6, ThemeColor::SyntaxOperator),
        }
    }

    /// The ground with a little of a colour in it.
    fn tinted(&self, with: Rgb, part: f64) -> Rgb {
        mixed(self.background, with, part)
    }

    fn theme(&self, appearance: Appearance) -> Theme {
        use ThemeColor as C;
        let pending = self.tinted(self.foreground, 0.07);
        let (success, error) = (self.tinted(self.green, 0.10), self.tinted(self.red, 0.13));
        let (selected, message) = (self.tinted(self.blue, 0.22), self.tinted(self.foreground, 0.10));
        let custom = self.tinted(self.magenta, 0.10);
        let grounds = [self.background, pending, success, error, selected, message, custom];
        let text = |color: Rgb| readable(color, &grounds, READABLE);
        let quiet = |part: f64, least: f64| readable(mixed(self.foreground, self.background, part), &grounds, least);
        let of = |of: ThemeColor| match of {
            C::SelectedBg => selected,
            C::UserMessageBg => message,
            C::CustomMessageBg => custom,
            C::ToolPendingBg => pending,
            C::ToolSuccessBg => success,
            C::ToolErrorBg => error,
            C::SearchMatchBg => text(self.yellow),
            C::SearchMatchText => readable(self.background, &[text(self.yellow)], READABLE),
            C::Success | C::ToolDiffAdded | C::SyntaxString | C::BashMode => text(self.green),
            C::Error | C::ToolDiffRemoved | C::ThinkingMax => text(self.red),
            C::Warning | C::MdHeading | C::SyntaxType | C::SyntaxNumber | C::ThinkingXhigh => text(self.yellow),
            C::Accent | C::BorderAccent | C::MdLink | C::MdListBullet | C::SyntaxFunction | C::ThinkingLow => {
                text(self.blue)
            }
            C::CustomMessageLabel | C::SyntaxKeyword | C::ThinkingHigh => text(self.magenta),
            C::MdCode | C::SyntaxOperator | C::ThinkingMedium => text(self.cyan),
            C::Muted | C::ThinkingText | C::ToolOutput | C::MdQuote | C::ToolDiffContext | C::SyntaxPunctuation => {
                quiet(0.25, READABLE)
            }
            C::Dim
            | C::Border
            | C::MdLinkUrl
            | C::MdCodeBlockBorder
            | C::MdQuoteBorder
            | C::MdHr
            | C::SyntaxComment
            | C::ThinkingMinimal
            | C::ScrollbarThumb => quiet(0.4, READABLE),
            C::BorderMuted | C::ThinkingOff | C::ScrollbarTrack => quiet(0.6, VISIBLE),
            C::Text | C::UserMessageText | C::CustomMessageText | C::ToolTitle | C::MdCodeBlock | C::SyntaxVariable => {
                text(self.foreground)
            }
        };
        Theme::new(SYSTEM, appearance, |color| {
            let [r, g, b] = of(color);
            Color::Rgb(r, g, b)
        })
    }
}

/// The names of colours, which every terminal shows in its own way. Which of them are readable depends on the ground.
fn by_name(of: ThemeColor, appearance: Appearance) -> Color {
    use ThemeColor as C;
    let is_dark = appearance == Appearance::Dark;
    match of {
        C::Success | C::ToolDiffAdded | C::SyntaxString | C::BashMode => Color::Green,
        C::Error | C::ToolDiffRemoved | C::ThinkingMax => Color::Red,
        C::Warning | C::MdHeading | C::SyntaxType | C::SyntaxNumber | C::ThinkingXhigh if is_dark => Color::Yellow,
        C::Warning | C::MdHeading | C::SyntaxType | C::SyntaxNumber | C::ThinkingXhigh => Color::Magenta,
        C::Accent | C::BorderAccent | C::MdLink | C::MdListBullet | C::SyntaxFunction | C::ThinkingLow if is_dark => {
            Color::Cyan
        }
        C::Accent | C::BorderAccent | C::MdLink | C::MdListBullet | C::SyntaxFunction | C::ThinkingLow => Color::Blue,
        C::CustomMessageLabel | C::SyntaxKeyword | C::ThinkingHigh => Color::Magenta,
        C::MdCode | C::SyntaxOperator | C::ThinkingMedium if is_dark => Color::Cyan,
        C::MdCode | C::SyntaxOperator | C::ThinkingMedium => Color::Blue,
        C::Dim
        | C::Border
        | C::BorderMuted
        | C::MdLinkUrl
        | C::MdCodeBlockBorder
        | C::MdQuoteBorder
        | C::MdHr
        | C::SyntaxComment
        | C::ThinkingOff
        | C::ThinkingMinimal
        | C::ScrollbarTrack => Color::DarkGray,
        _ => Color::Reset,
    }
}

#[cfg(test)]
mod tests;
