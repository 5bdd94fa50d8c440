//! Words: what quotes and escapes mean, and where the shell would put something else in their place.

use super::{Unclear, grammar::Parser};

/// What a word becomes when the script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Exactly its text.
    Fixed,
    /// One or more words that begin with its text: names of files, the home folder.
    Glob,
    /// Anything, any number of words.
    Dynamic,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its text without quotes; of a word that is not fixed, what stands before the first expansion.
    pub text: String,
    /// What it becomes.
    pub shape: Shape,
    /// How it is written.
    pub source: String,
    /// A part of it is quoted, so it is no keyword.
    pub quoted: bool,
}

impl Word {
    /// A word with exactly this text.
    pub(super) fn of(text: &str) -> Self {
        Self { text: text.to_owned(), shape: Shape::Fixed, source: quote(text), quoted: false }
    }

    /// A word about which nothing is known.
    pub(super) fn unknown(source: &str) -> Self {
        Self { text: String::new(), shape: Shape::Dynamic, source: source.to_owned(), quoted: false }
    }

    /// The text when that is all there is to it.
    #[must_use]
    pub fn fixed(&self) -> Option<&str> {
        (self.shape == Shape::Fixed).then_some(self.text.as_str())
    }

    /// Whether it cannot become an option: it begins with something else than a dash, whatever comes then.
    #[must_use]
    pub fn is_operand(&self) -> bool {
        match self.shape {
            Shape::Fixed => !self.text.starts_with('-'),
            Shape::Glob => !self.text.is_empty() && !self.text.starts_with('-'),
            Shape::Dynamic => false,
        }
    }

    /// Whether it becomes one word, whatever its value is.
    pub(super) fn is_single(&self) -> bool {
        let inner = self.source.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        // `"$@"` becomes many.
        self.shape == Shape::Fixed || inner.is_some_and(|inner| !inner.contains(['"', '@']))
    }

    /// The word as it can be shown and, when it is fixed, written in a rule.
    #[must_use]
    pub fn shown(&self) -> String {
        self.fixed().map_or_else(|| self.source.clone(), quote)
    }

    /// The name that the word assigns to, where it is written as an assignment.
    pub(super) fn assigns(&self) -> Option<&str> {
        let (name, _) = self.source.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        is_name(name).then_some(name)
    }
}

