//! What may run in a start: rules from everywhere, and the guard that applies them. And `troupe permissions …`, which
//! lists and changes what is remembered.

use std::{fmt::Write as _, path::Path, sync::Arc};

use super::{
    args::HiArgs,
    env::Environment,
    exit::Exit,
    run::{fail, print, warn},
    start::StartError,
    subcommand::SubcommandError,
};
use crate::{
    extensions::{
        Permissions, Questions,
        permissions::{PermissionsSetup, Remembered},
    },
    protocol::permission::RuleAction,
    store::{
        TreeView,
        jsonl::EntryKind,
        permissions::{PermissionsFile, Reach},
        settings::Settings,
    },
    tools::{
        Operations,
        permissions::{Policy, Rule, Source, gather, path_pattern::Places, plan, shell},
    },
};

/// The name of the file in the user's folder.
const FILE: &str = "permissions.json";

const USAGE: &str = "troupe permissions list [--json]
troupe permissions allow|ask|deny RULE [--project|--global]
troupe permissions revoke N|RULE [--project|--global]";

/// The guard of a run.
///
/// # Errors
/// Rules that cannot be understood.
pub fn guard(
    environment: &Environment,
    args: &HiArgs,
    settings: &Settings,
    cwd: &Path,
    questions: &Questions,
    operations: Arc<dyn Operations>,
) -> Result<Arc<Permissions>, StartError> {
    let file = environment.user_dir.join(FILE);
    let project = operations.real_path(cwd);
    let remembered = PermissionsFile::read(&file).map_err(StartError::of)?;
    let home = environment.home.as_deref();
    let gathered = gather::gather(settings, &args.permissions.flags, &remembered, &project, home);
    let gathered = gathered.map_err(StartError::of)?;
    gathered.warnings.iter().for_each(|warning| warn(warning));
    let places = Places { project: vec![cwd.to_owned(), project.clone()], home: operations.place().home };
    let knows_shell = shell::speaks(settings.shell_path());
    Ok(Permissions::new(PermissionsSetup {
        policy: Policy { mode: gathered.mode, rules: gathered.rules, places, knows_shell },
        ask_timeout: gathered.ask_timeout,
        questions: questions.clone(),
        operations,
        remembered: Some(Remembered { file, project }),
    }))
}

/// Whether the session's branch is in plan mode.
#[must_use]
pub fn plans(tree: &TreeView) -> bool {
    let path = tree.path();
    let mut notes = path.iter().rev().filter(|entry| entry.kind() == EntryKind::Custom);
    let last = notes.find_map(|entry| plan::entry_says(&entry.entry().body));
    last.unwrap_or_default()
}

/// `troupe permissions …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionsCommand {
    /// Print what is remembered.
    List {
        /// As JSON.
        json: bool,
    },
    /// Remember a rule.
    Add {
        /// What it does.
        action: RuleAction,
        /// The rule.
        rule: String,
        /// For all projects.
        everywhere: bool,
    },
    /// Forget a rule, by its number in the list or by its text.
    Revoke {
        /// Which.
        rule: String,
        /// `Some(true)` only looks at rules for all projects, `Some(false)` at those of this one.
        everywhere: Option<bool>,
    },
    /// Print the usage.
    Usage,
}

/// Reads the words after `permissions`.
///
/// # Errors
/// They make no sense.
pub fn parse(words: &[&str]) -> Result<PermissionsCommand, SubcommandError> {
    let wrong = |reason: String| SubcommandError::Arguments { reason, usage: USAGE, exit: Exit::Failed };
    let (verb, rest) = match words.split_first() {
        None | Some((&("-h" | "--help"), _)) => return Ok(PermissionsCommand::Usage),
        Some((verb, rest)) => (*verb, rest),
    };
    let is_flag = |word: &str| word.starts_with("--");
    let operands: Vec<&str> = rest.iter().copied().filter(|word| !is_flag(word)).collect();
    let flags: Vec<&str> = rest.iter().copied().filter(|word| is_flag(word)).collect();
    let known: &[&str] = if verb == "list" { &["--json"] } else { &["--project", "--global"] };
    if let Some(flag) = flags.iter().find(|flag| !known.contains(flag)) {
        return Err(wrong(format!("Unknown option {flag} for \"permissions {verb}\".")));
    }
    let everywhere = match (flags.contains(&"--project"), flags.contains(&"--global")) {
        (true, true) => return Err(wrong("--project cannot be combined with --global.".into())),
        (false, true) => Some(true),
        (true, false) => Some(false),
        (false, false) => None,
    };
    let action = match verb {
        "list" if operands.is_empty() => return Ok(PermissionsCommand::List { json: !flags.is_empty() }),
        "list" => return Err(wrong("list takes no rule.".into())),
        "allow" => Some(RuleAction::Allow),
        "ask" => Some(RuleAction::Ask),
        "deny" => Some(RuleAction::Deny),
        "revoke" => None,
        other => {
            return Err(SubcommandError::Unknown { group: "permissions", command: other.to_owned(), usage: USAGE });
        }
    };
    let [rule] = operands.as_slice() else {
        return Err(wrong(format!("{verb} takes one rule; quote it as one word.")));
    };
    let rule = (*rule).to_owned();
    Ok(match action {
        Some(action) => PermissionsCommand::Add { action, rule, everywhere: everywhere.unwrap_or_default() },
        None => PermissionsCommand::Revoke { rule, everywhere },
    })
}

