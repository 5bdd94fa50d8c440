//! The conversation on the screen: what the session's branch holds, what runs, and notices between them.
//!
//! Nothing here grows with the session but a list of small numbers. Only what is visible is laid out: the view is
//! anchored at a line of an item, and items are laid out from there on.
//!
//! | file | what |
//! |---|---|
//! | [`item`] | what stands in the conversation |
//! | [`live`], `live_view` | the streaming answer, running calls and commands; the same as lines |
//! | [`layout`] | an item as lines |
//! | [`entry`], `answer`, `bash` | an entry of the session as lines; those of the model, and of the user's commands |
//! | `advice` | what helps when a model call failed |
//! | [`lines`] | the lines of an item |
//! | [`scroll`] | which lines are visible |
//! | `commit` | what is over, for terminals that keep their own history |

mod advice;
pub mod answer;
mod bash;
mod commit;
pub mod entry;
pub mod item;
pub mod layout;
pub mod lines;
pub mod live;
mod live_view;
pub mod scroll;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::{
    item::{Item, Notice},
    layout::LayoutCache,
    live::Live,
    scroll::Scroll,
};
use crate::{
    protocol::{
        Event, Published,
        event::{CompactionReason, NoticeLevel},
        view::View,
    },
    store::{
        jsonl::{EntryKind, Role},
        tree::TreeView,
    },
};

/// See the module.
#[derive(Default)]
pub struct Transcript {
    tree: Option<TreeView>,
    items: Vec<Item>,
    /// What runs.
    pub live: Live,
    /// Where the view is.
    pub scroll: Scroll,
    /// Tool output is shown whole.
    pub expanded: bool,
    /// Thinking is shown, where the settings hide it, or the other way round.
    pub thinking_toggled: bool,
    cache: LayoutCache,
    /// The place of the last answer, whose calls may still get results.
    last_answer: Option<usize>,
    /// What is to be said behind the entries that come next.
    behind: Vec<Item>,
    /// Items that were written into the terminal's own history.
    committed: usize,
}

impl Transcript {
    /// The items, in order.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The session that is shown.
    #[must_use]
    pub fn tree(&self) -> Option<&TreeView> {
        self.tree.as_ref()
    }

    /// Adds a notice behind everything.
    pub fn notice(&mut self, level: NoticeLevel, text: impl Into<String>) {
        self.items.push(Item::Notice(Arc::new(Notice { level, text: text.into() })));
    }

    /// Adds a notice about what just happened: it stands behind the entry that tells of that, which comes next.
    pub fn notice_behind(&mut self, level: NoticeLevel, text: impl Into<String>) {
        self.behind.push(Item::Notice(Arc::new(Notice { level, text: text.into() })));
    }

