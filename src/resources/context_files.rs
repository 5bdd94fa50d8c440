//! Instructions for agents that lie beside the code: AGENTS.md and its relatives.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::{
    text_file,
    warning::{Loaded, Warning},
};
use crate::store::regular_file;

/// The names of such files; the first regular one of a folder counts.
pub const NAMES: [&str; 5] = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

/// One file of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextFile {
    /// The file, absolute.
    pub path: PathBuf,
    /// Its text.
    pub content: String,
}

/// The instructions for a session in `cwd`: the user's, then those of each folder from the outermost down to `cwd`.
/// They are plain text and need no trust. A file that cannot be read gives a warning and its place to the next name.
#[must_use]
pub fn load(user_dir: &Path, cwd: &Path) -> Loaded<Vec<ContextFile>> {
    let shadow = Shadow::of(cwd);
    let mut shadowing = None;
    let mut found = Vec::new();
    // Outwards, since a worktree's own file decides about that of its repository.
    for folder in cwd.ancestors().filter(|folder| *folder != user_dir) {
        let file = first_of(folder);
        let name = file.value.as_ref().and_then(|file| file.path.file_name()).map(ToOwned::to_owned);
        match &shadow {
            Some(shadow) if folder == shadow.worktree => shadowing = name,
            Some(shadow) if folder == shadow.repository && name.is_some() && name == shadowing => continue,
            _ => {}
        }
        found.push(file);
    }
    found.push(first_of(user_dir));
    let mut loaded = Loaded::<Vec<_>>::default();
    for file in found.into_iter().rev() {
        loaded.value.extend(file.value);
        loaded.warnings.extend(file.warnings);
    }
    loaded
}

/// The user's own instructions alone.
#[must_use]
pub fn of_user(user_dir: &Path) -> Loaded<Vec<ContextFile>> {
    let file = first_of(user_dir);
    Loaded { value: file.value.into_iter().collect(), warnings: file.warnings }
}

/// The file of `folder` that counts.
fn first_of(folder: &Path) -> Loaded<Option<ContextFile>> {
    let mut warnings = Vec::new();
    for path in NAMES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()) {
        if let Some(owner) = stranger(folder, &path) {
            let text = format!(
                "is not used: it belongs to the user {owner}, in a folder that everybody may write to; copy it, or \
                 work in a folder of your own"
            );
            warnings.push(Warning::new(path, text));
            continue;
        }
        match text_file::read(&path) {
            Ok(text) => {
                warnings.extend(text.warnings);
                return Loaded { value: Some(ContextFile { path, content: text.value }), warnings };
            }
            Err(error) => warnings.push(Warning::new(path, format!("cannot be read: {error}"))),
        }
    }
    Loaded { value: None, warnings }
}

/// The owner of a file that somebody else may have put in the way of whoever works below, as in `/tmp`.
fn stranger(folder: &Path, path: &Path) -> Option<u32> {
    let (folder, file) = (folder.metadata().ok()?, path.metadata().ok()?);
    is_strangers(folder.mode(), file.uid(), rustix::process::geteuid().as_raw()).then(|| file.uid())
}

fn is_strangers(folder_mode: u32, owner: u32, me: u32) -> bool {
    const EVERYBODY_WRITES: u32 = 0o002;
    const ROOT: u32 = 0;
    folder_mode & EVERYBODY_WRITES != 0 && owner != me && owner != ROOT
}

/// A linked worktree inside the repository that it belongs to: both have the same files, and the worktree's copy is
/// the one that counts.
struct Shadow {
    worktree: PathBuf,
    repository: PathBuf,
}

