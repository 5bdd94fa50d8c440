//! Files and folders behind an `@`.

use std::{cmp::Reverse, collections::BinaryHeap};

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

/// How well a candidate fits: better is less. A score, then depth, length and name.
type Rank<'a> = (Reverse<u32>, usize, usize, &'a str);

impl<'a> File<'a> {
    fn rank(self, score: u32) -> Rank<'a> {
        let depth = self.path.bytes().filter(|byte| *byte == b'/').count();
        (Reverse(score), depth, self.path.len(), self.path)
    }
}

/// The candidates that fit best. Those whose characters only stand there in order come behind those that have the text
/// as it was typed; so they are looked for when these are few.
fn best<'a>(files: impl Iterator<Item = File<'a>>, query: &str, folder: &str) -> Vec<Hit> {
    let query = query.to_lowercase();
    let finder = Finder::new(&query);
    let mut hits = Best::default();
    let mut others = Vec::new();
    for file in files {
        match literal(file, &query, &finder) {
            Some(score) => hits.offer(score, file),
            None if !query.is_empty() => others.push(file),
            None => {}
        }
    }
    let mut found = hits.finish();
    if found.len() < MAX_SHOWN {
        let mut fuzzy = Query::new(&query);
        let mut hits = Best::default();
        for file in others {
            if let Some(score) = fuzzy.score(file.path) {
                hits.offer(score, file);
            }
        }
        found.append(&mut hits.finish());
        found.truncate(MAX_SHOWN);
    }
    let hit = |file: File| Hit { path: format!("{folder}{}", file.path), is_folder: file.is_folder };
    found.into_iter().map(hit).collect()
}

/// The best candidates, [`MAX_SHOWN`] at most.
#[derive(Default)]
struct Best<'a> {
    /// The worst of them on top.
    heap: BinaryHeap<(Rank<'a>, bool)>,
}

impl<'a> Best<'a> {
    fn offer(&mut self, score: u32, file: File<'a>) {
        let is_full = self.heap.len() == MAX_SHOWN;
        if is_full && self.heap.peek().is_some_and(|((worst, ..), _)| worst.0 > score) {
            return;
        }
        self.heap.push((file.rank(score), file.is_folder));
        if is_full {
            self.heap.pop();
        }
    }

    fn finish(self) -> Vec<File<'a>> {
        let file = |((.., path), is_folder): (Rank<'a>, bool)| File { path, lower: path, is_folder };
        self.heap.into_sorted_vec().into_iter().map(file).collect()
    }
}

/// How well a candidate fits that has the query in it as it is. Of an empty query only what is in the folder itself
/// fits.
fn literal(file: File, query: &str, finder: &Finder) -> Option<u32> {
    let place = finder.find(file.lower.as_bytes())?;
    let name = file.lower.rfind('/').map_or(0, |slash| slash + 1);
    let score = if query.is_empty() {
        (name == 0).then_some(0)?
    } else if file.lower[name..] == *query {
        100
    } else if file.lower[name..].starts_with(query) {
        80
    } else if place >= name || finder.find(&file.lower.as_bytes()[name..]).is_some() {
        50
    } else {
        30
    };
    Some(score + if file.is_folder { 10 } else { 0 })
}
