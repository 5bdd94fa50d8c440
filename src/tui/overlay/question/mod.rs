//! Dialogs for the questions of an agent: of extensions, and of the guard that asks before calls run.
//!
//! | file | what |
//! |---|---|
//! | [`select`] | one of several options, or yes and no |
//! | [`mod@line`] | a line of text |
//! | [`editor`] | text of several lines |

mod editor;
mod line;
mod select;

use std::sync::Arc;

use ratatui::style::Modifier;

use super::{Outcome, Overlay, OverlayContext};
use crate::{
    protocol::{
        Command,
        question::{Answer, Dialog, Question, QuestionId},
    },
    tui::{
        effect::{Effect, Purpose},
        text::{StyledLine, plain},
        theme::ThemeColor,
    },
};

/// The dialog for a question that was asked `now`.
#[must_use]
pub fn dialog(question: &Arc<Question>, now: u64) -> Box<dyn Overlay> {
    let asked = Asked { question: question.clone(), since: now };
    match &question.dialog {
        Dialog::Select { options } => {
            let options = options.iter().map(|option| (option.clone(), Answer::Value(option.clone())));
            Box::new(select::SelectDialog::new(asked, "", options.collect()))
        }
        Dialog::Confirm { message } => {
            let options = [("Yes", true), ("No", false)];
            let options = options.map(|(text, yes)| (text.to_owned(), Answer::Confirmed(yes))).to_vec();
            Box::new(select::SelectDialog::new(asked, message, options))
        }
        Dialog::Input { placeholder } => Box::new(line::LineDialog::new(asked, placeholder.as_deref())),
        Dialog::Editor { prefill } => Box::new(editor::EditorDialog::new(asked, prefill.as_deref())),
    }
}

/// A question on the screen.
struct Asked {
    question: Arc<Question>,
    /// Milliseconds since the screen began, when it came up.
    since: u64,
}

impl Asked {
    fn id(&self) -> &QuestionId {
        &self.question.id
    }

    /// The dialog goes, and this is the answer.
    fn answer(&self, answer: Answer) -> Outcome {
        let command = Command::Answer { id: self.question.id.clone(), answer };
        Outcome::Close(vec![Effect::Send(command, Purpose::Plain)])
    }

    /// What is asked, in rows: its first line stands out. `more` follows.
    fn rows(&self, more: &str, width: u16, context: &OverlayContext<'_>) -> Vec<StyledLine> {
        let (first, rest) = self.question.title.split_once('\n').unwrap_or((&self.question.title, ""));
        let width = usize::from(width);
        let accent = context.theme.fg(ThemeColor::Accent).add_modifier(Modifier::BOLD);
        let mut rows = plain(first, width, accent);
        for text in [rest, more].into_iter().filter(|text| !text.trim().is_empty()) {
            rows.extend(plain(text.trim_end(), width, context.theme.fg(ThemeColor::Text)));
        }
        rows
    }

    /// Seconds until nobody waits for the answer any more.
    fn seconds_left(&self, now: u64) -> Option<u64> {
        let passed = now.saturating_sub(self.since);
        self.question.timeout_ms.map(|timeout| timeout.saturating_sub(passed).div_ceil(1000))
    }

    /// The same as the beginning of the line of hints.
    fn countdown(&self, context: &OverlayContext<'_>) -> StyledLine {
        match self.seconds_left(context.now) {
            Some(seconds) => StyledLine::of(format!("{seconds} s left · "), context.theme.fg(ThemeColor::Warning)),
            None => StyledLine::default(),
        }
    }
}

#[cfg(test)]
mod tests;
