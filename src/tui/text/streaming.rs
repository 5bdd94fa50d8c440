//! Markdown that is still being written.

use super::{
    StyledLine,
    markdown::{MarkdownOptions, markdown},
};
use crate::{resources::markup::Document, tui::theme::Theme};

/// A message that grows, and its rows.
#[derive(Debug, Default)]
pub struct StreamingMarkdown {
    text: String,
    rows: Vec<StyledLine>,
    /// For what the rows were made; none when the text is newer.
    made_for: Option<(usize, Theme, MarkdownOptions)>,
}

impl StreamingMarkdown {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds to the text.
    pub fn append(&mut self, delta: &str) {
        self.text.push_str(delta);
        self.made_for = None;
    }

    /// The text so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Says that the text is complete. The rows are then those of [`markdown`] for the whole text.
    pub fn finish(&mut self) {}

    /// The rows of at most `width` columns.
    pub fn lines(&mut self, width: usize, theme: &Theme, options: &MarkdownOptions) -> &[StyledLine] {
        let is_made = self.made_for.as_ref().is_some_and(|(w, t, o)| (*w, t, o) == (width, theme, options));
        if !is_made {
            self.rows = markdown(&Document::parse(&self.text), width, theme, options);
            self.made_for = Some((width, theme.clone(), options.clone()));
        }
        &self.rows
    }
}
