//! What the text before the caret asks for.

use std::ops::Range;

/// A part of the caret's line that can be completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// What it is.
    pub kind: TriggerKind,
    /// What was typed of it: without slash, `@` or opening quote.
    pub query: String,
    /// Where it is in the line, all of it: to the caret, or to the quote behind it that closes it.
    pub range: Range<usize>,
}

/// What can be completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    /// The name of a slash command.
    Command,
    /// The argument of a slash command: all that follows the first blank.
    Argument {
        /// The command's name, without slash.
        command: String,
    },
    /// A file or folder behind an `@`.
    File {
        /// It was begun with a quote.
        quoted: bool,
    },
    /// A path.
    Path {
        /// It was begun with a quote.
        quoted: bool,
    },
}

/// What can be completed while `line` is typed and the caret is at `caret`. `is_first`: it is the first of the text,
/// where commands are.
#[must_use]
pub fn trigger(line: &str, caret: usize, is_first: bool) -> Option<Trigger> {
    let typed = line.get(..caret)?;
    if let Some(file) = file(typed) {
        let quoted = file.kind == TriggerKind::File { quoted: true };
        return Some(Trigger { range: file.range.start..end(line, caret, quoted), ..file });
    }
    let command = typed.strip_prefix('/').filter(|_| is_first)?;
    Some(match command.split_once(char::is_whitespace) {
        None => Trigger { kind: TriggerKind::Command, query: command.to_owned(), range: 0..caret },
        Some((name, argument)) => {
            let query = argument.trim_start();
            let kind = TriggerKind::Argument { command: name.to_owned() };
            Trigger { kind, query: query.to_owned(), range: caret - query.len()..caret }
        }
    })
}

/// The path that ends at the caret, for a completion that was asked for. It may be empty.
#[must_use]
pub fn path_at(line: &str, caret: usize) -> Trigger {
    let typed = line.get(..caret).unwrap_or(line);
    let is_open = typed.matches('"').count() % 2 == 1;
    let (start, quoted) = match typed.rfind('"').filter(|_| is_open) {
        Some(quote) => (quote, true),
        None => (
            typed.rfind(|c: char| is_separator(c) || matches!(c, '"' | '\'' | '=')).map_or(0, |at| after(typed, at)),
            false,
        ),
    };
    let query = typed[start..].trim_start_matches(if quoted { "\"" } else { "" }).to_owned();
    Trigger { kind: TriggerKind::Path { quoted }, query, range: start..end(line, typed.len(), quoted) }
}

/// Where a token ends that was typed up to the caret.
fn end(line: &str, caret: usize, quoted: bool) -> usize {
    caret + usize::from(quoted && line[caret..].starts_with('"'))
}

/// The file behind the last `@` that may begin one.
fn file(typed: &str) -> Option<Trigger> {
    let marks = typed.rmatch_indices('@');
    marks.map(|(at, _)| at).filter(|at| may_begin(typed[..*at].chars().next_back())).find_map(|at| {
        let rest = &typed[at + 1..];
        let (query, quoted) = match rest.strip_prefix('"') {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let is_over = query.contains(|c: char| c == '"' || (!quoted && is_separator(c)));
        let kind = TriggerKind::File { quoted };
        (!is_over).then(|| Trigger { kind, query: query.to_owned(), range: at..typed.len() })
    })
}

/// Whether a token may begin behind this character.
fn may_begin(before: Option<char>) -> bool {
    before.is_none_or(|c| is_separator(c) || matches!(c, '"' | '\'' | '=' | '(' | '[' | '{' | '<' | '`'))
}

/// Whether a token ends here: blanks, and the punctuation of scripts that put no blanks between words.
pub(super) fn is_separator(character: char) -> bool {
    character.is_whitespace()
        || matches!(character, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}')
        || matches!(
            character,
            '！' | '（'
                | '）'
                | '，'
                | '．'
                | '：'
                | '；'
                | '？'
                | '［'
                | '］'
                | '｛'
                | '｝'
                | '“'
                | '”'
                | '‘'
                | '’'
        )
}

fn after(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(0, char::len_utf8)
}
