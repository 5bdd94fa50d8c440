//! Where words start and end.

use super::Text;

/// What a character is for the motion by words: a word is a run of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Blanks and newlines.
    Blank,
    /// Letters, digits and underscores of scripts that put blanks between words, and of those that cannot be parted
    /// without a dictionary.
    Word,
    /// Scripts of Japanese and Chinese: where one follows another, a word ends as a rule.
    Han,
    /// See there.
    Hiragana,
    /// See there.
    Katakana,
    /// All else.
    Symbol,
    /// The marker of a pasted block.
    Block,
}

/// The kind of the character that takes this place.
pub fn kind_of(text: &Text, at: usize, end: usize) -> Kind {
    if !text.blocks(&(at..end)).is_empty() {
        return Kind::Block;
    }
    match text.as_str()[at..end].chars().next() {
        Some(character) if character.is_whitespace() => Kind::Blank,
        Some('\u{3041}'..='\u{309f}') => Kind::Hiragana,
        Some('\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}') => Kind::Katakana,
        Some('\u{3005}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}') => Kind::Han,
        Some('\u{20000}'..='\u{3ffff}') => Kind::Han,
        Some(character) if character.is_alphanumeric() || character == '_' => Kind::Word,
        _ => Kind::Symbol,
    }
}

/// The start of the word before an offset. From the start of a line it is the end of the line before.
pub fn word_left(text: &Text, from: usize) -> usize {
    let start = text.line(text.line_of(from)).start;
    if from == start {
        return text.previous(from);
    }
    let mut at = from;
    let mut of = Kind::Blank;
    while at > start {
        let previous = text.previous(at);
        let kind = kind_of(text, previous, at);
        match of {
            Kind::Blank => of = kind,
            Kind::Block => break,
            _ if of != kind => break,
            _ => {}
        }
        at = previous;
    }
    at
}

/// The end of the word behind an offset. From the end of a line it is the start of the next.
pub fn word_right(text: &Text, from: usize) -> usize {
    let end = text.line(text.line_of(from)).end;
    if from == end {
        return text.next(from);
    }
    let mut at = from;
    let mut of = Kind::Blank;
    while at < end {
        let next = text.next(at);
        let kind = kind_of(text, at, next);
        match of {
            Kind::Blank => of = kind,
            Kind::Block => break,
            _ if of != kind => break,
            _ => {}
        }
        at = next;
    }
    at
}
