//! Which theme the screen has.

use ratatui::layout::Rect;
use serde_json::json;

use super::{
    Outcome, Overlay, OverlayContext,
    list::{Item, List, Look, Pressed},
    panel::{Panel, hints, title},
    saving::Save,
};
use crate::tui::{
    effect::Effect,
    keys::{Action, Key},
    terminal::Frame,
    text::{StyledLine, one_line},
    theme::ThemeColor,
    work::Work,
};

/// Rows of themes at most.
const ROWS: usize = 12;

/// A theme.
struct Row {
    name: String,
    current: bool,
}

impl Item for Row {
    fn text(&self) -> &str {
        &self.name
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let mut line = StyledLine::of(one_line(&self.name), look.name());
        if self.current {
            line.push(" ✓", look.theme.fg(ThemeColor::Success));
        }
        line
    }
}

/// The list of themes. The marked one is tried out; the chosen one is saved.
pub struct ThemeSelector {
    list: List<Row>,
    tried: Option<String>,
}

impl ThemeSelector {
    /// A list of these themes; `current` is what the setting says.
    #[must_use]
    pub fn new(names: Vec<String>, current: &str) -> Self {
        let marked = names.iter().position(|name| name == current).unwrap_or_default();
        let row = |name: String| Row { current: name == current, name };
        let mut list = List::new(names.into_iter().map(row).collect());
        list.mark(marked);
        Self { list, tried: None }
    }

    /// Tries the marked one out, where it is another than before.
    fn tries(&mut self) -> Outcome {
        let marked = self.list.marked().map(|row| row.name.clone());
        if marked.is_none() || marked == self.tried {
            return Outcome::stay();
        }
        self.tried.clone_from(&marked);
        Outcome::Stay(vec![Effect::TryTheme(marked)])
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::SelectConfirm, "use and save"), (Action::SelectCancel, "leave it as it was")];
        Panel {
            title: title("Theme", context.theme),
            input: Some((self.list.search(), "search")),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for ThemeSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        match (self.list.on_key(key, context.keymap), self.list.marked()) {
            (Pressed::Chosen, Some(row)) => {
                let save = Save::new(format!("Theme: {}", row.name)).set(&["theme"], json!(row.name));
                Outcome::Close(vec![Effect::TryTheme(Some(row.name.clone())), Effect::Work(Work::Save(save))])
            }
            (Pressed::Cancelled, _) => Outcome::Close(vec![Effect::TryTheme(None)]),
            (Pressed::Moved | Pressed::Searched, _) => self.tries(),
            _ => Outcome::stay(),
        }
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        self.list.on_paste(text);
        self.tries()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.list.height(&self.panel(width, context), ROWS, most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, "  No theme", context.theme);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::{World, told};

    #[test]
    fn the_marked_theme_is_tried_and_the_chosen_one_saved() {
        for (pressed, expected) in [
            ("down", "stay TryTheme(Some(\"light\"))"),
            ("down up", "stay TryTheme(Some(\"dark\"))"),
            ("l i g h", "stay"),
            ("z", "stay"),
            ("escape", "close TryTheme(None)"),
            ("down escape", "close TryTheme(None)"),
        ] {
            let names = ["system", "dark", "light"].map(str::to_owned).to_vec();
            let mut selector = ThemeSelector::new(names, "dark");
            assert_eq!(told(&World::default().press(&mut selector, pressed)), expected, "{pressed}");
        }
        let mut selector = ThemeSelector::new(vec!["dark".into(), "light".into()], "dark");
        let saved = told(&World::default().press(&mut selector, "down enter"));
        assert!(saved.starts_with("close TryTheme(Some(\"light\")) Work(Save(") && saved.contains("theme"), "{saved}");
    }
}
