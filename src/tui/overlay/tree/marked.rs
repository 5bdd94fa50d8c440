//! Entries, rows and the mark, under a filter and a search.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{
    Filter,
    row::{self, RowLook},
    shape::{Rows, Shape},
    texts::{Said, TextsFound},
};
use crate::{
    store::{
        jsonl::{EntryKind, Role},
        tree::{EntryRef, Label, TreeView},
    },
    tui::{keys::Key, keys::Keymap, overlay::cursor::Cursor, text::StyledLine, theme::Theme},
};

/// Entries that are read at once: what a small session needs. More of them are for a worker.
const READ_AT_ONCE: usize = 256;

/// See the module.
pub struct MarkedTree {
    view: TreeView,
    shape: Shape,
    labels: HashMap<usize, Label>,
    /// What entries say, as far as they were read.
    said: Vec<Option<Said>>,
    filter: Filter,
    /// Words that must all occur, in lower case.
    words: Vec<String>,
    folded: HashSet<u32>,
    rows: Rows,
    cursor: Cursor,
    /// The entry of the mark: it stays when rows come and go.
    wanted: u32,
    /// The entry that the conversation stands at.
    place: Option<u32>,
    /// The most rows that there were: the room does not shrink.
    most_rows: usize,
}

/// The entry that the conversation stands at: behind it there are notes at most.
fn place_of(view: &TreeView) -> Option<u32> {
    let mut way = std::iter::successors(view.place(), EntryRef::parent);
    way.find(|entry| Filter::Default.takes(entry.kind(), false, false)).map(|entry| short(entry.position()))
}

