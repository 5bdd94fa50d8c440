//! What tests of overlays share.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::{Outcome, Overlay, OverlayContext};
use crate::{
    protocol::{Model, model::ModelCost},
    tui::{
        effect::Effect,
        facts::AgentFacts,
        keys::{Key, KeyCode, Keymap},
        surroundings::Surroundings,
        terminal::Frame,
        testing::{facts_of, surroundings},
        theme::Theme,
    },
};

/// The keys of words: names of keys, and other words letter by letter. `space` is a blank.
pub fn keys(words: &str) -> Vec<Key> {
    let mut keys = Vec::new();
    for word in words.split_whitespace() {
        match Key::parse(word) {
            Ok(key) if word.chars().count() > 1 => keys.push(key),
            _ => keys.extend(word.chars().map(|c| Key::plain(KeyCode::Char(c)))),
        }
    }
    keys
}

/// The text of a frame: rows without blanks at their ends.
pub fn picture(frame: &Frame) -> String {
    let area = frame.area();
    let row = |y| (area.left()..area.right()).map(|x| frame.buffer[(x, y)].symbol()).collect::<String>();
    let rows: Vec<String> = (area.top()..area.bottom()).map(|y| row(y).trim_end().to_owned()).collect();
    rows.join("\n").trim_end().to_owned()
}

/// What overlays look at, in tests.
pub struct World {
    /// Keys.
    pub keymap: Keymap,
    /// Colours.
    pub theme: Theme,
    /// The agent.
    pub facts: AgentFacts,
    /// What does not change.
    pub surroundings: Surroundings,
    /// The time.
    pub now: u64,
}

impl Default for World {
    fn default() -> Self {
        Self {
            keymap: Keymap::default(),
            theme: Theme::plain(),
            facts: facts_of(None),
            surroundings: surroundings(),
            now: 0,
        }
    }
}

impl World {
    /// What overlays get.
    pub fn context(&self) -> OverlayContext<'_> {
        OverlayContext {
            keymap: &self.keymap,
            theme: &self.theme,
            facts: &self.facts,
            surroundings: &self.surroundings,
            now: self.now,
        }
    }

    /// Presses keys until the overlay goes or another comes; the outcome of the last one.
    pub fn press(&self, overlay: &mut dyn Overlay, pressed: &str) -> Outcome {
        let mut last = Outcome::stay();
        for key in keys(pressed) {
            last = overlay.on_key(key, &self.context());
            if !matches!(last, Outcome::Stay(_)) {
                break;
            }
        }
        last
    }

    /// What the overlay looks like on a screen of this size.
    pub fn draw(&self, overlay: &dyn Overlay, columns: u16, rows: u16) -> String {
        let mut frame = Frame::new(columns, rows);
        let height = overlay.height(columns, rows, &self.context());
        assert!(height <= rows, "{height} rows of {rows}");
        overlay.draw(&mut frame, Rect::new(0, 0, columns, height), &self.context());
        picture(&frame)
    }
}

/// An outcome in words: what becomes of the overlay, and the effects.
pub fn told(outcome: &Outcome) -> String {
    let effects = |effects: &[Effect]| effects.iter().map(|effect| format!(" {effect:?}")).collect::<String>();
    match outcome {
        Outcome::Stay(wanted) => format!("stay{}", effects(wanted)),
        Outcome::Close(wanted) => format!("close{}", effects(wanted)),
        Outcome::CloseWithText(text, wanted) => format!("close with {text:?}{}", effects(wanted)),
        Outcome::Open(_, wanted) => format!("open{}", effects(wanted)),
        Outcome::Become(_, wanted) => format!("become{}", effects(wanted)),
    }
}

/// A model by its name `provider/id`.
///
/// # Panics
/// The name has no slash.
pub fn model(name: &str) -> Arc<Model> {
    let (provider, id) = name.split_once('/').unwrap();
    Arc::new(Model {
        id: id.into(),
        name: id.to_uppercase(),
        api: "scripted".into(),
        provider: provider.into(),
        base_url: String::new(),
        reasoning: false,
        thinking_level_map: None,
        input: Vec::new(),
        input_limits: None,
        cost: ModelCost::default(),
        prompt_cache: None,
        context_window: 0,
        max_tokens: 0,
        sampling_params: None,
        sampling_params_by_thinking_level: None,
        headers: None,
        compat: None,
    })
}
