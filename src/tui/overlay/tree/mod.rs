//! The session's tree: where it parted, what was said, and where the conversation is to go on.
//!
//! | file | what |
//! |---|---|
//! | [`filter`] | which entries are shown |
//! | [`shape`] | the tree as rows |
//! | [`texts`] | what entries say |
//! | [`marked`] | entries, rows and the mark, under a filter and a search |
//! | [`row`] | a row as it is drawn |
//! | [`leave`] | the question about a summary of what is left behind |

mod filter;
mod leave;
mod marked;
mod row;
mod shape;
mod texts;

#[cfg(test)]
mod tests;

use ratatui::layout::Rect;

pub use filter::Filter;
pub use texts::{TextsFound, TextsWork};

use self::{
    leave::{Leave, Left},
    marked::MarkedTree,
};
use super::{
    Outcome, Overlay, OverlayContext,
    input::LineInput,
    panel::{Panel, hints, title},
};
use crate::{
    protocol::{Command, EntryId, navigation::Navigate},
    store::tree::TreeView,
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key},
        terminal::Frame,
        text::StyledLine,
        theme::ThemeColor,
        work::{Work, WorkDone},
    },
};

/// The tree in front of the editor.
pub struct TreeSelector {
    tree: MarkedTree,
    search: LineInput,
    mode: Mode,
    /// The times of labels are shown.
    times: bool,
    /// Nothing is asked about summaries.
    skips_question: bool,
    page: std::cell::Cell<usize>,
}

/// What keys are for.
enum Mode {
    /// The tree.
    Tree,
    /// The name of an entry.
    Label(EntryId, LineInput),
    /// The question about what is left behind.
    Leave(Leave),
}

impl TreeSelector {
    /// The tree of a session with its place marked, and what is to be done for it. `skips_question`: nothing is asked
    /// about summaries.
    #[must_use]
    pub fn new(tree: TreeView, filter: Filter, skips_question: bool) -> (Self, Vec<Effect>) {
        let (tree, unread) = MarkedTree::new(tree, filter);
        let work = (unread > 0).then_some(Effect::Work(Work::TreeTexts(TextsWork { count: unread })));
        let selector = Self {
            tree,
            search: LineInput::default(),
            mode: Mode::Tree,
            times: false,
            skips_question,
            page: std::cell::Cell::new(8),
        };
        (selector, work.into_iter().collect())
    }

    /// The mark's entry is where the conversation is to go on.
    fn choose(&mut self) -> Outcome {
        let Some(target) = self.tree.marked().map(|entry| entry.id().clone()) else { return Outcome::stay() };
        if self.tree.is_here() {
            return Outcome::close();
        }
        let leaves = self.tree.view().left_for(Some(&target)).iter().any(|entry| entry.kind().is_conversation());
        if self.skips_question || !leaves {
            return go(Navigate { target: Some(target), ..Navigate::default() });
        }
        self.mode = Mode::Leave(Leave::new(target));
        Outcome::stay()
    }

