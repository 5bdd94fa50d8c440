//! Which tools the model may use.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::{
    Outcome, Overlay, OverlayContext,
    list::{Item, List, Look, Pressed},
    panel::{Panel, hints, title},
};
use crate::{
    actors::shared::AgentShared,
    protocol::Command,
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key},
        terminal::Frame,
        text::{StyledLine, one_line},
        theme::ThemeColor,
        work::{Work, WorkDone},
    },
};

/// Rows of tools at most.
const ROWS: usize = 15;

/// A tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolState {
    /// Its name.
    pub name: String,
    /// What the model reads of it.
    pub description: String,
    /// The model may use it.
    pub active: bool,
}

impl Item for ToolState {
    fn text(&self) -> &str {
        &self.name
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let (mark, color) = if self.active { ("✓ ", ThemeColor::Success) } else { ("  ", ThemeColor::Dim) };
        let mut line = StyledLine::of(mark, look.theme.fg(color));
        line.push(one_line(&self.name), look.name());
        let first = self.description.lines().next().unwrap_or_default();
        line.push(format!("  {}", one_line(first)), look.aside());
        line
    }
}

/// The list of tools. A change counts from the next request on.
pub struct ToolSelector {
    list: List<ToolState>,
    loads: bool,
}

impl ToolSelector {
    /// A list, and what is to be done for it.
    #[must_use]
    pub fn new() -> (Self, Vec<Effect>) {
        (Self { list: List::new(Vec::new()), loads: true }, vec![Effect::Work(Work::Tools)])
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let mut head = title("Tools", context.theme);
        let active = self.list.items().iter().filter(|tool| tool.active).count();
        head.push(format!("  {active} of {}", self.list.items().len()), context.theme.fg(ThemeColor::Muted));
        let actions = [(Action::SelectConfirm, "on or off"), (Action::SelectCancel, "leave")];
        Panel {
            title: head,
            input: Some((self.list.search(), "search")),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for ToolSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        match (self.list.on_key(key, context.keymap), self.list.marked_at()) {
            (Pressed::Chosen, Some(at)) => {
                let tool = &mut self.list.items_mut()[at];
                tool.active = !tool.active;
                let active = self.list.items().iter().filter(|tool| tool.active);
                let names = active.map(|tool| tool.name.clone()).collect();
                Outcome::Stay(vec![Effect::Send(Command::SetActiveTools(names), Purpose::Plain)])
            }
            (Pressed::Cancelled, _) => Outcome::close(),
            _ => Outcome::stay(),
        }
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        self.list.on_paste(text);
        Outcome::stay()
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        if let WorkDone::Tools(tools) = done {
            self.loads = false;
            self.list.replace(tools.to_vec(), |a, b| a.name == b.name);
        }
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.list.height(&self.panel(width, context), ROWS, most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let nothing = if self.loads { "  Looking for tools …" } else { "  No tool" };
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, nothing, context.theme);
        });
    }
}

/// The tools of an agent: the active ones in their order, then the others.
#[must_use]
pub fn tools_of(shared: &AgentShared) -> Arc<[ToolState]> {
    let active = shared.selection().active_tools.clone();
    let known = shared.config.tools.now();
    let state = |tool: &Arc<dyn crate::tools::Tool>| {
        let declaration = tool.declaration();
        let (name, description) = (declaration.name.clone(), declaration.description.clone());
        ToolState { active: active.contains(&name), name, description }
    };
    let mut tools: Vec<ToolState> = known.iter().map(state).collect();
    let place = |tool: &ToolState| active.iter().position(|name| *name == tool.name).unwrap_or(usize::MAX);
    tools.sort_by_key(place);
    tools.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::{World, told};

    #[test]
    fn a_tool_is_turned_on_and_off() {
        let tool = |name: &str, active| ToolState { name: name.into(), description: "does\nmore".into(), active };
        let set = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            told(&Outcome::Stay(vec![Effect::Send(Command::SetActiveTools(names), Purpose::Plain)]))
        };
        for (pressed, expected) in [
            ("enter", set(&["bash"])),
            ("enter enter", set(&["read", "bash"])),
            ("up enter", set(&["read", "bash", "grep"])),
            ("g r e p enter", set(&["read", "bash", "grep"])),
            ("escape", "close".to_owned()),
        ] {
            let world = World::default();
            let (mut selector, _) = ToolSelector::new();
            let tools = [tool("read", true), tool("bash", true), tool("grep", false)];
            selector.on_worked(&WorkDone::Tools(tools.into()), &world.context());
            assert_eq!(told(&world.press(&mut selector, pressed)), expected, "{pressed}");
        }
    }
}
