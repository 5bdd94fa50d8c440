//! Which files ignore files name, without a file system.
//!
//! What the walks of this machine get from the `ignore` crate's walker: a folder's own rules come before those of the
//! folders around it, `.rgignore` or `.fdignore` before `.ignore`, that before `.gitignore`, that before
//! `.git/info/exclude`; and git's rules end at a repository's edge.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use super::tree::{Node, Tree};

/// Kinds of rules, those that win first.
const KINDS: usize = 4;
/// The first kind that is git's.
const GIT: usize = 2;

/// The rules of a tree for a search below some folder.
pub struct Ignores {
    folders: HashMap<PathBuf, [Option<Gitignore>; KINDS]>,
    repositories: Vec<PathBuf>,
    /// Git's rules count, also outside of repositories.
    everywhere: bool,
}

impl Ignores {
    /// Gathers the rules for `root`: below it and in the folders around it. `own` is the searching program's own ignore
    /// file; `require_git`: `.gitignore` counts only inside a repository.
    pub fn of(tree: &Tree, root: &Path, own: &str, require_git: bool) -> Self {
        let names = [own, ".ignore", ".gitignore", ".git/info/exclude"];
        let mut ignores = Self { folders: HashMap::new(), repositories: Vec::new(), everywhere: !require_git };
        let below = tree.below(root).filter(|(_, node)| matches!(node, Node::Folder)).map(|(path, _)| path);
        for folder in root.ancestors().chain(below) {
            if tree.node(&folder.join(".git")).is_some() {
                ignores.repositories.push(folder.to_owned());
            }
            let rules = names.map(|name| rules(tree, folder, &folder.join(name)));
            if rules.iter().any(Option::is_some) {
                ignores.folders.insert(folder.to_owned(), rules);
            }
        }
        ignores
    }

    /// Whether a rule names `path`. That of a folder around it is the walk's business.
    pub fn name(&self, path: &Path, is_folder: bool) -> bool {
        let in_repository = self.everywhere || path.ancestors().skip(1).any(|folder| self.is_repository(folder));
        let mut decided = [None; KINDS];
        let mut beyond = false;
        for folder in path.ancestors().skip(1) {
            for (kind, rules) in self.folders.get(folder).into_iter().flatten().enumerate() {
                let of_git = kind >= GIT;
                if decided[kind].is_none() && (!of_git || (in_repository && !beyond)) {
                    decided[kind] = rules.as_ref().and_then(|rules| decision(rules.matched(path, is_folder)));
                }
            }
            beyond |= self.is_repository(folder);
        }
        decided.into_iter().flatten().next().unwrap_or(false)
    }

    fn is_repository(&self, folder: &Path) -> bool {
        self.repositories.iter().any(|repository| repository == folder)
    }
}

fn decision<T>(found: Match<T>) -> Option<bool> {
    match found {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

fn rules(tree: &Tree, folder: &Path, file: &Path) -> Option<Gitignore> {
    let text = tree.read(file).ok()?;
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(&text).lines() {
        // A line that is no glob is left out, as by the programs that we imitate.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}
