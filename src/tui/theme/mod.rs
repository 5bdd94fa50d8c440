//! Colours: what a theme says, made fit for the terminal's abilities.
//!
//! | module | what |
//! |---|---|
//! | `color` | the colours that a theme gives |
//! | `file`, `value`, `oklab` | theme files |
//! | `builtin`, `system` | the themes that are always there |
//! | `themes` | which themes there are, and which is used |
//! | `level` | colours that a terminal can show |
//! | `mark` | what stands for colours where there are none |
//! | `contrast` | whether a colour can be read |

mod builtin;
mod color;
mod contrast;
mod file;
mod level;
mod mark;
mod oklab;
mod system;
mod themes;
mod value;

use ratatui::style::{Color, Style};

pub use color::ThemeColor;
pub use file::ThemeError;
pub use level::{ColorLevel, lower, rgb_of_index};
pub use system::{SYSTEM, TerminalColors};
pub use themes::{LoadError, Stamp, ThemeChoice, Themes};

use crate::resources::markup::highlight::Token;

/// Whether a theme is for dark or light ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Appearance {
    /// Light text on dark ground.
    #[default]
    Dark,
    /// Dark text on light ground.
    Light,
}

/// A theme as it is used: every colour is one that the terminal can show.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub appearance: Appearance,
    colors: Vec<Color>,
    is_colorless: bool,
}

impl Theme {
    /// A theme whose colours are those of `color`.
    pub fn new(name: impl Into<String>, appearance: Appearance, color: impl Fn(ThemeColor) -> Color) -> Self {
        let colors: Vec<Color> = ThemeColor::ALL.iter().map(|of| color(*of)).collect();
        let is_colorless = colors.iter().all(|color| *color == Color::Reset);
        Self { name: name.into(), appearance, colors, is_colorless }
    }

    /// The terminal's own colours for everything: attributes tell apart what colours would.
    #[must_use]
    pub fn plain() -> Self {
        Self::new("plain", Appearance::Dark, |_| Color::Reset)
    }

    /// A colour.
    #[must_use]
    pub fn color(&self, of: ThemeColor) -> Color {
        self.colors[of as usize]
    }

    /// The same in colours that a terminal of this level shows.
    #[must_use]
    pub fn lowered(&self, level: ColorLevel) -> Self {
        Self::new(self.name.clone(), self.appearance, |of| lower(self.color(of), level))
    }

    /// Whether no colour is in it.
    #[must_use]
    pub fn is_colorless(&self) -> bool {
        self.is_colorless
    }

    /// Text in a colour.
    #[must_use]
    pub fn fg(&self, of: ThemeColor) -> Style {
        let style = Style::new().fg(self.color(of));
        if self.is_colorless { style.add_modifier(mark::of(of)) } else { style }
    }

    /// Ground in a colour. A ground that would say something, but is the terminal's own, is marked.
    #[must_use]
    pub fn bg(&self, of: ThemeColor) -> Style {
        let style = Style::new().bg(self.color(of));
        if self.color(of) == Color::Reset { style.add_modifier(mark::of_ground(of)) } else { style }
    }

    /// Text in a colour on ground in another.
    #[must_use]
    pub fn on(&self, text: ThemeColor, ground: ThemeColor) -> Style {
        self.fg(text).patch(self.bg(ground))
    }

    /// Code.
    #[must_use]
    pub fn syntax(&self, token: Option<Token>) -> Style {
        self.fg(match token {
            None => ThemeColor::MdCodeBlock,
            Some(Token::Comment) => ThemeColor::SyntaxComment,
            Some(Token::Keyword) => ThemeColor::SyntaxKeyword,
            Some(Token::Function) => ThemeColor::SyntaxFunction,
            Some(Token::Variable) => ThemeColor::SyntaxVariable,
            Some(Token::String) => ThemeColor::SyntaxString,
            Some(Token::Number) => ThemeColor::SyntaxNumber,
            Some(Token::Type) => ThemeColor::SyntaxType,
            Some(Token::Operator) => ThemeColor::SyntaxOperator,
            Some(Token::Punctuation) => ThemeColor::SyntaxPunctuation,
        })
    }
}

#[cfg(test)]
mod tests;
