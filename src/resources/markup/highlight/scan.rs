//! The scanner: one line at a time.

use super::{
    Token,
    diff::{DiffLine, kind_of},
    languages::{Flavour, Language},
};

/// Lines that are longer are not taken apart: they are data, or minified.
const LONGEST_LINE: usize = 5_000;

/// What began on an earlier line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Inside {
    /// Nothing.
    Code,
    /// A comment that ends with this.
    Comment(&'static str),
    /// A text that ends with this; a backslash takes the next character's meaning, or does not.
    Text(String, bool),
    /// A tag.
    Tag,
}

/// Takes the lines of a text apart, in order.
#[derive(Clone, Debug)]
pub struct Highlighter {
    language: &'static Language,
    inside: Inside,
}

/// A line that is being taken apart.
struct Line<'t> {
    text: &'t str,
    at: usize,
    pieces: Vec<(Option<Token>, &'t str)>,
}

impl<'t> Line<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Adds the next `length` bytes; what has no token joins what had none before it.
    fn take(&mut self, token: Option<Token>, length: usize) {
        let piece = &self.text[self.at..self.at + length];
        self.at += length;
        if piece.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some((before, text)) if *before == token => {
                let start = self.at - length - text.len();
                *text = &self.text[start..self.at];
            }
            _ => self.pieces.push((token, piece)),
        }
    }
}

impl Highlighter {
    /// One for a text in `language`.
    #[must_use]
    pub fn new(language: &'static Language) -> Self {
        Self { language, inside: Inside::Code }
    }

    /// The pieces of the next line (with or without its end) and what each is. Together they are the line.
    pub fn line<'t>(&mut self, text: &'t str) -> Vec<(Option<Token>, &'t str)> {
        if self.language.flavour == Flavour::Diff {
            let token = match kind_of(text) {
                DiffLine::Added => Some(Token::String),
                DiffLine::Removed => Some(Token::Keyword),
                DiffLine::Header => Some(Token::Type),
                DiffLine::Context => None,
            };
            return vec![(token, text)];
        }
        if text.len() > LONGEST_LINE {
            return vec![(None, text)];
        }
        let mut line = Line { text, at: 0, pieces: Vec::new() };
        while line.at < text.len() {
            match self.inside.clone() {
                Inside::Comment(end) => self.go_on(&mut line, Token::Comment, end, false),
                Inside::Text(end, escapes) => self.go_on(&mut line, Token::String, &end, escapes),
                Inside::Code | Inside::Tag => self.next(&mut line),
            }
        }
        line.pieces
    }

    /// The rest of a comment or a text that ends with `end`, or all of the line.
    fn go_on(&mut self, line: &mut Line<'_>, token: Token, end: &str, escapes: bool) {
        let length = closed(line.rest(), end, escapes);
        if length.is_some() {
            self.inside = Inside::Code;
        }
        line.take(Some(token), length.unwrap_or(line.rest().len()));
    }

    /// The next piece of code.
    fn next(&mut self, line: &mut Line<'_>) {
        let rest = line.rest();
        let Some(first) = rest.chars().next() else { return };
        if self.comment(line) || self.quoted(line) {
            return;
        }
        if first.is_whitespace() {
            let length = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
            return line.take(None, length);
        }
        if self.language.flavour == Flavour::Tags {
            return self.tag(line, first);
        }
        if first.is_ascii_digit() {
            let length =
                rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
            return line.take(Some(Token::Number), length);
        }
        let begins = match self.language.flavour {
            Flavour::Style => first == '-',
            Flavour::Shell => matches!(first, '.' | '/' | '~' | '-'),
            _ => false,
        };
        if begins || is_word_start(first) {
            return self.word(line);
        }
        match first {
            '$' if self.language.flavour == Flavour::Shell => line.take(Some(Token::Variable), variable(rest)),
            '@' | '#' | '!' | '.' if self.marked(line, first) => {}
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | ':' | '.' => line.take(Some(Token::Punctuation), 1),
            c if c.is_ascii_punctuation() => line.take(Some(Token::Operator), 1),
            c => line.take(None, c.len_utf8()),
        }
    }

    fn comment(&mut self, line: &mut Line<'_>) -> bool {
        let rest = line.rest();
        if let Some((open, close)) = self.language.block_comments.iter().find(|(open, _)| rest.starts_with(open)) {
            let length = closed(&rest[open.len()..], close, false).map(|length| open.len() + length);
            if length.is_none() {
                self.inside = Inside::Comment(close);
            }
            line.take(Some(Token::Comment), length.unwrap_or(rest.len()));
            return true;
        }
        let begins_word = line.text[..line.at].chars().next_back().is_none_or(char::is_whitespace);
        let commented = self.language.line_comments.iter().any(|mark| rest.starts_with(mark));
        // In a shell, and where keys are, a `#` or `;` inside a word is a part of it.
        let by_word = matches!(self.language.flavour, Flavour::Shell | Flavour::Keys);
        if !commented || (by_word && !begins_word) {
            return false;
        }
        line.take(Some(Token::Comment), rest.len());
        true
    }

    fn quoted(&mut self, line: &mut Line<'_>) -> bool {
        let rest = line.rest();
        if self.language.flavour == Flavour::Tags && self.inside != Inside::Tag {
            return false;
        }
        if self.language.lifetimes
            && let Some(length) = raw_start(rest)
        {
            let close = format!("\"{}", "#".repeat(length - 2));
            return self.text(line, length, close, false, true);
        }
        if self.language.lifetimes && rest.starts_with('\'') {
            let (token, length) = character(rest);
            line.take(Some(token), length);
            return true;
        }
        let Some(quote) = self.language.quotes.iter().find(|quote| rest.starts_with(quote.open)) else { return false };
        self.text(line, quote.open.len(), quote.close.to_owned(), quote.escapes, quote.lines)
    }

    /// A text whose beginning has `open` bytes.
    fn text(&mut self, line: &mut Line<'_>, open: usize, close: String, escapes: bool, lines: bool) -> bool {
        let rest = line.rest();
        let length = closed(&rest[open..], &close, escapes).map(|length| open + length);
        let token = match length {
            // A key of an object.
            Some(end) if self.language.flavour == Flavour::Keys && is_key(&rest[end..]) => Token::Variable,
            _ => Token::String,
        };
        if length.is_none() && lines {
            self.inside = Inside::Text(close, escapes);
        }
        line.take(Some(token), length.unwrap_or(rest.len()));
        true
    }

    fn tag(&mut self, line: &mut Line<'_>, first: char) {
        let rest = line.rest();
        match (first, &self.inside) {
            ('<', _) => {
                self.inside = Inside::Tag;
                let name = rest[1..].find(|c: char| !(c.is_alphanumeric() || "/!?-_:.".contains(c)));
                line.take(Some(Token::Type), 1 + name.unwrap_or(rest.len() - 1));
            }
            ('>', _) | ('/', Inside::Tag) => {
                if first == '>' {
                    self.inside = Inside::Code;
                }
                line.take(Some(Token::Type), 1);
            }
            (_, Inside::Tag) => {
                let length = rest.find(|c: char| c.is_whitespace() || "=>/\"'".contains(c)).unwrap_or(rest.len());
                let token = if length == 0 { Token::Operator } else { Token::Variable };
                line.take(Some(token), length.max(first.len_utf8()));
            }
            _ => line.take(None, rest.find('<').unwrap_or(rest.len()).max(first.len_utf8())),
        }
    }

    fn word(&mut self, line: &mut Line<'_>) {
        let rest = line.rest();
        let more = match self.language.flavour {
            Flavour::Keys | Flavour::Style => "-",
            // A path or an option is one word.
            Flavour::Shell => "-./~+:@%,",
            _ => "",
        };
        let length = rest.find(|c: char| !(is_word(c) || more.contains(c))).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let language = self.language;
        let token = match language.flavour {
            Flavour::Keys if is_key(after) => Some(Token::Variable),
            Flavour::Style if after.trim_start().starts_with(':') => Some(Token::Variable),
            _ if language.has(language.keywords, word) => Some(Token::Keyword),
            _ if language.has(language.values, word) => Some(Token::Number),
            _ if language.has(language.types, word) => Some(Token::Type),
            Flavour::Code if after.starts_with('(') || after.starts_with("!(") || after.starts_with("![") => {
                Some(Token::Function)
            }
            Flavour::Shell if begins_command(&line.text[..line.at]) => Some(Token::Function),
            _ if language.capital_types && word.starts_with(char::is_uppercase) => Some(Token::Type),
            _ => None,
        };
        line.take(token, length);
    }

    /// A word behind a sign that belongs to it (`#include`, `@media`, `.PHONY`, `!important`), or a decorator.
    fn marked(&self, line: &mut Line<'_>, sign: char) -> bool {
        let rest = line.rest();
        let length = 1 + rest[1..].find(|c: char| !(is_word(c) || c == '-')).unwrap_or(rest.len() - 1);
        let word = &rest[..length];
        let token = if self.language.has(self.language.keywords, word) {
            Token::Keyword
        } else if self.language.flavour == Flavour::Style && length > 1 && matches!(sign, '#' | '.') {
            Token::Type
        } else if sign == '@' && length > 1 && self.language.flavour == Flavour::Code {
            Token::Function
        } else {
            return false;
        };
        line.take(Some(token), length);
        true
    }
}

