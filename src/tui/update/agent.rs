//! What happened in the agent.

use crate::{
    actors::replacing::Replaced,
    protocol::{
        AgentMessage, Event, Published,
        display::{Display, WidgetPlacement},
        event::NoticeLevel,
        view::View,
    },
    resources::skills,
    store::jsonl::{EntryKind, Role},
    tui::{
        cache_watch::CacheWatch,
        cards::Cards,
        effect::Effect,
        facts::AgentFacts,
        model::{Model, Retry},
        notify::{Occasion, notify},
        overlay::question,
        settings::{Header, ScreenSettings},
        view::numbers::grouped,
        work::Work,
    },
};

/// Prompts of the session that the editor remembers.
const REMEMBERED: usize = 100;

impl Model {
    /// How things are: at the start, after a restart of the agent, and on another session.
    pub(super) fn snapshot(&mut self, view: View) -> Vec<Effect> {
        self.transcript.reset(&view);
        if self.settings.header != Header::Hidden {
            self.transcript.show_header();
        }
        self.running_since = view.running.then_some(self.now);
        self.retry = None;
        self.cards.reset(&view, self.now);
        self.view = view;
        let mut effects = self.ask();
        // What was waited for may have ended with the agent before.
        effects.extend(self.flush_queue());
        effects.extend(self.look_around());
        effects.push(Effect::Work(Work::StartPage));
        // The start page shows them where there is one.
        if self.settings.header == Header::Hidden {
            let notices = self.surroundings.notices.clone();
            notices.into_iter().for_each(|notice| self.transcript.notice(NoticeLevel::Warning, notice));
        }
        effects
    }

    /// What is looked up whenever the agent comes to rest.
    fn look_around(&self) -> Vec<Effect> {
        vec![
            Effect::Work(Work::Gauges),
            Effect::Work(Work::Branch(self.facts.cwd.clone())),
            Effect::Work(Work::Commands),
        ]
    }

    pub(super) fn happened(&mut self, published: &Published) -> Vec<Effect> {
        self.view.apply(published);
        self.transcript.apply(published, self.now);
        self.cards.apply(&published.event, self.now);
        self.watch_cache(&published.event);
        let mut effects = Vec::new();
        match &published.event {
            Event::AgentStart => {
                self.running_since.get_or_insert(self.now);
            }
            Event::AgentSettled { aborted } => {
                let took_ms = self.running_since.take().map_or(0, |since| self.now.saturating_sub(since));
                effects.extend(notify(self, Occasion::Settled { took_ms, aborted: *aborted }));
                self.retry = None;
                effects.extend(self.look_around());
                effects.extend(self.flush_queue());
            }
            Event::TurnEnd { .. } | Event::CompactionEnd { .. } | Event::SessionTree { .. } => {
                effects.push(Effect::Work(Work::Gauges));
                effects.extend(self.flush_queue());
                if matches!(published.event, Event::CompactionEnd { aborted: true, .. }) {
                    self.flash("Compaction cancelled");
                }
            }
            Event::QuestionAsked { .. } => effects.extend(notify(self, Occasion::Question)),
            Event::AutoRetryStart { delay_ms, max_attempts, .. } => {
                self.retry = Some(Retry { at: self.now + delay_ms, of: *max_attempts });
            }
            Event::SummarizationRetryScheduled { attempt, max_attempts, error_message, .. } => {
                let text = format!("No summary ({error_message}): trying again, {attempt} of {max_attempts}");
                self.flash(text);
            }
            Event::ModelChanged { model, .. } => self.flash(format!("Model: {model}")),
            Event::ThinkingLevelChanged { level } => self.flash(format!("Thinking level: {level}")),
            Event::AutoRetryEnd { success: false, final_error: Some(error), .. } => {
                self.transcript.notice_behind(NoticeLevel::Error, format!("Retries did not help: {error}"));
            }
            Event::SavingChanged { reason, unsaved } => self.saving_changed(reason.as_ref(), *unsaved),
            Event::Display { display, .. } => self.display(display),
            Event::PlanModeChanged { enabled } => {
                self.flash(if *enabled { "Plan mode: nothing is changed" } else { "Plan mode is off" });
            }
            _ => {}
        }
        effects.extend(self.ask());
        effects
    }

    /// Says when a prompt was paid again, where that is wanted.
    fn watch_cache(&mut self, event: &Event) {
        match event {
            Event::MessageEnd { message: AgentMessage::Assistant(answer), .. } => {
                let missed = self.cache_watch.answered(answer);
                if let Some(tokens) = missed.filter(|_| self.settings.tells_cache_misses) {
                    let text = format!("Cache miss: {} tokens of the prompt were sent again", grouped(tokens));
                    self.transcript.notice_behind(NoticeLevel::Info, text);
                }
            }
            // The next prompt is another one.
            Event::SessionCompact { .. } | Event::SessionTree { .. } => self.cache_watch = CacheWatch::default(),
            _ => {}
        }
    }

