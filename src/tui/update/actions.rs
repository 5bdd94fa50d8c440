//! What keys do when nothing stands before the editor.

use crate::{
    protocol::{Command, event::NoticeLevel},
    tui::{
        commands,
        editor::{EditorAction, Geometry, VimOutcome},
        effect::{Effect, Purpose},
        keys::{Action, Key},
        model::Model,
        settings::DoubleEscape,
        transcript::Transcript,
        view,
        work::Work,
    },
};

/// Within this many milliseconds two presses count as one: pi's.
const TWICE_MS: u64 = 500;

impl Model {
    pub(super) fn prompt_key(&mut self, key: Key) -> Vec<Effect> {
        if self.editor.waits_for_jump()
            && let Some(character) = key.typed()
        {
            self.editor.type_char(character);
            return Vec::new();
        }
        let mut actions: Vec<Action> = self.keymap.actions(key).collect();
        for action in &actions {
            if let Some(effects) = self.act_on_menu(*action) {
                return effects;
            }
        }
        if self.editor.vim_mode().is_some() && self.editor.vim(key, self.geometry()) == VimOutcome::Done {
            return self.edited_by_hand();
        }
        // What only edits comes last: a key that does more in a situation does that.
        actions.sort_by_key(|action| editing(*action).is_some());
        for action in actions {
            if let Some(effects) = self.act(action) {
                return effects;
            }
        }
        match key.typed() {
            Some(character) => {
                self.editor.type_char(character);
                self.edited_by_hand()
            }
            None => Vec::new(),
        }
    }

    /// Does what an action means here; none when it means nothing here.
    fn act(&mut self, action: Action) -> Option<Vec<Effect>> {
        if let Some(editing) = editing(action) {
            let geometry = self.geometry();
            self.editor.act(editing, geometry);
            return Some(self.edited_by_hand());
        }
        let half = |rows: usize| isize::try_from(rows / 2).unwrap_or(1).max(1);
        let page = |rows: usize| isize::try_from(rows.saturating_sub(2)).unwrap_or(1).max(1);
        let fullscreen = self.surroundings.fullscreen;
        let effects = match action {
            Action::Submit => self.submit(),
            Action::FollowUp => self.submit_behind(),
            Action::Dequeue => self.take_back(),
            Action::Interrupt => self.interrupt(),
            Action::Clear => self.clear(),
            Action::Exit if self.editor.is_empty() => vec![Effect::Quit],
            Action::InputTab => self.complete_path(),
            Action::ExternalEditor => vec![Effect::EditOutside(self.editor.text())],
            Action::CycleThinking => vec![Effect::Send(Command::CycleThinkingLevel, Purpose::Plain)],
            Action::NextModel => vec![Effect::Send(Command::CycleModel, Purpose::Plain)],
            Action::PasteImage => vec![Effect::Work(Work::Clipboard)],
            Action::PreviousModel => self.previous_model(),
            Action::ToggleThinking => {
                self.look_again(Transcript::toggle_thinking);
                // There may be no thought on the screen by which one would see it.
                let shown = view::with_layout(self, |transcript, context| transcript.shows_thinking(context));
                self.flash(if shown { "Thinking is shown" } else { "Thinking is hidden" });
                Vec::new()
            }
            Action::ExpandTools => {
                self.look_again(Transcript::toggle_expanded);
                Vec::new()
            }
            Action::SelectModel => self.slash("model"),
            Action::ShowAgents => self.slash("agents"),
            Action::NewSession => self.slash("new"),
            Action::SessionTree => self.slash("tree"),
            Action::ForkSession => self.slash("fork"),
            Action::ResumeSession => self.slash("resume"),
            Action::CopyMessage if self.editor.is_empty() => self.slash("copy"),
            Action::Search if fullscreen => self.open_search(),
            Action::ScrollPageUp if fullscreen => self.scrolled(|rows| -page(rows)),
            Action::ScrollPageDown if fullscreen => self.scrolled(page),
            Action::ScrollHalfPageUp if fullscreen => self.scrolled(|rows| -half(rows)),
            Action::ScrollHalfPageDown if fullscreen => self.scrolled(half),
            Action::ScrollLineUp if fullscreen => self.scrolled(|_| -1),
            Action::ScrollLineDown if fullscreen => self.scrolled(|_| 1),
            Action::ScrollTop if fullscreen => {
                self.transcript.to_top();
                Vec::new()
            }
            Action::ScrollBottom if fullscreen => {
                self.transcript.to_bottom();
                Vec::new()
            }
            Action::PreviousPrompt if fullscreen => {
                view::with_view(self, |transcript, rows, context| transcript.to_previous_prompt(rows, context));
                Vec::new()
            }
            Action::NextPrompt if fullscreen => {
                view::with_view(self, |transcript, rows, context| transcript.to_next_prompt(rows, context));
                Vec::new()
            }
            _ => return None,
        };
        Some(effects)
    }

    /// The model before the one that is selected, of those that ctrl+p goes through.
    fn previous_model(&self) -> Vec<Effect> {
        let models = match self.facts.scope.as_ref() {
            [] => self.facts.catalogue.now().available(),
            scope => scope.to_vec(),
        };
        let current = self.facts.model.as_ref().map(|model| model.reference());
        let at = models.iter().position(|model| Some(model.reference()) == current);
        let before = match at {
            Some(0) | None => models.last(),
            Some(at) => models.get(at - 1),
        };
        let other = before.filter(|model| Some(model.reference()) != current);
        other.map(|model| Effect::Send(Command::SetModel(model.reference()), Purpose::Plain)).into_iter().collect()
    }

