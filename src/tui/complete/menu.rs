//! The list of what the text could go on with.

use std::ops::Range;

use crate::tui::{
    text::{StyledLine, one_line, width_of},
    theme::{Theme, ThemeColor},
};

/// Columns that names take at most before their descriptions start.
const MAX_NAME: usize = 32;
/// Columns that a description must have to be shown.
const MIN_DESCRIPTION: usize = 10;

/// What the items of a menu are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuKind {
    /// Slash commands: Enter sends the chosen one at once.
    Commands,
    /// Arguments of a command.
    Arguments,
    /// Files behind an `@`.
    Files,
    /// Paths.
    Paths,
}

/// Something that the text could go on with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MenuItem {
    /// Its name, as it is; it is shown without what a terminal obeys.
    pub label: String,
    /// What it is, in a few words; may be empty.
    pub description: String,
    /// What is written for it.
    pub insert: String,
    /// Whether more is to come at once, as in a folder: the list is then made anew.
    pub goes_on: bool,
}

/// How an item is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// By Tab: it is written.
    Tab,
    /// By Enter: it is written, and a command is sent.
    Enter,
}

/// What becomes of the text when an item is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The part of the caret's line that goes.
    pub range: Range<usize>,
    /// What comes.
    pub insert: String,
    /// The text is to be sent now.
    pub sends: bool,
    /// Completion is to be looked for again.
    pub goes_on: bool,
}

/// A list of items, one of which is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu {
    kind: MenuKind,
    items: Vec<MenuItem>,
    range: Range<usize>,
    selected: usize,
}

impl Menu {
    /// A menu, if there is anything in it. `range`: the part of the caret's line that an item takes the place of.
    #[must_use]
    pub fn new(kind: MenuKind, items: Vec<MenuItem>, range: Range<usize>) -> Option<Self> {
        (!items.is_empty()).then_some(Self { kind, items, range, selected: 0 })
    }

    /// What it lists.
    #[must_use]
    pub fn kind(&self) -> MenuKind {
        self.kind
    }

    /// Its items.
    #[must_use]
    pub fn items(&self) -> &[MenuItem] {
        &self.items
    }

    /// Which is selected.
    #[must_use]
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Selects the item above; from the first, the last.
    pub fn up(&mut self) {
        self.selected = self.selected.checked_sub(1).unwrap_or(self.items.len() - 1);
    }

    /// Selects the item below; from the last, the first.
    pub fn down(&mut self) {
        self.selected = (self.selected + 1) % self.items.len();
    }

    /// Selects the item `by` above or below (less than 0: above), or the first or last.
    pub fn page(&mut self, by: isize) {
        self.selected = self.selected.saturating_add_signed(by).min(self.items.len() - 1);
    }

    /// What becomes of the text when the selected item is accepted.
    #[must_use]
    pub fn accept(&self, by: Accept) -> Accepted {
        let item = &self.items[self.selected];
        Accepted {
            range: self.range.clone(),
            insert: item.insert.clone(),
            sends: by == Accept::Enter && self.kind == MenuKind::Commands,
            goes_on: item.goes_on,
        }
    }

    /// Its lines: at most `rows` items around the selected one, and below them its number when there are more.
    #[must_use]
    pub fn lines(&self, theme: &Theme, width: u16, rows: usize) -> Vec<StyledLine> {
        let rows = rows.max(1);
        let width = usize::from(width);
        let first = self.selected.saturating_sub(rows / 2).min(self.items.len().saturating_sub(rows));
        let shown = &self.items[first..self.items.len().min(first + rows)];
        let names: Vec<String> = shown.iter().map(|item| one_line(&item.label)).collect();
        let column = names.iter().map(|name| width_of(name)).max().unwrap_or(0).min(MAX_NAME);
        let mut lines = Vec::with_capacity(rows + 1);
        for (at, (item, name)) in shown.iter().zip(&names).enumerate() {
            let is_selected = first + at == self.selected;
            let (pointer, style) =
                if is_selected { ("→ ", theme.fg(ThemeColor::Accent)) } else { ("  ", theme.fg(ThemeColor::Text)) };
            let mut line = StyledLine::of(format!("{pointer}{name}"), style);
            let gap = (column + 2).saturating_sub(width_of(name)).max(2);
            if !item.description.is_empty() && width >= line.width() + gap + MIN_DESCRIPTION {
                let style = if is_selected { style } else { theme.fg(ThemeColor::Muted) };
                line.push(format!("{:gap$}{}", "", one_line(&item.description)), style);
            }
            lines.push(line);
        }
        if shown.len() < self.items.len() {
            let place = format!("  ({}/{})", self.selected + 1, self.items.len());
            lines.push(StyledLine::of(place, theme.fg(ThemeColor::Dim)));
        }
        lines
    }
}
