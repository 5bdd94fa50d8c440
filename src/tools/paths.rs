//! From the path that a model (or a person) wrote to the path of a file.
//!
//! There is no confinement here: whoever limits where tools may write compares what
//! [`super::operations::Operations::real_path`] gives with the allowed folders.

use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

/// The absolute path that `path` means for somebody in `cwd`.
///
/// `home` is where the files are, which may be another machine.
///
/// Unusual spaces count as plain ones, one leading `@` is a mark and no name, `~` is the home folder, `file://` URLs are
/// decoded, `.` and `..` are resolved by their names.
#[must_use]
pub fn resolve(path: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    let plain: String = path.chars().map(|c| if is_unusual_space(c) { ' ' } else { c }).collect();
    absolute(plain.strip_prefix('@').unwrap_or(&plain), cwd, home)
}

/// Where a file to be read may be: the path that is meant first, then spellings that file systems use and models do
/// not. The first that exists is the file.
#[must_use]
pub fn candidates(path: &str, cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let meant = resolve(path, cwd, home);
    let mut all = vec![meant.clone()];
    let mut add = |candidate: PathBuf| {
        if !all.contains(&candidate) {
            all.push(candidate);
        }
    };
    add(absolute(path, cwd, home));
    if let Some(text) = meant.to_str() {
        add(narrow_space_before_day_half(text).into());
        let decomposed: String = text.nfd().collect();
        add(decomposed.clone().into());
        add(text.replace('\'', "\u{2019}").into());
        add(decomposed.replace('\'', "\u{2019}").into());
    }
    all
}

fn absolute(path: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    let local = if let Some(decoded) = path.strip_prefix("file://").and_then(decode_file_url) {
        PathBuf::from(decoded)
    } else if let (Some(rest), Some(home)) = (path.strip_prefix('~'), home) {
        match rest.strip_prefix('/') {
            Some(below) => home.join(below),
            None if rest.is_empty() => home.to_path_buf(),
            None => PathBuf::from(path),
        }
    } else {
        PathBuf::from(path)
    };
    normalize(&cwd.join(local))
}

/// `path` without `.`, `..` and doubled or trailing slashes, by names alone.
#[must_use]
pub fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

fn is_unusual_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// What stands after `file://`: an empty or local host, then the path with `%41` escapes.
fn decode_file_url(rest: &str) -> Option<String> {
    let path = rest.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        match after {
            [high, low, beyond @ ..] if *first == b'%' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                bytes.push(hex_digit(*high) << 4 | hex_digit(*low));
                rest = beyond;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit.to_ascii_lowercase() - b'a' + 10,
    }
}

/// macOS names its screenshots with a narrow no-break space before AM and PM.
fn narrow_space_before_day_half(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(' ') {
        let after = &rest[place + 1..];
        let half =
            after.get(..2).is_some_and(|half| half.eq_ignore_ascii_case("am") || half.eq_ignore_ascii_case("pm"));
        let ends = !after.chars().nth(2).is_some_and(char::is_alphanumeric);
        out.push_str(&rest[..place]);
        out.push(if half && ends { '\u{202f}' } else { ' ' });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_mean_what_people_mean_by_them() {
        let table = [
            ("a.txt", "/w/a.txt"),
            ("@a.txt", "/w/a.txt"),
            ("@@a.txt", "/w/@a.txt"),
            ("./sub/../a.txt", "/w/a.txt"),
            ("../a.txt", "/a.txt"),
            ("../../../a.txt", "/a.txt"),
            ("/x//y/./z/", "/x/y/z"),
            ("~", "/u/me"),
            ("~/h.txt", "/u/me/h.txt"),
            ("@~/h.txt", "/u/me/h.txt"),
            ("~you/h.txt", "/w/~you/h.txt"),
            ("file:///x/b%20b.txt", "/x/b b.txt"),
            ("file://localhost/x/%C3%A4", "/x/ä"),
            ("file:///x/100%", "/x/100%"),
            ("file://elsewhere/x", "/w/file:/elsewhere/x"),
            ("b\u{a0}b\u{202f}c\u{3000}d", "/w/b b c d"),
            ("--pre=./x", "/w/--pre=./x"),
            ("", "/w"),
        ];
        for (path, meant) in table {
            assert_eq!(resolve(path, Path::new("/w"), Some(Path::new("/u/me"))), Path::new(meant), "{path}");
        }
    }

    #[test]
    fn names_that_a_model_cannot_spell_are_tried_fc_053() {
        let has = |path: &str, wanted: &str| {
            let all = candidates(path, Path::new("/w"), None);
            assert!(all.contains(&PathBuf::from(wanted)), "{path} -> {all:?}");
        };
        has("Shot at 4.05.06 PM.png", "/w/Shot at 4.05.06\u{202f}PM.png");
        has("Shot at 4.05.06 pm.png", "/w/Shot at 4.05.06\u{202f}pm.png");
        has("caf\u{e9}.txt", "/w/cafe\u{301}.txt");
        has("it's.txt", "/w/it\u{2019}s.txt");
        has("l'\u{e9}t\u{e9}", "/w/l\u{2019}e\u{301}te\u{301}");
        has("odd\u{a0}name", "/w/odd\u{a0}name");
        assert_eq!(candidates("plain.txt", Path::new("/w"), None).len(), 1);
        assert_eq!(narrow_space_before_day_half("an amber PMI am"), "an amber PMI\u{202f}am");
    }
}
