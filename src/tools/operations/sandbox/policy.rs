//! What a confined agent may do: a value, made once, that the file tools and the walls around commands both follow.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    SandboxError, SandboxMode,
    secrets::{self, Home},
};
use crate::tools::{Local, operations::Operations as _};

/// What may be done with a path and all below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Hidden,
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// What the user allows and forbids beyond the mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Commands may use the network.
    pub network: bool,
    /// Commands may use sockets of this machine's other programs (the way to Docker, agents for keys, the desktop).
    pub unix_sockets: bool,
    /// Further folders that may be written in the mode `workspace`.
    pub writable: Vec<PathBuf>,
    /// Secret places that may be read all the same.
    pub readable: Vec<PathBuf>,
    /// Further places that may not even be read.
    pub denied: Vec<PathBuf>,
}

/// What a folder that may be written holds that runs later, outside of the sandbox: only to be read. What is missing
/// is put aside when a command makes it.
const PROTECTED: [&str; 6] = [".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".troupe", ".pi"];

/// What a confined agent may do.
///
/// Every path of [`Self::rules`] is absolute and without links. The deepest rule that contains a path decides; where
/// there is none, reading is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    mode: SandboxMode,
    network: bool,
    unix_sockets: bool,
    planning: bool,
    rules: BTreeMap<PathBuf, Access>,
    roots: Vec<PathBuf>,
}

impl Policy {
    /// The policy for an agent in `workspace`. `mode` is not [`SandboxMode::Off`], which needs no policy.
    ///
    /// # Errors
    /// The mode `workspace` in a folder that holds the user's home folder: everything would be writable. Or in this
    /// program's own folder: what decides about the sandbox would be.
    pub fn new(mode: SandboxMode, workspace: &Path, home: &Home<'_>, grants: &Grants) -> Result<Self, SandboxError> {
        let workspace = Local.real_path(workspace);
        let mut policy = Self {
            mode,
            network: grants.network,
            unix_sockets: grants.unix_sockets,
            planning: false,
            rules: BTreeMap::new(),
            roots: Vec::new(),
        };
        for (path, access) in secrets::rules(home) {
            policy.set(&path, access);
        }
        for path in &grants.readable {
            policy.set(path, Access::Read);
        }
        let is_user_dir = Local.real_path(home.user_dir) == workspace;
        match mode {
            SandboxMode::Workspace if is_user_dir => return Err(SandboxError::WorkspaceIsUserFolder(workspace)),
            SandboxMode::Workspace => {
                if home.folder.is_some_and(|home| Local.real_path(home).starts_with(&workspace)) {
                    return Err(SandboxError::WorkspaceHoldsHome(workspace));
                }
                for root in std::iter::once(&workspace).chain(&grants.writable) {
                    policy.open_root(root);
                }
            }
            // The folder that the user works in is there to be read, also where it is in a secret place.
            SandboxMode::ReadOnly | SandboxMode::Off => policy.set(&workspace, Access::Read),
        }
        // Working on settings is no reason to read keys.
        if is_user_dir {
            policy.set(&workspace.join("auth.json"), Access::Hidden);
        }
        for path in &grants.denied {
            policy.set(path, Access::Hidden);
        }
        Ok(policy)
    }

    fn set(&mut self, path: &Path, access: Access) {
        self.rules.insert(Local.real_path(path), access);
    }

    /// Makes a folder writable, apart from what is protected in it.
    fn open_root(&mut self, root: &Path) {
        let root = Local.real_path(root);
        self.rules.insert(root.clone(), Access::Write);
        self.protect(&root);
        self.roots.push(root);
    }

    fn protect(&mut self, root: &Path) {
        for name in PROTECTED {
            self.set(&root.join(name), Access::Read);
        }
        let git = root.join(".git");
        match std::fs::symlink_metadata(&git) {
            Ok(metadata) if metadata.is_file() => {
                self.set(&git, Access::Read);
                for (path, access) in super::git::worktree_rules(&git) {
                    self.set(&path, access);
                }
            }
            Ok(metadata) if metadata.is_dir() => {
                for module in super::git::modules(&git) {
                    self.set(&module.join("hooks"), Access::Read);
                    self.set(&module.join("config"), Access::Read);
                }
            }
            _ => {}
        }
    }

    /// The policy with one more folder that may be written: the private temporary one.
    #[must_use]
    pub fn with_temp(mut self, temp: &Path) -> Self {
        self.set(temp, Access::Write);
        self
    }

    /// The policy as one of plan mode: refusals speak of that.
    #[must_use]
    pub fn for_planning(self) -> Self {
        Self { planning: true, ..self }
    }

    /// Whether plan mode is what confines.
    #[must_use]
    pub fn is_for_planning(&self) -> bool {
        self.planning
    }

    /// The same policy for plan mode: nothing may be written except what `temp` holds.
    #[must_use]
    pub fn read_only(&self, temp: &Path) -> Self {
        let temp = Local.real_path(temp);
        let rules = self.rules.iter().map(|(path, access)| match access {
            Access::Write if *path != temp => (path.clone(), Access::Read),
            access => (path.clone(), *access),
        });
        Self { mode: SandboxMode::ReadOnly, rules: rules.collect(), roots: Vec::new(), ..self.clone() }.for_planning()
    }

    /// What may be done with `real`, a path without links.
    #[must_use]
    pub fn access(&self, real: &Path) -> Access {
        if secrets::is_of_a_process(real) {
            return Access::Hidden;
        }
        real.ancestors().find_map(|path| self.rules.get(path)).copied().unwrap_or(Access::Read)
    }

    /// The mode.
    #[must_use]
    pub fn mode(&self) -> SandboxMode {
        self.mode
    }