/// Carries a command out.
#[must_use]
pub fn run(environment: &Environment, command: PermissionsCommand) -> Exit {
    let file = environment.user_dir.join(FILE);
    let project = std::fs::canonicalize(&environment.cwd).unwrap_or_else(|_| environment.cwd.clone());
    let reach = |everywhere: bool| if everywhere { Reach::Everywhere } else { Reach::Project(&project) };
    let done = match command {
        PermissionsCommand::Usage => Ok(format!("Usage:\n{USAGE}\n")),
        PermissionsCommand::List { json } => list(&file, &project, json),
        PermissionsCommand::Add { action, rule, everywhere } => {
            add(environment, &file, reach(everywhere), action, &rule)
        }
        PermissionsCommand::Revoke { rule, everywhere } => revoke(&file, &project, &rule, everywhere),
    };
    match done {
        Ok(text) => print(&text),
        Err(text) => fail(&text),
    }
}

/// The remembered rules in the order of their numbers, and whether each is for all projects.
fn numbered(file: &PermissionsFile, project: &Path) -> Vec<(bool, RuleAction, String)> {
    [(false, Reach::Project(project)), (true, Reach::Everywhere)]
        .into_iter()
        .flat_map(|(everywhere, reach)| {
            let rules = file.rules(reach).into_iter().flat_map(|rules| rules.iter());
            rules.map(move |(action, rule)| (everywhere, action, rule.to_owned())).collect::<Vec<_>>()
        })
        .collect()
}

fn list(file: &Path, project: &Path, json: bool) -> Result<String, String> {
    let rules = numbered(&PermissionsFile::read(file).map_err(|error| error.to_string())?, project);
    let source = |everywhere| if everywhere { Source::Everywhere } else { Source::Remembered };
    if json {
        let rules: Vec<_> = rules
            .into_iter()
            .map(|(everywhere, action, rule)| crate::protocol::permission::RuleInfo {
                action,
                rule,
                source: source(everywhere),
            })
            .collect();
        return serde_json::to_string_pretty(&rules).map(|text| text + "\n").map_err(|error| error.to_string());
    }
    if rules.is_empty() {
        return Ok(format!(
            "Nothing is remembered for {}. Rules of settings.json are not listed here.\n",
            project.display()
        ));
    }
    let mut text = String::new();
    for (place, (everywhere, action, rule)) in rules.iter().enumerate() {
        let reach = if *everywhere { "all projects" } else { "this project" };
        let _ = writeln!(text, "{:>3}  {:<5}  {rule}  ({reach})", place + 1, action.as_str());
    }
    Ok(text)
}

fn add(
    environment: &Environment,
    file: &Path,
    reach: Reach<'_>,
    action: RuleAction,
    rule: &str,
) -> Result<String, String> {
    let rule = Rule::parse(action, Source::Remembered, rule, environment.home.as_deref())
        .map_err(|error| error.to_string())?;
    PermissionsFile::change(file, |file| file.rules_mut(reach).add(action, rule.text()))
        .map_err(|error| error.to_string())?;
    let place = match reach {
        Reach::Project(folder) => folder.display().to_string(),
        Reach::Everywhere => "all projects".to_owned(),
    };
    Ok(format!("Remembered for {place}: {rule}\n"))
}

