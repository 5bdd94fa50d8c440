//! The skills that there are.

use ratatui::layout::Rect;

use super::{
    Outcome, Overlay, OverlayContext,
    list::{Item, List, Look, Pressed},
    panel::{Panel, hints, title},
};
use crate::{
    protocol::wire::{CommandInfo, CommandSource},
    tui::{
        keys::{Action, Key},
        terminal::Frame,
        text::{StyledLine, one_line},
    },
};

/// Rows of skills at most.
const ROWS: usize = 12;

/// A skill.
struct Row {
    /// What calls it, without the slash.
    name: String,
    description: String,
    text: String,
}

impl Item for Row {
    fn text(&self) -> &str {
        &self.text
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let mut line = StyledLine::of(one_line(self.name.trim_start_matches("skill:")), look.name());
        line.push(format!("  {}", one_line(&self.description)), look.aside());
        line
    }
}

/// The list of skills. The chosen one is written into the editor.
pub struct SkillSelector {
    list: List<Row>,
}

impl SkillSelector {
    /// A list of the skills among these commands.
    #[must_use]
    pub fn new(commands: &[CommandInfo]) -> Self {
        let skills = commands.iter().filter(|command| command.source == CommandSource::Skill);
        let row = |command: &CommandInfo| {
            let description = command.description.clone().unwrap_or_default();
            Row { text: format!("{} {description}", command.name), name: command.name.clone(), description }
        };
        Self { list: List::new(skills.map(row).collect()) }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::SelectConfirm, "write it into the editor"), (Action::SelectCancel, "leave")];
        Panel {
            title: title("Skills", context.theme),
            input: Some((self.list.search(), "search")),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for SkillSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        match (self.list.on_key(key, context.keymap), self.list.marked()) {
            (Pressed::Chosen, Some(row)) => Outcome::CloseWithText(format!("/{} ", row.name), Vec::new()),
            (Pressed::Cancelled, _) => Outcome::close(),
            _ => Outcome::stay(),
        }
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        self.list.on_paste(text);
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.list.height(&self.panel(width, context), ROWS, most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, "  No skill", context.theme);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::wire::SourceInfo,
        tui::overlay::testing::{World, told},
    };

    #[test]
    fn the_chosen_skill_is_written_into_the_editor() {
        let command = |name: &str, source| CommandInfo {
            name: name.into(),
            description: Some(format!("about {name}")),
            source,
            source_info: SourceInfo::default(),
        };
        let commands = [
            command("review", CommandSource::Prompt),
            command("skill:pdf", CommandSource::Skill),
            command("skill:deploy", CommandSource::Skill),
        ];
        for (pressed, expected) in [
            ("enter", "close with \"/skill:pdf \""),
            ("d e p enter", "close with \"/skill:deploy \""),
            ("r e v i enter", "stay"),
            ("escape", "close"),
        ] {
            let mut selector = SkillSelector::new(&commands);
            assert_eq!(told(&World::default().press(&mut selector, pressed)), expected, "{pressed}");
        }
        assert!(World::default().draw(&SkillSelector::new(&[]), 40, 12).contains("No skill"));
    }
}
