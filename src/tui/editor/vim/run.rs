//! What commands do to the text.

use std::ops::Range;

use super::{
    Register, Vim, VimMode, VimOutcome,
    motion::{Extent, first_non_blank, target},
    parse::{Command, Motion, Operator, Place, Target, Way},
};
use crate::tui::{
    editor::{Editor, EditorAction, Fragment, Geometry, Text, words::word_right},
    keys::{Key, KeyCode, Modifiers},
};

impl Editor {
    /// Turns the keys of vi on or off.
    pub fn set_vim(&mut self, on: bool) {
        if on != self.vim.is_some() {
            self.vim = on.then(Vim::default);
            self.selected = 0..0;
        }
    }

    /// The mode of the keys of vi, if they are on.
    #[must_use]
    pub fn vim_mode(&self) -> Option<VimMode> {
        self.vim.as_ref().map(Vim::mode)
    }

    /// Takes a key as vi does, if its keys are on. `geometry`: the room that the text is shown in.
    pub fn vim(&mut self, key: Key, geometry: Geometry) -> VimOutcome {
        let Some(mut vim) = self.vim.take() else { return VimOutcome::Pass };
        let outcome = vim.key(self, key, geometry);
        self.vim = Some(vim);
        outcome
    }
}

impl Vim {
    fn key(&mut self, editor: &mut Editor, key: Key, geometry: Geometry) -> VimOutcome {
        if key == Key::plain(KeyCode::Escape) {
            return self.escape(editor);
        }
        if self.mode == VimMode::Insert {
            return VimOutcome::Pass;
        }
        let is_visual = self.mode == VimMode::Visual;
        let character = match key.code {
            _ if key.typed().is_some() => key.typed(),
            KeyCode::Char('r') if key.modifiers == Modifiers::CTRL => {
                self.run(editor, Command::Redo(self.parser.times()), geometry);
                self.parser.cancel();
                self.settle(editor);
                return VimOutcome::Done;
            }
            KeyCode::Backspace => Some('h'),
            KeyCode::Left if is_visual => Some('h'),
            KeyCode::Right if is_visual => Some('l'),
            KeyCode::Up if is_visual => Some('k'),
            KeyCode::Down if is_visual => Some('j'),
            KeyCode::Home if is_visual => Some('0'),
            KeyCode::End if is_visual => Some('$'),
            _ => None,
        };
        let Some(character) = character else {
            self.parser.cancel();
            return VimOutcome::Pass;
        };
        if let Some(command) = self.parser.push(character, is_visual) {
            self.run(editor, command, geometry);
        }
        self.settle(editor);
        VimOutcome::Done
    }

    fn escape(&mut self, editor: &mut Editor) -> VimOutcome {
        let begun = self.parser.has_begun();
        self.parser.cancel();
        match self.mode {
            VimMode::Normal if !begun => {
                // What was pasted leaves the caret behind it.
                self.settle(editor);
                return VimOutcome::Pass;
            }
            VimMode::Insert => {
                let line = editor.text.line(editor.text.line_of(editor.caret));
                if editor.caret > line.start {
                    editor.go(editor.text.previous(editor.caret));
                }
                self.mode = VimMode::Normal;
            }
            VimMode::Visual if !begun => self.mode = VimMode::Normal,
            VimMode::Normal | VimMode::Visual => {}
        }
        self.settle(editor);
        VimOutcome::Done
    }

    /// The caret is on a character, and what is selected is seen.
    fn settle(&self, editor: &mut Editor) {
        if self.mode == VimMode::Insert {
            editor.selected = 0..0;
            return;
        }
        let line = editor.text.line(editor.text.line_of(editor.caret));
        if editor.caret == line.end && editor.caret > line.start {
            // The column that is kept for up and down stays.
            editor.caret = editor.text.previous(editor.caret);
        }
        editor.selected = if self.mode == VimMode::Visual { self.selection(editor) } else { 0..0 };
    }

    fn selection(&self, editor: &Editor) -> Range<usize> {
        let anchor = editor.text.edge(self.anchor);
        anchor.min(editor.caret)..editor.text.next(anchor.max(editor.caret))
    }

    fn run(&mut self, editor: &mut Editor, command: Command, geometry: Geometry) {
        match command {
            Command::Move(Motion { way: Way::Up, count }) => drop(editor.rows_up(count, geometry)),
            Command::Move(Motion { way: Way::Down, count }) => drop(editor.rows_down(count, geometry)),
            Command::Move(motion) => {
                if let Some(at) = target(&editor.text, editor.caret, motion) {
                    editor.go(at);
                }
            }
            Command::Operate(operator, target) => self.operate(editor, operator, target),
            Command::Insert(place) => self.insert(editor, place),
            Command::Put { behind, count } => self.put(editor, behind, count),
            Command::Replace { with, count } => self.replace(editor, with, count),
            Command::Undo(count) => (0..count).for_each(|_| editor.act(EditorAction::Undo, geometry)),
            Command::Redo(count) => (0..count).for_each(|_| editor.act(EditorAction::Redo, geometry)),
            Command::Visual if self.mode == VimMode::Visual => self.mode = VimMode::Normal,
            Command::Visual => {
                self.mode = VimMode::Visual;
                self.anchor = editor.caret;
            }
            Command::OtherEnd => {
                let anchor = std::mem::replace(&mut self.anchor, editor.caret);
                editor.go(editor.text.edge(anchor));
            }
        }
    }

