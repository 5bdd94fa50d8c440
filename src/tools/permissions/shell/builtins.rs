//! What the shell does by itself. Some of it needs no rule, and some of it no rule can cover: words of these commands
//! are evaluated once more, or change what later commands mean.

use super::{Command, Shape, Word};

/// Whether a command's words say what it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// They do.
    #[default]
    Ordinary,
    /// They do, and it changes nothing: no rule has to allow it.
    Free,
    /// They do not, and why: no pattern can allow it.
    Opaque(String),
}

/// Commands whose words are evaluated again, or which change what other words mean.
const EVALUATE: [&str; 26] = [
    "eval",
    "source",
    ".",
    "let",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "trap",
    "alias",
    "unalias",
    "enable",
    "bind",
    "complete",
    "compgen",
    "compopt",
    "mapfile",
    "readarray",
    "hash",
    "shopt",
    "fc",
    "getopts",
    "read",
    "unset",
    "coproc",
];

/// Variables in lower case that programs look at all the same.
const READ_BY_PROGRAMS: [&str; 2] = ["auto_resume", "histchars"];

impl Standing {
    /// The standing of a command by its own words.
    pub(super) fn of(command: &Command) -> Self {
        let Some(name) = command.words.first() else {
            let harmless = command.assignments.iter().all(|word| word.assigns().is_some_and(is_private));
            return if harmless { Self::Free } else { Self::Ordinary };
        };
        let Some(name) = name.fixed() else {
            return Self::Opaque(format!("the name of a command is only known when it runs: {}", name.source));
        };
        let arguments = &command.words[1..];
        let opaque = || Self::Opaque(format!("what `{name}` does depends on more than its words"));
        if !command.assignments.is_empty() {
            return if EVALUATE.contains(&name) { opaque() } else { Self::Ordinary };
        }
        match name {
            ":" | "true" | "false" | "echo" | "pwd" | "break" | "continue" | "return" | "exit" | "shift" => Self::Free,
            "set" if arguments.iter().all(is_usual_option) => Self::Free,
            "set" => opaque(),
            // `printf -v` and `test -v` evaluate an index.
            "printf" if arguments.first().is_some_and(Word::is_operand) => Self::Free,
            "test" | "[" if is_plain_test(arguments) => Self::Free,
            "wait" if arguments.iter().all(Word::is_operand) => Self::Free,
            "printf" | "test" | "[" | "wait" => opaque(),
            name if EVALUATE.contains(&name) => opaque(),
            _ => Self::Ordinary,
        }
    }
}

/// `set -euo pipefail` and the like: nothing that changes what words mean.
fn is_usual_option(word: &Word) -> bool {
    let Some(text) = word.fixed() else { return false };
    let letters = text.strip_prefix('-').or_else(|| text.strip_prefix('+'));
    text == "pipefail" || letters.is_some_and(|letters| letters.chars().all(|c| "euxvfo".contains(c)))
}

/// A test that evaluates nothing: of fixed words, or of values whose operator is fixed.
fn is_plain_test(arguments: &[Word]) -> bool {
    const UNARY: [&str; 11] = ["-n", "-z", "-f", "-d", "-e", "-r", "-w", "-x", "-s", "-L", "-h"];
    const BINARY: [&str; 9] = ["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    let words = match arguments {
        [words @ .., end] if end.fixed() == Some("]") => words,
        words => words,
    };
    let is = |word: &Word, known: &[&str]| word.fixed().is_some_and(|text| known.contains(&text));
    match words {
        words if words.iter().all(|word| word.fixed().is_some_and(|text| text != "-v")) => true,
        [operator, value] => is(operator, &UNARY) && value.is_single(),
        [left, operator, right] => left.is_single() && is(operator, &BINARY) && right.is_single(),
        _ => false,
    }
}

/// Whether only the script itself looks at the variable.
fn is_private(name: &str) -> bool {
    let is_lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.chars().all(is_lower) && !name.ends_with("_proxy") && !READ_BY_PROGRAMS.contains(&name)
}

/// Whether the command moves the script to another folder, after which relative names mean other files.
#[must_use]
pub fn changes_folder(command: &Command) -> bool {
    matches!(command.name(), Some("cd" | "pushd" | "popd"))
}

/// The folder of a plain `cd FOLDER`.
#[must_use]
pub fn plain_cd(command: &Command) -> Option<&str> {
    match command.words.as_slice() {
        [name, folder] if name.fixed() == Some("cd") && command.assignments.is_empty() => {
            folder.fixed().filter(|folder| folder.chars().next().is_some_and(|c| c != '-') && folder != &"~")
        }
        _ => None,
    }
}

/// Whether a word may hold more than one argument, or an option that nobody sees.
pub(super) fn is_open(word: &Word) -> bool {
    word.shape != Shape::Fixed
}
