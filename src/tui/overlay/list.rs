//! A list with a search line.

use ratatui::layout::Rect;

use super::{cursor::Cursor, input::LineInput, panel::Panel};
use crate::tui::{
    complete::fuzzy,
    keys::{Action, Key, Keymap},
    terminal::Frame,
    text::{StyledLine, cut},
    theme::{Theme, ThemeColor},
};

/// Something that can be chosen from a list.
pub trait Item {
    /// What a search looks at.
    fn text(&self) -> &str;

    /// How it is shown, in `width` columns.
    fn line(&self, look: &Look<'_>) -> StyledLine;

    /// Whether it can be chosen.
    fn is_enabled(&self) -> bool {
        true
    }

    /// The heading above it, where it is the first that has it. Headings are shown while nothing is searched.
    fn heading(&self) -> Option<&str> {
        None
    }
}

/// How a row is to look.
#[derive(Clone, Copy)]
pub struct Look<'l> {
    /// Colours.
    pub theme: &'l Theme,
    /// Columns.
    pub width: usize,
    /// It is the marked one.
    pub marked: bool,
}

impl Look<'_> {
    /// The colour of the row's name.
    #[must_use]
    pub fn name(&self) -> ratatui::style::Style {
        self.theme.fg(if self.marked { ThemeColor::Accent } else { ThemeColor::Text })
    }

    /// The colour of what stands beside the name.
    #[must_use]
    pub fn aside(&self) -> ratatui::style::Style {
        self.theme.fg(ThemeColor::Muted)
    }
}

/// What came of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// The marked item is chosen.
    Chosen,
    /// The list is to be left.
    Cancelled,
    /// The mark moved.
    Moved,
    /// The search was changed.
    Searched,
    /// Nothing: the key means nothing to a list.
    Ignored,
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Heading(usize),
    Item(usize),
}

/// Items, those of them that are shown, and the marked one. Only rows that are seen are made: a list of ten thousand
/// items is as quick as one of ten.
#[derive(Debug, Default)]
pub struct List<T> {
    items: Vec<T>,
    rows: Vec<Row>,
    search: LineInput,
    cursor: Cursor,
    /// Items that fit the search.
    found: usize,
    /// Rows of a page.
    page: std::cell::Cell<usize>,
}

impl<T: Item> List<T> {
    /// A list of these items, the first that can be chosen is marked.
    #[must_use]
    pub fn new(items: Vec<T>) -> Self {
        let mut list = Self {
            items,
            rows: Vec::new(),
            search: LineInput::default(),
            cursor: Cursor::default(),
            found: 0,
            page: std::cell::Cell::new(8),
        };
        list.arrange(0);
        list
    }

