//! Whether a project may bring settings and resources.

use std::path::PathBuf;

use ratatui::layout::Rect;

use super::{
    Outcome, Overlay, OverlayContext,
    list::{Item, List, Look, Pressed},
    panel::{Panel, hints, notes, title},
};
use crate::{
    store::trust::{TrustAnswer, TrustReach},
    tui::{
        effect::Effect,
        keys::{Action, Key},
        terminal::Frame,
        text::StyledLine,
        theme::ThemeColor,
        work::{Work, WorkDone},
    },
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
    /// Nothing begins before the answer: no answer means no, for now. Otherwise it changes nothing.
    at_start: bool,
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
        let text = format!("{folder}\n{}", about(wants));
        Self {
            list: List::new(rows.into_iter().map(|(text, answer)| Row { text, answer }).collect()),
            text,
            at_start: true,
        }
    }

    /// Asks about the project in `folder` once more, and what is to be done for it.
    #[must_use]
    pub fn again(folder: &str) -> (Self, Vec<Effect>) {
        (Self { at_start: false, ..Self::new(folder, &[]) }, vec![Effect::Work(Work::TrustFacts)])
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

/// What a project brings, in words.
fn about(wants: &[PathBuf]) -> String {
    let wants = wants.iter().map(|path| format!("  {}", path.display())).collect::<Vec<_>>().join("\n");
    let brings = if wants.is_empty() { String::new() } else { format!(" It brings:\n{wants}") };
    format!("Settings, extensions, skills and prompts of a project can make the agent do things.{brings}")
}

impl Overlay for TrustQuestion {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        match self.list.on_key(key, context.keymap) {
            Pressed::Chosen => match self.list.marked() {
                Some(row) => Outcome::Close(vec![Effect::Trust(row.answer)]),
                None => Outcome::stay(),
            },
            Pressed::Cancelled if !self.at_start => Outcome::close(),
            Pressed::Cancelled => {
                Outcome::Close(vec![Effect::Trust(TrustAnswer { trusted: false, reach: TrustReach::Session })])
            }
            _ => Outcome::stay(),
        }
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        if let WorkDone::TrustFacts(facts) = done {
            let now = match facts.saved {
                Some(true) => "It is trusted.",
                Some(false) => "It is not trusted.",
                None => "Nobody decided yet.",
            };
            let folder = self.text.lines().next().unwrap_or_default();
            self.text = format!("{folder}\n{now} {}", about(&facts.resources));
        }
        Outcome::stay()
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
    use crate::tui::{
        overlay::testing::{World, told},
        work::trust::TrustFacts,
    };

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

    #[test]
    fn later_no_answer_changes_nothing_and_what_is_so_is_told() {
        let world = World::default();
        let (mut question, effects) = TrustQuestion::again("~/app");
        assert_eq!(effects, [Effect::Work(Work::TrustFacts)]);
        let facts = TrustFacts { resources: vec!["/srv/app/.troupe/skills".into()], saved: Some(false) };
        question.on_worked(&WorkDone::TrustFacts(facts), &world.context());
        insta::assert_snapshot!(world.draw(&question, 60, 16), @r"
    ────────────────────────────────────────────────────────────
    Do you trust this project?
    ~/app
    It is not trusted. Settings, extensions, skills and prompts
    of a project can make the agent do things. It brings:
      /srv/app/.troupe/skills
    → Trust
      Trust the parent folder
      Trust (this session only)
      Do not trust
      Do not trust (this session only)
    enter choose · escape not now
    ────────────────────────────────────────────────────────────
    ");
        assert_eq!(told(&world.press(&mut question, "escape")), "close");
    }
}
