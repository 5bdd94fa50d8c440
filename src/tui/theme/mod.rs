//! Colours: what a theme says, made fit for the terminal's abilities.

mod color;

use ratatui::style::{Color, Style};

pub use color::ThemeColor;

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
}

impl Theme {
    /// A theme whose colours are those of `color`.
    pub fn new(name: impl Into<String>, appearance: Appearance, color: impl Fn(ThemeColor) -> Color) -> Self {
        Self { name: name.into(), appearance, colors: ThemeColor::ALL.iter().map(|of| color(*of)).collect() }
    }

    /// The terminal's own colours for everything.
    #[must_use]
    pub fn plain() -> Self {
        Self::new("plain", Appearance::Dark, |_| Color::Reset)
    }

    /// A colour.
    #[must_use]
    pub fn color(&self, of: ThemeColor) -> Color {
        self.colors[of as usize]
    }

    /// Text in a colour.
    #[must_use]
    pub fn fg(&self, of: ThemeColor) -> Style {
        Style::new().fg(self.color(of))
    }

    /// Ground in a colour.
    #[must_use]
    pub fn bg(&self, of: ThemeColor) -> Style {
        Style::new().bg(self.color(of))
    }

    /// Text in a colour on ground in another.
    #[must_use]
    pub fn on(&self, text: ThemeColor, ground: ThemeColor) -> Style {
        self.fg(text).bg(self.color(ground))
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
