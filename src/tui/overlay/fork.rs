//! Before which message a session forks.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::{
    Outcome, Overlay, OverlayContext,
    list::{Item, List, Look, Pressed},
    panel::{Panel, hints, title},
};
use crate::{
    protocol::{EntryId, session_change::SessionChange},
    tui::{
        effect::Effect,
        keys::{Action, Key},
        terminal::Frame,
        text::{StyledLine, one_line},
        theme::ThemeColor,
        work::{Work, WorkDone},
    },
};

/// Rows of messages at most.
const ROWS: usize = 15;

/// A message of the user.
struct Row {
    id: EntryId,
    text: String,
}

impl Item for Row {
    fn text(&self) -> &str {
        &self.text
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let shown: String = self.text.chars().take(4 * look.width).collect();
        StyledLine::of(one_line(&shown), look.name())
    }
}

/// The list of the user's messages. The session forks before the one that is chosen, and its text is written anew.
pub struct ForkSelector {
    list: List<Row>,
    loads: bool,
}

impl ForkSelector {
    /// A list, and what is to be done for it.
    #[must_use]
    pub fn new() -> (Self, Vec<Effect>) {
        (Self { list: List::new(Vec::new()), loads: true }, vec![Effect::Work(Work::Forks)])
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::SelectConfirm, "fork before it"), (Action::SelectCancel, "leave")];
        Panel {
            title: title("Fork the session before a message", context.theme),
            input: Some((self.list.search(), "search")),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for ForkSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        match (self.list.on_key(key, context.keymap), self.list.marked()) {
            (Pressed::Chosen, Some(row)) => Outcome::Close(vec![Effect::Replace(SessionChange::Fork(row.id.clone()))]),
            (Pressed::Cancelled, _) => Outcome::close(),
            _ => Outcome::stay(),
        }
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        self.list.on_paste(text);
        Outcome::stay()
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        if let WorkDone::Forks(messages) = done {
            self.loads = false;
            let row = |(id, text): &(EntryId, String)| Row { id: id.clone(), text: text.clone() };
            self.list.replace(messages.iter().map(row).collect(), |a, b| a.id == b.id);
            // The last message is the one that is regretted most often.
            self.list.mark(messages.len().saturating_sub(1));
        }
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.list.height(&self.panel(width, context), ROWS, most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let mut panel = self.panel(area.width, context);
        if let Some(count) = self.list.count(panel.body_rows(area.height)) {
            panel.title.push(format!("  {count}"), context.theme.fg(ThemeColor::Dim));
        }
        let nothing = if self.loads { "  Looking for messages …" } else { "  No message yet" };
        panel.draw(frame, area, context.theme, |frame, body| self.list.draw(frame, body, nothing, context.theme));
    }
}

/// The messages of a session's user, in the order of the file.
#[must_use]
pub fn messages(tree: &crate::store::tree::TreeView) -> Arc<[(EntryId, String)]> {
    tree.fork_messages().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        store::testing::{answer, user, view},
        tui::overlay::testing::{World, told},
    };

    #[test]
    fn the_last_message_is_marked_and_the_chosen_one_forked_before() {
        let fork = |id: &str| told(&Outcome::Close(vec![Effect::Replace(SessionChange::Fork(id.into()))]));
        let tree = view(&[user("a", "", "alpha question"), answer("b", "a", "x"), user("c", "b", "beta\nquestion")]);
        for (pressed, expected) in
            [("enter", fork("c")), ("up enter", fork("a")), ("a l p enter", fork("a")), ("escape", "close".to_owned())]
        {
            let world = World::default();
            let (mut selector, effects) = ForkSelector::new();
            assert_eq!(effects, [Effect::Work(Work::Forks)]);
            assert_eq!(told(&world.press(&mut selector, "enter")), "stay", "nothing is there yet");
            selector.on_worked(&WorkDone::Forks(messages(&tree)), &world.context());
            assert!(world.draw(&selector, 40, 12).contains("→ beta question"));
            assert_eq!(told(&world.press(&mut selector, pressed)), expected, "{pressed}");
        }
    }
}
