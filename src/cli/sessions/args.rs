//! The words behind `troupe sessions`.

use crate::{
    cli::{
        exit::Exit,
        subcommand::{Subcommand, SubcommandError},
    },
    store::sessions::{Scope, order::SortBy},
};

/// How the command is used.
pub const USAGE: &str =
    "troupe sessions [list] [--all] [--named] [--sort recent|created|name] [--limit N] [--json] [QUERY]
  troupe sessions search TEXT [--all] [--limit N] [--json]
  troupe sessions show ID [--json]
  troupe sessions rename ID NAME
  troupe sessions delete ID… [--yes]
  troupe sessions export ID [--jsonl | --html] [--force] [PATH]
  troupe sessions import FILE

ID is a session's id, the beginning of one, or its file.
  --all              sessions of all projects, not only of this folder
  --named            only sessions that have a name
  --sort ORDER       recent (the default): those in which something was said last come first; created; name
  --limit N          at most N of them (list: 50, search: 5 places a session); 0 shows all
  --json             for programs: list and show print one value, search a line for each place
  --yes              delete without a question
  --jsonl, --html    the active branch as a session (the default), or all of it as a page (for a PATH in .html, too)
  --force            write over a file that exists
  --session-dir DIR  where sessions are kept
QUERY and TEXT: words that must all occur, \"a phrase\", or re: and a regular expression. Capitals count when there are
some. list looks at names, first messages, ids and folders; search at all that was said, printed and summarised.";

/// `troupe sessions` with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionsCommand {
    /// Where sessions are kept (`--session-dir`).
    pub session_dir: Option<String>,
    /// What to do.
    pub action: Action,
}

/// What `troupe sessions` does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Tell which sessions there are.
    List(ListArgs),
    /// Look for words in all that was said.
    Search(SearchArgs),
    /// Tell everything about one.
    Show {
        /// Which.
        id: String,
        /// As JSON.
        json: bool,
    },
    /// Give one a name.
    Rename {
        /// Which.
        id: String,
        /// The name.
        name: String,
    },
    /// Put some into the trash.
    Delete {
        /// Which.
        ids: Vec<String>,
        /// Without a question.
        yes: bool,
    },
    /// Write one into a file.
    Export {
        /// Which.
        id: String,
        /// As what.
        form: Form,
        /// The file.
        path: Option<String>,
        /// Also over a file that exists.
        force: bool,
    },
    /// Copy a file into the folder of sessions.
    Import {
        /// The file.
        file: String,
    },
}

/// What a session is exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The active branch as a session of its own.
    Jsonl,
    /// All of it as a page.
    Html,
}

/// What `list` shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListArgs {
    /// Of this project or of all.
    pub scope: Scope,
    /// Only those with a name.
    pub named: bool,
    /// In which order.
    pub sort: SortBy,
    /// How many at most; none for all.
    pub limit: Option<usize>,
    /// As JSON.
    pub json: bool,
    /// Which; empty for all.
    pub query: String,
}

/// What `search` looks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchArgs {
    /// Of this project or of all.
    pub scope: Scope,
    /// Places in a session at most; none for all.
    pub limit: Option<usize>,
    /// As lines of JSON.
    pub json: bool,
    /// The words.
    pub text: String,
}

/// So many sessions are listed without `--limit`.
const LISTED: usize = 50;
/// So many places of one session are shown without `--limit`.
const PLACES: usize = 5;

/// The verbs.
pub(super) const VERBS: [&str; 7] = ["list", "search", "show", "rename", "delete", "export", "import"];

/// Reads the arguments.
///
/// # Errors
/// When they make no sense.
pub fn parse(rest: &[&str]) -> Result<Subcommand, SubcommandError> {
    let (verb, rest) = match rest {
        [verb, rest @ ..] if VERBS.contains(verb) => (*verb, rest),
        _ => ("list", rest),
    };
    let mut words = Words::default();
    if words.read(verb, rest)? {
        return Ok(Subcommand::Usage(format!("Usage:\n  {USAGE}\n")));
    }
    let session_dir = words.session_dir.clone();
    Ok(Subcommand::Sessions(SessionsCommand { session_dir, action: words.action(verb)? }))
}