fn revoke(file: &Path, project: &Path, wanted: &str, everywhere: Option<bool>) -> Result<String, String> {
    let change = |file: &mut PermissionsFile| {
        let rules = numbered(file, project);
        let by_number = wanted.parse::<usize>().ok().and_then(|number| rules.get(number.checked_sub(1)?));
        let found = match by_number {
            Some(rule) => vec![rule.clone()],
            None => rules.into_iter().filter(|(_, _, rule)| rule == wanted).collect(),
        };
        let in_reach = |rule: &(bool, RuleAction, String)| everywhere.is_none_or(|wanted| wanted == rule.0);
        let found: Vec<_> = found.into_iter().filter(in_reach).collect();
        for (everywhere, _, rule) in &found {
            let reach = if *everywhere { Reach::Everywhere } else { Reach::Project(project) };
            file.rules_mut(reach).remove(rule);
        }
        found
    };
    let gone = PermissionsFile::change(file, change).map_err(|error| error.to_string())?;
    if gone.is_empty() {
        return Err(format!(
            "nothing remembered is called {wanted:?}; `troupe permissions list` has the numbers and rules"
        ));
    }
    Ok(gone.iter().map(|(_, action, rule)| format!("No longer remembered: {} {rule}\n", action.as_str())).collect())
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, path::PathBuf};

    use super::*;

    #[test]
    fn the_words_of_the_command_are_understood_or_refused() {
        let add = |action, rule: &str, everywhere| PermissionsCommand::Add { action, rule: rule.into(), everywhere };
        let revoke = |rule: &str, everywhere| PermissionsCommand::Revoke { rule: rule.into(), everywhere };
        let table: &[(&[&str], Result<PermissionsCommand, &str>)] = &[
            (&[], Ok(PermissionsCommand::Usage)),
            (&["list"], Ok(PermissionsCommand::List { json: false })),
            (&["list", "--json"], Ok(PermissionsCommand::List { json: true })),
            (&["allow", "bash(git *)"], Ok(add(RuleAction::Allow, "bash(git *)", false))),
            (&["deny", "--global", "write"], Ok(add(RuleAction::Deny, "write", true))),
            (&["revoke", "1"], Ok(revoke("1", None))),
            (&["revoke", "read", "--project"], Ok(revoke("read", Some(false)))),
            (&["allow", "git", "status"], Err("takes one rule")),
            (&["allow"], Err("takes one rule")),
            (&["allow", "x", "--all"], Err("Unknown option --all")),
            (&["deny", "x", "--global", "--project"], Err("cannot be combined")),
            (&["forget"], Err("Unknown permissions command")),
        ];
        for (words, wanted) in table {
            match (parse(words), wanted) {
                (Ok(got), Ok(wanted)) => assert_eq!(got, *wanted, "{words:?}"),
                (Err(got), Err(part)) => assert!(got.to_string().contains(part), "{words:?}: {got}"),
                (got, _) => panic!("{words:?}: {got:?}"),
            }
        }
    }

    #[test]
    fn rules_are_remembered_listed_by_number_and_revoked() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap();
        let variables = HashMap::from([("TROUPE_DIR".to_owned(), project.join("user").display().to_string())]);
        let environment = Environment::new(Vec::new(), project.clone(), Some("/h".into()), variables).unwrap();
        let file: PathBuf = environment.user_dir.join(FILE);
        let add = |reach, action, rule| add(&environment, &file, reach, action, rule);
        assert!(list(&file, &project, false).unwrap().starts_with("Nothing is remembered"));
        add(Reach::Project(&project), RuleAction::Allow, "bash(git status *)").unwrap();
        add(Reach::Everywhere, RuleAction::Deny, "write(**/.env)").unwrap();
        assert!(add(Reach::Everywhere, RuleAction::Allow, "bash(a; b)").unwrap_err().contains("cannot be understood"));
        assert_eq!(
            list(&file, &project, false).unwrap(),
            "  1  allow  bash(git status *)  (this project)\n  2  deny   write(**/.env)  (all projects)\n"
        );
        assert!(list(&file, Path::new("/elsewhere"), true).unwrap().contains("\"source\": \"everywhere\""));
        assert!(revoke(&file, &project, "2", Some(false)).is_err(), "it is not this project's");
        assert_eq!(revoke(&file, &project, "2", None).unwrap(), "No longer remembered: deny write(**/.env)\n");
        revoke(&file, &project, "bash(git status *)", None).unwrap();
        assert!(revoke(&file, &project, "1", None).unwrap_err().contains("permissions list"));
    }
}
