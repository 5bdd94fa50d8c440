//! Lists, pipelines and compound commands.

use super::{
    Command, MAX_DEPTH, Script, Standing, Unclear, Word,
    redirect::HereDocument,
    scanner::Scanner,
    word::{Shape, is_name},
};

/// Reads a script and notes what it would run.
pub(super) struct Parser {
    pub(super) scanner: Scanner,
    pub(super) found: Script,
    /// Here-documents whose text begins with the next line.
    pub(super) pending: Vec<HereDocument>,
    /// The last redirection was `&>`: where it is unknown, a command ends there and the next one begins.
    pub(super) may_split: bool,
    depth: usize,
}

/// What ended a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Script,
    Paren,
    /// `;;` and its relatives.
    Clause,
    Keyword(&'static str),
}

/// Keywords that end a list.
const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "else", "elif", "esac", "}"];

/// Keywords whose commands follow rules of their own.
const BEYOND: [&str; 4] = ["[[", "select", "coproc", "]]"];

fn unexpected(found: Option<char>) -> Unclear {
    match found {
        Some(c) => Unclear::new(format!("there is an unexpected `{c}`")),
        None => Unclear::new("it ends too early"),
    }
}

impl Parser {
    pub fn new(text: &str, depth: usize) -> Self {
        Self { scanner: Scanner::new(text), found: Script::default(), pending: Vec::new(), may_split: false, depth }
    }

    /// The whole script.
    pub fn script(mut self) -> Result<Script, Unclear> {
        match self.deeper(Self::list)? {
            End::Script if self.pending.is_empty() => Ok(self.found),
            End::Script => Err(Unclear::new("a here-document has no text")),
            End::Paren => Err(unexpected(Some(')'))),
            End::Clause => Err(unexpected(Some(';'))),
            End::Keyword(word) => Err(Unclear::new(format!("there is an unexpected `{word}`"))),
        }
    }

