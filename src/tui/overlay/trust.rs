//! Whether a project may bring settings and resources.

use std::path::PathBuf;

use ratatui::layout::Rect;

use super::{
    Outcome, Overlay, OverlayContext,
    list::{Item, List, Look, Pressed},
    panel::{Panel, hints, notes, title},
};
use crate::store::trust::{TrustAnswer, TrustReach};
use crate::tui::{
    effect::Effect,
    keys::{Action, Key},
    terminal::Frame,
    text::StyledLine,
    theme::ThemeColor,
};

/// Rows of the text above the answers at most.
const MOST_ROWS: usize = 10;

/// An answer.
struct Row {
    text: &'static str,
    answer: TrustAnswer,
}

impl Item for Row {
    fn text(&self) -> &str {
        self.text
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        StyledLine::of(self.text, look.name())
    }
}

/// Asks whether the project is trusted.
pub struct TrustQuestion {
    list: List<Row>,
    text: String,
}

impl TrustQuestion {
    /// Asks about the project in `folder`, which brings `wants`: files and folders that are used only when it is
    /// trusted.
    #[must_use]
    pub fn new(folder: &str, wants: &[PathBuf]) -> Self {
        let answer = |trusted, reach| TrustAnswer { trusted, reach };
        let rows = [
            ("Trust", answer(true, TrustReach::Folder)),
            ("Trust the parent folder", answer(true, TrustReach::Parent)),
            ("Trust (this session only)", answer(true, TrustReach::Session)),
            ("Do not trust", answer(false, TrustReach::Folder)),
            ("Do not trust (this session only)", answer(false, TrustReach::Session)),
        ];
        let wants = wants.iter().map(|path| format!("  {}", path.display())).collect::<Vec<_>>().join("\n");
        let brings = if wants.is_empty() { String::new() } else { format!(" It brings:\n{wants}") };
        let text = format!(
            "{folder}\nSettings, extensions, skills and prompts of a project can make the agent do things.{brings}"
        );
        Self { list: List::new(rows.into_iter().map(|(text, answer)| Row { text, answer }).collect()), text }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::SelectConfirm, "choose"), (Action::SelectCancel, "not now")];
        Panel {
            title: title("Do you trust this project?", context.theme),
            head: notes(&self.text, ThemeColor::Text, width, MOST_ROWS, context.theme),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for TrustQuestion {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        match self.list.on_key(key, context.keymap) {
            Pressed::Chosen => match self.list.marked() {
                Some(row) => Outcome::Close(vec![Effect::Trust(row.answer)]),
                None => Outcome::stay(),
            },
            // No answer means no, for now.
            Pressed::Cancelled => {
                Outcome::Close(vec![Effect::Trust(TrustAnswer { trusted: false, reach: TrustReach::Session })])
            }
            _ => Outcome::stay(),
        }
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.list.height(&self.panel(width, context), self.list.items().len(), most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, "", context.theme);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::{World, told};

    #[test]
    fn every_answer_says_how_far_it_reaches_and_no_answer_is_no_for_now() {
        let world = World::default();
        for (pressed, trusted, reach) in [
            ("enter", true, "Folder"),
            ("down enter", true, "Parent"),
            ("down down enter", true, "Session"),
            ("down down down enter", false, "Folder"),
            ("up enter", false, "Session"),
            ("escape", false, "Session"),
        ] {
            let mut question = TrustQuestion::new("/srv/app", &["/srv/app/.troupe/settings.json".into()]);
            let expected = format!("close Trust(TrustAnswer {{ trusted: {trusted}, reach: {reach} }})");
            assert_eq!(told(&world.press(&mut question, pressed)), expected, "{pressed}");
        }
    }
}
