//! Answers to commands, and what workers found.

use crate::{
    actors::reply::CommandResult,
    protocol::{Command, Reply, event::NoticeLevel},
    tui::{
        commands,
        effect::{Effect, Purpose},
        model::Model,
        overlay::saving::Saved,
        settings::ScreenSettings,
        work::WorkDone,
    },
};

impl Model {
    pub(super) fn answered(&mut self, purpose: Purpose, result: CommandResult) -> Vec<Effect> {
        if purpose == Purpose::Overlay {
            return self.tell_overlay(|overlay, context| overlay.on_answer(&result, context));
        }
        let mut effects = Vec::new();
        if let Purpose::Prompt(text) = &purpose
            && let Some(at) = self.sent.iter().position(|sent| sent == text)
        {
            self.sent.remove(at);
            if self.sent.is_empty() && std::mem::take(&mut self.taking_back) {
                effects.push(Effect::Send(Command::ClearQueue, Purpose::TakeBack));
            }
        }
        match (purpose, result) {
            (Purpose::Prompt(text), Err(error)) => {
                // Nobody writes a text twice.
                self.put_back(&text);
                self.transcript.notice(NoticeLevel::Error, error.to_string());
            }
            (Purpose::Bash(id), result) => {
                let ended = match result {
                    Ok(Reply::Bash(result)) => Some(result),
                    Ok(_) => None,
                    Err(error) => {
                        self.transcript.notice(NoticeLevel::Error, error.to_string());
                        None
                    }
                };
                self.transcript.live.command_over(&id, ended);
            }
            (Purpose::TakeBack, Ok(Reply::Queue { steering, follow_up })) => {
                let texts: Vec<String> = steering.into_iter().chain(follow_up).collect();
                if !texts.is_empty() {
                    self.put_back(&texts.join("\n\n"));
                }
            }
            (Purpose::Told(text), Ok(_)) => self.transcript.notice(NoticeLevel::Info, text),
            (Purpose::Navigate, Ok(Reply::Navigated(navigated))) => {
                if let Some(text) = navigated.editor_text {
                    self.put_back(&text);
                }
            }
            (Purpose::Plain, Ok(Reply::Model(None))) => self.flash("There is no other model to go to"),
            (_, Err(error)) => self.transcript.notice(NoticeLevel::Error, error.to_string()),
            _ => {}
        }
        effects
    }

    /// Settings were saved, or not: they hold in any case.
    fn saved(&mut self, saved: &Saved) -> Vec<Effect> {
        let before = std::mem::replace(&mut self.settings, ScreenSettings::from_value(&saved.all));
        match &saved.told {
            Ok(told) => self.flash(told.clone()),
            Err(error) => self.transcript.notice(NoticeLevel::Error, error.clone()),
        }
        if before.vim != self.settings.vim {
            self.editor.set_vim(self.settings.vim);
        }
        let other_theme = before.theme != self.settings.theme;
        other_theme.then_some(Effect::TryTheme(None)).into_iter().collect()
    }

    pub(super) fn worked(&mut self, done: &WorkDone) -> Vec<Effect> {
        let mut effects = Vec::new();
        match done {
            WorkDone::Branch(branch) => self.branch.clone_from(branch),
            WorkDone::Gauges(gauges) => self.gauges = (**gauges).clone(),
            WorkDone::Commands(commands) => {
                self.facts.commands = commands.clone();
                // What was typed already may name one of them.
                if self.menu.is_none() {
                    effects.extend(self.look_for_completion());
                }
            }
            WorkDone::Files(index) => effects.extend(self.listed_files(index.clone())),
            WorkDone::FileMenu(menu, revision) => self.matched_files(menu.as_ref(), *revision),
            WorkDone::Path(found, revision) => self.completed_path(found, *revision),
            WorkDone::Searched(query, found) => self.searched(query, found),
            WorkDone::Pasted(pasted) => effects.extend(self.took_from_clipboard(pasted)),
            WorkDone::StartPage(page) => self.start_page = (**page).clone(),
            WorkDone::Saved(saved) => effects.extend(self.saved(saved)),
            done => effects.extend(commands::worked(self, done)),
        }
        effects.extend(self.tell_overlays(|overlay, context| overlay.on_worked(done, context)));
        effects
    }
}