    /// Goes one level deeper: the stack is not without end.
    pub(super) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Unclear>) -> Result<T, Unclear> {
        if self.depth >= MAX_DEPTH {
            return Err(Unclear::new("it is nested too deeply"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Counts its depth on from another parser's.
    pub(super) fn begin_at(&mut self, outer: &Self) {
        self.depth = outer.depth;
    }

    /// A script inside of this one, with a text of its own.
    pub(super) fn nested(&mut self, text: &str) -> Result<(), Unclear> {
        if self.depth >= MAX_DEPTH {
            return Err(Unclear::new("it is nested too deeply"));
        }
        let inner = Self::new(text, self.depth + 1).script()?;
        self.found.commands.extend(inner.commands);
        self.found.files.extend(inner.files);
        Ok(())
    }

    /// Blanks and a comment.
    pub(super) fn blanks(&mut self) {
        while matches!(self.scanner.peek(), Some(' ' | '\t')) {
            self.scanner.next();
        }
        if self.scanner.peek() == Some('#') {
            while self.scanner.raw().is_some_and(|c| c != '\n') {
                self.scanner.next_raw();
            }
        }
    }

    fn blanks_and_lines(&mut self) -> Result<(), Unclear> {
        self.blanks();
        while self.scanner.peek() == Some('\n') {
            self.scanner.next();
            self.here_documents()?;
            self.blanks();
        }
        Ok(())
    }

    pub(super) fn list_to_paren(&mut self) -> Result<(), Unclear> {
        let waiting = self.pending.len();
        match self.list()? {
            End::Paren if self.pending.len() == waiting => Ok(()),
            End::Paren => Err(Unclear::new("a here-document has no text")),
            _ => Err(Unclear::new("a parenthesis is not closed")),
        }
    }

    fn list_to(&mut self, wanted: &[&str]) -> Result<&'static str, Unclear> {
        match self.deeper(Self::list)? {
            End::Keyword(word) if wanted.contains(&word) => Ok(word),
            _ => Err(Unclear::new(format!("`{}` is missing", wanted.join("` or `")))),
        }
    }

    fn list(&mut self) -> Result<End, Unclear> {
        loop {
            self.blanks_and_lines()?;
            match self.scanner.peek() {
                None => return Ok(End::Script),
                Some(')') => {
                    self.scanner.next();
                    return Ok(End::Paren);
                }
                _ if self.clause_end() => return Ok(End::Clause),
                _ => {}
            }
            if let Some(word) = self.and_or()? {
                return Ok(End::Keyword(word));
            }
            self.blanks();
            if self.clause_end() {
                return Ok(End::Clause);
            }
            match self.scanner.peek() {
                Some(';') => drop(self.scanner.next()),
                Some('&') if !self.scanner.looking_at("&&") => drop(self.scanner.next()),
                None | Some('\n' | ')') => {}
                found => return Err(unexpected(found)),
            }
        }
    }

    fn clause_end(&mut self) -> bool {
        self.scanner.eat(";;&") || self.scanner.eat(";;") || self.scanner.eat(";&")
    }

    /// Pipelines joined by `&&` and `||`; the keyword that stands in place of the first one.
    fn and_or(&mut self) -> Result<Option<&'static str>, Unclear> {
        let mut is_first = true;
        loop {
            match self.command()? {
                Some(word) if is_first => return Ok(Some(word)),
                Some(word) => return Err(Unclear::new(format!("there is an unexpected `{word}`"))),
                None => is_first = false,
            }
            self.blanks();
            let joined = ["&&", "||", "|&", "|"].iter().any(|operator| self.scanner.eat(operator));
            if !joined {
                return Ok(None);
            }
            self.blanks_and_lines()?;
        }
    }

    /// One command; the keyword that stands in its place when it ends the list.
    fn command(&mut self) -> Result<Option<&'static str>, Unclear> {
        self.blanks();
        if self.scanner.looking_at("((") {
            return Err(Unclear::new("it uses ((…))"));
        }
        if self.scanner.eat("(") {
            self.deeper(Self::list_to_paren)?;
            self.redirections()?;
            return Ok(None);
        }
        if self.redirection()? {
            self.simple(None)?;
            return Ok(None);
        }
        let Some(word) = self.word()? else { return Err(unexpected(self.scanner.peek())) };
        if word.quoted || word.shape != Shape::Fixed {
            self.simple(Some(word))?;
            return Ok(None);
        }
        if let Some(closer) = CLOSERS.iter().find(|known| **known == word.text) {
            return Ok(Some(closer));
        }
        if BEYOND.contains(&word.text.as_str()) {
            return Err(Unclear::new(format!("it uses {}", word.text)));
        }
        match word.text.as_str() {
            "!" => return self.deeper(Self::command),
            "time" => {
                self.blanks();
                while self.scanner.eat("-p ") || self.scanner.eat("-- ") {}
                return self.deeper(Self::command);
            }
            // In which order the parts come does not matter here: all of them are listed.
            "if" => {
                self.list_to(&["then"])?;
                while self.list_to(&["then", "elif", "else", "fi"])? != "fi" {}
            }
            "while" | "until" => {
                self.list_to(&["do"])?;
                self.list_to(&["done"])?;
            }
            "for" => self.for_loop()?,
            "case" => self.deeper(Self::case)?,
            "{" => drop(self.list_to(&["}"])?),
            "function" => return self.function(),
            _ => {
                self.simple(Some(word))?;
                return Ok(None);
            }
        }
        self.redirections()?;
        Ok(None)
    }

    fn for_loop(&mut self) -> Result<(), Unclear> {
        self.blanks();
        let name = self.word()?.filter(|word| word.fixed().is_some_and(is_name) && !word.quoted);
        let Some(name) = name else { return Err(Unclear::new("it uses an unusual `for`")) };
        self.blanks_and_lines()?;
        if self.scanner.looking_at("in ") || self.scanner.looking_at("in\t") || self.scanner.looking_at("in\n") {
            self.scanner.eat("in");
            loop {
                self.blanks();
                if self.word()?.is_none() {
                    break;
                }
            }
        }
        // The variable gets values that nobody knows.
        let assignment = Word { source: format!("{}=", name.text), ..Word::unknown("") };
        self.note(Command { assignments: vec![assignment], ..Command::default() });
        let _ = self.scanner.eat(";");
        self.blanks_and_lines()?;
        match self.word()? {
            Some(word) if word.text == "do" && !word.quoted => drop(self.list_to(&["done"])?),
            _ => return Err(Unclear::new("`do` is missing")),
        }
        Ok(())
    }

    fn case(&mut self) -> Result<(), Unclear> {
        self.blanks();
        self.word()?;
        self.blanks_and_lines()?;
        if !self.scanner.eat("in") {
            return Err(Unclear::new("`in` is missing"));
        }
        loop {
            self.blanks_and_lines()?;
            let _ = self.scanner.eat("(");
            loop {
                self.blanks();
                let pattern = self.word()?;
                if pattern.is_some_and(|word| word.text == "esac" && !word.quoted) {
                    return Ok(());
                }
                self.blanks();
                match self.scanner.next() {
                    Some('|') => {}
                    Some(')') => break,
                    found => return Err(unexpected(found)),
                }
            }
            match self.deeper(Self::list)? {
                End::Clause => {}
                End::Keyword("esac") => return Ok(()),
                _ => return Err(Unclear::new("`esac` is missing")),
            }
        }
    }

    fn function(&mut self) -> Result<Option<&'static str>, Unclear> {
        self.blanks();
        if self.word()?.is_none() {
            return Err(Unclear::new("a function has no name"));
        }
        self.blanks();
        if self.scanner.eat("(") {
            self.function_parens()?;
        }
        self.function_body()
    }

    fn function_parens(&mut self) -> Result<(), Unclear> {
        self.blanks();
        if self.scanner.eat(")") { Ok(()) } else { Err(unexpected(Some('('))) }
    }

    fn function_body(&mut self) -> Result<Option<&'static str>, Unclear> {
        self.blanks_and_lines()?;
        match self.deeper(Self::command)? {
            None => Ok(None),
            Some(word) => Err(Unclear::new(format!("there is an unexpected `{word}`"))),
        }
    }

    /// A simple command, or the function that its first word turns out to name.
    fn simple(&mut self, first: Option<Word>) -> Result<(), Unclear> {
        let mut command = Command::default();
        let mut next = first;
        let mut may_split = std::mem::take(&mut self.may_split);
        loop {
            if let Some(word) = next.take() {
                if may_split {
                    return Err(Unclear::new("shells differ in what words behind `&>` mean"));
                }
                if is_descriptor(&word) && matches!(self.scanner.peek(), Some('<' | '>')) {
                    // `2>file`: the number says which stream.
                } else if command.words.is_empty() && word.assigns().is_some() {
                    command.assignments.push(word);
                } else if command.words.is_empty() && assigns_element(&word) {
                    return Err(Unclear::new("it uses arrays"));
                } else {
                    command.words.push(word);
                }
            }
            self.blanks();
            if self.redirection()? {
                may_split |= std::mem::take(&mut self.may_split);
                continue;
            }
            if self.scanner.peek() == Some('(') {
                let is_name = command.assignments.is_empty() && command.words.len() == 1;
                if !is_name || command.words[0].quoted || command.words[0].shape != Shape::Fixed {
                    return Err(unexpected(Some('(')));
                }
                self.scanner.next();
                self.function_parens()?;
                return self.function_body().map(drop);
            }
            next = self.word()?;
            if next.is_none() {
                break;
            }
        }
        self.note(command);
        Ok(())
    }

    fn note(&mut self, command: Command) {
        if command.words.is_empty() && command.assignments.is_empty() {
            return;
        }
        let standing = Standing::of(&command);
        self.found.commands.push(Command { standing, ..command });
    }
}

fn is_descriptor(word: &Word) -> bool {
    !word.source.is_empty() && word.source.chars().all(|c| c.is_ascii_digit())
}

/// `name[…]=`: the index is evaluated.
fn assigns_element(word: &Word) -> bool {
    word.source.split_once('[').is_some_and(|(name, rest)| is_name(name) && rest.contains('='))
}
