//! Paths as people type them on the command line.

use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

/// Narrow no-break space: macOS writes it before AM and PM in the names of screenshots.
const NARROW_NO_BREAK_SPACE: char = '\u{202f}';

/// `text` as an absolute path: a leading `~` is the home folder, anything relative starts at `cwd`, and `.` and `..`
/// are taken out by name alone, so that the path that people see is the one they typed.
#[must_use]
pub fn absolute(text: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    let path = match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => cwd.join(text),
    };
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // At the root `..` is the root itself: `pop` leaves it alone.
            Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

/// `text` with the home folder in place of a leading `~`; the rest stays as it is, so that a bare name stays one.
#[must_use]
pub fn with_home(text: &str, home: Option<&Path>) -> String {
    match (text.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", home.display()),
        _ => text.to_owned(),
    }
}

/// The existing file that `text` means, or the path to name in an error. Names that were copied from a chat or a file
/// manager differ from those on disk in ways that nobody sees, so each such spelling is tried: as typed, with plain
/// spaces, with macOS's space before AM and PM, decomposed, and with a typographic apostrophe.
///
/// # Errors
/// The plain spelling when none of them exists.
pub fn existing_file(text: &str, cwd: &Path, home: Option<&Path>) -> Result<PathBuf, PathBuf> {
    let typed = absolute(text, cwd, home);
    if typed.exists() {
        return Ok(typed);
    }
    let plain = absolute(&plain_spaces(text), cwd, home);
    let Some(name) = plain.to_str() else { return Err(plain) };
    let decomposed: String = name.nfd().collect();
    let spellings = [
        name.to_owned(),
        narrow_space_before_am_pm(name),
        decomposed.clone(),
        name.replace('\'', "\u{2019}"),
        decomposed.replace('\'', "\u{2019}"),
    ];
    match spellings.into_iter().map(PathBuf::from).find(|path| path.exists()) {
        Some(found) => Ok(found),
        None => Err(plain),
    }
}

fn plain_spaces(text: &str) -> String {
    text.replace(|c| matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'), " ")
}

fn narrow_space_before_am_pm(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for (at, c) in name.char_indices() {
        let meridiem = name.as_bytes().get(at + 1..at + 4).is_some_and(|next| {
            next[0].eq_ignore_ascii_case(&b'a') || next[0].eq_ignore_ascii_case(&b'p')
        } && next[1].eq_ignore_ascii_case(&b'm') && next[2] == b'.');
        out.push(if c == ' ' && meridiem { NARROW_NO_BREAK_SPACE } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_start_at_the_launch_folder_and_a_tilde_is_home() {
        let table = [
            ("a.txt", "/w/a.txt"),
            ("./x/../a.txt", "/w/a.txt"),
            ("../../../a", "/a"),
            ("/abs/./b", "/abs/b"),
            ("~", "/h/u"),
            ("~/n", "/h/u/n"),
            ("~user/n", "/w/~user/n"),
            ("", "/w"),
        ];
        for (text, path) in table {
            assert_eq!(absolute(text, Path::new("/w"), Some(Path::new("/h/u"))), PathBuf::from(path), "{text}");
        }
        assert_eq!(absolute("~/n", Path::new("/w"), None), PathBuf::from("/w/~/n"));
        for (text, path) in [("~", "/h/u"), ("~/sh", "/h/u/sh"), ("zsh", "zsh"), ("~x/sh", "~x/sh"), ("/b/sh", "/b/sh")]
        {
            assert_eq!(with_home(text, Some(Path::new("/h/u"))), path, "{text}");
        }
    }

    #[test]
    fn a_name_is_found_under_the_spellings_that_look_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let table = [
            ("plain.txt", "plain.txt"),
            ("no\u{a0}break.txt", "no\u{a0}break.txt"),
            ("a\u{a0}b.txt", "a b.txt"),
            ("Shot at 9.41.00 AM.png", "Shot at 9.41.00\u{202f}AM.png"),
            ("caf\u{e9}.txt", "cafe\u{301}.txt"),
            ("it's.txt", "it\u{2019}s.txt"),
            ("d'e\u{301}t\u{e9}.txt", "d\u{2019}e\u{301}te\u{301}.txt"),
        ];
        for (typed, on_disk) in table {
            std::fs::write(dir.path().join(on_disk), "x").unwrap();
            assert_eq!(existing_file(typed, dir.path(), None), Ok(dir.path().join(on_disk)), "{typed}");
        }
        assert_eq!(existing_file("gone\u{a0}x", dir.path(), None), Err(dir.path().join("gone x")));
    }
}
