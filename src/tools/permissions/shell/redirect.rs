//! Redirections: the files that they open, and here-documents.

use super::{Access, FileUse, Shape, Unclear, Word, grammar::Parser};

/// A here-document whose text has not come yet.
pub(super) struct HereDocument {
    end: String,
    strips_tabs: bool,
    expands: bool,
}

/// What an operator does with the word after it.
#[derive(Clone, Copy)]
enum Kind {
    Open(Access),
    /// `<>`: both.
    Both,
    /// A number or `-` names a stream, anything else a file.
    Stream(Access),
    HereDocument {
        strips_tabs: bool,
    },
    HereString,
}

/// The operators, longer ones first.
const OPERATORS: [(&str, Kind); 12] = [
    ("<<<", Kind::HereString),
    ("<<-", Kind::HereDocument { strips_tabs: true }),
    ("<<", Kind::HereDocument { strips_tabs: false }),
    ("<&", Kind::Stream(Access::Read)),
    ("<>", Kind::Both),
    ("<", Kind::Open(Access::Read)),
    ("&>>", Kind::Open(Access::Write)),
    ("&>", Kind::Open(Access::Write)),
    (">>", Kind::Open(Access::Write)),
    (">&", Kind::Stream(Access::Write)),
    (">|", Kind::Open(Access::Write)),
    (">", Kind::Open(Access::Write)),
];

impl Parser {
    /// Reads a redirection if one comes next.
    pub(super) fn redirection(&mut self) -> Result<bool, Unclear> {
        if self.scanner.looking_at("<(") || self.scanner.looking_at(">(") {
            return Ok(false);
        }
        let Some((operator, kind)) = OPERATORS.iter().find(|(operator, _)| self.scanner.looking_at(operator)) else {
            return Ok(false);
        };
        self.scanner.eat(operator);
        self.blanks();
        let Some(target) = self.word()? else {
            return Err(Unclear::new(format!("a word is missing after `{operator}`")));
        };
        match *kind {
            Kind::Open(access) => self.opens(access, target),
            Kind::Both => {
                self.opens(Access::Read, target.clone());
                self.opens(Access::Write, target);
            }
            Kind::Stream(_) if is_stream(&target) => {}
            // `<&-rm x` closes a stream and runs `rm`, in some shells.
            Kind::Stream(_) if target.source.starts_with('-') => {
                return Err(Unclear::new(format!("shells differ in what `{operator}{}` means", target.source)));
            }
            Kind::Stream(access) => self.opens(access, target),
            Kind::HereString => {}
            Kind::HereDocument { strips_tabs } => {
                if target.shape != Shape::Fixed {
                    return Err(Unclear::new("a here-document has an unusual end"));
                }
                self.pending.push(HereDocument { end: target.text, strips_tabs, expands: !target.quoted });
            }
        }
        self.may_split = operator.starts_with('&');
        Ok(true)
    }

    /// Redirections behind a compound command.
    pub(super) fn redirections(&mut self) -> Result<(), Unclear> {
        loop {
            self.blanks();
            // `done 2>file`: the number is no command, for a command cannot stand here.
            while self.scanner.peek().is_some_and(|c| c.is_ascii_digit()) {
                self.scanner.next();
            }
            if !self.redirection()? {
                // No word can follow here.
                self.may_split = false;
                return Ok(());
            }
        }
    }

    fn opens(&mut self, access: Access, target: Word) {
        self.found.files.push(FileUse { access, target });
    }

    /// The texts of the here-documents that wait, at the beginning of a line.
    pub(super) fn here_documents(&mut self) -> Result<(), Unclear> {
        for document in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            loop {
                let Some(line) = self.scanner.raw_line() else {
                    return Err(Unclear::new(format!("a here-document does not end with {}", document.end)));
                };
                let line = if document.strips_tabs { line.trim_start_matches('\t') } else { &line };
                if line == document.end {
                    break;
                }
                if document.expands && line.ends_with('\\') {
                    return Err(Unclear::new("a line of a here-document goes on in the next one"));
                }
                text.push_str(line);
                text.push('\n');
            }
            if document.expands {
                let mut inner = Self::new(&text, 0);
                self.deeper(|parser| {
                    inner.begin_at(parser);
                    inner.here_document()
                })?;
                self.found.commands.extend(inner.found.commands);
                self.found.files.extend(inner.found.files);
            }
        }
        Ok(())
    }
}

fn is_stream(word: &Word) -> bool {
    let Some(text) = word.fixed() else { return false };
    let number = text.strip_suffix('-').unwrap_or(text);
    !text.is_empty() && !word.quoted && number.chars().all(|c| c.is_ascii_digit())
}
