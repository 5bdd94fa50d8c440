//! Completion of the text that is being written.
//!
//! Commands are looked up at once. Files are listed and matched by workers: typing never waits for a folder. What they
//! find counts only while the text is still the one that it was looked up for.

use std::sync::Arc;

use crate::tui::{
    commands,
    complete::{
        Accept, ArgumentItem, FileIndex, Menu, PathCompletion, Place, REFRESH_AFTER_MS, SlashItem, Trigger,
        TriggerKind, argument_menu, command_menu, path_at, trigger,
    },
    effect::Effect,
    keys::Action,
    model::Model,
    work::{MatchFiles, Work},
};

/// What completion knows.
#[derive(Default)]
pub struct Completion {
    /// The files of the project, and when they were listed.
    files: Option<(Arc<FileIndex>, u64)>,
    /// They are being listed.
    listing: bool,
}

impl Model {
    /// The text was changed by hand: completion may have something to say.
    pub(super) fn look_for_completion(&mut self) -> Vec<Effect> {
        let (line, caret, is_first) = self.editor.line();
        let Some(found) = trigger(line, caret, is_first) else {
            self.menu = None;
            return Vec::new();
        };
        match &found.kind {
            TriggerKind::Command => {
                self.menu = command_menu(&found, &self.slash_items());
                Vec::new()
            }
            TriggerKind::Argument { command } => {
                let values = commands::arguments::of(self, command).unwrap_or_default();
                let item = |argument: commands::arguments::Argument| ArgumentItem {
                    label: argument.value.clone(),
                    value: argument.value,
                    description: argument.description,
                };
                self.menu = argument_menu(&found, &values.into_iter().map(item).collect::<Vec<_>>());
                Vec::new()
            }
            TriggerKind::File { .. } => self.look_for_files(found),
            TriggerKind::Path { .. } => Vec::new(),
        }
    }

    fn look_for_files(&mut self, trigger: Trigger) -> Vec<Effect> {
        let mut effects = Vec::new();
        let old = self.completion.files.as_ref().is_none_or(|(_, at)| self.now - at > REFRESH_AFTER_MS);
        if old && !std::mem::replace(&mut self.completion.listing, true) {
            effects.push(Effect::Work(Work::ListFiles(self.facts.cwd.clone())));
        }
        if let Some((index, _)) = &self.completion.files {
            let (index, revision) = (index.clone(), self.editor.revision());
            let wanted = MatchFiles { trigger, index, place: self.place(), revision };
            effects.push(Effect::Work(Work::MatchFiles(Box::new(wanted))));
        }
        effects
    }

    /// The files of the project were listed.
    pub(super) fn listed_files(&mut self, index: Arc<FileIndex>) -> Vec<Effect> {
        self.completion = Completion { files: Some((index, self.now)), listing: false };
        // A list that is open stays as it is: it must not move under the user's finger.
        if self.menu.is_some() { Vec::new() } else { self.look_for_completion() }
    }

    /// Files were found for the text of that revision.
    pub(super) fn matched_files(&mut self, menu: Option<&Menu>, revision: u64) {
        if revision == self.editor.revision() {
            self.menu = menu.cloned();
        }
    }

    /// A path was looked for, for the text of that revision.
    pub(super) fn completed_path(&mut self, found: &PathCompletion, revision: u64) {
        if revision != self.editor.revision() {
            return;
        }
        if let Some(insert) = &found.insert {
            let (line, caret, _) = self.editor.line();
            let range = path_at(line, caret).range;
            self.editor.replace_in_line(range, insert);
        }
        self.menu.clone_from(&found.menu);
    }

    /// Does what an action means while a list is open; none when it means nothing there.
    pub(super) fn act_on_menu(&mut self, action: Action) -> Option<Vec<Effect>> {
        let menu = self.menu.as_mut()?;
        let page = isize::try_from(self.settings.menu_rows).unwrap_or(1);
        match action {
            Action::CursorUp | Action::SelectUp => menu.up(),
            Action::CursorDown | Action::SelectDown => menu.down(),
            Action::EditorPageUp | Action::SelectPageUp => menu.page(-page),
            Action::EditorPageDown | Action::SelectPageDown => menu.page(page),
            Action::Interrupt | Action::SelectCancel => self.menu = None,
            Action::InputTab => return Some(self.accept(Accept::Tab)),
            Action::Submit => return Some(self.accept(Accept::Enter)),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn accept(&mut self, by: Accept) -> Vec<Effect> {
        let Some(menu) = self.menu.take() else { return Vec::new() };
        let accepted = menu.accept(by);
        // Files are found later than keys are typed: all that was typed of the name goes, not only what was looked up.
        let (line, caret, is_first) = self.editor.line();
        let range = match trigger(line, caret, is_first) {
            Some(now) if now.range.start == accepted.range.start => now.range,
            _ => accepted.range,
        };
        // Whoever has written all of it means to send it.
        let is_written = by == Accept::Enter && line.get(range.clone()) == Some(accepted.insert.trim_end());
        if !is_written {
            self.editor.replace_in_line(range, &accepted.insert);
        }
        if accepted.sends || is_written {
            return self.submit();
        }
        if accepted.goes_on { self.look_for_completion() } else { Vec::new() }
    }

    /// Completes the path before the caret.
    pub(super) fn complete_path(&mut self) -> Vec<Effect> {
        let (line, caret, _) = self.editor.line();
        let trigger = path_at(line, caret);
        let revision = self.editor.revision();
        vec![Effect::Work(Work::CompletePath(trigger, self.place(), revision))]
    }

    fn place(&self) -> Place {
        Place { cwd: self.facts.cwd.clone(), home: self.surroundings.home.clone() }
    }

    /// Everything that a slash may begin.
    fn slash_items(&self) -> Vec<SlashItem> {
        let own = commands::all().map(|command| SlashItem {
            name: command.name.to_owned(),
            description: command.description.to_owned(),
            argument_hint: command.argument.to_owned(),
            source: String::new(),
        });
        let others = self.facts.commands.iter().map(|command| SlashItem {
            name: command.name.clone(),
            description: command.description.clone().unwrap_or_default(),
            argument_hint: String::new(),
            source: format!("{:?}", command.source).to_lowercase(),
        });
        own.chain(others).collect()
    }
}