/// Quotes a text, if it has to be, so that a shell and a rule read it as one word.
#[must_use]
pub fn quote(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_./:=@%+,-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Whether a text can be a variable's name.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A word while it is read.
pub(super) struct Building {
    text: String,
    shape: Shape,
    quoted: bool,
}

impl Building {
    fn new() -> Self {
        Self { text: String::new(), shape: Shape::Fixed, quoted: false }
    }

    fn push(&mut self, c: char) {
        if self.shape == Shape::Fixed {
            self.text.push(c);
        }
    }

    fn open(&mut self, shape: Shape) {
        if self.shape != Shape::Dynamic {
            self.shape = shape;
        }
    }
}

impl Parser {
    /// The next word; none when something else comes.
    pub(super) fn word(&mut self) -> Result<Option<Word>, Unclear> {
        let begin = self.scanner.place();
        let mut word = Building::new();
        let mut is_first = true;
        while let Some(c) = self.scanner.peek() {
            match c {
                '<' | '>' if self.scanner.looking_at("<(") || self.scanner.looking_at(">(") => {
                    self.scanner.next();
                    self.scanner.next();
                    self.substitution()?;
                    word.open(Shape::Dynamic);
                }
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => {
                    self.scanner.next();
                    word.quoted = true;
                    self.single_quoted(&mut word)?;
                }
                '"' => {
                    self.scanner.next();
                    word.quoted = true;
                    self.double_quoted(&mut word)?;
                }
                '\\' => {
                    self.scanner.next();
                    word.quoted = true;
                    match self.scanner.next_raw() {
                        Some(c) => word.push(c),
                        None => return Err(Unclear::new("it ends with a backslash")),
                    }
                }
                '$' => {
                    self.scanner.next();
                    self.dollar(&mut word, false)?;
                }
                '`' => {
                    self.scanner.next();
                    self.backticks(false)?;
                    word.open(Shape::Dynamic);
                }
                '[' if is_first => {
                    let name = if self.scanner.eat("[[") { "[[" } else { "[" };
                    if name == "[" {
                        self.scanner.next();
                    }
                    // `[` and `[[` alone are commands.
                    let alone = self.scanner.peek().is_none_or(|c| c.is_whitespace());
                    if alone { name.chars().for_each(|c| word.push(c)) } else { word.open(Shape::Glob) }
                }
                '*' | '?' | '[' => {
                    self.scanner.next();
                    word.open(Shape::Glob);
                }
                '~' if is_first || self.scanner.since(begin).ends_with(['=', ':']) => {
                    self.scanner.next();
                    word.open(Shape::Glob);
                }
                '{' if self.scanner.eat("{}") => "{}".chars().for_each(|c| word.push(c)),
                '{' => {
                    self.scanner.next();
                    let ends = self.scanner.peek().is_none_or(|c| matches!(c, ' ' | '\t' | '\n'));
                    if ends { word.push('{') } else { word.open(Shape::Dynamic) }
                }
                c => {
                    self.scanner.next();
                    word.push(c);
                }
            }
            is_first = false;
        }
        let source = self.scanner.since(begin);
        let Building { text, shape, quoted } = word;
        // `""` is a word, nothing is none.
        Ok((!source.is_empty()).then_some(Word { text, shape, source, quoted }))
    }

    fn single_quoted(&mut self, word: &mut Building) -> Result<(), Unclear> {
        loop {
            match self.scanner.next_raw() {
                Some('\'') => return Ok(()),
                Some(c) => word.push(c),
                None => return Err(Unclear::new("a single quote is not closed")),
            }
        }
    }

    pub(super) fn double_quoted(&mut self, word: &mut Building) -> Result<(), Unclear> {
        while let Some(c) = self.scanner.next() {
            match c {
                '"' => return Ok(()),
                '\\' => match self.scanner.next_raw() {
                    Some(c @ ('$' | '`' | '"' | '\\')) => word.push(c),
                    Some(c) => {
                        word.push('\\');
                        word.push(c);
                    }
                    None => break,
                },
                '$' => self.dollar(word, true)?,
                '`' => {
                    self.backticks(true)?;
                    word.open(Shape::Dynamic);
                }
                c => word.push(c),
            }
        }
        Err(Unclear::new("a double quote is not closed"))
    }

    /// What comes after a `$`.
    fn dollar(&mut self, word: &mut Building, in_quotes: bool) -> Result<(), Unclear> {
        match self.scanner.peek() {
            Some('(') if self.scanner.looking_at("((") => self.arithmetic()?,
            Some('(') => {
                self.scanner.next();
                self.substitution()?;
            }
            Some('{') => {
                self.scanner.next();
                self.braces(in_quotes)?;
            }
            Some('[') => return Err(Unclear::new("it uses $[…]")),
            Some('"') if !in_quotes => return Err(Unclear::new("it uses $\"…\"")),
            // Shells differ in where it ends.
            Some('\'') if !in_quotes => return Err(Unclear::new("it uses $'…'")),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self.scanner.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.scanner.next();
                }
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.scanner.next();
            }
            _ => {
                word.push('$');
                return Ok(());
            }
        }
        word.open(Shape::Dynamic);
        Ok(())
    }

    /// `$((…))` of numbers alone: names in it are evaluated, and their values may hold commands.
    fn arithmetic(&mut self) -> Result<(), Unclear> {
        self.scanner.eat("((");
        let mut open = 0_usize;
        while let Some(c) = self.scanner.next() {
            match c {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' if self.scanner.eat(")") => return Ok(()),
                c if c.is_ascii_digit() || " \t+-*/%<>&|^~!=?:,".contains(c) => {}
                _ => break,
            }
        }
        Err(Unclear::new("it uses arithmetic with more than numbers"))
    }

    /// A list up to the `)` that closes it.
    pub(super) fn substitution(&mut self) -> Result<(), Unclear> {
        self.deeper(Self::list_to_paren)
    }

    /// The script between backticks, where a backslash hides backslash, dollar and backtick.
    pub(super) fn backticks(&mut self, in_quotes: bool) -> Result<(), Unclear> {
        let mut inner = String::new();
        loop {
            match self.scanner.next() {
                Some('`') => break,
                Some('\\') => match self.scanner.next_raw() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    // Shells differ in what it means here.
                    Some('"') if in_quotes => return Err(Unclear::new("it escapes quotes inside of backticks")),
                    Some(c) => inner.extend(['\\', c]),
                    None => return Err(Unclear::new("a backtick is not closed")),
                },
                Some(c) => inner.push(c),
                None => return Err(Unclear::new("a backtick is not closed")),
            }
        }
        self.nested(&inner)
    }

    /// The expansions of an unquoted here-document.
    pub(super) fn here_document(&mut self) -> Result<(), Unclear> {
        let mut ignored = Building::new();
        while let Some(c) = self.scanner.next() {
            match c {
                '\\' => {
                    self.scanner.next_raw();
                }
                '$' => self.dollar(&mut ignored, true)?,
                '`' => self.backticks(true)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// A word's quoted part inside of braces; its text does not matter.
    pub(super) fn skip_double_quoted(&mut self) -> Result<(), Unclear> {
        self.double_quoted(&mut Building::new())
    }

    /// An expansion inside of braces; its text does not matter.
    pub(super) fn skip_dollar(&mut self, in_quotes: bool) -> Result<(), Unclear> {
        self.dollar(&mut Building::new(), in_quotes)
    }
}
