use std::{
    collections::BTreeSet,
    os::unix::fs::{PermissionsExt, symlink},
};

use super::*;

struct Tree {
    _folder: tempfile::TempDir,
    root: PathBuf,
    index: Index,
}

static GO_ON: AtomicBool = AtomicBool::new(false);

impl Tree {
    fn new(files: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in files {
            write(&root.join(file), file);
        }
        let index = Index::first(&root, &GO_ON).unwrap();
        Self { _folder: folder, root, index }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// What changed: `+` is new, `-` is gone, `~` is another; a folder ends in `/`.
    fn changes(&mut self) -> BTreeSet<String> {
        let (changes, _) = self.index.refresh(&self.root, &GO_ON).unwrap();
        let told = changes.iter().map(|change| {
            let sign = match (&change.before, &change.after) {
                (None, _) => '+',
                (_, None) => '-',
                _ => '~',
            };
            let is_folder = [change.before, change.after].into_iter().flatten().any(|stamp| stamp == Stamp::FOLDER);
            let end = if is_folder { "/" } else { "" };
            format!("{sign}{}{end}", change.path.strip_prefix(&self.root).unwrap().display())
        });
        let told: BTreeSet<String> = told.collect();
        // The index is the same as one that is made anew.
        let fresh = Index::first(&self.root, &GO_ON).unwrap();
        let all = |index: &Index| index.files().map(|(path, stamp)| (path, *stamp)).collect::<HashMap<_, _>>();
        assert_eq!(all(&self.index), all(&fresh));
        assert_eq!((self.index.len(), self.index.folders.len()), (fresh.len(), fresh.folders.len()));
        told
    }
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn every_change_is_seen_once() {
    let mut tree = Tree::new(&["a", "b/c", "b/d/e", ".hidden/x", "odd \u{e9}\n name"]);
    assert_eq!(tree.index.len(), 5);
    assert_eq!(tree.changes(), set(&[]));
    write(&tree.path("a"), "longer than before");
    write(&tree.path("b/new"), "x");
    write(&tree.path("n/e/w"), "x");
    fs::remove_file(tree.path("b/c")).unwrap();
    symlink("a", tree.path("link")).unwrap();
    assert_eq!(tree.changes(), set(&["~a", "+b/new", "+n/", "+n/e/", "+n/e/w", "-b/c", "+link"]));
    assert_eq!(tree.changes(), set(&[]));
    fs::set_permissions(tree.path("a"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::rename(tree.path("b"), tree.path("z")).unwrap();
    let expected = ["~a", "-b/", "-b/new", "-b/d/", "-b/d/e", "+z/", "+z/new", "+z/d/", "+z/d/e"];
    assert_eq!(tree.changes(), set(&expected));
    fs::remove_dir_all(tree.path("z")).unwrap();
    assert_eq!(tree.changes(), set(&["-z/", "-z/new", "-z/d/", "-z/d/e"]));
}

#[test]
fn what_git_ignores_is_not_looked_at_and_a_new_rule_is_no_change() {
    let mut tree = Tree::new(&["a", "out/1", "out/2", ".git/config"]);
    assert_eq!(tree.index.len(), 3);
    write(&tree.path(".gitignore"), "out/\n*.log\n");
    write(&tree.path("x.log"), "x");
    assert_eq!(tree.changes(), set(&["+.gitignore"]));
    assert_eq!(tree.index.len(), 2);
    write(&tree.path("out/3"), "x");
    write(&tree.path("b"), "x");
    assert_eq!(tree.changes(), set(&["+b"]));
    write(&tree.path(".gitignore"), "*.log, and nothing else\n");
    fs::remove_file(tree.path("a")).unwrap();
    let changes = tree.changes();
    assert!(changes.contains("~.gitignore") && changes.contains("-a"), "{changes:?}");
}

#[test]
fn many_changed_folders_are_walked_again() {
    let names: Vec<String> = (0..LISTED_AT_MOST + 20).map(|n| format!("d{n}/f")).collect();
    let mut tree = Tree::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for name in &names {
        write(&tree.path(&format!("{name}2")), "x");
    }
    fs::remove_dir_all(tree.path("d7")).unwrap();
    let changes = tree.changes();
    assert_eq!(changes.len(), names.len() - 1 + 2, "each new file but d7's, and d7 with its file");
    assert!(changes.contains("-d7/") && changes.contains("-d7/f") && changes.contains("+d8/f2"));
}

#[test]
fn a_file_that_was_written_just_now_is_named_as_doubtful() {
    let mut tree = Tree::new(&["a", "sub/b"]);
    fs::File::options().write(true).open(tree.path("sub/b")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    tree.index = Index::first(&tree.root, &GO_ON).unwrap();
    let (_, fresh) = tree.index.refresh(&tree.root, &GO_ON).unwrap();
    assert!(fresh.contains(&tree.path("a")) && fresh.contains(&tree.path("sub/b")), "the second was changed just now");
    let later = now() + 10 * super::super::stamp::TICK;
    tree.index.looked = later;
    let (changes, fresh) = tree.index.refresh(&tree.root, &GO_ON).unwrap();
    assert_eq!((changes.len(), fresh.len()), (0, 0));
}

#[test]
fn a_cancelled_walk_ends() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a"), "x");
    assert!(matches!(Index::first(folder.path(), &AtomicBool::new(true)), Err(IndexError::Cancelled)));
}
