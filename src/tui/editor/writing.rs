//! The text with its caret, and all that can be done to it.

use std::{cell::RefCell, mem, ops::Range};

use super::{
    EditorAction, EditorRow, EditorView, Fragment, Geometry, History, Text,
    kill_ring::{KillRing, Side},
    motion::Jump,
    paste,
    rows::Rows,
    undo::{Change, UndoLog},
    vim::Vim,
    words::{word_left, word_right},
};

/// The text that is being written: what it says, where the caret is, what was killed, changed and sent before.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    pub(super) text: Text,
    pub(super) caret: usize,
    /// The column that the caret keeps while it goes up and down.
    pub(super) goal: Option<usize>,
    pub(super) last: Last,
    pub(super) jump: Option<Jump>,
    pub(super) kills: KillRing,
    pub(super) undo: UndoLog,
    pub(super) history: History,
    /// Blocks that were pasted into this text.
    pub(super) pastes: usize,
    pub(super) selected: Range<usize>,
    pub(super) revision: u64,
    /// A memory of what `text` says anyway.
    pub(super) rows: RefCell<Rows>,
    /// The keys of vi, if they are on.
    pub(super) vim: Option<Vim>,
}

/// What was done last, for what depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Last {
    #[default]
    Other,
    /// A character was typed: a blank or another.
    Typed { blank: bool },
    /// Text was killed: the next kill joins it.
    Killed,
    /// Text was yanked, to here.
    Yanked(Range<usize>),
    /// A prompt was taken from the history.
    Recalled,
}

