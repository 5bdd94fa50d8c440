//! Long lines become several.
//!
//! [`wrap`] breaks between words, as prose wants it; [`fold`] breaks wherever the row ends and drops nothing, as code
//! and output want it. No line that they give is wider than it may be, at any width from 1.

use unicode_segmentation::UnicodeSegmentation as _;

use super::{
    StyledLine, StyledSpan,
    width::{grapheme_width, is_plain},
};

/// What stands for a wide character where there is only one column.
const TOO_WIDE: &str = "?";

/// What stands before the first row of a line, and before the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hang {
    /// Before the first row.
    pub first: Vec<StyledSpan>,
    /// Before the others.
    pub rest: Vec<StyledSpan>,
}

impl Hang {
    /// Nothing before the first row, and this many blanks before the others.
    #[must_use]
    pub fn indent(columns: usize) -> Self {
        Self { first: Vec::new(), rest: vec![blanks(columns)] }
    }
}

/// That many blanks.
pub(super) fn blanks(columns: usize) -> StyledSpan {
    StyledSpan { text: " ".repeat(columns).into(), ..StyledSpan::default() }
}

/// Breaks a line between words (and between ideographs) into rows of at most `width` columns. Blanks at a break are
/// dropped. A word that is longer than a row is broken between graphemes. What hangs before the rows is left out where
/// it would leave no more than half a row. An empty line gives one empty row.
#[must_use]
pub fn wrap(line: &StyledLine, width: usize, hang: &Hang) -> Vec<StyledLine> {
    let atoms = atoms(&line.spans);
    let mut rows = Rows::new(line, width, hang);
    let mut at = 0;
    while at < atoms.len() {
        let blank = atoms[at..].iter().take_while(|atom| atom.class == Class::Blank).count();
        let word = &atoms[at + blank..][..word_length(&atoms[at + blank..])];
        rows.word(&atoms[at..at + blank], word);
        at += blank + word.len();
    }
    rows.finish()
}

/// Breaks a line into rows of at most `width` columns wherever a row is full. Nothing is dropped.
#[must_use]
pub fn fold(line: &StyledLine, width: usize, hang: &Hang) -> Vec<StyledLine> {
    let mut rows = Rows::new(line, width, hang);
    for (span, StyledSpan { text, .. }) in line.spans.iter().enumerate() {
        rows.fill(Atom { span, start: 0, end: text.len(), width: 0, class: Class::Text });
    }
    rows.finish()
}

/// The line's beginning that fits into `width` columns; where something is left out, its last column is `…`.
#[must_use]
pub fn cut(line: &StyledLine, width: usize) -> StyledLine {
    if line.width() <= width {
        return line.clone();
    }
    let mut rest = width.saturating_sub(1);
    let mut spans = Vec::new();
    let mut style = line.spans.first().map(|span| span.style).unwrap_or_default();
    'spans: for span in &line.spans {
        style = span.style;
        let mut end = 0;
        for grapheme in span.text.graphemes(true) {
            let columns = grapheme_width(grapheme);
            if columns > rest {
                spans.push(piece(span, 0, end));
                break 'spans;
            }
            rest -= columns;
            end += grapheme.len();
        }
        spans.push(span.clone());
    }
    spans.retain(|span: &StyledSpan| !span.text.is_empty());
    if width > 0 {
        spans.push(StyledSpan::new("…", style));
    }
    StyledLine { spans, fill: line.fill }
}

/// How a piece of text may be broken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A break may come in its place.
    Blank,
    /// No break in it or beside other text.
    Text,
    /// A break may come before and after it.
    Alone,
    /// A break may come after it: a closing mark.
    Closing,
    /// A break may come before it: an opening mark.
    Opening,
}

/// A piece of a span.
#[derive(Clone, Copy)]
struct Atom {
    span: usize,
    start: usize,
    end: usize,
    width: usize,
    class: Class,
}

fn atoms(spans: &[StyledSpan]) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = Vec::new();
    for (span, StyledSpan { text, .. }) in spans.iter().enumerate() {
        let mut add = |start: usize, end: usize, width: usize, class: Class| match atoms.last_mut() {
            Some(last) if last.span == span && last.class == class && matches!(class, Class::Blank | Class::Text) => {
                last.end = end;
                last.width += width;
            }
            _ => atoms.push(Atom { span, start, end, width, class }),
        };
        if is_plain(text) {
            for (at, byte) in text.bytes().enumerate() {
                add(at, at + 1, 1, if byte == b' ' { Class::Blank } else { Class::Text });
            }
        } else {
            for (at, grapheme) in text.grapheme_indices(true) {
                let width = grapheme_width(grapheme);
                add(at, at + grapheme.len(), width, class_of(grapheme, width));
            }
        }
    }
    atoms
}