/// Options and other words, as they were typed.
#[derive(Default)]
struct Words {
    session_dir: Option<String>,
    all: bool,
    named: bool,
    sort: SortBy,
    limit: Option<usize>,
    json: bool,
    yes: bool,
    force: bool,
    form: Option<Form>,
    plain: Vec<String>,
}

fn wrong(reason: impl Into<String>) -> SubcommandError {
    SubcommandError::Arguments { reason: reason.into(), usage: USAGE, exit: Exit::Failed }
}

impl Words {
    /// Takes the words; true when the usage is asked for.
    fn read(&mut self, verb: &str, rest: &[&str]) -> Result<bool, SubcommandError> {
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            if *word == "--" {
                self.plain.extend(words.by_ref().map(|word| (*word).to_owned()));
                break;
            }
            if !word.starts_with('-') || *word == "-" {
                self.plain.push((*word).to_owned());
                continue;
            }
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (*word, None),
            };
            let mut value = || {
                let given = inline.or_else(|| words.next().copied()).filter(|value| !value.is_empty());
                given.ok_or_else(|| wrong(format!("{name} needs a value.")))
            };
            match (name, verb) {
                ("-h" | "--help", _) => return Ok(true),
                ("--session-dir", _) => self.session_dir = Some(value()?.to_owned()),
                ("--all", "list" | "search") => self.all = true,
                ("--named", "list") => self.named = true,
                ("--sort", "list") => self.sort = order(value()?)?,
                ("--limit", "list" | "search") => self.limit = Some(number(value()?)?),
                ("--json", "list" | "search" | "show") => self.json = true,
                ("-y" | "--yes", "delete") => self.yes = true,
                ("--force", "export") => self.force = true,
                ("--jsonl", "export") => self.form = Some(Form::Jsonl),
                ("--html", "export") => self.form = Some(Form::Html),
                (other, _) => return Err(wrong(format!("Unknown option {other} for \"sessions {verb}\"."))),
            }
        }
        Ok(false)
    }

    fn action(mut self, verb: &str) -> Result<Action, SubcommandError> {
        let scope = if self.all { Scope::All } else { Scope::Project };
        let limit = |default: Option<usize>| match self.limit {
            None => default,
            Some(0) => None,
            Some(limit) => Some(limit),
        };
        Ok(match verb {
            "search" if self.plain.is_empty() => return Err(wrong("Say what to search for.")),
            "search" => Action::Search(SearchArgs {
                scope,
                limit: limit((!self.json).then_some(PLACES)),
                json: self.json,
                text: self.plain.join(" "),
            }),
            "show" => {
                let [id] = self.exactly("show needs one session.")?;
                Action::Show { id, json: self.json }
            }
            "rename" => {
                let [id, name] =
                    self.exactly("rename needs a session and its new name: put a name of several words in quotes.")?;
                Action::Rename { id, name }
            }
            "delete" if self.plain.is_empty() => return Err(wrong("delete needs at least one session.")),
            "delete" => Action::Delete { ids: self.plain, yes: self.yes },
            "export" if self.plain.is_empty() || self.plain.len() > 2 => {
                return Err(wrong("export needs a session, and may have a file to write."));
            }
            "export" => {
                let path = (self.plain.len() == 2).then(|| self.plain.pop()).flatten();
                let [id] = self.exactly("export needs a session.")?;
                let is_page = path.as_ref().is_some_and(|path| path.ends_with(".html"));
                let form = self.form.unwrap_or(if is_page { Form::Html } else { Form::Jsonl });
                Action::Export { id, form, path, force: self.force }
            }
            "import" => {
                let [file] = self.exactly("import needs one file.")?;
                Action::Import { file }
            }
            _ => Action::List(ListArgs {
                scope,
                named: self.named,
                sort: self.sort,
                limit: limit((!self.json).then_some(LISTED)),
                json: self.json,
                query: self.plain.join(" "),
            }),
        })
    }

    fn exactly<const N: usize>(&mut self, needs: &str) -> Result<[String; N], SubcommandError> {
        std::mem::take(&mut self.plain).try_into().map_err(|_| wrong(needs))
    }
}

