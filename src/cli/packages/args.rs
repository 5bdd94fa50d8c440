//! `install`, `remove` and `list` as they are typed.

use crate::cli::subcommand::{Parsed, Subcommand, usage, wrong};

/// A command about packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackagesCommand {
    /// Install a package and note it in the settings.
    Install(Target),
    /// Take a package out of the settings and delete what was installed.
    Remove(Target),
    /// Print the packages in the settings.
    List {
        /// `--approve` or `--no-approve`.
        trust: Option<bool>,
    },
}

/// Which package, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The source as it was typed.
    pub source: String,
    /// In the project's settings instead of the user's.
    pub local: bool,
    /// `--approve` or `--no-approve`.
    pub trust: Option<bool>,
}

const INSTALL_USAGE: &str = "troupe install <source> [-l|--local] [--approve|--no-approve]\n\nA source is a path, \
                             npm:name[@version], or git:host/owner/name[@ref].";
const REMOVE_USAGE: &str = "troupe remove <source> [-l|--local] [--approve|--no-approve]";
const LIST_USAGE: &str = "troupe list [--approve|--no-approve]";

/// The command that `verb` and the words behind it are.
pub(in crate::cli) fn parse(verb: &str, rest: &[&str]) -> Parsed {
    let text = match verb {
        "install" => INSTALL_USAGE,
        "list" => LIST_USAGE,
        _ => REMOVE_USAGE,
    };
    let takes_source = verb != "list";
    let mut source: Option<&str> = None;
    let (mut local, mut trust) = (false, None);
    for word in rest {
        match *word {
            "-h" | "--help" => return usage(text),
            "-a" | "--approve" => trust = Some(true),
            "-na" | "--no-approve" => trust = Some(false),
            "-l" | "--local" if takes_source => local = true,
            word if word.starts_with('-') => return wrong(format!("Unknown option {word} for \"{verb}\"."), text),
            word if !takes_source || source.is_some() => {
                return wrong(format!("Unexpected argument {word} for \"{verb}\"."), text);
            }
            word => source = Some(word),
        }
    }
    if !takes_source {
        return Ok(Subcommand::Packages(PackagesCommand::List { trust }));
    }
    let Some(source) = source else { return wrong(format!("Missing the source for \"{verb}\"."), text) };
    let target = Target { source: source.to_owned(), local, trust };
    let is_install = verb == "install";
    let command = if is_install { PackagesCommand::Install(target) } else { PackagesCommand::Remove(target) };
    Ok(Subcommand::Packages(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_flags_come_in_any_order() {
        let parse_line = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            parse(words[0], &words[1..])
        };
        let target = |local, trust| Target { source: "npm:x".into(), local, trust };
        for (line, command) in [
            ("install npm:x", PackagesCommand::Install(target(false, None))),
            ("install -l npm:x -a", PackagesCommand::Install(target(true, Some(true)))),
            ("uninstall npm:x --local -na", PackagesCommand::Remove(target(true, Some(false)))),
            ("remove npm:x", PackagesCommand::Remove(target(false, None))),
            ("list --approve", PackagesCommand::List { trust: Some(true) }),
        ] {
            assert_eq!(parse_line(line), Ok(Subcommand::Packages(command)), "{line}");
        }
        for (line, text) in [
            ("install", "Missing the source for \"install\".\nUsage: troupe install <source>"),
            ("remove a b", "Unexpected argument b"),
            ("install a --force", "Unknown option --force for \"install\"."),
            ("list -l", "Unknown option -l for \"list\"."),
            ("list x", "Unexpected argument x"),
        ] {
            let error = parse_line(line).unwrap_err().to_string();
            assert!(error.starts_with(text), "{line}: {error}");
        }
    }
}
