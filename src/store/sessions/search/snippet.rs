//! Looking for a query in the texts of an entry, and the piece of text to show.

use std::ops::Range;

use super::walk::Listener;
use crate::store::sessions::query::Query;

/// So much text is looked through at once.
const WINDOW: usize = 64 << 10;
/// So much of it is looked through again with what follows: longer than any word.
const OVERLAP: usize = 4 << 10;
/// Characters in front of the word, and from its beginning on.
const BEFORE: usize = 40;
const FROM: usize = 120;

/// A piece of text around a word, on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The text; `…` at an end says that there is more.
    pub text: String,
    /// Where words of the query stand in it, in bytes and in order.
    pub words: Vec<Range<usize>>,
}

/// Looks for a query in what it hears.
pub struct Finder<'q> {
    query: &'q Query,
    /// The words that were found.
    found: Vec<bool>,
    /// The piece around the first of them.
    snippet: Option<Snippet>,
    window: Vec<u8>,
    /// The window begins inside a text.
    is_cut: bool,
}

impl<'q> Finder<'q> {
    /// One that heard nothing yet.
    pub fn new(query: &'q Query) -> Self {
        let found = vec![false; query.terms().len()];
        Self { query, found, snippet: None, window: Vec::new(), is_cut: false }
    }

    /// Forgets what it heard, and says whether all words were in it: the piece to show.
    pub fn take(&mut self) -> Option<Snippet> {
        let all = self.found.iter().all(|found| *found);
        self.found.fill(false);
        self.window.clear();
        self.is_cut = false;
        self.snippet.take().filter(|_| all)
    }

    fn look(&mut self, goes_on: bool) {
        for (term, found) in self.query.terms().iter().zip(&mut self.found).filter(|(_, found)| !**found) {
            let Some(place) = term.find(&self.window) else { continue };
            *found = true;
            if self.snippet.is_none() {
                self.snippet = Some(snippet(self.query, &self.window, place, self.is_cut, goes_on));
            }
        }
    }
}

impl Listener for Finder<'_> {
    fn text(&mut self, part: &[u8]) {
        if self.found.iter().all(|found| *found) {
            return;
        }
        for part in part.chunks(WINDOW) {
            self.window.extend_from_slice(part);
            if self.window.len() >= WINDOW {
                self.look(true);
                self.window.drain(..self.window.len() - OVERLAP);
                self.is_cut = true;
            }
        }
    }

    fn text_end(&mut self) {
        self.look(false);
        self.window.clear();
        self.is_cut = false;
    }
}

/// The piece of `window` around `place`.
fn snippet(query: &Query, window: &[u8], place: Range<usize>, was_cut: bool, goes_on: bool) -> Snippet {
    /// A character has at most so many bytes.
    const LONGEST: usize = 4;
    let near = place.start.saturating_sub(LONGEST * BEFORE)..window.len().min(place.start + LONGEST * FROM);
    let before = String::from_utf8_lossy(&window[near.start..place.start]);
    let from = String::from_utf8_lossy(&window[place.start..near.end]);
    let skipped = before.chars().count().saturating_sub(BEFORE);
    let begins = near.start == 0 && skipped == 0 && !was_cut;
    let ends = near.end == window.len() && from.chars().count() <= FROM && !goes_on;
    let piece: String = before.chars().skip(skipped).chain(from.chars().take(FROM)).collect();
    let line = piece.split_whitespace().collect::<Vec<_>>().join(" ");
    let mark = |missing: bool| if missing { "…" } else { "" };
    let text = format!("{}{line}{}", mark(!begins), mark(!ends));
    let mut words = Vec::new();
    for term in query.terms() {
        let mut at = 0;
        while let Some(found) = term.find(&text.as_bytes()[at..]).filter(|found| !found.is_empty()) {
            words.push(at + found.start..at + found.end);
            at += found.end;
        }
    }
    words.sort_by_key(|word| (word.start, word.end));
    Snippet { text, words }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, texts: &[&str]) -> Option<Snippet> {
        let query = Query::parse(query).unwrap();
        let mut finder = Finder::new(&query);
        for text in texts {
            text.as_bytes().chunks(1000).for_each(|part| finder.text(part));
            finder.text_end();
        }
        finder.take()
    }

    #[test]
    fn all_words_must_be_in_the_entry_in_whichever_text() {
        assert_eq!(found("one two", &["one", "two"]).unwrap().text, "one");
        assert_eq!(found("one two", &["one", "three"]), None);
        assert_eq!(found("onetwo", &["one", "two"]), None, "texts are not joined");
    }

    #[test]
    fn a_piece_of_text_is_shown_on_one_line_with_its_words() {
        let snippet = found("needle", &["a\n\n  Needle   in\ta needle case"]).unwrap();
        assert_eq!(snippet.text, "a Needle in a needle case");
        assert_eq!(snippet.words, [2..8, 14..20]);
        let long = format!("{} needle {}", "é".repeat(500), "ü".repeat(500));
        let snippet = found("needle", &[&long]).unwrap();
        assert_eq!(snippet.text, format!("…{} needle {}…", "é".repeat(39), "ü".repeat(113)));
    }

    #[test]
    fn words_are_found_at_every_place_of_a_long_text() {
        for place in (0..150_000).step_by(9973).chain([WINDOW - 3, WINDOW, 2 * WINDOW - OVERLAP - 3]) {
            let text = format!("{}needle{}", "x".repeat(place), "y".repeat(200_000 - place));
            let snippet = found("needle", &[&text]);
            assert!(snippet.is_some_and(|snippet| snippet.text.contains("needle")), "at {place}");
        }
    }
}
