use super::*;
use crate::protocol::{
    EntryId,
    sibling::{SiblingId, SiblingSpec},
};

fn repository() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let git = Git::in_folder(dir.path());
    git.run(&["init", "--quiet", "--initial-branch", "main"]).unwrap();
    for (key, value) in [("user.name", "T"), ("user.email", "t@example.invalid")] {
        git.run(&["config", key, value]).unwrap();
    }
    fs::create_dir(dir.path().join("sub")).unwrap();
    fs::write(dir.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(dir.path().join("sub/b.txt"), "b\n").unwrap();
    git.run(&["add", "--all"]).unwrap();
    git.run(&["commit", "--quiet", "-m", "first"]).unwrap();
    dir
}

fn note(sessions: &Path) -> SpawnNote {
    SpawnNote {
        id: SiblingId::root().child(1),
        session: "root".into(),
        session_id: "0198-12345678".into(),
        entry: EntryId::from("00000001"),
        session_file: Some(sessions.join("agent-1.jsonl").display().to_string()),
        spec: SiblingSpec::of_task("x"),
    }
}

#[test]
fn fc_095_without_a_repository_there_is_an_error_and_no_fallback() {
    let (dir, sessions) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let error = open(dir.path(), &note(sessions.path())).unwrap_err();
    assert!(error.contains("is in no git repository") && error.contains("isolation shared"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count() + fs::read_dir(sessions.path()).unwrap().count(), 0);
    Git::in_folder(dir.path()).run(&["init", "--quiet"]).unwrap();
    let error = open(dir.path(), &note(sessions.path())).unwrap_err();
    assert!(error.contains("has no commit yet"), "{error}");
}

#[test]
fn a_worktree_stands_for_the_parents_folder_and_is_found_again() {
    let (dir, sessions) = (repository(), tempfile::tempdir().unwrap());
    let note = note(sessions.path());
    let first = open(&dir.path().join("sub"), &note).unwrap();
    assert_eq!(fs::read_to_string(first.folder.join("b.txt")).unwrap(), "b\n");
    fs::write(first.folder.join("b.txt"), "changed\n").unwrap();
    let again = open(&dir.path().join("sub"), &note).unwrap();
    assert_eq!(fs::read_to_string(again.folder.join("b.txt")).unwrap(), "changed\n");
    assert_eq!(fs::read_to_string(dir.path().join("sub/b.txt")).unwrap(), "b\n", "the parent's file is its own");
}

#[test]
fn a_patch_is_put_in_whole_or_not_at_all() {
    let dir = repository();
    let (apart, git) = (tempfile::tempdir().unwrap(), Git::in_folder(dir.path()));
    fs::write(dir.path().join("a.txt"), "one\n2\nthree\n").unwrap();
    fs::write(dir.path().join("new.txt"), "n\n").unwrap();
    git.run(&["add", "--all"]).unwrap();
    let patch = apart.path().join("x.patch");
    fs::write(&patch, git.bytes(&["diff", "--cached", "--binary"]).unwrap()).unwrap();
    git.run(&["reset", "--hard", "--quiet"]).unwrap();
    let merged = merge::apply(&dir.path().join("sub"), &patch).unwrap();
    assert_eq!((merged.files, merged.conflicts), (vec!["a.txt".to_owned(), "new.txt".to_owned()], vec![]));
    assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "one\n2\nthree\n");

    git.run(&["checkout", "--quiet", "--", "a.txt"]).unwrap();
    fs::remove_file(dir.path().join("new.txt")).unwrap();
    fs::write(dir.path().join("a.txt"), "one\nzwei\nthree\n").unwrap();
    let merged = merge::apply(dir.path(), &patch).unwrap();
    assert_eq!((merged.files, merged.conflicts), (vec![], vec!["a.txt".to_owned()]));
    assert!(!dir.path().join("new.txt").exists(), "nothing of it is there");
}

#[test]
fn a_branch_whose_worktree_went_before_a_kill_goes_with_the_next_look() {
    let (dir, sessions) = (repository(), tempfile::tempdir().unwrap());
    let (note, git) = (note(sessions.path()), Git::in_folder(dir.path()));
    let is_there = || has_branch(&git, &branch_of(&note));
    open(dir.path(), &note).unwrap();
    clear(&note, Some(dir.path()), WorktreeFate::Patch).unwrap();
    assert!(!place_of(&note).exists() && is_there());
    clear(&note, Some(dir.path()), WorktreeFate::Drop).unwrap();
    assert!(!is_there());
    clear(&note, Some(dir.path()), WorktreeFate::Drop).unwrap();
}

#[test]
fn a_change_in_the_second_of_the_checkout_is_in_the_patch() {
    let (dir, sessions) = (repository(), tempfile::tempdir().unwrap());
    let note = note(sessions.path());
    let worktree = open(dir.path(), &note).unwrap();
    let (file, git) = (worktree.folder.join("a.txt"), Git::in_folder(&worktree.folder));
    let index = PathBuf::from(git.line(&["rev-parse", "--absolute-git-dir"]).unwrap()).join("index");
    // All of it, and the change, in one second some time ago, as git sees it.
    let second = fs::metadata(&file).unwrap().modified().unwrap() - std::time::Duration::from_secs(10);
    let set_time = |path: &Path| fs::File::options().write(true).open(path).unwrap().set_modified(second).unwrap();
    git.run(&["config", "core.trustctime", "false"]).unwrap();
    set_time(&file);
    git.run(&["add", "a.txt"]).unwrap();
    fs::write(&file, "one\n2wo\nthree\n").unwrap();
    set_time(&file);
    set_time(&index);
    assert_eq!(save_patch_of(&note).unwrap().map(|patch| patch.files), Some(1));
}
