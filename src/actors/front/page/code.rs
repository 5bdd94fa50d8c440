//! Source code, outputs and differences.

use super::{
    html::{self, details},
    numbers::{counted, size},
};
use crate::resources::markup::{
    Highlighter, Language, Token,
    highlight::diff::{DiffLine, kind_of},
};

/// Texts that are longer are shown without colours: the marks would be most of the page.
const HIGHLIGHTED_AT_MOST: usize = 256 << 10;
/// Outputs with more lines are closed until somebody opens them.
const OPEN_LINES: usize = 16;
/// Outputs with more bytes are, too.
const OPEN_BYTES: usize = 4 << 10;

/// Adds a block of code.
pub fn block(out: &mut String, text: &str, language: Option<&'static Language>) {
    out.push_str("<pre class=\"code\"><code>");
    inline(out, text, language);
    out.push_str("</code></pre>");
}

/// Adds code without a block around it.
pub fn inline(out: &mut String, text: &str, language: Option<&'static Language>) {
    let Some(language) = language.filter(|_| text.len() <= HIGHLIGHTED_AT_MOST) else { return html::text(out, text) };
    let mut highlighter = Highlighter::new(language);
    // Line ends of other systems would be pieces of their own.
    let text = text.replace("\r\n", "\n");
    for line in text.split_inclusive('\n') {
        for (token, piece) in highlighter.line(line) {
            match token.and_then(class) {
                Some(class) => {
                    out.push_str(&format!("<i class=\"{class}\">"));
                    html::text(out, piece);
                    out.push_str("</i>");
                }
                None => html::text(out, piece),
            }
        }
    }
}

/// The class of a token; brackets and separators look like text.
fn class(token: Token) -> Option<&'static str> {
    Some(match token {
        Token::Comment => "c",
        Token::Keyword => "k",
        Token::Function => "f",
        Token::Variable => "v",
        Token::String => "s",
        Token::Number => "n",
        Token::Type => "t",
        Token::Operator => "o",
        Token::Punctuation => return None,
    })
}

/// Adds text that opens at a click, with its size in the line that shows. Short texts are open when `open` allows.
pub fn folded(out: &mut String, name: &str, text: &str, language: Option<&'static Language>, open: bool) {
    let open = open && is_short(text);
    let summary = |out: &mut String| {
        html::text(out, name);
        html::element(out, "span", "size", &extent(text));
    };
    details(out, "fold", open, summary, |out| block(out, text, language));
}

/// How long a text is, for people.
pub fn extent(text: &str) -> String {
    format!("{}, {}", counted(text.lines().count(), "line"), size(text.len()))
}

/// Whether a text is so short that it need not be folded.
pub fn is_short(text: &str) -> bool {
    text.len() <= OPEN_BYTES && text.lines().count() <= OPEN_LINES
}

/// Adds the lines of a difference.
pub fn diff(out: &mut String, text: &str) {
    out.push_str("<pre class=\"diff\"><code>");
    for line in text.lines() {
        let class = match kind_of(line) {
            DiffLine::Added => "add",
            DiffLine::Removed => "del",
            DiffLine::Header => "hunk",
            DiffLine::Context => "same",
        };
        html::element(out, "span", class, line);
    }
    out.push_str("</code></pre>");
}

/// Adds a replacement as a difference: what goes, then what comes.
pub fn replacement(out: &mut String, old: &str, new: &str) {
    out.push_str("<pre class=\"diff\"><code>");
    for (class, sign, text) in [("del", '-', old), ("add", '+', new)] {
        for line in text.lines() {
            html::element(out, "span", class, &format!("{sign} {line}"));
        }
    }
    out.push_str("</code></pre>");
}
