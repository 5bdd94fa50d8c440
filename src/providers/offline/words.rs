//! Words, quoted texts and paths in what people write.

/// A piece of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The text, without punctuation around it.
    pub text: String,
    /// True when it stood in quotes or backticks.
    pub quoted: bool,
}

impl Word {
    /// The word in small letters, for comparison; a quoted one compares with nothing.
    pub fn plain(&self) -> String {
        if self.quoted { String::new() } else { self.text.to_lowercase() }
    }
}

/// Files that people name without an ending.
const BARE_FILES: [&str; 8] =
    ["LICENSE", "Makefile", "Dockerfile", "CHANGELOG", "CONTRIBUTING", "AUTHORS", "NOTICE", "Justfile"];
/// Words with a slash that are no paths.
const NO_PATHS: [&str; 5] = ["and/or", "either/or", "he/she", "yes/no", "i/o"];

/// The words of a text in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some((inside, after)) = quoted(first, rest) {
            words.push(Word { text: inside.to_owned(), quoted: true });
            rest = after.trim_start();
            continue;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (raw, after) = rest.split_at(end);
        let word = raw.trim_matches(|char: char| ",;:?!()\"'`“”‘’".contains(char));
        let word = word.strip_prefix('@').unwrap_or(word);
        let word = word.strip_suffix('.').filter(|word| !word.ends_with('.')).unwrap_or(word);
        if !word.is_empty() {
            words.push(Word { text: word.to_owned(), quoted: false });
        }
        rest = after.trim_start();
    }
    words
}

/// A quotation at the start of `text`. An apostrophe inside a word opens none, for it is not at a word's start.
fn quoted(first: char, text: &str) -> Option<(&str, &str)> {
    let closing = match first {
        '`' | '"' | '\'' => first,
        '“' => '”',
        '‘' => '’',
        _ => return None,
    };
    let (inside, after) = text[first.len_utf8()..].split_once(closing)?;
    let ends = after.chars().next().is_none_or(|next| !next.is_alphanumeric());
    (ends && !inside.trim().is_empty() && !inside.contains('\n')).then_some((inside, after))
}

/// The path that a word is, if it is one.
pub(super) fn as_path(word: &Word) -> Option<String> {
    let text = word.text.as_str();
    let lower = text.to_lowercase();
    if text.contains("://") || NO_PATHS.contains(&lower.as_str()) || text.contains('\n') {
        return None;
    }
    if lower == "readme" {
        return Some("README.md".to_owned());
    }
    let has_slash = text.contains('/');
    let is_path = BARE_FILES.contains(&text) || has_slash || text.starts_with('~') || has_ending(text);
    is_path.then(|| text.to_owned())
}

/// True when a path looks like a file's: its name has an ending, or files are often called so.
pub(super) fn is_file_like(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    BARE_FILES.contains(&name) || name.trim_matches('.').contains('.')
}

/// True for `name.ext`: the ending has letters, so that versions and numbers are none.
fn has_ending(text: &str) -> bool {
    let Some((stem, ending)) = text.rsplit_once('.') else { return false };
    let known_word = ["e.g", "i.e", "etc"].contains(&text.to_lowercase().as_str());
    !known_word
        && (1..=if stem.is_empty() { 16 } else { 8 }).contains(&ending.len())
        && ending.chars().all(|char| char.is_ascii_alphanumeric())
        && ending.chars().any(|char| char.is_ascii_alphabetic())
        && (!stem.is_empty() || ending.len() > 3)
        && !text.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_their_punctuation_and_quotations_stay_whole() {
        let found = words("What's in `my file.txt`, \"b c\" and src/main.rs? (see README.md.) don't 'x y'!");
        let texts: Vec<_> = found.iter().map(|word| (word.text.as_str(), word.quoted)).collect();
        let expected = [
            ("What's", false),
            ("in", false),
            ("my file.txt", true),
            ("b c", true),
            ("and", false),
            ("src/main.rs", false),
            ("see", false),
            ("README.md", false),
            ("don't", false),
            ("x y", true),
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn paths_are_told_from_words() {
        let path = |text: &str| as_path(&Word { text: text.into(), quoted: false });
        for text in
            ["src/main.rs", "README.md", "./x", "/etc/hosts", "Makefile", "a.b.toml", ".gitignore", "~/x", "src/", "/"]
        {
            assert_eq!(path(text).as_deref(), Some(text));
        }
        assert_eq!(path("readme").as_deref(), Some("README.md"));
        for text in ["and/or", "3.14", "v1.2", "e.g", "https://x.test/a.md", "main", "*.rs", ".rs", "files"] {
            assert_eq!(path(text), None, "{text}");
        }
    }
}