    /// All items.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The items, to be changed; what a search finds is looked for again with [`Self::refresh`].
    pub fn items_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }

    /// The items were changed: the search finds others, and the mark stays on its row.
    pub fn refresh(&mut self) {
        self.arrange(self.cursor.at());
    }

    /// Other items take the place of all; the mark stays where `same` says so.
    pub fn replace(&mut self, items: Vec<T>, same: impl Fn(&T, &T) -> bool) {
        let old = std::mem::replace(&mut self.items, items);
        let marked = match self.rows.get(self.cursor.at()) {
            Some(Row::Item(item)) => old.get(*item),
            _ => None,
        };
        let at = marked.and_then(|marked| self.items.iter().position(|item| same(marked, item)));
        self.arrange(0);
        if let Some(at) = at {
            self.mark(at);
        }
    }

    /// Marks the item at a place, if it is shown.
    pub fn mark(&mut self, item: usize) {
        if let Some(at) = self.rows.iter().position(|row| *row == Row::Item(item)) {
            self.place(at);
        }
    }

    /// The place of the marked item.
    #[must_use]
    pub fn marked_at(&self) -> Option<usize> {
        match self.rows.get(self.cursor.at()) {
            Some(Row::Item(item)) if self.items[*item].is_enabled() => Some(*item),
            _ => None,
        }
    }

    /// The marked item.
    #[must_use]
    pub fn marked(&self) -> Option<&T> {
        self.marked_at().map(|at| &self.items[at])
    }

    /// The items that the search finds, in the order in which they are shown.
    pub fn shown(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().filter_map(|row| match row {
            Row::Item(item) => Some(*item),
            Row::Heading(_) => None,
        })
    }

    /// The search line.
    #[must_use]
    pub fn search(&self) -> &LineInput {
        &self.search
    }

    /// A key that moves, searches, chooses or leaves is taken.
    pub fn on_key(&mut self, key: Key, keymap: &Keymap) -> Pressed {
        if keymap.is(key, Action::SelectCancel) {
            return Pressed::Cancelled;
        }
        if keymap.is(key, Action::SelectConfirm) {
            return if self.marked_at().is_some() { Pressed::Chosen } else { Pressed::Ignored };
        }
        let mut cursor = self.cursor;
        if cursor.on_key(key, keymap, self.page.get(), |at| self.stops(at)) {
            self.cursor = cursor;
            return Pressed::Moved;
        }
        if self.search.on_key(key, keymap) {
            self.arrange(0);
            return Pressed::Searched;
        }
        Pressed::Ignored
    }

    /// What was pasted goes into the search.
    pub fn on_paste(&mut self, text: &str) {
        self.search.paste(text);
        self.arrange(0);
    }

    fn place(&mut self, at: usize) {
        let mut cursor = self.cursor;
        cursor.place(at, self.rows.len(), |at| self.stops(at));
        self.cursor = cursor;
    }

    fn stops(&self, at: usize) -> bool {
        matches!(self.rows.get(at), Some(Row::Item(item)) if self.items[*item].is_enabled())
    }

    fn arrange(&mut self, at: usize) {
        let found: Vec<usize> = match self.search.text().trim() {
            "" => (0..self.items.len()).collect(),
            query => fuzzy::rank(query, &self.items, T::text).into_iter().map(|ranked| ranked.index).collect(),
        };
        self.found = found.len();
        self.rows.clear();
        let mut above = None;
        for item in found {
            let heading = self.items[item].heading().filter(|_| self.search.is_empty());
            if heading.is_some() && heading != above {
                self.rows.push(Row::Heading(item));
            }
            above = heading;
            self.rows.push(Row::Item(item));
        }
        self.place(at);
    }

    /// Rows that it takes with all of its items, at most `most`: it does not shrink while somebody types.
    #[must_use]
    pub fn body_rows(&self, most: usize) -> usize {
        self.items.len().max(self.rows.len()).min(most).max(1)
    }

    /// How many there are and how far the mark is, where not all is seen or something is searched.
    #[must_use]
    pub fn count(&self, rows: usize) -> Option<String> {
        let number = self.shown().take_while(|item| Some(*item) != self.marked_at()).count() + 1;
        match self.found {
            0 => None,
            found if found <= rows && found == self.items.len() => None,
            found => Some(format!("({}/{found})", number.min(found))),
        }
    }

    /// Draws the rows that are seen; `nothing` is said where there is none.
    pub fn draw(&self, frame: &mut Frame, area: Rect, nothing: &str, theme: &Theme) {
        let rows = usize::from(area.height);
        self.page.set(rows.max(2) - 1);
        if self.rows.is_empty() {
            let text = if self.search.is_empty() { nothing } else { "  Nothing fits the search" };
            frame.line(area, 0, &StyledLine::of(text.to_owned(), theme.fg(ThemeColor::Muted)));
        }
        for (row, at) in (0u16..).zip(self.cursor.window(rows)) {
            let line = match self.rows[at] {
                Row::Heading(item) => {
                    let text = self.items[item].heading().unwrap_or_default().to_owned();
                    StyledLine::of(text, theme.fg(ThemeColor::Muted))
                }
                Row::Item(item) => self.row(item, at == self.cursor.at(), usize::from(area.width), theme),
            };
            frame.line(area, row, &line);
        }
    }

    fn row(&self, item: usize, marked: bool, width: usize, theme: &Theme) -> StyledLine {
        let item = &self.items[item];
        let marked = marked && item.is_enabled();
        let look = Look { theme, width: width.saturating_sub(2), marked };
        let mut line = StyledLine::of(if marked { "→ " } else { "  " }, theme.fg(ThemeColor::Accent));
        line.spans.extend(cut(&item.line(&look), look.width).spans);
        if marked { line.filled(theme.bg(ThemeColor::SelectedBg)) } else { line }
    }

    /// The height of a panel with this list in it.
    #[must_use]
    pub fn height(&self, panel: &Panel<'_>, most_rows: usize, most: u16) -> u16 {
        panel.height(self.body_rows(most_rows)).min(most)
    }
}

#[cfg(test)]
mod tests;