/// Bytes up to and including `end`; none when it does not come.
fn closed(text: &str, end: &str, escapes: bool) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if text[at..].starts_with(end) {
            return Some(at + end.len());
        } else {
            escaped = escapes && character == '\\';
        }
    }
    None
}

/// The length of a raw text's beginning: `r"`, `r#"`, `br##"`, with as many bytes as the end has and one more.
fn raw_start(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('r')?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    body[hashes..].starts_with('"').then_some(hashes + 2)
}

/// What begins with `'`: a character or a lifetime.
fn character(rest: &str) -> (Token, usize) {
    let mut characters = rest.char_indices().skip(1);
    let first = characters.next().map(|(_, c)| c);
    let second = characters.next();
    match (first, second) {
        (Some('\\'), _) => match closed(&rest[1..], "'", true) {
            Some(length) => (Token::String, 1 + length),
            None => (Token::String, rest.len()),
        },
        (Some(_), Some((at, '\''))) => (Token::String, at + 1),
        _ => {
            let name = rest[1..].find(|c: char| !is_word(c)).unwrap_or(rest.len() - 1);
            (Token::Type, 1 + name)
        }
    }
}

/// The length of `$name`, `${…}`, `$1`, `$?`; of a lone `$`, one.
fn variable(rest: &str) -> usize {
    match rest[1..].chars().next() {
        Some('{') => rest.find('}').map_or(rest.len(), |end| end + 1),
        Some(c) if is_word(c) => 1 + rest[1..].find(|c: char| !is_word(c)).unwrap_or(rest.len() - 1),
        Some(c) if "?!#@*$-".contains(c) => 2,
        _ => 1,
    }
}

/// Whether what follows says that the word before it is a key.
fn is_key(after: &str) -> bool {
    let after = after.trim_start_matches([' ', '\t']);
    after.starts_with('=') || (after.starts_with(':') && !after.starts_with("://"))
}

/// Whether the word that follows is the first of a command.
fn begins_command(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['|', ';', '&', '(', '`', '{']) || before.ends_with("$ ")
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