    fn operate(&mut self, editor: &mut Editor, operator: Operator, target: Target) {
        let Some((range, is_lines)) = self.part(editor, operator, target) else { return };
        self.mode = VimMode::Normal;
        self.register = Register { text: editor.text.part(range.clone()), is_lines };
        match operator {
            Operator::Yank => {
                let is_here = is_lines && editor.text.line_of(range.start) == editor.text.line_of(editor.caret);
                if !is_here {
                    editor.go(range.start);
                }
            }
            Operator::Change => {
                editor.remove(range);
                self.mode = VimMode::Insert;
            }
            Operator::Delete if is_lines => {
                // With the newline behind them, or that before them at the end of the text.
                let is_last = range.end == editor.text.len();
                editor.remove(if is_last {
                    range.start.saturating_sub(1)..range.end
                } else {
                    range.start..range.end + 1
                });
                let line = editor.text.line_of(editor.caret);
                editor.go(first_non_blank(&editor.text, line));
            }
            Operator::Delete => editor.remove(range),
        }
    }

    /// What an operator works on, and whether it is whole lines, whose last newline is not in the range.
    fn part(&self, editor: &Editor, operator: Operator, of: Target) -> Option<(Range<usize>, bool)> {
        let (text, caret) = (&editor.text, editor.caret);
        let line = text.line_of(caret);
        let lines = |a: usize, b: usize| (text.line(a.min(b)).start..text.line(a.max(b)).end, true);
        Some(match of {
            Target::Selection => (self.selection(editor), false),
            Target::Lines(count) => lines(line, (line + count - 1).min(text.lines() - 1)),
            Target::Passed(motion) => {
                let on_blank = text.as_str()[caret..].starts_with(char::is_whitespace);
                if operator == Operator::Change && motion.way == Way::WordForward && !on_blank {
                    // `cw` leaves the blanks behind the word.
                    let end = (0..motion.count).fold(caret, |at, _| word_right(text, at));
                    return Some((caret..end, false));
                }
                let to = target(text, caret, motion)?;
                let range = caret.min(to)..caret.max(to);
                match motion.way.extent() {
                    Extent::Lines => lines(line, text.line_of(to)),
                    Extent::Including => (range.start..text.next(range.end), false),
                    Extent::Between if motion.way == Way::WordForward => (caret..word_before(text, caret, to), false),
                    Extent::Between => (range, false),
                }
            }
        })
    }

    fn insert(&mut self, editor: &mut Editor, place: Place) {
        self.mode = VimMode::Insert;
        let number = editor.text.line_of(editor.caret);
        let line = editor.text.line(number);
        match place {
            Place::Here => {}
            Place::Behind => editor.go(editor.text.next(editor.caret).min(line.end)),
            Place::LineStart => editor.go(first_non_blank(&editor.text, number)),
            Place::LineEnd => editor.go(line.end),
            Place::Above => {
                editor.edit(line.start..line.start, &Fragment::from("\n"));
                editor.go(line.start);
            }
            Place::Below => editor.edit(line.end..line.end, &Fragment::from("\n")),
        }
    }

    fn put(&mut self, editor: &mut Editor, behind: bool, count: usize) {
        let Register { text, is_lines } = self.register.clone();
        // Nobody wants a gigabyte by a slip of a finger.
        let count = count.min(1 + 1_000_000 / text.len().max(1));
        let line = editor.text.line(editor.text.line_of(editor.caret));
        let newline = Fragment::from("\n");
        let mut put = Fragment::default();
        for _ in 0..count {
            put = match (is_lines, behind) {
                (true, true) => put.followed_by(&newline).followed_by(&text),
                (true, false) => put.followed_by(&text).followed_by(&newline),
                (false, _) => put.followed_by(&text),
            };
        }
        match (is_lines, behind) {
            (true, true) => {
                editor.edit(line.end..line.end, &put);
                editor.go(first_non_blank(&editor.text, editor.text.line_of(line.end + 1)));
            }
            (true, false) => {
                editor.edit(line.start..line.start, &put);
                editor.go(first_non_blank(&editor.text, editor.text.line_of(line.start)));
            }
            (false, _) if put.is_empty() => {}
            (false, _) => {
                let at = if behind { editor.text.next(editor.caret).min(line.end) } else { editor.caret };
                editor.edit(at..at, &put);
                editor.go(editor.text.previous(editor.caret));
            }
        }
    }

    fn replace(&mut self, editor: &mut Editor, with: char, count: usize) {
        let range = if self.mode == VimMode::Visual {
            self.selection(editor)
        } else {
            let line = editor.text.line(editor.text.line_of(editor.caret));
            let mut end = editor.caret;
            for _ in 0..count {
                if end == line.end {
                    return;
                }
                end = editor.text.next(end);
            }
            editor.caret..end
        };
        let mut put = String::new();
        let mut at = range.start;
        while at < range.end {
            put.push(if editor.text.as_str()[at..].starts_with('\n') { '\n' } else { with });
            at = editor.text.next(at);
        }
        let start = range.start;
        editor.edit(range, &Fragment::from(put.as_str()));
        editor.go(match self.mode {
            VimMode::Visual => start,
            _ => editor.text.previous(editor.caret),
        });
        self.mode = VimMode::Normal;
    }
}

/// Where `dw` stops that would go on to `to`: what it deletes of the last word of a line ends with the line.
fn word_before(text: &Text, caret: usize, to: usize) -> usize {
    let line = text.line_of(to);
    let is_indent = text.as_str()[text.line(line).start..to].chars().all(char::is_whitespace);
    if line > text.line_of(caret) && is_indent { text.line(line - 1).end.max(caret) } else { to }
}
