//! What the model makes of what it hears.
//!
//! | file | what |
//! |---|---|
//! | [`input`] | keys, pastes, the mouse |
//! | [`actions`] | what keys do when nothing stands before the editor |
//! | [`search`] | the search in the conversation |
//! | [`submit`] | what becomes of a text that is sent |
//! | [`agent`] | what happened in the agent |
//! | [`completion`] | completion of the text |
//! | [`answers`] | answers to commands, and what workers found |

mod actions;
mod agent;
mod answers;
pub mod completion;
mod input;
mod search;
pub mod submit;

#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

use super::{
    effect::Effect,
    model::{Model, Msg},
    overlay::Outcome,
    title::title,
};

impl Model {
    /// Takes a message at a time, in milliseconds since the screen began, and says what is to be done.
    pub fn update(&mut self, msg: Msg, now: u64) -> Vec<Effect> {
        self.now = now;
        let mut effects = match msg {
            Msg::Input(event) => self.input(event),
            Msg::Snapshot(view) => self.snapshot(*view),
            Msg::Happened(published) => self.happened(&published),
            Msg::Facts(facts) => self.learned(*facts),
            Msg::Answered(purpose, result) => self.answered(purpose, result),
            Msg::Worked(done) => self.worked(&done),
            Msg::Replaced(replaced) => self.replaced(*replaced),
            Msg::Edited(text) => self.edited(text),
            Msg::Tick => self.ticked(),
        };
        effects.extend(self.retitled());
        effects.extend(self.progressed());
        effects
    }

    fn ticked(&mut self) -> Vec<Effect> {
        if self.flash.as_ref().is_some_and(|flash| flash.until <= self.now) {
            self.flash = None;
        }
        self.cards.pass(self.now);
        let mut effects = self.ask();
        effects.extend(self.tell_overlay(|overlay, context| overlay.on_change(context)));
        effects
    }

    /// Tells the overlay in front something, and does what becomes of it.
    fn tell_overlay(
        &mut self,
        tell: impl FnOnce(&mut dyn super::overlay::Overlay, &super::overlay::OverlayContext<'_>) -> Outcome,
    ) -> Vec<Effect> {
        let Some(mut overlay) = self.overlays.pop() else { return Vec::new() };
        let outcome = tell(overlay.as_mut(), &self.context());
        let effects = self.outcome(overlay, outcome);
        self.chosen(effects)
    }

    /// Whoever was to choose a session and chose none leaves.
    fn chosen(&mut self, mut effects: Vec<Effect>) -> Vec<Effect> {
        if self.choosing && self.overlays.is_empty() {
            self.choosing = false;
            if !effects.iter().any(|effect| matches!(effect, Effect::Replace(_))) {
                effects.push(Effect::Quit);
            }
        }
        effects
    }

    /// Tells all overlays something, the last in front.
    fn tell_overlays(
        &mut self,
        tell: impl Fn(&mut dyn super::overlay::Overlay, &super::overlay::OverlayContext<'_>) -> Outcome,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        for mut overlay in std::mem::take(&mut self.overlays) {
            let outcome = tell(overlay.as_mut(), &self.context());
            effects.extend(self.outcome(overlay, outcome));
        }
        self.chosen(effects)
    }

    fn outcome(&mut self, overlay: Box<dyn super::overlay::Overlay>, outcome: Outcome) -> Vec<Effect> {
        match outcome {
            Outcome::Stay(effects) => {
                self.overlays.push(overlay);
                effects
            }
            Outcome::Close(effects) => effects,
            Outcome::CloseWithText(text, effects) => {
                self.put_back(&text);
                effects
            }
            Outcome::Open(next, effects) => {
                self.overlays.extend([overlay, next]);
                effects
            }
            Outcome::Become(next, effects) => {
                self.overlays.push(next);
                effects
            }
        }
    }

    /// The terminal's title, when it should be another one.
    fn retitled(&mut self) -> Option<Effect> {
        let title = title(self);
        (title != self.shown_title).then(|| {
            self.shown_title.clone_from(&title);
            Effect::Title(title)
        })
    }

    fn progressed(&mut self) -> Option<Effect> {
        let busy = self.settings.shows_progress && (self.view.running || self.view.compacting);
        (std::mem::replace(&mut self.shows_progress, busy) != busy).then_some(Effect::Progress(busy))
    }
}
