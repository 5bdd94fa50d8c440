//! How an extension asks people and shows them something.
//!
//! Without a front that can ask, questions have no answer at once (nothing chosen, no), and nothing is shown. While a
//! dialog is open, the time of the point that the extension is asked at stands still.

use std::{sync::Arc, time::Duration};

use super::{pause::Pause, questions::Questions};
use crate::protocol::{
    Event,
    display::{Display, WidgetPlacement},
    event::NoticeLevel,
    question::{Answer, Dialog},
};

/// The people in front of one agent.
#[derive(Clone)]
pub struct Ui {
    pub(super) extension: Arc<str>,
    pub(super) agent: Arc<str>,
    pub(super) questions: Questions,
    pub(super) pause: Pause,
}

impl Ui {
    /// Whether anybody can be asked, and sees what is shown.
    #[must_use]
    pub fn has_people(&self) -> bool {
        self.questions.is_attended()
    }

    /// Asks for one of `options`; none when nothing of them was chosen in time.
    pub async fn select(&self, title: &str, options: &[&str], limit: Option<Duration>) -> Option<String> {
        let dialog = Dialog::Select { options: options.iter().map(|option| (*option).to_owned()).collect() };
        self.text(title, dialog, limit).await.filter(|chosen| options.contains(&chosen.as_str()))
    }

    /// Asks for a yes; anything else is a no.
    pub async fn confirm(&self, title: &str, message: &str, limit: Option<Duration>) -> bool {
        let dialog = Dialog::Confirm { message: message.to_owned() };
        self.ask(title, dialog, limit).await == Some(Answer::Confirmed(true))
    }

    /// Asks for a line of text.
    pub async fn input(&self, title: &str, placeholder: Option<&str>, limit: Option<Duration>) -> Option<String> {
        self.text(title, Dialog::Input { placeholder: placeholder.map(str::to_owned) }, limit).await
    }

    /// Has a text written or changed.
    pub async fn editor(&self, title: &str, prefill: Option<&str>) -> Option<String> {
        self.text(title, Dialog::Editor { prefill: prefill.map(str::to_owned) }, None).await
    }

    /// Shows a message.
    pub fn notify(&self, message: impl Into<String>, level: NoticeLevel) {
        self.show(Display::Notify { message: message.into(), level: Some(level) });
    }

    /// Sets a field of the status line; none removes it.
    pub fn set_status(&self, key: impl Into<String>, text: Option<String>) {
        self.show(Display::Status { key: key.into(), text });
    }

    /// Shows lines beside the editor; none removes them.
    pub fn set_widget(&self, key: impl Into<String>, lines: Option<Vec<String>>, placement: Option<WidgetPlacement>) {
        self.show(Display::Widget { key: key.into(), lines, placement });
    }

    /// Sets the terminal's title.
    pub fn set_title(&self, title: impl Into<String>) {
        self.show(Display::Title { title: title.into() });
    }

    /// Puts a text into the editor.
    pub fn set_editor_text(&self, text: impl Into<String>) {
        self.show(Display::EditorText { text: text.into() });
    }

    fn show(&self, display: Display) {
        if self.has_people() {
            self.questions.tell(&self.agent, Event::Display { extension: self.extension.to_string(), display });
        }
    }

    async fn text(&self, title: &str, dialog: Dialog, limit: Option<Duration>) -> Option<String> {
        match self.ask(title, dialog, limit).await? {
            Answer::Value(text) => Some(text),
            Answer::Confirmed(_) | Answer::Cancelled => None,
        }
    }

    async fn ask(&self, title: &str, dialog: Dialog, limit: Option<Duration>) -> Option<Answer> {
        let _held = self.pause.hold();
        self.questions.ask(&self.agent, title.to_owned(), dialog, limit).await.ok()
    }
}