    fn saving_changed(&mut self, reason: Option<&String>, unsaved: usize) {
        match reason {
            Some(reason) if self.unsaved.is_none() => {
                let text =
                    format!("The session is not saved ({reason}). It goes on in memory, and saving is tried again.");
                self.transcript.notice(NoticeLevel::Warning, text);
            }
            None if self.unsaved.is_some() && unsaved == 0 => {
                self.transcript.notice(NoticeLevel::Info, "The session is saved again.");
            }
            _ => {}
        }
        self.unsaved = reason.cloned();
    }

    fn display(&mut self, display: &Display) {
        match display {
            Display::Notify { message, level } => {
                self.transcript.notice(level.unwrap_or(NoticeLevel::Info), message.clone())
            }
            Display::Status { key, text } => {
                self.statuses.retain(|(known, _)| known != key);
                self.statuses.extend(text.clone().map(|text| (key.clone(), text)));
                self.statuses.sort();
            }
            Display::Widget { key, lines, placement } => {
                self.widgets.retain(|(known, ..)| known != key);
                let below = *placement == Some(WidgetPlacement::BelowEditor);
                self.widgets.extend(lines.clone().map(|lines| (key.clone(), lines, below)));
            }
            Display::Title { title } => self.title = Some(title.clone()).filter(|title| !title.is_empty()),
            Display::EditorText { text } => self.editor.set_text(text),
        }
    }

    /// Opens dialogs for questions that nobody was asked, and closes those of questions that are closed.
    pub(super) fn ask(&mut self) -> Vec<Effect> {
        let open = &self.view.questions;
        self.overlays.retain(|overlay| overlay.question().is_none_or(|id| open.iter().any(|known| known.id == *id)));
        // A dialog must not take the keys of somebody who is writing: Enter would answer it.
        if self.is_writing() {
            return Vec::new();
        }
        while let Some(question) = self.unasked() {
            self.overlays.push(question::dialog(&question, self.now));
        }
        Vec::new()
    }

    /// Facts about the agent, as of the last event.
    pub(super) fn learned(&mut self, facts: AgentFacts) -> Vec<Effect> {
        let is_new = facts.agent != self.facts.agent || self.transcript.tree().is_none();
        self.facts = facts;
        if let Some(tree) = self.facts.tree.clone() {
            self.transcript.sync(&tree);
        }
        if is_new {
            self.cache_watch = self.facts.tree.as_ref().map(CacheWatch::of).unwrap_or_default();
            self.remember();
        }
        self.tell_overlay(|overlay, context| overlay.on_change(context))
    }

    /// Gives the editor the prompts of the session, the last one last.
    fn remember(&mut self) {
        let Some(tree) = &self.facts.tree else { return };
        let is_prompt = |kind| kind == EntryKind::Message(Role::User);
        let prompts = tree.ancestors().filter(|entry| is_prompt(entry.kind())).filter_map(|entry| entry.user_text());
        // What a skill made of a prompt was never written.
        let prompts = prompts.map(|text| skills::called(&text).map(|call| call.written()).unwrap_or(text));
        let mut prompts: Vec<String> = prompts.filter(|text| !text.trim().is_empty()).take(REMEMBERED).collect();
        prompts.reverse();
        prompts.iter().for_each(|prompt| self.editor.remember(prompt));
    }

    /// Another session took the place of this one, or did not.
    pub(super) fn replaced(&mut self, replaced: Replaced) -> Vec<Effect> {
        self.replacing = false;
        match replaced {
            Replaced::Done { agent, text, .. } => {
                self.sent.clear();
                self.statuses.clear();
                self.widgets.clear();
                self.title = None;
                self.unsaved = None;
                self.overlays.clear();
                // Of the agent before nothing holds any more; that of the new one is told next.
                self.view = View::default();
                self.cards = Cards::default();
                self.running_since = None;
                self.retry = None;
                self.search = None;
                self.selection = None;
                self.settings = ScreenSettings::from_value(&agent.shared.config.settings.all());
                self.editor.set_vim(self.settings.vim);
                if let Some(text) = text {
                    self.put_back(&text);
                }
            }
            Replaced::Cancelled => self.flash("Cancelled"),
            Replaced::Failed(cause) => self.transcript.notice(NoticeLevel::Error, cause),
        }
        self.flush_queue()
    }
}