fn order(text: &str) -> Result<SortBy, SubcommandError> {
    match text {
        "recent" => Ok(SortBy::Recent),
        "created" => Ok(SortBy::Created),
        "name" => Ok(SortBy::Name),
        other => Err(wrong(format!("--sort takes recent, created or name, not \"{other}\"."))),
    }
}

fn number(text: &str) -> Result<usize, SubcommandError> {
    text.parse().map_err(|_| wrong(format!("--limit takes a number, not \"{text}\".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Action, String> {
        match parse(words).map_err(|error| error.to_string())? {
            Subcommand::Sessions(command) => Ok(command.action),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn words_say_what_is_to_be_done() {
        let list = |args: ListArgs| Action::List(args);
        let limited = ListArgs { limit: Some(LISTED), ..ListArgs::default() };
        let show = |id: &str| Action::Show { id: id.to_owned(), json: false };
        let export = |form: Form, path: Option<&str>| {
            let path = path.map(Into::into);
            Action::Export { id: "1".into(), form, path, force: false }
        };
        let table: Vec<(&[&str], Action)> = vec![
            (&[], list(limited.clone())),
            (&["list"], list(limited.clone())),
            (
                &["--all", "fix", "login"],
                list(ListArgs { scope: Scope::All, query: "fix login".into(), ..limited.clone() }),
            ),
            (&["list", "--sort=name", "--named"], list(ListArgs { sort: SortBy::Name, named: true, ..limited })),
            (&["--json"], list(ListArgs { json: true, ..ListArgs::default() })),
            (&["--limit", "0"], list(ListArgs::default())),
            (
                &["search", "--all", "a", "b"],
                Action::Search(SearchArgs { scope: Scope::All, limit: Some(PLACES), text: "a b".into(), json: false }),
            ),
            (
                &["search", "--", "--all"],
                Action::Search(SearchArgs { limit: Some(PLACES), text: "--all".into(), ..SearchArgs::default() }),
            ),
            (&["show", "1"], show("1")),
            (&["rename", "1", "a b"], Action::Rename { id: "1".into(), name: "a b".into() }),
            (&["delete", "1", "2", "-y"], Action::Delete { ids: vec!["1".into(), "2".into()], yes: true }),
            (&["export", "1"], export(Form::Jsonl, None)),
            (&["export", "--html", "1"], export(Form::Html, None)),
            (&["export", "1", "out.html"], export(Form::Html, Some("out.html"))),
            (&["export", "--jsonl", "1", "out.html"], export(Form::Jsonl, Some("out.html"))),
            (&["import", "f"], Action::Import { file: "f".into() }),
        ];
        for (words, action) in table {
            assert_eq!(parsed(words), Ok(action), "{words:?}");
        }
    }

    #[test]
    fn words_that_make_no_sense_are_refused() {
        for (words, why) in [
            (&["show"][..], "needs one session"),
            (&["show", "1", "2"], "needs one session"),
            (&["rename", "1"], "new name"),
            (&["rename", "1", "a", "b"], "in quotes"),
            (&["delete"], "at least one"),
            (&["delete", "1", "--all"], "Unknown option --all for \"sessions delete\""),
            (&["search"], "what to search for"),
            (&["export", "1", "2", "3"], "may have a file"),
            (&["--limit", "many"], "takes a number"),
            (&["--limit"], "needs a value"),
            (&["--sort", "size"], "recent, created or name"),
            (&["import"], "one file"),
        ] {
            assert!(parsed(words).unwrap_err().contains(why), "{words:?}");
        }
        assert!(matches!(parse(&["delete", "--help"]), Ok(Subcommand::Usage(text)) if text.contains("rename")));
    }
}
