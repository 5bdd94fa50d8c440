//! What becomes of calls that no rule is about, and the rules.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::{
    Outcome, Overlay, OverlayContext,
    list::{Item, List, Look, Pressed},
    panel::{Panel, hints, note, title},
};
use crate::{
    protocol::{
        Command,
        permission::{PermissionMode, RuleInfo, RuleSource},
    },
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key},
        terminal::Frame,
        text::StyledLine,
        theme::ThemeColor,
        work::{Work, WorkDone},
    },
};

/// Rules that are shown at most.
const RULES: usize = 8;

/// A mode.
struct Row {
    mode: PermissionMode,
    current: bool,
}

impl Item for Row {
    fn text(&self) -> &str {
        self.mode.as_str()
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let mut line = StyledLine::of(format!("{:<6}", self.mode.as_str()), look.name());
        line.push(about(self.mode), look.aside());
        if self.current {
            line.push(" ✓", look.theme.fg(ThemeColor::Success));
        }
        line
    }
}

/// What becomes of calls in a mode.
#[must_use]
pub fn about(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Off => "everything runs, and rules do not count",
        PermissionMode::Allow => "what no rule denies runs",
        PermissionMode::Ask => "you are asked about what no rule allows",
        PermissionMode::Deny => "what no rule allows is denied",
    }
}

/// The list of modes, with the rules below. A mode counts for as long as the program runs.
pub struct PermissionSelector {
    list: List<Row>,
    rules: Arc<[RuleInfo]>,
}

impl PermissionSelector {
    /// A list, and what is to be done for it.
    #[must_use]
    pub fn new(current: PermissionMode) -> (Self, Vec<Effect>) {
        let rows = PermissionMode::NAMES.map(|(_, mode)| Row { mode, current: mode == current });
        let marked = rows.iter().position(|row| row.current).unwrap_or_default();
        let mut list = List::new(rows.into());
        list.mark(marked);
        (Self { list, rules: Arc::default() }, vec![Effect::Work(Work::Rules)])
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let rule = |rule: &RuleInfo| {
            let text = format!("  {:<5} {}  ({})", rule.action.as_str(), rule.rule, from(rule.source));
            note(&text, ThemeColor::Muted, context.theme)
        };
        let mut foot: Vec<StyledLine> = self.rules.iter().take(RULES).map(rule).collect();
        if let Some(more) = self.rules.len().checked_sub(RULES).filter(|more| *more > 0) {
            foot.push(note(&format!("  … and {more} more rules"), ThemeColor::Dim, context.theme));
        }
        if !foot.is_empty() {
            foot.insert(0, note("Rules", ThemeColor::Muted, context.theme));
        }
        let actions = [(Action::SelectConfirm, "choose"), (Action::SelectCancel, "leave")];
        Panel {
            title: title("Calls that no rule is about", context.theme),
            foot,
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

/// Where a rule comes from, in words.
fn from(source: RuleSource) -> &'static str {
    match source {
        RuleSource::Flag => "command line",
        RuleSource::User => "your settings",
        RuleSource::Project => "the project's settings",
        RuleSource::Remembered => "remembered for the project",
        RuleSource::Everywhere => "remembered for all projects",
        RuleSource::Session => "this session",
    }
}

impl Overlay for PermissionSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        match (self.list.on_key(key, context.keymap), self.list.marked()) {
            (Pressed::Chosen, Some(row)) => set(row.mode),
            (Pressed::Cancelled, _) => Outcome::close(),
            _ => Outcome::stay(),
        }
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        if let WorkDone::Rules(rules) = done {
            self.rules = rules.clone();
        }
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.list.height(&self.panel(width, context), PermissionMode::NAMES.len(), most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, "", context.theme);
        });
    }
}

fn set(mode: PermissionMode) -> Outcome {
    Outcome::Close(vec![change(mode)])
}

/// Another mode, and what is said of it.
#[must_use]
pub fn change(mode: PermissionMode) -> Effect {
    let told = format!("Permissions: {}. {}.", mode.as_str(), capital(about(mode)));
    Effect::Send(Command::SetPermissionMode(mode), Purpose::Told(told))
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::permission::RuleAction,
        tui::overlay::testing::{World, told},
    };

    #[test]
    fn a_mode_is_chosen_with_the_rules_in_sight() {
        let world = World::default();
        for (pressed, expected) in [
            ("enter", told(&set(PermissionMode::Ask))),
            ("down enter", told(&set(PermissionMode::Deny))),
            ("o f f enter", told(&set(PermissionMode::Off))),
            ("escape", "close".to_owned()),
        ] {
            let (mut selector, _) = PermissionSelector::new(PermissionMode::Ask);
            assert_eq!(told(&world.press(&mut selector, pressed)), expected, "{pressed}");
        }
        let (mut selector, effects) = PermissionSelector::new(PermissionMode::Ask);
        assert_eq!(effects, [Effect::Work(Work::Rules)]);
        let rule = RuleInfo { action: RuleAction::Allow, rule: "bash(git *)".into(), source: RuleSource::User };
        selector.on_worked(&WorkDone::Rules(vec![rule; 9].into()), &world.context());
        let picture = world.draw(&selector, 60, 24);
        assert!(
            picture.contains("allow bash(git *)  (your settings)") && picture.contains("1 more rules"),
            "{picture}"
        );
    }
}