    /// The last warnings and errors, the last one last.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        const LAST: usize = 20;
        let problem = |item: &Item| match item {
            Item::Notice(notice) if notice.level != NoticeLevel::Info => Some(notice.text.clone()),
            _ => None,
        };
        let mut problems: Vec<_> = self.items.iter().rev().filter_map(problem).take(LAST).collect();
        problems.reverse();
        problems
    }

    /// Puts the start page first.
    pub fn show_header(&mut self) {
        if !matches!(self.items.first(), Some(Item::Header)) {
            self.items.insert(0, Item::Header);
            self.last_answer = self.last_answer.map(|at| at + 1);
            self.committed = 0;
            self.cache.clear();
        }
    }

    /// Begins with another session.
    pub fn reset(&mut self, view: &View) {
        let header = matches!(self.items.first(), Some(Item::Header));
        let Self { expanded, thinking_toggled, .. } = *self;
        // What was said before any session was there is still to be read.
        let is_first = self.tree.is_none();
        let kept = self.items.drain(..).filter(|item| is_first && matches!(item, Item::Notice(_))).collect();
        *self = Self { expanded, thinking_toggled, items: kept, live: Live::of(view), ..Self::default() };
        if header {
            self.show_header();
        }
    }

    /// Shows the session as it is now. Costs time in what was added; in the length of the branch when the conversation
    /// went on elsewhere.
    pub fn sync(&mut self, tree: &TreeView) {
        self.sync_entries(tree);
        self.items.append(&mut self.behind);
    }

    fn sync_entries(&mut self, tree: &TreeView) {
        let last = self.items.iter().rev().find_map(Item::position);
        let mut fresh = Vec::new();
        let mut joined = last.is_none();
        for entry in tree.ancestors() {
            if last.is_some_and(|last| entry.position() <= last) {
                joined = last == Some(entry.position());
                break;
            }
            fresh.push(Item::Entry(entry.position()));
        }
        if tree.leaf().is_none() && last.is_some() {
            joined = false;
        }
        self.tree = Some(tree.clone());
        if !joined {
            self.items.retain(|item| matches!(item, Item::Header));
            self.items.extend(tree.path().into_iter().map(|entry| Item::Entry(entry.position())));
            self.last_answer = self.answer_from(0);
            self.cache.clear();
            self.committed = 0;
            self.scroll = Scroll::Bottom;
            return;
        }
        if fresh.is_empty() {
            return;
        }
        self.forget_calls();
        let from = self.items.len();
        self.items.extend(fresh.into_iter().rev());
        self.last_answer = self.answer_from(from).or(self.last_answer);
        self.live.stored(tree, &self.items[from..]);
    }

    /// The last answer among the items from `first` on.
    fn answer_from(&self, first: usize) -> Option<usize> {
        (first..self.items.len()).rev().find(|at| self.is_answer(*at))
    }

    /// Says whether a trace runs, to a transcript that is told of no events: calls without a result may still get one.
    pub fn set_running(&mut self, running: bool) {
        if std::mem::replace(&mut self.live.runs, running) != running {
            self.forget_calls();
        }
    }

    /// Forgets the lines that show how far calls are.
    fn forget_calls(&mut self) {
        self.cache.forget_from(self.last_answer.unwrap_or(0));
    }

    fn is_answer(&self, at: usize) -> bool {
        self.kind_of(at) == Some(EntryKind::Message(Role::Assistant))
    }

    fn is_prompt(&self, at: usize) -> bool {
        self.kind_of(at) == Some(EntryKind::Message(Role::User))
    }

    fn kind_of(&self, at: usize) -> Option<EntryKind> {
        let position = self.items.get(at)?.position()?;
        self.tree.as_ref()?.entry_at(position).map(|entry| entry.kind())
    }

    /// Folds in what happened, except for the session itself.
    pub fn apply(&mut self, published: &Published, now: u64) {
        match &published.event {
            Event::Notice { level, text } => self.notice(*level, text.clone()),
            Event::ExtensionError { extension, event, error } => {
                self.notice(NoticeLevel::Error, format!("Extension {extension}, at {event}: {error}"));
            }
            Event::Parked { cause } => {
                let text =
                    format!("The agent failed too often and is stopped: {cause}. /resume opens the session again.");
                self.notice(NoticeLevel::Error, text);
            }
            Event::Restarted { actor, cause } => {
                self.notice(NoticeLevel::Warning, format!("A part of the agent was started again ({actor}): {cause}"));
            }
            // Whoever asked for one is answered.
            Event::CompactionEnd { reason, error_message: Some(error), .. } if *reason != CompactionReason::Manual => {
                self.notice(NoticeLevel::Error, error.clone());
            }
            event => {
                if self.live.apply(event, now) {
                    self.forget_calls();
                }
            }
        }
    }

    /// Something in it changes as time passes.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        self.live.is_moving()
    }

    /// Shows all tool output, or only the beginning and the end.
    pub fn toggle_expanded(&mut self) {
        self.expanded = !self.expanded;
        self.cache.clear();
    }

    /// Shows thinking, or hides it.
    pub fn toggle_thinking(&mut self) {
        self.thinking_toggled = !self.thinking_toggled;
        self.cache.clear();
    }
}
