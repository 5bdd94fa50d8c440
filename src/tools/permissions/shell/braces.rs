//! `${…}`: forms that only look at a variable. Those that evaluate its value, or an index, may run what is in it.

use super::{Unclear, grammar::Parser};

impl Parser {
    /// What stands between `${`, which has been read, and its `}`.
    pub(super) fn braces(&mut self, in_quotes: bool) -> Result<(), Unclear> {
        self.deeper(|parser| parser.brace_body(in_quotes))
    }

    fn brace_body(&mut self, in_quotes: bool) -> Result<(), Unclear> {
        let unusual = || Err(Unclear::new("it uses an unusual form of ${…}"));
        if self.scanner.looking_at("#") && !self.scanner.looking_at("#}") {
            self.scanner.next();
        }
        match self.scanner.next() {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self.scanner.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.scanner.next();
                }
            }
            Some(c) if c.is_ascii_digit() => {
                while self.scanner.peek().is_some_and(|c| c.is_ascii_digit()) {
                    self.scanner.next();
                }
            }
            Some('@' | '*' | '#' | '?' | '$' | '-') => {}
            // `${!name}` looks up the variable that the value names.
            _ => return unusual(),
        }
        match self.scanner.next() {
            Some('}') => Ok(()),
            Some(':') => match self.scanner.peek() {
                Some('-' | '+' | '?') => {
                    self.scanner.next();
                    self.brace_word(in_quotes)
                }
                _ => self.numbers_to_brace(),
            },
            Some('-' | '+' | '?' | '#' | '%' | '/' | '^' | ',') => self.brace_word(in_quotes),
            // `=` assigns, `[` evaluates an index, `@` may evaluate the value.
            _ => unusual(),
        }
    }

    /// `${name:1:2}`: numbers only, for names would be evaluated.
    fn numbers_to_brace(&mut self) -> Result<(), Unclear> {
        loop {
            match self.scanner.next() {
                Some('}') => return Ok(()),
                Some(c) if c.is_ascii_digit() || matches!(c, ' ' | ':' | '-') => {}
                _ => return Err(Unclear::new("it uses ${…:…} with more than numbers")),
            }
        }
    }

    fn brace_word(&mut self, in_quotes: bool) -> Result<(), Unclear> {
        while let Some(c) = self.scanner.next() {
            match c {
                '}' => return Ok(()),
                '\\' => {
                    self.scanner.next_raw();
                }
                '"' => self.skip_double_quoted()?,
                '$' => self.skip_dollar(in_quotes)?,
                '`' => self.backticks(in_quotes)?,
                // Quotes, braces and parentheses: shells differ in what they mean here.
                '\'' | '{' | '(' | ')' | '<' | '>' => break,
                _ => {}
            }
        }
        Err(Unclear::new("it uses an unusual form of ${…}"))
    }
}
