//! Patterns for commands: words, not text. `git status` is exactly these two words however they are quoted, `git log *`
//! takes any further ones, and within a word `*` stands for any characters.

use super::shell::{Command, Shape, Word};

/// How well a command fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It does not.
    No,
    /// It may: words of it are only known when it runs.
    Maybe,
    /// It does.
    Yes,
}

/// The words of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPattern {
    words: Vec<Glob>,
    /// Any further words may follow.
    open_end: bool,
}

/// A word in which `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Glob(Vec<Option<char>>);

impl CommandPattern {
    /// Reads a pattern. Quotes make a `*` an ordinary character.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut words = split(text)?;
        if words.is_empty() {
            return Err("there is no command between the parentheses".to_owned());
        }
        let open_end = words.last().is_some_and(|word| word.0 == [None]);
        if open_end {
            words.pop();
        }
        Ok(Self { words, open_end })
    }

    /// Whether the pattern covers the command beyond doubt: all of its words, those before it that set variables
    /// included. For rules that allow.
    #[must_use]
    pub fn covers(&self, command: &Command) -> bool {
        let words: Vec<&Word> = command.assignments.iter().chain(&command.words).collect();
        let Some(rest) = words.get(self.words.len()..) else { return false };
        let fits = |(glob, word): (&Glob, &&Word)| word.fixed().is_some_and(|text| glob.matches(text));
        // What a command runs is never left to an open end.
        let is_named = command.words.is_empty() || command.name().is_some();
        let sets = command.assignments.len();
        is_named
            && sets <= self.words.len()
            && (rest.is_empty() || self.open_end)
            && self.words.iter().zip(&words).all(fits)
    }

    /// Whether the command might be one that the pattern means, under whatever path and with whatever variables. For
    /// rules that deny or ask.
    #[must_use]
    pub fn touches(&self, command: &Command) -> Fit {
        let words: Vec<&Word> = command.assignments.iter().chain(&command.words).collect();
        let bare: Vec<&Word> = command.words.iter().collect();
        self.loose(&self.words, &words, true).max(self.loose(&self.words, &bare, true))
    }

    fn loose(&self, pattern: &[Glob], words: &[&Word], is_name: bool) -> Fit {
        let Some((word, rest)) = words.split_first() else {
            return if pattern.is_empty() { Fit::Yes } else { Fit::No };
        };
        if word.shape != Shape::Fixed {
            if pattern.is_empty() && self.open_end {
                return Fit::Yes;
            }
            // It may become any number of words.
            let may = (0..=pattern.len()).any(|taken| self.loose(&pattern[taken..], rest, false) != Fit::No);
            return if may { Fit::Maybe } else { Fit::No };
        }
        let Some((glob, after)) = pattern.split_first() else {
            return if self.open_end { Fit::Yes } else { self.vanish(words) };
        };
        let base = word.text.rsplit('/').next().unwrap_or_default();
        match glob.matches(&word.text) || (is_name && glob.matches(base)) {
            true => self.loose(after, rest, false),
            false => Fit::No,
        }
    }

    /// Words behind the end of the pattern: only those that may turn out to be nothing leave a chance.
    fn vanish(&self, words: &[&Word]) -> Fit {
        if words.iter().all(|word| word.shape == Shape::Dynamic) { Fit::Maybe } else { Fit::No }
    }
}

impl Glob {
    fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        // Positions of the pattern that the text up to here can have reached.
        let mut reached = vec![false; self.0.len() + 1];
        reached[0] = true;
        self.pass_stars(&mut reached);
        for c in text {
            let mut next = vec![false; self.0.len() + 1];
            for (at, piece) in self.0.iter().enumerate() {
                match piece {
                    None if reached[at] => next[at] = true,
                    Some(wanted) if reached[at] && *wanted == c => next[at + 1] = true,
                    _ => {}
                }
            }
            self.pass_stars(&mut next);
            reached = next;
        }
        reached.last().copied().unwrap_or_default()
    }

    fn pass_stars(&self, reached: &mut [bool]) {
        for (at, piece) in self.0.iter().enumerate() {
            if piece.is_none() && reached[at] {
                reached[at + 1] = true;
            }
        }
    }
}

