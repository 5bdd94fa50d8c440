//! What the model wants done.

use super::{ScreenMsg, ScreenState};
use crate::{
    actors::{address::Recipient, reply::ReplyTo, spawn::spawn_worker},
    protocol::{Command, event::NoticeLevel, session_change::SessionChange},
    store::trust::TrustAnswer,
    tui::{
        effect::{Effect, Purpose},
        model::Msg,
        outside,
        work::Work,
        working::{WorkContext, Working},
    },
};

impl ScreenState {
    pub(super) async fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Send(command, purpose) => self.send(command, purpose),
            Effect::Replace(change) => self.replace(change, None).await,
            Effect::Trust(answer) => self.trust(answer).await,
            Effect::Work(work) => self.work(work).await,
            Effect::Retheme => self.retheme(),
            Effect::TryTheme(name) => {
                self.model.look.tried = name;
                self.retheme();
            }
            Effect::Copy(text) => {
                if !self.terminal.copy(&text) {
                    self.model.flash("The text is too long for the clipboard");
                }
            }
            Effect::Title(title) => self.terminal.set_title(&title),
            Effect::Progress(busy) => self.terminal.show_progress(busy),
            Effect::Notify(notification) => self.terminal.notify(&notification),
            Effect::EditOutside(text) => self.edit_outside(text),
            Effect::Suspend => {
                self.terminal.suspend();
                self.dirty = true;
            }
            Effect::Quit => self.end(0),
            Effect::HangUp => self.end(129),
        }
    }

    /// Follows a decision about the project: what it brings is read now, or left alone.
    pub(super) async fn trust(&mut self, answer: TrustAnswer) {
        if let Err(error) = self.factory.trust(&self.agent.shared.config.cwd, answer) {
            self.model.transcript.notice(NoticeLevel::Error, format!("The decision cannot be remembered: {error}"));
        }
        if answer.trusted {
            self.replace(SessionChange::Reload, None).await;
        } else {
            self.begin().await;
        }
    }

    pub(super) fn send(&self, command: Command, purpose: Purpose) {
        let (me, agent) = (self.me.clone(), self.agent.shared.id.clone());
        self.agent.send(command, ReplyTo::new(move |result| me.tell(ScreenMsg::Answered(purpose, agent, result))));
    }

    pub(super) async fn work(&mut self, work: Work) {
        let to = Recipient::new(self.me.clone(), ScreenMsg::Worked);
        let context = WorkContext::new(self.model.surroundings.clone(), self.agent.shared.clone(), to);
        let name = work.name();
        if let Err(exit) = spawn_worker("Working", name, Working, context, work, self.myself.get_cell()).await {
            self.model.transcript.notice(NoticeLevel::Error, format!("{name}: {}", exit.cause()));
        }
    }

    /// Gives the terminal to the user's editor.
    pub(super) fn edit_outside(&mut self, text: String) {
        let command = outside::command(self.model.settings.external_editor.as_deref());
        self.terminal.pause();
        self.away = true;
        let me = self.me.clone();
        // A thread of its own: it waits for a person.
        std::thread::spawn(move || me.tell(ScreenMsg::Edited(outside::edit(&command, &text))));
    }

    /// The terminal is ours again.
    pub(super) async fn back(&mut self, text: Result<String, String>) {
        self.away = false;
        self.terminal.resume();
        self.update(Msg::Edited(text)).await;
        self.draw();
    }
}