    fn tree_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let is = |action| context.keymap.is(key, action);
        if is(Action::SelectCancel) {
            return Outcome::close();
        }
        if is(Action::SelectConfirm) {
            return self.choose();
        }
        let filters = [
            (Action::FilterDefault, Filter::Default),
            (Action::FilterNoTools, Filter::NoTools),
            (Action::FilterUserOnly, Filter::UserOnly),
            (Action::FilterLabeledOnly, Filter::LabeledOnly),
            (Action::FilterAll, Filter::All),
            (Action::NextFilter, self.tree.filter().next(1)),
            (Action::PreviousFilter, self.tree.filter().next(Filter::ALL.len() - 1)),
        ];
        if let Some((_, filter)) = filters.iter().find(|(action, _)| is(*action)) {
            self.tree.set_filter(*filter);
        } else if is(Action::FoldOrUp) {
            self.tree.fold_or_up();
        } else if is(Action::UnfoldOrDown) {
            self.tree.unfold_or_down();
        } else if is(Action::EditLabel) {
            if let Some(entry) = self.tree.marked() {
                let label = self.tree.label(entry.position()).map(|label| LineInput::with_text(&label.text));
                self.mode = Mode::Label(entry.id().clone(), label.unwrap_or_default());
            }
        } else if is(Action::ToggleLabelTimestamp) {
            self.times = !self.times;
        } else if is(Action::CopyMessage) {
            let text = self.tree.marked().map(|entry| texts::whole(&entry.entry_once()));
            return Outcome::Stay(text.filter(|text| !text.is_empty()).map(Effect::Copy).into_iter().collect());
        } else if !self.tree.move_mark(key, context.keymap, self.page.get()) && self.search.on_key(key, context.keymap)
        {
            self.tree.search(self.search.text());
        }
        Outcome::stay()
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let theme = context.theme;
        let mut head = title("Session tree", theme);
        head.push(format!("  {}", self.tree.filter().name()), theme.fg(ThemeColor::Muted));
        if let Some((at, count)) = self.tree.progress() {
            head.push(format!("  ({at}/{count})"), theme.fg(ThemeColor::Dim));
        }
        let (input, actions): (_, &[_]) = match &self.mode {
            Mode::Tree => (
                Some((&self.search, "search")),
                &[
                    (Action::SelectConfirm, "go on here"),
                    (Action::NextFilter, "filter"),
                    (Action::EditLabel, "label"),
                    (Action::FoldOrUp, "fold"),
                    (Action::CopyMessage, "copy"),
                    (Action::SelectCancel, "leave"),
                ],
            ),
            Mode::Label(_, input) => (
                Some((input, "a label; empty takes it away")),
                &[(Action::SelectConfirm, "set label"), (Action::SelectCancel, "back")],
            ),
            Mode::Leave(leave) => return leave.panel(width, context),
        };
        Panel { title: head, input, hints: hints(context.keymap, actions, width, theme), ..Panel::default() }
    }
}

/// The conversation goes on elsewhere.
fn go(navigate: Navigate) -> Outcome {
    Outcome::Close(vec![Effect::Send(Command::Navigate(navigate), Purpose::Navigate)])
}

impl Overlay for TreeSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        match &mut self.mode {
            Mode::Tree => return self.tree_key(key, context),
            Mode::Label(target, input) => {
                if context.keymap.is(key, Action::SelectConfirm) {
                    let label = Some(input.text().trim().to_owned()).filter(|label| !label.is_empty());
                    let command = Command::SetLabel { target: target.clone(), label };
                    self.mode = Mode::Tree;
                    return Outcome::Stay(vec![Effect::Send(command, Purpose::Plain)]);
                }
                if context.keymap.is(key, Action::SelectCancel) {
                    self.mode = Mode::Tree;
                } else {
                    input.on_key(key, context.keymap);
                }
            }
            Mode::Leave(leave) => match leave.on_key(key, context.keymap) {
                Left::Asks => {}
                Left::Back => self.mode = Mode::Tree,
                Left::Goes(navigate) => return go(navigate),
            },
        }
        Outcome::stay()
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        match &mut self.mode {
            Mode::Tree => {
                self.search.paste(text);
                self.tree.search(self.search.text());
            }
            Mode::Label(_, input) => input.paste(text),
            Mode::Leave(leave) => leave.on_paste(text),
        }
        Outcome::stay()
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        if let WorkDone::TreeTexts(found) = done {
            self.tree.learn(found);
        }
        Outcome::stay()
    }

    fn on_change(&mut self, context: &OverlayContext<'_>) -> Outcome {
        if let Some(tree) = &context.facts.tree {
            self.tree.follow(tree);
        }
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        let rows = match &self.mode {
            Mode::Leave(leave) => leave.rows(),
            _ => self.tree.most_rows(),
        };
        self.panel(width, context).height(rows).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            if let Mode::Leave(leave) = &self.mode {
                return leave.draw(frame, body, context.theme);
            }
            let rows = usize::from(body.height);
            self.page.set(rows.max(2) - 1);
            let window = self.tree.window(rows);
            if window.is_empty() {
                let text = if self.search.is_empty() { "  Nothing to show" } else { "  Nothing fits the search" };
                frame.line(body, 0, &StyledLine::of(text, context.theme.fg(ThemeColor::Muted)));
            }
            for (row, at) in (0u16..).zip(window) {
                frame.line(body, row, &self.tree.line(at, usize::from(body.width), self.times, context.theme));
            }
        });
    }
}