fn class_of(grapheme: &str, width: usize) -> Class {
    if matches!(grapheme, " " | "\u{3000}") {
        return Class::Blank;
    }
    let Some(first) = grapheme.chars().next() else { return Class::Text };
    match first {
        '、' | '。' | '，' | '．' | '）' | '」' | '』' | '】' | '〉' | '》' | '！' | '？' | '：' | '；' | 'ー'
        | '々' => Class::Closing,
        '（' | '「' | '『' | '【' | '〈' | '《' => Class::Opening,
        // Korean has words.
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}' => Class::Text,
        _ if width == 2 => Class::Alone,
        _ => Class::Text,
    }
}

/// How many of the atoms, none of which is a leading blank, stay together.
fn word_length(atoms: &[Atom]) -> usize {
    let together = |pair: &[Atom]| match (pair[0].class, pair[1].class) {
        (Class::Blank, _) | (_, Class::Blank) => false,
        (Class::Opening, _) | (_, Class::Closing) => true,
        (before, after) => before == Class::Text && after == Class::Text,
    };
    match atoms {
        [] => 0,
        _ => 1 + atoms.windows(2).take_while(|pair| together(pair)).count(),
    }
}

/// Rows in the making.
struct Rows<'l> {
    line: &'l StyledLine,
    width: usize,
    hang: &'l Hang,
    /// Columns before the first row, and before the others; none where they do not fit.
    hangs: [Option<usize>; 2],
    rows: Vec<StyledLine>,
    /// Pieces of the row: span, start and end.
    pieces: Vec<(usize, usize, usize)>,
    /// Columns of the row that are used.
    used: usize,
    /// Columns of the row for text.
    room: usize,
}

impl<'l> Rows<'l> {
    fn new(line: &'l StyledLine, width: usize, hang: &'l Hang) -> Self {
        let width = width.max(1);
        let columns = |spans: &[StyledSpan]| {
            let columns: usize = spans.iter().map(|span| super::width_of(&span.text)).sum();
            (columns * 2 <= width).then_some(columns)
        };
        let hangs = [columns(&hang.first), columns(&hang.rest)];
        let room = width - hangs[0].unwrap_or(0);
        Self { line, width, hang, hangs, rows: Vec::new(), pieces: Vec::new(), used: 0, room }
    }

    fn word(&mut self, blanks: &[Atom], word: &[Atom]) {
        let columns = |atoms: &[Atom]| atoms.iter().map(|atom| atom.width).sum::<usize>();
        let (before, wide) = (columns(blanks), columns(word));
        // Blanks at the beginning of a line are an indentation; at its end they go if they do not fit.
        if self.used + before + wide <= self.room {
            blanks.iter().chain(word).for_each(|atom| self.place(*atom));
            return;
        }
        if self.used > 0 {
            self.end_row();
        }
        let fits = wide <= self.room;
        word.iter().for_each(|atom| if fits { self.place(*atom) } else { self.fill(*atom) });
    }

    fn place(&mut self, atom: Atom) {
        self.used += atom.width;
        match self.pieces.last_mut() {
            Some((span, _, end)) if *span == atom.span && *end == atom.start => *end = atom.end,
            _ => self.pieces.push((atom.span, atom.start, atom.end)),
        }
    }

    /// Places as much as fits, and the rest in the rows after.
    fn fill(&mut self, atom: Atom) {
        let text = &self.line.spans[atom.span].text[atom.start..atom.end];
        if is_plain(text) {
            let mut start = atom.start;
            while start < atom.end {
                if self.used >= self.room {
                    self.end_row();
                }
                let columns = (self.room - self.used).min(atom.end - start);
                self.place(Atom { start, end: start + columns, width: columns, ..atom });
                start += columns;
            }
            return;
        }
        for (at, grapheme) in text.grapheme_indices(true) {
            let start = atom.start + at;
            let width = grapheme_width(grapheme);
            if self.used + width > self.room && self.used > 0 {
                self.end_row();
            }
            // A wide one in a row of one column is replaced when the row is made.
            self.place(Atom { start, end: start + grapheme.len(), width: width.min(self.room), ..atom });
        }
    }

    fn end_row(&mut self) {
        let which = usize::from(!self.rows.is_empty());
        let hang = [&self.hang.first, &self.hang.rest][which];
        let mut spans = if self.hangs[which].is_some() { hang.clone() } else { Vec::new() };
        for (span, start, end) in self.pieces.drain(..) {
            let mut piece = piece(&self.line.spans[span], start, end);
            if self.room == 1 && super::width_of(&piece.text) > 1 {
                piece.text = TOO_WIDE.into();
            }
            spans.push(piece);
        }
        self.rows.push(StyledLine { spans, fill: self.line.fill });
        self.used = 0;
        self.room = self.width - self.hangs[1].unwrap_or(0);
    }

    fn finish(mut self) -> Vec<StyledLine> {
        if !self.pieces.is_empty() || self.rows.is_empty() {
            self.end_row();
        }
        self.rows
    }
}

/// A part of a span.
fn piece(span: &StyledSpan, start: usize, end: usize) -> StyledSpan {
    use std::borrow::Cow;
    let text = match &span.text {
        text if (start, end) == (0, text.len()) => text.clone(),
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
        Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
    };
    StyledSpan { text, style: span.style, link: span.link.clone(), picture: None }
}

#[cfg(test)]
mod tests;
