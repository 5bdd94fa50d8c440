//! Finding the files that may be skills.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use super::{
    super::{
        roots::{Root, RootKind},
        warning::Warning,
    },
    Candidate, SKILL_FILE,
};

/// Folders looked at below one place. A link into a large tree must not hold up the start.
const MAX_FOLDERS: usize = 2000;
/// Files and folders looked at in one folder.
const MAX_IN_FOLDER: usize = 5000;
/// Files and folders looked at below one place.
const MAX_ENTRIES: usize = 20_000;
/// Folders inside each other. Deeper trees are no collections of skills.
const MAX_DEPTH: usize = 32;

/// Files whose patterns keep folders and files out.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".fdignore"];

/// The files at `root` that may be skills, in the order of their paths.
pub(super) fn candidates(root: &Root, warnings: &mut Vec<Warning>) -> Vec<Candidate> {
    if root.kind == RootKind::Named && !root.path.is_dir() {
        if root.path.is_file() {
            return vec![Candidate { path: root.path.clone(), is_meant: true }];
        }
        warnings.push(Warning::new(&root.path, "there is no such skill"));
        return Vec::new();
    }
    let mut walk = Walk {
        kind: root.kind,
        ignores: Vec::new(),
        seen: HashSet::new(),
        entries: 0,
        is_over: false,
        found: Vec::new(),
        warnings,
    };
    walk.folder(&root.path, 0);
    walk.found
}

struct Walk<'a> {
    kind: RootKind,
    /// The patterns of the folders on the way, outermost first.
    ignores: Vec<Gitignore>,
    /// Folders by their real paths: links may lead in circles.
    seen: HashSet<PathBuf>,
    /// Files and folders that were looked at.
    entries: usize,
    /// A bound ended the walk.
    is_over: bool,
    found: Vec<Candidate>,
    warnings: &'a mut Vec<Warning>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) {
        let Ok(real) = folder.canonicalize() else { return };
        if !self.seen.insert(real) {
            return;
        }
        if self.is_over {
            return;
        }
        if self.seen.len() > MAX_FOLDERS {
            return self.end(folder, &format!("more than {MAX_FOLDERS} folders"));
        }
        if depth > MAX_DEPTH {
            return self.cut(folder, &format!("more than {MAX_DEPTH} folders inside each other"));
        }
        let patterns = patterns(folder);
        let has_patterns = patterns.is_some();
        self.ignores.extend(patterns);
        self.inside(folder, depth);
        if has_patterns {
            self.ignores.pop();
        }
    }

    fn end(&mut self, folder: &Path, found: &str) {
        self.is_over = true;
        self.cut(folder, found);
    }

    fn cut(&mut self, folder: &Path, found: &str) {
        let text = format!("the search for skills stopped here: there are {found}; name a smaller folder");
        self.warnings.push(Warning::new(folder, text));
    }

    fn inside(&mut self, folder: &Path, depth: usize) {
        let skill = folder.join(SKILL_FILE);
        if skill.is_file() && !self.is_ignored(&skill, false) {
            // The rest of the folder belongs to this skill.
            self.found.push(Candidate { path: skill, is_meant: true });
            return;
        }
        for (path, is_folder) in self.entries_of(folder) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(".");
            if name.starts_with('.') || name == "node_modules" || self.is_ignored(&path, is_folder) {
                continue;
            }
            if is_folder {
                self.folder(&path, depth + 1);
            } else if name != SKILL_FILE && name.ends_with(".md") && self.takes_loose_files(depth) && path.is_file() {
                self.found.push(Candidate { path, is_meant: false });
            }
        }
    }

    /// What lies in a folder, in order, and whether it is a folder itself or a link to one.
    fn entries_of(&mut self, folder: &Path) -> Vec<(PathBuf, bool)> {
        let Ok(entries) = folder.read_dir() else { return Vec::new() };
        let mut found = Vec::new();
        for entry in entries.filter_map(Result::ok) {
            self.entries += 1;
            if found.len() == MAX_IN_FOLDER {
                self.cut(folder, &format!("more than {MAX_IN_FOLDER} files in one folder"));
                break;
            }
            if self.entries > MAX_ENTRIES {
                self.end(folder, &format!("more than {MAX_ENTRIES} files"));
                break;
            }
            let path = entry.path();
            // Reading the folder tells what most entries are; only links must be asked.
            let is_folder = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => path.is_dir(),
                Ok(kind) => kind.is_dir(),
                Err(_) => false,
            };
            found.push((path, is_folder));
        }
        found.sort();
        found
    }

    fn takes_loose_files(&self, depth: usize) -> bool {
        match self.kind {
            RootKind::AgentsFolder => depth > 0,
            RootKind::Folder | RootKind::Named => depth == 0,
        }
    }

    fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        for patterns in self.ignores.iter().rev() {
            match patterns.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// The patterns of a folder's ignore files; those that are malformed say nothing.
fn patterns(folder: &Path) -> Option<Gitignore> {
    let files: Vec<_> = IGNORE_FILES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect();
    if files.is_empty() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(folder);
    for file in files {
        let _ = builder.add(file);
    }
    builder.build().ok()
}
