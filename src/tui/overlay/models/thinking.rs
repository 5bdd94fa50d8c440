//! Choosing how much a model thinks.

use ratatui::layout::Rect;
use serde_json::json;

use crate::{
    protocol::{Command, Model, ThinkingLevel},
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key},
        overlay::{
            Outcome, Overlay, OverlayContext,
            list::{Item, List, Look, Pressed},
            panel::{Panel, hints, title},
            saving::Save,
        },
        terminal::Frame,
        text::StyledLine,
        theme::ThemeColor,
        work::Work,
    },
};

/// A level in the list.
struct Row {
    level: ThinkingLevel,
    current: bool,
}

impl Item for Row {
    fn text(&self) -> &str {
        self.level.as_str()
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let mut line = StyledLine::of(format!("{:<8}", self.level.as_str()), look.name());
        line.push(format!(" {}", about(self.level)), look.aside());
        if self.current {
            line.push(" ✓", look.theme.fg(ThemeColor::Success));
        }
        line
    }
}

fn about(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Off => "no thinking",
        ThinkingLevel::Minimal => "as little as it can",
        ThinkingLevel::Low => "a little",
        ThinkingLevel::Medium => "as usual",
        ThinkingLevel::High => "much",
        ThinkingLevel::Xhigh => "more than much",
        ThinkingLevel::Max => "as much as it can",
    }
}

/// The list of levels that a model supports.
pub struct ThinkingSelector {
    list: List<Row>,
}

impl ThinkingSelector {
    /// The levels of `model`, with the one in force marked; without a model all of them.
    #[must_use]
    pub fn new(model: Option<&Model>, current: ThinkingLevel) -> Self {
        let levels = model.map_or_else(|| ThinkingLevel::ALL.to_vec(), Model::thinking_levels);
        let marked = levels.iter().position(|level| *level == current).unwrap_or_default();
        let mut list = List::new(levels.into_iter().map(|level| Row { level, current: level == current }).collect());
        list.mark(marked);
        Self { list }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [
            (Action::SelectConfirm, "choose"),
            (Action::SaveThinking, "save as default"),
            (Action::SelectCancel, "leave"),
        ];
        Panel {
            title: title("Thinking", context.theme),
            input: Some((self.list.search(), "search")),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for ThinkingSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let saves = context.keymap.is(key, Action::SaveThinking);
        let pressed = if saves { Pressed::Chosen } else { self.list.on_key(key, context.keymap) };
        let Some(level) = self.list.marked().map(|row| row.level).filter(|_| pressed == Pressed::Chosen) else {
            return if pressed == Pressed::Cancelled { Outcome::close() } else { Outcome::stay() };
        };
        let mut effects = vec![Effect::Send(Command::SetThinkingLevel(level), Purpose::Plain)];
        if saves {
            let save = Save::new(format!("Default thinking: {level}"));
            effects.push(Effect::Work(Work::Save(save.set(&["defaultThinkingLevel"], json!(level.as_str())))));
        }
        Outcome::Close(effects)
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.list.height(&self.panel(width, context), ThinkingLevel::ALL.len(), most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, "  The model does not think", context.theme);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::{World, model, told};

    #[test]
    fn keys_choose_a_level_that_the_model_supports() {
        let thinks = Model { reasoning: true, ..(*model("p/alpha")).clone() };
        for (pressed, expected) in [
            ("enter", "close Send(SetThinkingLevel(Medium), Plain)"),
            ("down enter", "close Send(SetThinkingLevel(High), Plain)"),
            ("down down enter", "close Send(SetThinkingLevel(Off), Plain)"),
            ("m i n enter", "close Send(SetThinkingLevel(Minimal), Plain)"),
            ("escape", "close"),
        ] {
            let mut selector = ThinkingSelector::new(Some(&thinks), ThinkingLevel::Medium);
            assert_eq!(told(&World::default().press(&mut selector, pressed)), expected, "{pressed}");
        }
        let mut selector = ThinkingSelector::new(Some(&thinks), ThinkingLevel::Low);
        let saved = told(&World::default().press(&mut selector, "ctrl+s"));
        assert!(saved.contains("SetThinkingLevel(Low)") && saved.contains("defaultThinkingLevel"), "{saved}");
    }

    #[test]
    fn a_model_that_does_not_think_has_one_level() {
        let selector = ThinkingSelector::new(Some(&model("p/alpha")), ThinkingLevel::Off);
        insta::assert_snapshot!(World::default().draw(&selector, 40, 12), @r"
    ────────────────────────────────────────
    Thinking
    > search
    → off      no thinking ✓
    enter choose · escape leave
    ────────────────────────────────────────
    ");
    }
}
