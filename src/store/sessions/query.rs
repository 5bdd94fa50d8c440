//! What somebody looks for.

use std::ops::Range;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// Characters that a query may have.
const LONGEST: usize = 1000;

/// Words that must all occur: `two words`, `"one phrase"`, or `re:` and a regular expression.
///
/// Capitals count when there is one in the query, as in ripgrep's smart case.
#[derive(Clone, Debug)]
pub struct Query {
    terms: Vec<Term>,
}

/// One of the things that must occur.
#[derive(Clone, Debug)]
pub struct Term {
    pattern: RegexMatcher,
    /// The same in JSON, where characters may be escaped. None for a regular expression: what it means there is not
    /// known.
    in_json: Option<RegexMatcher>,
    /// A word may be spread over a name: its characters, in lower case when capitals do not count.
    letters: Option<Vec<char>>,
    ignore_case: bool,
    length: usize,
}

/// A query that nothing can be looked for with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// No word.
    #[error("there is nothing to look for: give at least one word")]
    Empty,
    /// Too much.
    #[error("the query has more than {LONGEST} characters: leave out words")]
    TooLong,
    /// A regular expression that is none.
    #[error("the regular expression cannot be understood: {0}")]
    Regex(String),
}

impl Query {
    /// Reads a query as people type it.
    ///
    /// # Errors
    /// When it is empty, too long, or holds a bad regular expression.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let text = text.trim();
        if text.chars().count() > LONGEST {
            return Err(QueryError::TooLong);
        }
        let ignore_case = !text.chars().any(char::is_uppercase);
        let terms = match text.strip_prefix("re:") {
            Some("") => Vec::new(),
            // Capitals of a regular expression may be classes (`\S`): they ask for nothing.
            Some(regex) => vec![Term::regex(regex, !literals(regex).any(char::is_uppercase))?],
            None => words(text).into_iter().map(|word| Term::word(word, ignore_case)).collect::<Result<_, _>>()?,
        };
        if terms.is_empty() { Err(QueryError::Empty) } else { Ok(Self { terms }) }
    }

    /// What must occur.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// True when all of it occurs in `text`.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.terms.iter().all(|term| term.find(text.as_bytes()).is_some())
    }
}

impl Term {
    fn word(word: &str, ignore_case: bool) -> Result<Self, QueryError> {
        let text_form =
            |c: char| if c.is_whitespace() { r"\s".to_owned() } else { regex_syntax::escape(&c.to_string()) };
        let pattern = compiled(&word.chars().map(text_form).collect::<String>(), ignore_case)?;
        let in_json = compiled(&word.chars().map(|c| json_forms(c, ignore_case)).collect::<String>(), ignore_case)?;
        let cased = if ignore_case { word.to_lowercase() } else { word.to_owned() };
        let letters = cased.chars().filter(|c| !c.is_whitespace()).collect();
        Ok(Self { pattern, in_json: Some(in_json), letters: Some(letters), ignore_case, length: word.len() })
    }

    fn regex(regex: &str, ignore_case: bool) -> Result<Self, QueryError> {
        let pattern = compiled(regex, ignore_case)?;
        Ok(Self { pattern, in_json: None, letters: None, ignore_case, length: regex.len() })
    }

    /// Where it stands first in `text`.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Option<Range<usize>> {
        let found = self.pattern.find(text).ok()??;
        Some(found.start()..found.end())
    }

    /// Where it may stand in lines of JSON, from `at` on: nowhere else.
    #[must_use]
    pub(super) fn find_in_json(&self, lines: &[u8], at: usize) -> Option<usize> {
        match &self.in_json {
            Some(pattern) => Some(pattern.find_at(lines, at).ok()??.start()),
            None => (at < lines.len()).then_some(at),
        }
    }

    /// Bytes of its text: a longer word occurs more seldom.
    #[must_use]
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// True when its characters occur in `text` in this order, whatever stands between them.
    #[must_use]
    pub fn is_spread_over(&self, text: &str) -> bool {
        let Some(letters) = &self.letters else { return false };
        let cased = if self.ignore_case { text.to_lowercase() } else { text.to_owned() };
        let mut wanted = letters.iter().peekable();
        for c in cased.chars() {
            wanted.next_if(|wanted| **wanted == c);
        }
        wanted.peek().is_none()
    }
}

fn compiled(pattern: &str, ignore_case: bool) -> Result<RegexMatcher, QueryError> {
    let mut builder = RegexMatcherBuilder::new();
    // The last two lines of an error name the fault; those before them point at it with blanks and arrows.
    let fault = |error: grep_regex::Error| error.to_string().lines().last().unwrap_or_default().trim().to_owned();
    builder.case_insensitive(ignore_case).build(pattern).map_err(|error| QueryError::Regex(fault(error)))
}

/// The characters of a regular expression that stand for themselves.
fn literals(regex: &str) -> impl Iterator<Item = char> + '_ {
    let mut escaped = false;
    regex.chars().filter(move |c| {
        let literal = !escaped && *c != '\\';
        escaped = !escaped && *c == '\\';
        literal
    })
}

