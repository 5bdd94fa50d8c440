use std::{fs, path::PathBuf};

use tempfile::TempDir;

use super::{inserts, with_caret};
use crate::tui::complete::{Place, complete_path, path_at};

fn project() -> (TempDir, Place) {
    let folder = TempDir::new().unwrap();
    for name in ["src/main.rs", "src/make.rs", "my docs/a b.txt", "my docs/c", "README.md", ".hidden/x", "日本/語"] {
        let path: PathBuf = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let place = Place { cwd: folder.path().to_owned(), home: Some(folder.path().join("src")) };
    (folder, place)
}

/// The line after what is written at once, and the menu.
#[track_caller]
fn check(text: &str, after: &str, offered: &[&str]) {
    let (_folder, place) = project();
    let (mut line, caret) = with_caret(text);
    let trigger = path_at(&line, caret);
    let completion = complete_path(&trigger, &place);
    if let Some(insert) = &completion.insert {
        line.replace_range(trigger.range, insert);
    }
    assert_eq!((&*line, inserts(completion.menu.as_ref())), (after, offered.to_vec()), "{text}");
    if let (Some(menu), Some(insert)) = (&completion.menu, &completion.insert) {
        let range = menu.accept(crate::tui::complete::Accept::Tab).range;
        assert_eq!(&line[range], insert, "{text}");
    }
}

#[test]
fn the_only_path_is_written_at_once() {
    check("cat REA|", "cat README.md", &[]);
    check("cat sr|", "cat src/", &[]);
    check("cat src/mai|", "cat src/main.rs", &[]);
    check("cat ./src/mai| x", "cat ./src/main.rs x", &[]);
    check("cat ~/mai|", "cat ~/main.rs", &[]);
    check("cat rea|", "cat README.md", &[]);
    check("cat 日|", "cat 日本/", &[]);
    check("cat nothing|", "cat nothing", &[]);
    check("cat nowhere/x|", "cat nowhere/x", &[]);
}

#[test]
fn several_are_offered_behind_what_they_have_in_common() {
    check("cat src/m|", "cat src/ma", &["src/main.rs", "src/make.rs"]);
    check("cat src/ma|", "cat src/ma", &["src/main.rs", "src/make.rs"]);
    check("|", "", &["\"my docs/", "src/", "日本/", ".hidden/", "README.md"]);
}

#[test]
fn blanks_are_quoted() {
    check("cat my|", "cat \"my docs/", &[]);
    check("cat \"my docs/a|", "cat \"my docs/a b.txt\"", &[]);
    check("cat \"my docs/|", "cat \"my docs/", &["\"my docs/a b.txt\"", "\"my docs/c\""]);
    check("cat \"src/mai|", "cat \"src/main.rs\"", &[]);
}
