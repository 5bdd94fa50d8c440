//! A line of styled text.

use std::{borrow::Cow, sync::Arc};

use ratatui::style::Style;

use super::width_of;
use crate::tui::picture::PictureRow;

/// A line that is to be drawn: no newline, tab or control character is in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StyledLine {
    /// Its pieces.
    pub spans: Vec<StyledSpan>,
    /// What the whole row looks like, from its first to its last column.
    pub fill: Option<Style>,
}

/// A piece of a line in one style.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StyledSpan {
    /// The text.
    pub text: Cow<'static, str>,
    /// What it looks like.
    pub style: Style,
    /// Where it leads.
    pub link: Option<Arc<str>>,
    /// The row of a picture that shows over it: its text is as many blanks.
    pub picture: Option<Box<PictureRow>>,
}

impl StyledSpan {
    /// Text in a style.
    pub fn new(text: impl Into<Cow<'static, str>>, style: Style) -> Self {
        Self { text: text.into(), style, link: None, picture: None }
    }
}

impl StyledLine {
    /// A line of one piece.
    pub fn of(text: impl Into<Cow<'static, str>>, style: Style) -> Self {
        Self { spans: vec![StyledSpan::new(text, style)], fill: None }
    }

    /// A line of pieces.
    #[must_use]
    pub fn from_spans(spans: Vec<StyledSpan>) -> Self {
        Self { spans, fill: None }
    }

    /// The same on this ground.
    #[must_use]
    pub fn filled(mut self, fill: Style) -> Self {
        self.fill = Some(fill);
        self
    }

    /// Adds a piece.
    pub fn push(&mut self, text: impl Into<Cow<'static, str>>, style: Style) {
        self.spans.push(StyledSpan::new(text, style));
    }

    /// Columns that it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| width_of(&span.text)).sum()
    }

    /// Its text without styles.
    #[must_use]
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| &*span.text).collect()
    }
}
