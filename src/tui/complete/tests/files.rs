use std::{fs, os::unix::fs::symlink, path::Path};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{inserts, labels};
use crate::tui::complete::{FileIndex, Place, file_menu, trigger};

struct Project {
    folder: TempDir,
    index: FileIndex,
}

impl Project {
    fn new(files: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        for file in files {
            write(&folder.path().join("project").join(file));
        }
        let mut project = Self { folder, index: FileIndex::default() };
        project.refresh(1000);
        project
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    fn refresh(&mut self, limit: usize) {
        self.index = FileIndex::build(&self.root(), limit, &CancellationToken::new());
    }

    #[track_caller]
    fn check(&self, typed: &str, expected: &[&str]) {
        let place = Place { cwd: self.root(), home: Some(self.folder.path().to_owned()) };
        let menu = file_menu(&trigger(typed, typed.len(), true).unwrap(), &self.index, &place);
        assert_eq!(inserts(menu.as_ref()), expected, "{typed}");
    }
}

fn write(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
}

#[test]
fn files_and_folders_are_found_by_name_path_and_characters() {
    let project =
        Project::new(&["src/main.rs", "src/edit_me.txt", "docs/guide notes.md", "日本/ファイル.txt", "a/main.rs.bak"]);
    project.check("@edit_m", &["@src/edit_me.txt "]);
    project.check("@edme", &["@src/edit_me.txt "]);
    project.check("@EDIT", &["@src/edit_me.txt "]);
    project.check("@main.rs", &["@src/main.rs ", "@a/main.rs.bak "]);
    project.check("@src", &["@src/", "@src/main.rs ", "@src/edit_me.txt "]);
    project.check("@src/", &["@src/main.rs ", "@src/edit_me.txt "]);
    project.check("@src/ma", &["@src/main.rs "]);
    project.check("@./src/ma", &["@./src/main.rs "]);
    project.check("@sr/ma", &["@src/main.rs "]);
    project.check("@guide", &["@\"docs/guide notes.md\" "]);
    project.check("@\"docs/guide n", &["@\"docs/guide notes.md\" "]);
    project.check("@ファイ", &["@日本/ファイル.txt "]);
    project.check("@", &["@a/", "@src/", "@docs/", "@日本/"]);
    project.check("@nothing-like-it", &[]);
}

#[test]
fn names_before_paths_folders_before_files_and_shallow_before_deep() {
    let project = Project::new(&["x/foo/a", "foo.rs", "z/foo", "y/myfoo", "foo/bar", "deep/er/foo.rs", "f/o/o"]);
    project.check(
        "@foo",
        &[
            "@foo/",
            "@x/foo/",
            "@z/foo ",
            "@foo.rs ",
            "@deep/er/foo.rs ",
            "@y/myfoo ",
            "@foo/bar ",
            "@x/foo/a ",
            "@f/o/o ",
        ],
    );
}

#[test]
fn at_most_twenty_are_offered() {
    let names: Vec<String> = (10..60).map(|number| format!("file{number}")).collect();
    let project = Project::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let twenty: Vec<String> = (10..30).map(|number| format!("@file{number} ")).collect();
    let twenty: Vec<&str> = twenty.iter().map(String::as_str).collect();
    project.check("@file", &twenty);
    project.check("@fle", &twenty);
    project.check("@", &twenty);
}

#[test]
fn ignored_files_and_git_are_left_out_and_hidden_ones_are_not() {
    let mut project = Project::new(&["secret", ".hidden/x.txt", ".git/HEAD", "sub/.git/HEAD", "kept"]);
    fs::write(project.root().join(".gitignore"), "secret\n").unwrap();
    project.refresh(1000);
    project.check("@secret", &[]);
    project.check("@HEAD", &[]);
    project.check("@x.t", &["@.hidden/x.txt "]);
    project.check("@", &["@sub/", "@.hidden/", "@kept ", "@.gitignore "]);
}

#[test]
fn links_are_followed_once_and_never_back() {
    let mut project = Project::new(&["a/in.txt"]);
    let (root, outside) = (project.root(), project.folder.path().join("outside"));
    write(&outside.join("far.txt"));
    symlink(&outside, root.join("out")).unwrap();
    symlink(&root, root.join("loop")).unwrap();
    symlink("/", root.join("all")).unwrap();
    symlink("a", root.join("same")).unwrap();
    symlink(&outside, outside.join("again")).unwrap();
    symlink("nowhere", root.join("broken")).unwrap();
    project.refresh(1000);
    project.check("@far", &["@out/far.txt "]);
    project.check("@in.", &["@a/in.txt "]);
    project.check("@same", &["@same/"]);
    project.check("@same/", &["@same/in.txt "]);
    project.check("@agai", &["@out/again/"]);
    project.check("@broken", &["@broken "]);
    // Seven at the root, one in `a`, two behind the link.
    assert_eq!((project.index.len(), project.index.is_cut()), (9, false));
}

#[test]
fn what_is_outside_is_listed_when_its_folder_is_typed() {
    let project = Project::new(&["x"]);
    write(&project.folder.path().join("beside/file.txt"));
    project.check("@../bes", &["@../beside/"]);
    project.check("@../beside/", &["@../beside/file.txt "]);
    project.check("@~/beside/fi", &["@~/beside/file.txt "]);
    let absolute = format!("{}/beside/fl", project.folder.path().display());
    project.check(&format!("@{absolute}"), &[&format!("@{} ", absolute.replace("/fl", "/file.txt"))]);
    project.check("@../nowhere/", &[]);
}

#[test]
fn names_that_cannot_be_written_are_not_offered() {
    let project = Project::new(&["bad\nname", "bad\u{1b}[31m", "bad\u{202e}txt", "bad/in"]);
    let place = Place { cwd: project.root(), home: None };
    let menu = file_menu(&trigger("@bad", 4, true).unwrap(), &project.index, &place);
    assert_eq!(labels(menu.as_ref()), ["bad/", "bad\u{202e}txt", "in"]);
}

#[test]
fn a_big_project_is_cut_and_a_cancelled_walk_ends() {
    let names: Vec<String> = (0..30).map(|number| format!("file{number}")).collect();
    let mut project = Project::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    project.refresh(10);
    assert_eq!((project.index.len(), project.index.is_cut()), (10, true));
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    assert!(FileIndex::build(&project.root(), 100, &cancelled).is_empty());
}
