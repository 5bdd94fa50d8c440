//! What stands in the place of the editor: selectors and dialogs.
//!
//! | module | what |
//! |---|---|
//! | [`panel`], [`list`], [`cursor`], [`input`] | what they are made of: a frame, a list with a search, its mark, a line |
//! | [`login`] | logging in, and the first model |
//! | [`question`] | questions of the agent |
//! | [`models`] | models, their scope, levels of thinking |
//! | [`session`] | the list of sessions |
//! | [`tree`] | the session's tree |
//! | [`agents`] | the agents below this one |
//! | [`fork`], [`undo`], [`jobs`] | messages to fork before, changes of files, background jobs |
//! | [`settings`], [`mod@theme`], [`saving`] | settings, the theme, and how selectors save them |
//! | [`tools`], [`skills`], [`permissions`], [`trust`] | what the agent may use |
//! | [`mod@confirm`], [`text_view`] | yes or no, and a text to be read |

pub mod agents;
pub mod confirm;
pub mod cursor;
pub mod fork;
pub mod input;
pub mod jobs;
pub mod list;
pub mod login;
pub mod models;
pub mod panel;
pub mod permissions;
pub mod question;
pub mod saving;
pub mod session;
pub mod settings;
pub mod skills;
#[cfg(test)]
pub mod testing;
pub mod text_view;
pub mod theme;
pub mod tools;
pub mod tree;
pub mod trust;
pub mod undo;

use ratatui::layout::Rect;

use super::{
    effect::Effect,
    facts::AgentFacts,
    keys::{Key, Keymap},
    surroundings::Surroundings,
    terminal::Frame,
    theme::Theme,
    work::WorkDone,
};
use crate::actors::reply::CommandResult;

/// What an overlay may look at.
pub struct OverlayContext<'m> {
    /// Which key means what.
    pub keymap: &'m Keymap,
    /// Colours.
    pub theme: &'m Theme,
    /// The agent.
    pub facts: &'m AgentFacts,
    /// What does not change.
    pub surroundings: &'m Surroundings,
    /// Milliseconds since the screen began.
    pub now: u64,
}

/// What becomes of the overlay after a message.
pub enum Outcome {
    /// It stays, and wants this done.
    Stay(Vec<Effect>),
    /// It is gone, and wants this done.
    Close(Vec<Effect>),
    /// It is gone, its text goes into the editor, and it wants this done.
    CloseWithText(String, Vec<Effect>),
    /// Another one stands before it.
    Open(Box<dyn Overlay>, Vec<Effect>),
    /// Another one takes its place.
    Become(Box<dyn Overlay>, Vec<Effect>),
}

impl Outcome {
    /// It stays, and that is all.
    #[must_use]
    pub fn stay() -> Self {
        Self::Stay(Vec::new())
    }

    /// It goes, and that is all.
    #[must_use]
    pub fn close() -> Self {
        Self::Close(Vec::new())
    }
}

/// A selector or dialog. It is a plain value: it answers to messages and can be drawn.
pub trait Overlay: Send {
    /// A key was pressed.
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome;

    /// Text was pasted.
    fn on_paste(&mut self, text: &str, context: &OverlayContext<'_>) -> Outcome {
        let _ = (text, context);
        Outcome::stay()
    }

    /// Work that it wanted is done; it gets every result, also of work that others wanted.
    fn on_worked(&mut self, done: &WorkDone, context: &OverlayContext<'_>) -> Outcome {
        let _ = (done, context);
        Outcome::stay()
    }

    /// A command that it sent for [`Purpose::Overlay`](super::effect::Purpose::Overlay) was answered.
    fn on_answer(&mut self, answer: &CommandResult, context: &OverlayContext<'_>) -> Outcome {
        let _ = (answer, context);
        Outcome::stay()
    }

    /// Something changed in the agent, or time passed.
    fn on_change(&mut self, context: &OverlayContext<'_>) -> Outcome {
        let _ = context;
        Outcome::stay()
    }

    /// Whether it has no use for the page keys: they scroll the conversation then.
    fn leaves_page_keys(&self) -> bool {
        false
    }

    /// Whether it wants to be drawn again as time passes.
    fn is_moving(&self) -> bool {
        false
    }

    /// Rows that it wants, at most `most`.
    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16;

    /// Draws it. It may set the cursor.
    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>);

    /// The question that it answers, where it is one: it goes when the question is closed.
    fn question(&self) -> Option<&crate::protocol::question::QuestionId> {
        None
    }
}
