//! What the model wants done.

use super::{notify::Notification, work::Work};
use crate::{
    actors::reply::CommandResult,
    protocol::{Command, session_change::SessionChange},
    store::trust::TrustAnswer,
};

/// Something that the screen does for its model.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Send the agent a command; its answer comes back as [`Msg::Answered`](super::model::Msg::Answered).
    Send(Command, Purpose),
    /// Put another session in the place of this one.
    Replace(SessionChange),
    /// Follow a decision about the project.
    Trust(TrustAnswer),
    /// Have a worker do something; what comes of it comes back as [`Msg::Worked`](super::model::Msg::Worked).
    Work(Work),
    /// Read the theme anew: what it is made from has changed.
    Retheme,
    /// Try a theme out; none: use what the settings say again.
    TryTheme(Option<String>),
    /// Open the user's editor on a text.
    EditOutside(String),
    /// Put a text into the clipboard.
    Copy(String),
    /// Give the terminal a title.
    Title(String),
    /// Show in the terminal's frame, or in the bar of tasks, whether something is worked at.
    Progress(bool),
    /// Call a person who looks elsewhere.
    Notify(Notification),
    /// Stop the process until the shell continues it.
    Suspend,
    /// End the program.
    Quit,
    /// The terminal is gone: end the program without a word.
    HangUp,
}

/// What a command was sent for: says what its answer means.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    /// Nothing more: a failure is told.
    Plain,
    /// A prompt with this text: when it is refused, the text comes back into the editor.
    Prompt(String),
    /// The user's shell command of this number.
    Bash(String),
    /// Queued messages come back into the editor.
    TakeBack,
    /// The answer is told in these words when it worked.
    Told(String),
    /// The overlay in front asked.
    Overlay,
    /// The conversation goes on elsewhere.
    Navigate,
    /// A slash command asked, which has its own words for the answer.
    Slash(&'static str),
}

impl Purpose {
    /// Whether the answer brings words of the user back: they are wanted even when another agent is in front by now.
    #[must_use]
    pub fn gives_back(&self, result: &CommandResult) -> bool {
        match self {
            Self::Prompt(_) => result.is_err(),
            Self::TakeBack => result.is_ok(),
            _ => false,
        }
    }
}