impl Shadow {
    /// Nothing for a plain repository, a submodule, a worktree beside its repository or one of a bare repository.
    fn of(cwd: &Path) -> Option<Self> {
        let worktree = cwd.ancestors().find(|dir| dir.join(".git").exists())?;
        let link = regular_file::read_to_string(&worktree.join(".git")).ok()?;
        let git_dir = worktree.join(link.trim().strip_prefix("gitdir:")?.trim());
        // Only linked worktrees have this file: it leads to what they share.
        let shared = regular_file::read_to_string(&git_dir.join("commondir")).ok()?;
        let shared = git_dir.join(shared.trim()).canonicalize().ok()?;
        let repository = shared.parent().filter(|_| shared.file_name() == Some(".git".as_ref()))?;
        let is_repository = |dir: &&Path| dir.canonicalize().is_ok_and(|dir| dir == repository);
        let repository = worktree.ancestors().skip(1).find(is_repository)?;
        Some(Self { worktree: worktree.to_path_buf(), repository: repository.to_path_buf() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::testing::pipe_in;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[(&str, &str)]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for (path, text) in files {
                let path = tree.0.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            tree
        }

        /// The texts that a session in `cwd` sees, in order.
        fn texts(&self, cwd: &str) -> Vec<String> {
            let cwd = self.0.path().join(cwd);
            fs::create_dir_all(&cwd).unwrap();
            load(&self.0.path().join("user"), &cwd).value.into_iter().map(|file| file.content).collect()
        }
    }

    #[test]
    fn the_users_come_first_then_the_outermost_and_one_file_a_folder() {
        let tree = Tree::new(&[
            ("user/AGENTS.md", "GLOBAL"),
            ("CLAUDE.md", "UP"),
            ("a/AGENTS.md", "\u{feff}HERE"),
            ("a/CLAUDE.md", "NOT THIS"),
            ("a/b/AGENTS.override.md", "OVER"),
            ("a/b/AGENTS.md", "NOT THIS"),
        ]);
        assert_eq!(tree.texts("a"), ["GLOBAL", "UP", "HERE"]);
        assert_eq!(tree.texts("a/b"), ["GLOBAL", "UP", "HERE", "OVER"]);
        assert_eq!(tree.texts("c"), ["GLOBAL", "UP"]);
        // The user's folder above the session's: its file comes once, in front.
        assert_eq!(tree.texts("user/x"), ["GLOBAL", "UP"]);
    }

    #[test]
    fn folders_and_unreadable_files_leave_their_place_to_the_next_name() {
        let tree = Tree::new(&[
            ("a/AGENTS.md/x", ""),
            ("a/CLAUDE.md", "C"),
            ("b/AGENTS.md", ""),
            ("b/CLAUDE.md", "C"),
            ("c/AGENTS.md", "binary\0"),
            ("c/CLAUDE.md", "C"),
            ("d/CLAUDE.md", "C"),
        ]);
        pipe_in(&tree.0.path().join("d"), "AGENTS.md");
        std::os::unix::fs::symlink("/dev/zero", tree.0.path().join("d/AGENTS.override.md")).unwrap();
        assert_eq!(tree.texts("a"), ["C"]);
        assert_eq!(tree.texts("b"), [""], "an empty file counts");
        assert_eq!(tree.texts("d"), ["C"], "nothing waits for a pipe or reads a device");
        let loaded = load(&tree.0.path().join("user"), &tree.0.path().join("c"));
        assert_eq!(loaded.value[0].content, "C");
        let [warning] = loaded.warnings.as_slice() else { panic!("{:?}", loaded.warnings) };
        assert!(warning.to_string().contains("c/AGENTS.md: cannot be read: it holds zero bytes"), "{warning}");
    }

    #[test]
    fn files_of_strangers_count_only_where_they_alone_may_write() {
        // mode of the folder, owner, me
        for (mode, owner, me, is_refused) in [
            (0o1777, 1001, 1000, true),
            (0o1777, 1000, 1000, false),
            (0o1777, 0, 1000, false),
            (0o755, 1001, 1000, false),
            (0o777, 1000, 0, true),
        ] {
            assert_eq!(is_strangers(mode, owner, me), is_refused, "{mode:o} {owner} {me}");
        }
    }

    /// A repository `main` with a linked worktree at `worktree`, laid out as git does it.
    fn with_worktree(worktree: &str, files: &[(&str, &str)]) -> Tree {
        let tree = Tree::new(files);
        let root = tree.0.path();
        let git_dir = root.join("main/.git/worktrees/w");
        fs::create_dir_all(&git_dir).unwrap();
        fs::create_dir_all(root.join(worktree)).unwrap();
        fs::write(git_dir.join("commondir"), "../..\n").unwrap();
        fs::write(root.join(worktree).join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        tree
    }

    #[test]
    fn a_worktree_inside_its_repository_shadows_the_file_of_the_same_name() {
        let main = [("main/AGENTS.md", "MAIN"), ("main/wts/CLAUDE.md", "BETWEEN")];
        // files of the worktree, texts in order
        type Row<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
        let table: &[Row] = &[
            (&[("main/wts/w/AGENTS.md", "W"), ("main/wts/w/deep/AGENTS.md", "D")], &["BETWEEN", "W", "D"]),
            (&[("main/wts/w/CLAUDE.md", "W")], &["MAIN", "BETWEEN", "W"]),
            (&[("main/wts/w/AGENTS.override.md", "W")], &["MAIN", "BETWEEN", "W"]),
            (&[("main/wts/w/deep/AGENTS.md", "D")], &["MAIN", "BETWEEN", "D"]),
        ];
        for (files, texts) in table {
            let tree = with_worktree("main/wts/w", &[&main, *files].concat());
            assert_eq!(tree.texts("main/wts/w/deep"), *texts, "{files:?}");
        }
    }

    #[test]
    fn other_kinds_of_checkouts_shadow_nothing() {
        let tree = with_worktree("beside", &[("main/AGENTS.md", "MAIN"), ("beside/AGENTS.md", "W")]);
        assert_eq!(tree.texts("beside"), ["W"]);
        // A submodule: its link leads into the repository, but shares nothing.
        let tree = Tree::new(&[
            ("main/AGENTS.md", "MAIN"),
            ("main/.git/modules/s/HEAD", ""),
            ("main/s/.git", "gitdir: ../.git/modules/s\n"),
            ("main/s/AGENTS.md", "S"),
        ]);
        assert_eq!(tree.texts("main/s"), ["MAIN", "S"]);
    }

    #[test]
    fn fc_107_hidden_text_in_a_context_file_is_reported_and_shown() {
        let tree = Tree::new(&[("a/AGENTS.md", "be kind\u{e0041}\u{e0042}")]);
        let loaded = load(&tree.0.path().join("user"), &tree.0.path().join("a"));
        assert_eq!(loaded.value[0].content, "be kind<U+E0041><U+E0042>");
        let [warning] = loaded.warnings.as_slice() else { panic!("{:?}", loaded.warnings) };
        assert!(warning.path.ends_with("a/AGENTS.md"));
        assert!(warning.message.contains("U+E0041") && warning.message.contains("U+E0042"), "{warning}");
    }
}