/// Words with quotes and escapes as a shell knows them, and nothing else of it.
fn split(text: &str) -> Result<Vec<Glob>, String> {
    let mut words = Vec::new();
    let mut word: Option<Vec<Option<char>>> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take().map(Glob)),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => word.push(chars.next()),
                        Some(inner) => word.push(Some(inner)),
                        None => return Err("a quote is not closed".to_owned()),
                    }
                }
            }
            '\\' => match chars.next() {
                Some(c) => word.get_or_insert_default().push(Some(c)),
                None => return Err("it ends with a backslash".to_owned()),
            },
            '*' => word.get_or_insert_default().push(None),
            '$' | '`' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '\n' | '?' | '[' | '{' | '}' | '~' => {
                return Err(format!(
                    "`{c}` has no meaning in a rule: it names one command, and * is the only pattern; quote it to \
                                    mean the character"
                ));
            }
            c => word.get_or_insert_default().push(Some(c)),
        }
    }
    words.extend(word.map(Glob));
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::{
        super::shell::{Standing, parse},
        *,
    };

    fn command(text: &str) -> Command {
        parse(text).unwrap().commands.pop().unwrap()
    }

    #[test]
    fn words_are_compared_and_not_text() {
        // pattern, command, covers, touches
        let table = [
            ("git status", "git status", true, Fit::Yes),
            ("git status", "g'i't \"status\"", true, Fit::Yes),
            ("git status", "git statusx", false, Fit::No),
            ("git status", "git status -s", false, Fit::No),
            ("git status", "git -c core.pager=evil status", false, Fit::No),
            ("git status", "FOO=1 git status", false, Fit::Yes),
            ("FOO=* git status", "FOO=1 git status", true, Fit::Yes),
            ("git status", "/tmp/git status", false, Fit::Yes),
            ("git status", "git status $X", false, Fit::Maybe),
            ("git status *", "git status", true, Fit::Yes),
            ("git status *", "git status -s 'a b'", true, Fit::Yes),
            ("git status *", "git status $X", true, Fit::Yes),
            ("git status *", "git $X", false, Fit::Maybe),
            ("git *", "git", true, Fit::Yes),
            ("git * --stat", "git diff --stat", true, Fit::Yes),
            ("git * --stat", "git --stat", false, Fit::No),
            ("npm run test-*", "npm run test-unit", true, Fit::Yes),
            ("npm run test-*", "npm run lint", false, Fit::No),
            ("echo '*'", "echo '*'", true, Fit::Yes),
            ("echo '*'", "echo x", false, Fit::No),
            ("*", "anything at all", true, Fit::Yes),
            ("*", "$X y", false, Fit::Yes),
            ("rm *", "$X y", false, Fit::Maybe),
            ("*", "PATH=/x ls", false, Fit::Yes),
            ("rm -rf *", "rm $X", false, Fit::Maybe),
            ("rm -rf /", "rm -rf $X /", false, Fit::Maybe),
        ];
        for (pattern, text, covers, touches) in table {
            let (pattern, command) = (CommandPattern::parse(pattern).unwrap(), command(text));
            assert_eq!((pattern.covers(&command), pattern.touches(&command)), (covers, touches), "{pattern:?} {text}");
        }
    }

    #[test]
    fn a_shown_command_is_a_pattern_for_itself() {
        for text in ["git commit -m 'it'\\''s a *'", "printf '%s\\n' \"a b\"", "A=1 b ''", "ls é ü"] {
            let command = command(text);
            assert!(CommandPattern::parse(&command.text()).unwrap().covers(&command), "{}", command.text());
        }
        assert_eq!(command("true").standing, Standing::Free);
    }

    #[test]
    fn a_pattern_is_one_plain_command() {
        for text in ["", "a; b", "a $X", "a | b", "'a", "a\\", "a > b"] {
            assert!(CommandPattern::parse(text).is_err(), "{text}");
        }
    }
}
