//! Paths that are completed when it is asked for.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Menu, MenuItem, MenuKind, Trigger, TriggerKind, trigger::is_separator};
use crate::tools::paths::resolve;

/// Names of a folder that are offered.
const MAX_NAMES: usize = 1000;

/// Where typed paths begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The folder of relative paths, absolute.
    pub cwd: PathBuf,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
}

/// What a path could go on with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathCompletion {
    /// What is to be written at once: the only path that fits, or the beginning that all have if it is more than was
    /// typed.
    pub insert: Option<String>,
    /// All that fit, if there are several.
    pub menu: Option<Menu>,
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// It; no control character is in it.
    pub name: String,
    /// Whether it is a folder, or a link to one.
    pub is_folder: bool,
}

/// What the path of `trigger` could go on with: the names of its folder that begin as typed, folders first. Upper and
/// lower case are the same if no name fits otherwise. Reads the folder: this is work for a worker.
#[must_use]
pub fn complete_path(trigger: &Trigger, place: &Place) -> PathCompletion {
    let quoted = matches!(trigger.kind, TriggerKind::Path { quoted: true });
    let (folder, typed) = split(&trigger.query);
    let all = names(&resolve(folder_or_here(folder), &place.cwd, place.home.as_deref()));
    let mut found: Vec<&Name> = all.iter().filter(|name| name.name.starts_with(typed)).collect();
    if found.is_empty() {
        let typed = typed.to_lowercase();
        found = all.iter().filter(|name| name.name.to_lowercase().starts_with(&typed)).collect();
    }
    found.sort_by_cached_key(|name| (!name.is_folder, name.name.starts_with('.'), name.name.to_lowercase()));
    found.truncate(MAX_NAMES);
    let written = |name: &Name| written("", &format!("{folder}{}", name.name), name.is_folder, quoted);
    match found.as_slice() {
        [] => PathCompletion::default(),
        [only] => PathCompletion { insert: Some(written(only)), menu: None },
        several => {
            let begins = common(several);
            let more = begins.len() > typed.len() && begins.starts_with(typed);
            let insert = more.then(|| open("", &format!("{folder}{begins}"), quoted));
            let typed = insert.as_ref().map_or(trigger.range.len(), String::len);
            let items = several.iter().map(|name| MenuItem {
                label: shown(&name.name, name.is_folder),
                description: String::new(),
                insert: written(name),
                goes_on: name.is_folder,
            });
            let range = trigger.range.start..trigger.range.start + typed;
            PathCompletion { insert, menu: Menu::new(MenuKind::Paths, items.collect(), range) }
        }
    }
}

/// The names in a folder, in no order; none if it cannot be read. Names with control characters and those that are not
/// Unicode are left out: they cannot be written.
pub(super) fn names(folder: &Path) -> Vec<Name> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok().filter(|name| is_writable(name))?;
        let kind = entry.file_type().ok()?;
        let is_folder = kind.is_dir() || (kind.is_symlink() && fs::metadata(entry.path()).is_ok_and(|it| it.is_dir()));
        Some(Name { name, is_folder })
    };
    entries.filter_map(name).filter(|name| name.name != ".git").collect()
}

/// Whether a name can be written into a line.
pub(super) fn is_writable(name: &str) -> bool {
    !name.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
}

/// A typed path as its folder, with its slash, and the beginning of a name.
pub(super) fn split(path: &str) -> (&str, &str) {
    match path.rfind('/') {
        Some(slash) => path.split_at(slash + 1),
        None => ("", path),
    }
}

pub(super) fn folder_or_here(folder: &str) -> &str {
    if folder.is_empty() { "." } else { folder }
}

/// A name as it is shown.
pub(super) fn shown(name: &str, is_folder: bool) -> String {
    format!("{name}{}", if is_folder { "/" } else { "" })
}

/// A path as it is written behind `mark`, in quotes where it needs them. A folder's quotes stay open: more is to come.
pub(super) fn written(mark: &str, path: &str, is_folder: bool, quoted: bool) -> String {
    let path = shown(path, is_folder);
    let mut out = open(mark, &path, quoted);
    if !is_folder && out.len() > mark.len() + path.len() {
        out.push('"');
    }
    out
}

/// A path whose end is still open.
fn open(mark: &str, path: &str, quoted: bool) -> String {
    let quote = if quoted || path.contains(is_separator) { "\"" } else { "" };
    format!("{mark}{quote}{path}")
}

/// The beginning that all names have.
fn common<'a>(names: &[&'a Name]) -> &'a str {
    let mut names = names.iter().map(|name| name.name.as_str());
    let first = names.next().unwrap_or_default();
    names.fold(first, |begins, name| {
        let same = begins.chars().zip(name.chars()).take_while(|(a, b)| a == b);
        &begins[..same.map(|(a, _)| a.len_utf8()).sum()]
    })
}