    /// Whether commands may use the network.
    #[must_use]
    pub fn network(&self) -> bool {
        self.network
    }

    /// Whether commands may use sockets of other programs.
    #[must_use]
    pub fn unix_sockets(&self) -> bool {
        self.unix_sockets
    }

    /// The rules by path: a rule comes after those of the folders above it.
    pub fn rules(&self) -> impl Iterator<Item = (&Path, Access)> {
        self.rules.iter().map(|(path, access)| (path.as_path(), *access))
    }

    /// The folders that may be written, without the temporary one: the workspace first.
    #[must_use]
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Whether a rule for something below `path` says something else than the one for `path`.
    #[must_use]
    pub fn has_rules_below(&self, path: &Path) -> bool {
        self.rules.keys().any(|other| other != path && other.starts_with(path))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn policy(mode: SandboxMode, workspace: &Path, home: &Path, grants: &Grants) -> Result<Policy, SandboxError> {
        let user_dir = home.join(".troupe");
        Policy::new(mode, workspace, &Home { folder: Some(home), user_dir: &user_dir }, grants)
    }

    #[test]
    fn the_deepest_rule_decides() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let home = root.join("home");
        let work = home.join("work");
        fs::create_dir_all(work.join(".git")).unwrap();
        let grants = Grants {
            writable: vec![root.join("data")],
            readable: vec![home.join(".aws/config")],
            denied: vec![work.join("keys"), root.join("data/private")],
            ..Grants::default()
        };
        use Access::{Hidden, Read, Write};
        // path, in workspace, in read-only
        let table = [
            ("home/work", Write, Read),
            ("home/work/src/x.rs", Write, Read),
            ("home/work/.git", Write, Read),
            ("home/work/.git/index", Write, Read),
            ("home/work/.git/hooks/pre-commit", Read, Read),
            ("home/work/.git/config", Read, Read),
            ("home/work/.git/commondir", Read, Read),
            ("home/work/.troupe/extensions/x", Read, Read),
            ("home/work/.pi", Read, Read),
            ("home/work/keys/k", Hidden, Hidden),
            ("home/work-not", Read, Read),
            ("data/x", Write, Read),
            ("data/.git/hooks", Read, Read),
            ("data/private/x", Hidden, Hidden),
            ("home/.ssh/id_ed25519", Hidden, Hidden),
            ("home/.aws/credentials", Hidden, Hidden),
            ("home/.aws/config", Read, Read),
            ("home/.troupe/auth.json", Hidden, Hidden),
            ("home/.troupe/sessions/x.jsonl", Hidden, Hidden),
            ("home/.troupe/skills/x/SKILL.md", Read, Read),
            ("home/notes.txt", Read, Read),
        ];
        let workspace = policy(SandboxMode::Workspace, &work, &home, &grants).unwrap();
        let read_only = policy(SandboxMode::ReadOnly, &work, &home, &grants).unwrap();
        for (path, in_workspace, in_read_only) in table {
            let path = root.join(path);
            assert_eq!(workspace.access(&path), in_workspace, "{}", path.display());
            assert_eq!(read_only.access(&path), in_read_only, "{}", path.display());
            let derived = workspace.read_only(&root.join("tmp"));
            assert_eq!(derived.access(&path), in_read_only, "derived: {}", path.display());
        }
        assert_eq!(workspace.access(Path::new("/proc/1/environ")), Hidden);
        assert_eq!(workspace.access(Path::new("/proc/cpuinfo")), Read);
    }

    #[test]
    fn a_workspace_that_holds_the_home_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for folder in [home.as_path(), home.parent().unwrap(), Path::new("/")] {
            let refused = policy(SandboxMode::Workspace, folder, &home, &Grants::default());
            assert!(matches!(refused, Err(SandboxError::WorkspaceHoldsHome(_))), "{}", folder.display());
            assert!(policy(SandboxMode::ReadOnly, folder, &home, &Grants::default()).is_ok());
        }
    }

    #[test]
    fn the_programs_own_folder_is_no_workspace_and_its_keys_stay_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let user_dir = home.join(".troupe");
        fs::create_dir(&user_dir).unwrap();
        let refused = policy(SandboxMode::Workspace, &user_dir, &home, &Grants::default());
        assert!(matches!(refused, Err(SandboxError::WorkspaceIsUserFolder(_))));
        let read_only = policy(SandboxMode::ReadOnly, &user_dir, &home, &Grants::default()).unwrap();
        assert_eq!(read_only.access(&user_dir.join("settings.json")), Access::Read);
        assert_eq!(read_only.access(&user_dir.join("auth.json")), Access::Hidden);
    }

    #[test]
    fn a_work_tree_may_write_its_repository_but_not_what_runs_from_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (main, tree, home) = (root.join("main/.git"), root.join("tree"), root.join("home"));
        let own = main.join("worktrees/tree");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(&tree).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        let check = || policy(SandboxMode::Workspace, &tree, &home, &Grants::default()).unwrap();
        use Access::{Read, Write};
        for (path, access) in [
            (tree.join(".git"), Read),
            (own.join("index"), Write),
            (own.join("commondir"), Read),
            (own.join("config.worktree"), Read),
            (main.join("objects/aa/bb"), Write),
            (main.join("hooks/post-checkout"), Read),
            (main.join("config"), Read),
            (root.join("main/file"), Read),
        ] {
            assert_eq!(check().access(&path), access, "{}", path.display());
        }
        // A work tree that the repository does not know points anywhere.
        fs::write(own.join("gitdir"), "/elsewhere/.git\n").unwrap();
        assert_eq!(check().access(&own.join("index")), Read);
    }
}
