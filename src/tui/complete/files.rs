//! Files and folders behind an `@`.

use std::cmp::Reverse;

use memchr::memmem::Finder;

use super::{
    FileIndex, Menu, MenuItem, MenuKind, Place, Trigger, TriggerKind,
    fuzzy::Query,
    paths::{folder_or_here, names, shown, split, written},
};
use crate::tools::paths::resolve;

/// Files that are offered.
const MAX_SHOWN: usize = 20;

/// A file or folder that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hit {
    /// The path, as it is written.
    path: String,
    is_folder: bool,
}

/// The files and folders that fit what was typed, the best first. What the index does not have (`../`, `~/`, absolute
/// paths, what is ignored) is read from the folder that was typed. It takes time: this is work for a worker.
#[must_use]
pub fn file_menu(trigger: &Trigger, index: &FileIndex, place: &Place) -> Option<Menu> {
    let quoted = matches!(trigger.kind, TriggerKind::File { quoted: true });
    let items = search(&trigger.query, index, place).into_iter().map(|hit| {
        let (folder, name) = split(&hit.path);
        MenuItem {
            label: shown(name, hit.is_folder),
            description: folder.to_owned(),
            insert: written("@", &hit.path, hit.is_folder, quoted) + if hit.is_folder { "" } else { " " },
            goes_on: hit.is_folder,
        }
    });
    Menu::new(MenuKind::Files, items.collect(), trigger.range.clone())
}

fn search(query: &str, index: &FileIndex, place: &Place) -> Vec<Hit> {
    let (folder, name) = split(query);
    let below = folder.strip_prefix("./").unwrap_or(folder);
    let entries = index.below(below);
    if !entries.is_empty() {
        let lower_from = below.to_lowercase().len();
        let files = entries.iter().map(|entry| File {
            path: &entry.path[below.len()..],
            lower: entry.lower().get(lower_from..).unwrap_or_default(),
            is_folder: entry.is_folder,
        });
        return best(files, name, folder);
    }
    let listed = names(&resolve(folder_or_here(folder), &place.cwd, place.home.as_deref()));
    if !listed.is_empty() {
        let lower: Vec<String> = listed.iter().map(|listed| listed.name.to_lowercase()).collect();
        let files = listed.iter().zip(&lower).map(|(listed, lower)| File {
            path: &listed.name,
            lower,
            is_folder: listed.is_folder,
        });
        return best(files, name, folder);
    }
    let entries = index.below("").iter();
    best(entries.map(|entry| File { path: &entry.path, lower: entry.lower(), is_folder: entry.is_folder }), query, "")
}

/// A candidate: its path below the folder that was typed.
#[derive(Clone, Copy)]
struct File<'a> {
    path: &'a str,
    lower: &'a str,
    is_folder: bool,
}

/// How well a candidate fits; the least is the best.
type Rank<'a> = (Reverse<u32>, usize, usize, &'a str);

impl<'a> File<'a> {
    fn ranked(self, score: u32) -> (Rank<'a>, bool) {
        let depth = self.path.bytes().filter(|byte| *byte == b'/').count();
        ((Reverse(score), depth, self.path.len(), self.path), self.is_folder)
    }
}

/// The candidates that fit best. Those whose characters only stand there in order come behind those that have the text
/// as it was typed; so they are looked for when these are few.
fn best<'a>(files: impl Iterator<Item = File<'a>> + Clone, query: &str, folder: &str) -> Vec<Hit> {
    let query = query.to_lowercase();
    let finder = Finder::new(&query);
    let mut found: Vec<_> =
        files.clone().filter_map(|file| Some(file.ranked(literal(file, &query, &finder)?))).collect();
    if found.len() < MAX_SHOWN && !query.is_empty() {
        let mut fuzzy = Query::new(&query);
        let is_other = |file: &File| literal(*file, &query, &finder).is_none();
        let loose = files.filter(is_other).filter_map(|file| Some((fuzzy.score(file.path)?, file)));
        let mut loose: Vec<_> = loose.map(|(score, file)| (Reverse(score), file.ranked(0))).collect();
        loose.sort_unstable();
        found.sort_unstable();
        found.extend(loose.into_iter().map(|(_, ranked)| ranked).take(MAX_SHOWN));
    } else {
        if found.len() > MAX_SHOWN {
            found.select_nth_unstable(MAX_SHOWN);
            found.truncate(MAX_SHOWN);
        }
        found.sort_unstable();
    }
    found.truncate(MAX_SHOWN);
    let hit = |(rank, is_folder): (Rank, bool)| Hit { path: format!("{folder}{}", rank.3), is_folder };
    found.into_iter().map(hit).collect()
}

/// How well a candidate fits that has the query in it as it is. Of an empty query only what is in the folder itself
/// fits.
fn literal(file: File, query: &str, finder: &Finder) -> Option<u32> {
    let name = file.lower.rsplit('/').next().unwrap_or(file.lower);
    let score = match () {
        () if query.is_empty() => (name.len() == file.lower.len()).then_some(0)?,
        () if name == query => 100,
        () if name.starts_with(query) => 80,
        () if finder.find(name.as_bytes()).is_some() => 50,
        () if finder.find(file.lower.as_bytes()).is_some() => 30,
        () => return None,
    };
    Some(score + if file.is_folder { 10 } else { 0 })
}
