//! The tokens of source code: enough to colour it, not to compile it.
//!
//! One small scanner for all languages, and a table that says what comments, texts and words look like in each. It is
//! linear in the text, needs no start, and carries from line to line what a comment or a text of several lines needs.
//! A grammar for each language would be right in more corners, but the known libraries of grammars are an eighth of
//! this program's size.
//!
//! | module | what |
//! |---|---|
//! | [`languages`] | the table |
//! | [`mod@scan`] | the scanner |
//! | [`diff`] | the lines of a difference |

pub mod diff;
pub mod languages;
mod scan;

#[cfg(test)]
mod tests;

pub use languages::Language;
pub use scan::Highlighter;

/// What a piece of code is. The names are those of the colours in themes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Token {
    /// A comment.
    Comment,
    /// A word of the language.
    Keyword,
    /// A name that is called or defined as a function.
    Function,
    /// A variable, a field, a key.
    Variable,
    /// A text, a character, a pattern.
    String,
    /// A number, or a word that is a value.
    Number,
    /// A type, a tag.
    Type,
    /// An operator.
    Operator,
    /// Brackets and separators.
    Punctuation,
}