impl Editor {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The text as it is sent: with the pasted blocks in the place of their markers.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.whole().expanded()
    }

    /// The text as it is seen: with markers.
    #[must_use]
    pub fn draft(&self) -> &str {
        self.text.as_str()
    }

    /// All that is written, with its pasted blocks, to be put back by [`Editor::restore`].
    #[must_use]
    pub fn content(&self) -> &Fragment {
        self.text.whole()
    }

    /// Puts what was written before into the place of all.
    pub fn restore(&mut self, content: &Fragment) {
        self.pastes = self.pastes.max(content.blocks());
        self.put(0..self.text.len(), content);
    }

    /// Whether nothing is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether it is a command for the shell.
    #[must_use]
    pub fn starts_with_bang(&self) -> bool {
        self.draft().trim_start().starts_with('!')
    }

    /// The caret's offset in the draft.
    #[must_use]
    pub fn caret(&self) -> usize {
        self.caret
    }

    /// A number that is another after each change of the text.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the next typed character is one to jump to.
    #[must_use]
    pub fn waits_for_jump(&self) -> bool {
        self.jump.is_some()
    }

    /// Typed characters are written again. Whether the next one was to be jumped to.
    pub fn cancel_jump(&mut self) -> bool {
        self.jump.take().is_some()
    }

    /// The caret's line, with markers; the caret's offset in it; and whether it is the first.
    #[must_use]
    pub fn line(&self) -> (&str, usize, bool) {
        let line = self.text.line_of(self.caret);
        let range = self.text.line(line);
        let at = self.caret - range.start;
        (&self.draft()[range], at, line == 0)
    }

    /// The prompts that were sent.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Adds a prompt to the history, as the latest.
    pub fn remember(&mut self, prompt: &str) {
        self.history.push(prompt);
    }

    /// Takes the text to be sent, without blanks around it, and remembers it. Nothing is left, not even to be undone.
    pub fn take(&mut self) -> String {
        let sent = self.text().trim().to_owned();
        self.history.push(&sent);
        self.splice(0..self.text.len(), &Fragment::default());
        self.settle(0);
        self.undo.clear();
        self.pastes = 0;
        self.last = Last::Other;
        self.vim = self.vim.take().map(Vim::begun_anew);
        sent
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.set_text("");
    }

    /// Puts `text` into the place of all; the caret is at its end.
    pub fn set_text(&mut self, text: &str) {
        self.put(0..self.text.len(), &Fragment::from(paste::plain(text).as_str()));
    }

    /// Puts `text` before all that is there; the caret is at the end.
    pub fn prepend(&mut self, text: &str) {
        self.put(0..0, &Fragment::from(paste::plain(text).as_str()));
        self.go(self.text.len());
    }

    /// Inserts `text` at the caret.
    pub fn insert(&mut self, text: &str) {
        self.put(self.caret..self.caret, &Fragment::from(paste::plain(text).as_str()));
    }

    /// Puts `text` into the place of a part of the caret's line. The offsets are in the line; they move to the edges of
    /// characters.
    pub fn replace_in_line(&mut self, range: Range<usize>, text: &str) {
        let line = self.text.line(self.text.line_of(self.caret));
        let edge = |at: usize| self.text.edge((line.start + at).min(line.end));
        let range = edge(range.start)..edge(range.end);
        self.put(range.start..range.end.max(range.start), &Fragment::from(paste::plain(text).as_str()));
    }

    /// Inserts what was pasted, or a marker for it when it is long.
    pub fn paste(&mut self, text: &str) {
        let before = self.draft()[..self.caret].chars().next_back();
        let pasted = paste::pasted(text, self.pastes + 1, before);
        self.pastes += usize::from(pasted.is_block());
        self.put(self.caret..self.caret, &pasted);
    }

    /// A character was typed: it is inserted, or jumped to. Control characters other than newline do nothing.
    pub fn type_char(&mut self, character: char) {
        if let Some(jump) = self.jump.take() {
            self.last = Last::Other;
            return self.go(jump.find(&self.text, self.caret, character).unwrap_or(self.caret));
        }
        if character.is_control() && character != '\n' {
            return;
        }
        let blank = character.is_whitespace();
        let joins = match self.last {
            Last::Typed { blank: before } => before || !blank,
            _ => false,
        };
        let at = self.caret;
        let typed = Fragment::from(&*character.encode_utf8(&mut [0; 4]));
        if joins && self.undo.extend(at, typed.len()) {
            self.splice(at..at, &typed);
            self.settle(at + typed.len());
        } else {
            self.edit(at..at, &typed);
        }
        self.last = Last::Typed { blank };
    }

    /// Does something to the text. `geometry`: the room that it is shown in.
    pub fn act(&mut self, action: EditorAction, geometry: Geometry) {
        use EditorAction as A;
        let last = mem::take(&mut self.last);
        let jump = self.jump.take();
        let caret = self.caret;
        let line = self.text.line(self.text.line_of(caret));
        match action {
            A::CursorUp => self.cursor_up(&last, geometry),
            A::CursorDown => self.cursor_down(&last, geometry),
            A::PageUp => self.page_up(geometry),
            A::PageDown => self.page_down(geometry),
            A::HistoryPrevious => self.recall_older(),
            A::HistoryNext => self.recall_newer(),
            A::CursorLeft => self.go(self.text.previous(caret)),
            A::CursorRight => self.go(self.text.next(caret)),
            A::CursorWordLeft => self.go(word_left(&self.text, caret)),
            A::CursorWordRight => self.go(word_right(&self.text, caret)),
            A::CursorLineStart => self.go(line.start),
            A::CursorLineEnd => self.go(line.end),
            A::CursorTextStart => self.go(0),
            A::CursorTextEnd => self.go(self.text.len()),
            A::JumpForward => self.jump = Some(Jump::Forward).filter(|_| jump != Some(Jump::Forward)),
            A::JumpBackward => self.jump = Some(Jump::Backward).filter(|_| jump != Some(Jump::Backward)),
            A::DeleteCharBackward => self.remove(self.text.previous(caret)..caret),
            A::DeleteCharForward => self.remove(caret..self.text.next(caret)),
            A::DeleteWordBackward => self.kill(word_left(&self.text, caret), &last),
            A::DeleteWordForward => self.kill(word_right(&self.text, caret), &last),
            A::DeleteToLineStart if caret == line.start => self.kill(self.text.previous(caret), &last),
            A::DeleteToLineStart => self.kill(line.start, &last),
            A::DeleteToLineEnd if caret == line.end => self.kill(self.text.next(caret), &last),
            A::DeleteToLineEnd => self.kill(line.end, &last),
            A::Yank => {
                if let Some(killed) = self.kills.latest().cloned() {
                    self.yank(caret..caret, &killed);
                }
            }
            A::YankPop => {
                if let Last::Yanked(range) = last
                    && let Some(killed) = self.kills.turn().cloned()
                {
                    self.yank(range, &killed);
                }
            }
            A::Undo => {
                if let Some(change) = self.undo.undo() {
                    let inverse = self.apply(&change);
                    self.undo.undid(inverse);
                }
            }
            A::Redo => {
                if let Some(change) = self.undo.redo() {
                    let inverse = self.apply(&change);
                    self.undo.redid(inverse);
                }
            }
            A::NewLine => self.edit(caret..caret, &Fragment::from("\n")),
        }
    }

    /// What is seen of the text in the room: the part around the caret.
    #[must_use]
    pub fn layout(&self, geometry: Geometry) -> EditorView {
        let mut rows = self.rows.borrow_mut();
        rows.refresh(&self.text, geometry.width);
        let caret = rows.row_of(&self.text, self.caret);
        let width = usize::from(geometry.width).max(1);
        let (first, above, total) = rows.seen(caret, geometry);
        let mut view = EditorView { rows: Vec::new(), cursor: (0, 0), above, below: 0 };
        let mut next = Some(first);
        while let Some(row) = next.filter(|_| view.rows.len() < usize::from(geometry.rows).max(1)) {
            if row == caret {
                let column = rows.column(&self.text, self.caret).min(width - 1);
                view.cursor = (u16::try_from(column).unwrap_or(u16::MAX), view.rows.len() as u16);
            }
            view.rows.push(EditorRow::of(&self.text, rows.range(&self.text, row), width, &self.selected));
            next = rows.below(row);
        }
        view.below = total - above - view.rows.len();
        view
    }

    /// Kills what is between the caret and `to`.
    fn kill(&mut self, to: usize, last: &Last) {
        let (range, side) =
            if to < self.caret { (to..self.caret, Side::Before) } else { (self.caret..to, Side::Behind) };
        self.kills.kill(self.text.part(range.clone()), side, *last == Last::Killed);
        self.remove(range);
        self.last = Last::Killed;
    }

    fn yank(&mut self, range: Range<usize>, killed: &Fragment) {
        let start = range.start;
        self.edit(range, killed);
        self.last = Last::Yanked(start..start + killed.len());
    }

    /// An edit that is not one of an action.
    pub(super) fn put(&mut self, range: Range<usize>, with: &Fragment) {
        self.last = Last::Other;
        self.jump = None;
        self.edit(range, with);
    }

    /// Changes the text in a way that can be undone; the caret is behind what came.
    pub(super) fn edit(&mut self, range: Range<usize>, with: &Fragment) {
        if range.is_empty() && with.is_empty() {
            return;
        }
        let (at, caret) = (range.start, self.caret);
        let was = self.splice(range, with);
        self.undo.push(Change { at, len: with.len(), was, caret });
        self.settle(at + with.len());
    }

    /// Removes a part for good: it can only be undone.
    pub(super) fn remove(&mut self, range: Range<usize>) {
        self.edit(range, &Fragment::default());
    }

    /// Does or undoes a change, and says how to take that back.
    fn apply(&mut self, change: &Change) -> Change {
        let caret = self.caret;
        let was = self.splice(change.range(), &change.was);
        self.settle(change.caret);
        Change { at: change.at, len: change.was.len(), was, caret }
    }

    /// The one place where the text changes.
    fn splice(&mut self, range: Range<usize>, with: &Fragment) -> Fragment {
        let start = range.start;
        let lines = self.text.lines();
        let was = self.text.replace(range, with);
        let line = self.text.line_of(start);
        let come = memchr::memchr_iter(b'\n', with.as_str().as_bytes()).count();
        let gone = lines + come - self.text.lines();
        self.rows.get_mut().changed(line, start - self.text.line(line).start, gone, come);
        was
    }

    /// The text was changed, and the caret is to be at `at` or at the edge behind it.
    fn settle(&mut self, at: usize) {
        self.revision += 1;
        self.history.leave();
        self.selected = 0..0;
        let edge = self.text.edge(at);
        self.go(edge);
    }

    pub(super) fn go(&mut self, at: usize) {
        self.caret = at;
        self.goal = None;
    }
}
