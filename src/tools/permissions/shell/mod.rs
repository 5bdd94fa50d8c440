//! What a shell script would run: a conservative parser of the language that bash and the POSIX shells share.
//!
//! It answers one question: which commands, with which words, and which files would this script touch? It refuses what
//! it does not know; what it accepts, it lists completely. It never decides whether anything is allowed.
//!
//! | file | what |
//! |---|---|
//! | [`scanner`] | characters, with continued lines joined |
//! | [`word`] | one word: quotes, escapes, expansions |
//! | [`braces`] | what may stand between `${` and `}` |
//! | [`grammar`] | lists, pipelines, compound commands |
//! | [`redirect`] | redirections and here-documents |
//! | [`wrappers`] | commands that run other commands: `env`, `xargs`, `sh -c`, `find -exec` |
//! | [`builtins`] | what the shell does by itself, harmless or beyond any list of words |

mod braces;
mod builtins;
#[cfg(test)]
mod differential;
mod grammar;
mod redirect;
mod scanner;
#[cfg(test)]
mod tests;
mod word;
mod wrappers;

pub use builtins::{Standing, changes_folder, plain_cd};
pub use word::{Shape, Word, quote};

/// Shells whose language the parser speaks.
const SHELLS: [&str; 3] = ["bash", "sh", "dash"];

/// Whether the parser speaks the language of a shell by its path; none is the usual one.
#[must_use]
pub fn speaks(shell: Option<&str>) -> bool {
    let name = shell.and_then(|shell| std::path::Path::new(shell).file_name());
    name.is_none_or(|name| SHELLS.iter().any(|known| name == *known))
}

/// What a script would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Every command that may run, also those inside of substitutions, functions and wrappers.
    pub commands: Vec<Command>,
    /// Every file that a redirection opens.
    pub files: Vec<FileUse>,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// `NAME=value` before it; with no words, variables of the shell.
    pub assignments: Vec<Word>,
    /// Its name and arguments.
    pub words: Vec<Word>,
    /// Whether its words say what it does.
    pub standing: Standing,
}

impl Command {
    /// The command as it can be shown and written in a rule.
    #[must_use]
    pub fn text(&self) -> String {
        let words = self.assignments.iter().chain(&self.words).map(Word::shown);
        words.collect::<Vec<_>>().join(" ")
    }

    /// Its name when that is known before it runs.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.words.first().and_then(Word::fixed)
    }
}

/// A file that a redirection opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUse {
    /// How.
    pub access: Access,
    /// Its name.
    pub target: Word,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// For reading.
    Read,
    /// For writing.
    Write,
}

/// The parser does not know what the script would do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unclear(pub(super) String);

impl Unclear {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Longer scripts are not looked at.
const MAX_BYTES: usize = 64 * 1024;

/// Deeper nesting is not looked at; it bounds the stack.
const MAX_DEPTH: usize = 24;

/// All commands and files of a script.
///
/// # Errors
/// Something in it is beyond the parser; then nothing is known about the script.
pub fn parse(script: &str) -> Result<Script, Unclear> {
    parse_nested(script, 0)
}

fn parse_nested(script: &str, depth: usize) -> Result<Script, Unclear> {
    if script.len() > MAX_BYTES {
        return Err(Unclear::new(format!("the script is longer than {} KiB", MAX_BYTES / 1024)));
    }
    if script.contains('\0') {
        return Err(Unclear::new("the script holds a zero character"));
    }
    let script = grammar::Parser::new(script, depth).script()?;
    wrappers::unwrap_all(script, depth)
}