fn short(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

impl MarkedTree {
    /// The tree with its place marked, and how many entries at its beginning were not read.
    pub fn new(view: TreeView, filter: Filter) -> (Self, usize) {
        let place = place_of(&view);
        let mut tree = Self {
            shape: Shape::default(),
            labels: HashMap::new(),
            said: Vec::new(),
            filter,
            words: Vec::new(),
            folded: HashSet::new(),
            rows: Rows::default(),
            cursor: Cursor::default(),
            wanted: place.unwrap_or_default(),
            place,
            most_rows: 0,
            view,
        };
        let unread = tree.take_in();
        tree.arrange();
        (tree, unread)
    }

    /// Takes in what the view has: its shape, labels, and what its last entries say. How many were not read.
    fn take_in(&mut self) -> usize {
        self.shape = Shape::of(&self.view);
        let labels = self.view.labels().into_iter();
        self.labels = labels.filter_map(|(id, label)| Some((self.view.find(&id)?.position(), label))).collect();
        let known = self.said.len();
        let from = known.max(self.view.len().saturating_sub(READ_AT_ONCE));
        self.said.resize(from, None);
        self.said.extend((from..self.view.len()).map(|at| self.view.entry_at(at).map(|entry| Said::by(&entry))));
        from - known
    }

    /// The session grew, or goes on elsewhere.
    pub fn follow(&mut self, view: &TreeView) {
        let place = place_of(view);
        if view.len() == self.view.len() && place == self.place {
            return;
        }
        self.view = view.clone();
        self.place = place;
        self.take_in();
        self.arrange();
    }

    /// Entries were read.
    pub fn learn(&mut self, found: &TextsFound) {
        for (place, said) in self.said.iter_mut().skip(found.from).zip(found.said.iter()) {
            place.get_or_insert_with(|| said.clone());
        }
        self.arrange();
    }

    /// The session.
    pub fn view(&self) -> &TreeView {
        &self.view
    }

    /// The filter.
    pub fn filter(&self) -> Filter {
        self.filter
    }

    /// Another filter.
    pub fn set_filter(&mut self, filter: Filter) {
        self.filter = filter;
        self.arrange();
    }

    /// Shows only entries in which all words occur.
    pub fn search(&mut self, text: &str) {
        self.words = text.split_whitespace().map(str::to_lowercase).collect();
        self.arrange();
        self.remember();
    }

    /// The label of an entry.
    pub fn label(&self, position: usize) -> Option<&Label> {
        self.labels.get(&position)
    }

    /// Whether the conversation stands at the marked entry already.
    pub fn is_here(&self) -> bool {
        let marked = self.rows.rows.get(self.cursor.at()).map(|row| row.entry);
        marked.is_some() && marked == self.place && !self.is_rewritten(marked)
    }

    /// Whether the conversation goes back before an entry to write it anew.
    fn is_rewritten(&self, entry: Option<u32>) -> bool {
        let kind = entry.map(|entry| self.shape.kind(entry));
        matches!(kind, Some(EntryKind::Message(Role::User) | EntryKind::CustomMessage))
    }

    /// The marked entry.
    pub fn marked(&self) -> Option<EntryRef<'_>> {
        self.rows.rows.get(self.cursor.at()).and_then(|row| self.view.entry_at(row.entry as usize))
    }

    /// The mark's number and the number of rows.
    pub fn progress(&self) -> Option<(usize, usize)> {
        let count = self.rows.rows.len();
        (count > 0).then(|| (self.cursor.at() + 1, count))
    }

    /// Rows that there were at most.
    pub fn most_rows(&self) -> usize {
        self.most_rows
    }

    /// The rows that are seen.
    pub fn window(&self, rows: usize) -> Range<usize> {
        self.cursor.window(rows)
    }

    /// A key that moves the mark is taken; whether it was one.
    pub fn move_mark(&mut self, key: Key, keymap: &Keymap, page: usize) -> bool {
        let moved = self.cursor.on_key(key, keymap, page, |_| true);
        self.remember();
        moved
    }

    /// Folds what hangs on the marked row; else goes to the row above where that can be done.
    pub fn fold_or_up(&mut self) {
        let at = self.cursor.at();
        match self.rows.rows.get(at) {
            Some(row) if self.is_foldable(at) && !self.folded.contains(&row.entry) => {
                self.folded.insert(row.entry);
                self.arrange();
            }
            Some(_) => self.go((0..at).rev().find(|row| self.is_foldable(*row)).unwrap_or_default()),
            None => {}
        }
    }

    /// Unfolds the marked row; else goes to the next row that can be folded, or to the last one.
    pub fn unfold_or_down(&mut self) {
        let at = self.cursor.at();
        let count = self.rows.rows.len();
        match self.rows.rows.get(at) {
            Some(row) if self.folded.remove(&row.entry) => self.arrange(),
            Some(_) => self.go((at + 1..count).find(|row| self.is_foldable(*row)).unwrap_or(count - 1)),
            None => {}
        }
    }

    /// Whether a row is where something begins: a branch, or several.
    fn is_foldable(&self, at: usize) -> bool {
        let row = &self.rows.rows[at];
        row.children > 0 && (at == 0 || row.branch || row.children > 1)
    }

    fn go(&mut self, row: usize) {
        self.cursor.place(row, self.rows.rows.len(), |_| true);
        self.remember();
    }

    fn remember(&mut self) {
        if let Some(row) = self.rows.rows.get(self.cursor.at()) {
            self.wanted = row.entry;
        }
    }

    fn arrange(&mut self) {
        let shown = |entry: u32| {
            let said = self.said[entry as usize].as_ref();
            let labelled = self.labels.contains_key(&(entry as usize));
            let is_place = self.place == Some(entry);
            // An answer that was not read yet may well say something.
            let silent = !is_place
                && self.shape.kind(entry) == EntryKind::Message(Role::Assistant)
                && said.is_some_and(|said| said.silent);
            self.filter.takes(self.shape.kind(entry), labelled, silent) && self.fits(entry, said)
        };
        let searches = !self.words.is_empty();
        self.rows = self.shape.rows(shown, |entry| !searches && self.folded.contains(&entry));
        let row = self.shape.nearest(&self.rows, self.wanted);
        // Of a search the last one is what was meant most likely: it is the nearest.
        let row = row.unwrap_or(if searches { self.rows.rows.len().saturating_sub(1) } else { 0 });
        self.cursor.place(row, self.rows.rows.len(), |_| true);
        self.most_rows = self.most_rows.max(self.rows.rows.len());
    }

    fn fits(&self, entry: u32, said: Option<&Said>) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let Some(said) = said else { return false };
        let label = self.labels.get(&(entry as usize)).map_or("", |label| &label.text);
        self.words.iter().all(|word| [&*said.who, &*said.text, label].iter().any(|text| holds(text, word)))
    }

    /// A row as it is drawn.
    pub fn line(&self, at: usize, width: usize, times: bool, theme: &Theme) -> StyledLine {
        let row = &self.rows.rows[at];
        let position = row.entry as usize;
        // What was not read yet and is seen is read now: some lines of a screen.
        let said = self.said[position].clone();
        let said = said.or_else(|| self.view.entry_at(position).map(|entry| Said::by(&entry)));
        let look = RowLook {
            kind: self.shape.kind(row.entry),
            guides: self.rows.guides(at, width / 9),
            marked: at == self.cursor.at(),
            active: self.shape.is_active(row.entry),
            is_place: self.place == Some(row.entry),
            folded: self.folded.contains(&row.entry) && row.children > 0,
            label: self.label(position),
            times,
        };
        row::line(said.as_ref(), &look, width, theme)
    }
}

/// Whether a text holds a word that is in lower case.
fn holds(text: &str, word: &str) -> bool {
    let is_ascii = text.is_ascii() && word.is_ascii();
    if !is_ascii {
        return text.to_lowercase().contains(word);
    }
    let (text, word) = (text.as_bytes(), word.as_bytes());
    text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}