/// The words and phrases of a query. A quote begins a phrase in front of a word and ends it behind one; one that is not
/// closed reaches to the end. Inside a word it is a character like others.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let is_end = |at: &usize, text: &str| text[at + 1..].chars().next().is_none_or(char::is_whitespace);
        let (word, behind) = match rest.strip_prefix('"') {
            Some(phrase) => {
                let end = phrase.match_indices('"').map(|(at, _)| at).find(|at| is_end(at, phrase));
                (&phrase[..end.unwrap_or(phrase.len())], end.map_or("", |end| &phrase[end + 1..]))
            }
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word);
        rest = behind.trim_start();
    }
    words.retain(|word| !word.trim().is_empty());
    words
}

/// A pattern for the forms that `c` may have inside a string of JSON. Letters and digits of ASCII are never escaped
/// by any program that writes sessions; anything else may be.
fn json_forms(c: char, ignore_case: bool) -> String {
    if c.is_ascii_alphanumeric() {
        return c.to_string();
    }
    if c.is_whitespace() {
        // A line break in a text is a blank to those who look for a phrase.
        return r"(?:\s|\\[nrtf]|\\u(?i:[0-9a-f]{4}))".to_owned();
    }
    let mut forms = vec![regex_syntax::escape(&c.to_string())];
    match c {
        '"' => forms = vec![r#"\\""#.to_owned()],
        '\\' => forms = vec![r"\\\\".to_owned()],
        '/' => forms.push(r"\\/".to_owned()),
        _ => {}
    }
    let cases: Vec<char> =
        if ignore_case { c.to_lowercase().chain(c.to_uppercase()).chain([c]).collect() } else { vec![c] };
    for c in cases {
        let units: String = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!(r"\\u(?i:{unit:04x})")).collect();
        if !forms.contains(&units) {
            forms.push(units);
        }
    }
    format!("(?:{})", forms.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json_matches(query: &str, json: &str) -> bool {
        let query = Query::parse(query).unwrap();
        query.terms().iter().all(|term| term.find_in_json(json.as_bytes(), 0).is_some())
    }

    #[test]
    fn words_must_all_occur_and_capitals_count_when_there_are_some() {
        for (query, text, expected) in [
            ("race", "the Race is on", true),
            ("Race", "the race is on", false),
            ("Race", "the Race is on", true),
            ("on race", "the Race is on", true),
            ("race off", "the Race is on", false),
            ("\"race is\"", "the Race is on", true),
            ("\"is race\"", "the Race is on", false),
            ("\"race is", "the Race is on", true),
            ("\"race is\"", "the race\nis on", true),
            ("a.b", "axb", false),
            ("é", "CAFÉ", true),
            ("日本", "in 日本 there", true),
            ("re:r[a-z]ce", "the Race", true),
            (r"re:\Sace", "the Race", true),
            ("re:^Race", "the Race", false),
        ] {
            assert_eq!(Query::parse(query).unwrap().is_in(text), expected, "{query} in {text}");
        }
    }

    #[test]
    fn a_query_that_says_nothing_is_refused_in_words() {
        for (query, error) in [("", QueryError::Empty), (" \"\" ", QueryError::Empty), ("re:", QueryError::Empty)] {
            assert_eq!(Query::parse(query).unwrap_err(), error, "{query}");
        }
        assert_eq!(Query::parse(&"x".repeat(1001)).unwrap_err(), QueryError::TooLong);
        let error = Query::parse("re:(").unwrap_err().to_string();
        assert!(error.contains("unclosed group"), "{error}");
    }

    #[test]
    fn words_are_found_in_every_form_that_json_may_give_them() {
        for (query, json, expected) in [
            ("café", r#""caf\u00e9""#, true),
            ("café", r#""CAF\u00C9""#, true),
            ("Café", r#""Caf\u00C9""#, false),
            ("日本", r#""\u65e5\u672C""#, true),
            ("😀", r#""\ud83d\uDE00""#, true),
            ("😀", "\"😀\"", true),
            (r#"say"hi""#, r#""say\"hi\"""#, true),
            (r#"say"hi""#, r#""say hi""#, false),
            ("a/b", r#""a\/b""#, true),
            (r"c:\dir", r#""C:\\dir""#, true),
            ("a<b", r#""a\u003cb""#, true),
            ("don't", r#""don\u0027t""#, true),
            ("race", r#""grace""#, true),
            ("\"race is\"", r#""race\nis""#, true),
            ("race", r#""gr\u0061ce""#, false),
        ] {
            assert_eq!(json_matches(query, json), expected, "{query} in {json}");
        }
    }

    #[test]
    fn a_word_may_be_spread_over_a_name() {
        let spread = |word: &str, name: &str| Query::parse(word).unwrap().terms()[0].is_spread_over(name);
        assert!(spread("fxlg", "Fix login"));
        assert!(!spread("fxgl", "Fix login") && !spread("re:f", "Fix login"));
        assert!(spread("Fxlg", "Fix login") && !spread("fxLg", "Fix login"), "capitals count when there are some");
    }
}
