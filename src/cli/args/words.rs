//! The words of a command line, sorted by the product's rules.
//!
//! clap cannot express them: short forms of several letters, flags that only an extension knows, values that begin with
//! a dash, a switch that takes the next word along. So the words are sorted here, with clap's table as the only list of
//! flags, and clap gets each known flag in the one unambiguous form `--flag=value`.

use std::slice::Iter;

use clap::{Arg, Command};

use super::error::ArgError;

/// Short forms of more than one letter.
pub const MULTI_LETTER: [(&str, &str); 8] = [
    ("-xt", "exclude-tools"),
    ("-nbt", "no-builtin-tools"),
    ("-nt", "no-tools"),
    ("-ne", "no-extensions"),
    ("-ns", "no-skills"),
    ("-np", "no-prompt-templates"),
    ("-nc", "no-context-files"),
    ("-na", "no-approve"),
];

/// A flag that only an extension may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionFlag {
    /// Its name without the dashes.
    pub name: String,
    /// What was given with it.
    pub value: FlagValue,
}

/// The value of an extension's flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// The flag came alone.
    Set,
    /// Text came with it.
    Text(String),
}

impl FlagValue {
    /// The text, if any came.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Set => None,
            Self::Text(text) => Some(text),
        }
    }
}

/// A command line, sorted.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Known flags in the form `--flag` or `--flag=value`.
    pub options: Vec<String>,
    pub messages: Vec<String>,
    pub files: Vec<String>,
    pub extension_flags: Vec<ExtensionFlag>,
    pub errors: Vec<ArgError>,
}

pub(super) fn sort(argv: &[String], command: &Command) -> Words {
    let mut words = Words::default();
    let mut rest = argv.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            rest.by_ref().for_each(|word| words.positional(word));
        } else if word.starts_with('-') {
            words.option(word, command, &mut rest);
        } else {
            words.positional(word);
        }
    }
    words
}

impl Words {
    fn positional(&mut self, word: &str) {
        match word.strip_prefix('@') {
            Some(file) => self.files.push(file.to_owned()),
            None => self.messages.push(word.to_owned()),
        }
    }

    fn option(&mut self, word: &str, command: &Command, rest: &mut Iter<'_, String>) {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word, None),
        };
        match (find(command, name), name.strip_prefix("--")) {
            (Some(arg), _) => self.known(arg, name, attached, rest),
            (None, Some(name)) => {
                let value = attached.or_else(|| take_if(rest, |next| !next.starts_with(['-', '@'])));
                let value = value.map_or(FlagValue::Set, FlagValue::Text);
                self.extension_flags.push(ExtensionFlag { name: name.to_owned(), value });
            }
            (None, None) => self.errors.push(ArgError::unknown(word)),
        }
    }

    /// A flag of the table; `name` is the form that was typed.
    fn known(&mut self, arg: &Arg, name: &str, attached: Option<String>, rest: &mut Iter<'_, String>) {
        let long = arg.get_long().unwrap_or_default();
        let value = if long == "print" {
            // A message may begin with `---`: front matter does.
            let message =
                attached.or_else(|| take_if(rest, |next| !next.starts_with(['-', '@']) || next.starts_with("---")));
            self.messages.extend(message);
            None
        } else if !arg.get_action().takes_values() {
            if attached.is_some() {
                self.errors.push(ArgError::UnexpectedValue(name.to_owned()));
                return;
            }
            None
        } else if arg.get_num_args().is_some_and(|count| count.min_values() == 0) {
            attached.or_else(|| take_if(rest, |next| !next.starts_with(['-', '@'])))
        } else {
            // Whatever comes next is the value, also with a dash: `--tools -bash`.
            let value = attached.or_else(|| take_if(rest, |_| true));
            if value.is_none() {
                self.errors.push(ArgError::MissingValue { flag: name.to_owned(), needs: needs(arg) });
                return;
            }
            value
        };
        self.options.push(value.map_or_else(|| format!("--{long}"), |value| format!("--{long}={value}")));
    }
}

fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let long = match MULTI_LETTER.iter().find(|(short, _)| *short == name) {
        Some((_, long)) => Some(*long),
        None => name.strip_prefix("--"),
    };
    command.get_arguments().find(|arg| match long {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| name.chars().eq(['-', short])),
    })
}

fn take_if(rest: &mut Iter<'_, String>, accept: impl Fn(&str) -> bool) -> Option<String> {
    rest.as_slice().first().filter(|next| accept(next))?;
    rest.next().cloned()
}

/// What a flag without a value lacks, for the error.
fn needs(arg: &Arg) -> String {
    let allowed: Vec<_> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    match (allowed.split_last(), arg.get_value_names().and_then(|names| names.first())) {
        (Some((last, others)), _) => format!("{} or {last}", others.join(", ")),
        (None, Some(name)) => format!("a value ({name})"),
        (None, None) => "a value".to_owned(),
    }
}
