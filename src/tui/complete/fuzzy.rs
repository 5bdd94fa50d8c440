//! Which of many texts a query means, and how well it fits.
//!
//! A query fits a text when each of its words does: the characters of a word stand in the text in this order, whatever
//! is between them, in upper or lower case. A slash parts words as a blank does.

use nucleo_matcher::{
    Config, Matcher, Utf32Str,
    pattern::{Atom, AtomKind, CaseMatching, Normalization},
};

/// What a text gets for being the query and nothing else: more than any other match has.
const EXACT: u32 = 1 << 20;
/// What a match costs that needs the digits and letters of a word the other way round.
const SWAPPED: u32 = 20;

/// A text that a query fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// Which of the items.
    pub index: usize,
    /// How well it fits; more is better.
    pub score: u32,
}

/// The items that `query` fits, the best first; equals stay in their order, and so do all for an empty query.
pub fn rank<T>(query: &str, items: &[T], key: impl Fn(&T) -> &str) -> Vec<Ranked> {
    let mut query = Query::new(query);
    let score = |(index, item)| Some(Ranked { index, score: query.score(key(item))? });
    let mut ranked: Vec<Ranked> = items.iter().enumerate().filter_map(score).collect();
    ranked.sort_by_key(|ranked| std::cmp::Reverse(ranked.score));
    ranked
}

/// A query, ready to be compared with many texts.
pub struct Query {
    whole: String,
    words: Vec<Word>,
    matcher: Matcher,
    /// Characters of the text that is compared, where it is not ASCII.
    buffer: Vec<char>,
}

struct Word {
    atom: Atom,
    /// `52codex` for `codex52` and the other way round.
    swapped: Option<Atom>,
}

impl Query {
    /// A query.
    #[must_use]
    pub fn new(query: &str) -> Self {
        let words = query.split(|c: char| c.is_whitespace() || c == '/').filter(|word| !word.is_empty());
        let words = words.map(|word| Word { atom: atom(word), swapped: swapped(word).as_deref().map(atom) }).collect();
        let mut config = Config::DEFAULT.match_paths();
        config.prefer_prefix = true;
        Self { whole: query.trim().to_lowercase(), words, matcher: Matcher::new(config), buffer: Vec::new() }
    }

    /// Whether it fits everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How well it fits a text; none if it does not.
    pub fn score(&mut self, text: &str) -> Option<u32> {
        let haystack = Utf32Str::new(text, &mut self.buffer);
        let mut score: u32 = 0;
        for word in &self.words {
            score += match (word.atom.score(haystack, &mut self.matcher), &word.swapped) {
                (Some(score), _) => u32::from(score),
                (None, Some(swapped)) => u32::from(swapped.score(haystack, &mut self.matcher)?).saturating_sub(SWAPPED),
                (None, None) => return None,
            };
        }
        let is_exact = !self.is_empty() && text.len() == self.whole.len() && text.to_lowercase() == self.whole;
        Some(if is_exact { score + EXACT } else { score })
    }

    /// The offsets in bytes of the characters of a text that it fits, in order.
    pub fn positions(&mut self, text: &str) -> Vec<usize> {
        let haystack = Utf32Str::new(text, &mut self.buffer);
        let mut found = Vec::new();
        for word in &self.words {
            if word.atom.indices(haystack, &mut self.matcher, &mut found).is_none()
                && let Some(swapped) = &word.swapped
            {
                swapped.indices(haystack, &mut self.matcher, &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        // The matcher counts characters, or graphemes where they are more than one.
        offsets(text, haystack.len(), &found)
    }
}

/// The offsets of units of a text, of which it has `units`.
fn offsets(text: &str, units: usize, found: &[u32]) -> Vec<usize> {
    use unicode_segmentation::UnicodeSegmentation as _;
    let starts: Vec<usize> = match units == text.len() {
        true => (0..units).collect(),
        false => text.grapheme_indices(true).map(|(at, _)| at).collect(),
    };
    found.iter().filter_map(|unit| starts.get(*unit as usize).copied()).collect()
}

fn atom(word: &str) -> Atom {
    Atom::new(word, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy, false)
}

/// A word of letters and then digits, or digits and then letters, the other way round.
fn swapped(word: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let first_is_digit = word.starts_with(is_digit);
    let at = word.find(|c| is_digit(c) != first_is_digit)?;
    let (first, second) = word.split_at(at);
    let fits =
        |part: &str, digits: bool| part.chars().all(|c| if digits { is_digit(c) } else { c.is_ascii_alphabetic() });
    (fits(first, first_is_digit) && fits(second, !first_is_digit)).then(|| format!("{second}{first}"))
}