    /// Runs a slash command by its name.
    pub(in crate::tui) fn slash(&mut self, name: &str) -> Vec<Effect> {
        match commands::all().find(|command| command.name == name) {
            Some(command) => (command.run)(self, ""),
            None => Vec::new(),
        }
    }

    /// Scrolls the conversation by a page, when that is what the key does.
    pub(super) fn page_key(&mut self, key: Key) -> Option<Vec<Effect>> {
        let pages = [Action::ScrollPageUp, Action::ScrollPageDown];
        pages.into_iter().find(|action| self.keymap.is(key, *action)).and_then(|action| self.act(action))
    }

    /// Changes how the conversation looks, also what the terminal's own history has of the last turn.
    fn look_again(&mut self, change: fn(&mut Transcript)) {
        if self.surroundings.fullscreen {
            return change(&mut self.transcript);
        }
        view::with_layout(self, |transcript, context| transcript.look_again(change, context));
    }

    fn scrolled(&mut self, by: impl FnOnce(usize) -> isize) -> Vec<Effect> {
        let rows = view::transcript_rows(self);
        self.scroll(by(rows));
        Vec::new()
    }

    /// The room of the editor's text.
    pub(in crate::tui) fn geometry(&self) -> Geometry {
        view::prompt::geometry(self)
    }

    /// Stops what runs, the nearest thing first.
    fn interrupt(&mut self) -> Vec<Effect> {
        if self.is_busy() {
            let mut effects = self.take_back();
            effects.push(Effect::Send(Command::Abort, Purpose::Plain));
            return effects;
        }
        if self.transcript.live.runs_command() {
            return vec![Effect::Send(Command::AbortBash, Purpose::Plain)];
        }
        if self.editor.starts_with_bang() {
            self.editor.clear();
            return self.edited_by_hand();
        }
        if !self.editor.is_empty() {
            return Vec::new();
        }
        let before = self.pressed.escape.replace(self.now);
        if before.is_none_or(|before| self.now - before > TWICE_MS) {
            return Vec::new();
        }
        self.pressed.escape = None;
        match self.settings.double_escape {
            DoubleEscape::Tree => self.slash("tree"),
            DoubleEscape::Fork => self.slash("fork"),
            DoubleEscape::None => Vec::new(),
        }
    }

    /// Clears the editor; twice ends the program.
    fn clear(&mut self) -> Vec<Effect> {
        let before = self.pressed.clear.replace(self.now);
        if before.is_some_and(|before| self.now - before <= TWICE_MS) {
            return vec![Effect::Quit];
        }
        if self.editor.is_empty() {
            self.flash("Press again to quit");
        }
        self.editor.clear();
        self.edited_by_hand()
    }

    /// Takes queued messages back into the editor.
    pub(super) fn take_back(&mut self) -> Vec<Effect> {
        let local: Vec<String> = self.queue.take().into_iter().map(|(_, text)| text).collect();
        if !local.is_empty() {
            self.put_back(&local.join("\n\n"));
        }
        // What is on its way to a queue is taken back when it is there.
        self.taking_back = !self.sent.is_empty();
        if self.view.steering.is_empty() && self.view.follow_up.is_empty() {
            return Vec::new();
        }
        vec![Effect::Send(Command::ClearQueue, Purpose::TakeBack)]
    }

    /// The text came back from the user's editor.
    pub(super) fn edited(&mut self, text: Result<String, String>) -> Vec<Effect> {
        match text {
            Ok(text) => self.editor.set_text(text.strip_suffix('\n').unwrap_or(&text)),
            Err(error) => self.transcript.notice(NoticeLevel::Error, error),
        }
        Vec::new()
    }

    /// The text was changed by hand: completion may want to say something.
    pub(super) fn edited_by_hand(&mut self) -> Vec<Effect> {
        self.pressed.escape = None;
        self.written = Some(self.now);
        self.look_for_completion()
    }
}

/// What an action does to the text; none when it does something else.
pub(super) fn editing(action: Action) -> Option<EditorAction> {
    Some(match action {
        Action::CursorUp => EditorAction::CursorUp,
        Action::CursorDown => EditorAction::CursorDown,
        Action::HistoryPrevious => EditorAction::HistoryPrevious,
        Action::HistoryNext => EditorAction::HistoryNext,
        Action::CursorLeft => EditorAction::CursorLeft,
        Action::CursorRight => EditorAction::CursorRight,
        Action::CursorWordLeft => EditorAction::CursorWordLeft,
        Action::CursorWordRight => EditorAction::CursorWordRight,
        Action::CursorLineStart => EditorAction::CursorLineStart,
        Action::CursorLineEnd => EditorAction::CursorLineEnd,
        Action::JumpForward => EditorAction::JumpForward,
        Action::JumpBackward => EditorAction::JumpBackward,
        Action::EditorPageUp => EditorAction::PageUp,
        Action::EditorPageDown => EditorAction::PageDown,
        Action::DeleteCharBackward => EditorAction::DeleteCharBackward,
        Action::DeleteCharForward => EditorAction::DeleteCharForward,
        Action::DeleteWordBackward => EditorAction::DeleteWordBackward,
        Action::DeleteWordForward => EditorAction::DeleteWordForward,
        Action::DeleteToLineStart => EditorAction::DeleteToLineStart,
        Action::DeleteToLineEnd => EditorAction::DeleteToLineEnd,
        Action::Yank => EditorAction::Yank,
        Action::YankPop => EditorAction::YankPop,
        Action::Undo => EditorAction::Undo,
        Action::NewLine => EditorAction::NewLine,
        _ => return None,
    })
}
