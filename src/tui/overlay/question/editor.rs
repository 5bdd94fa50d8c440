//! Text of several lines.

use ratatui::layout::{Position, Rect};

use super::Asked;
use crate::{
    protocol::question::{Answer, QuestionId},
    tui::{
        editor::{Editor, EditorAction, Geometry},
        keys::{Action, Key, Keymap},
        overlay::{
            Outcome, Overlay, OverlayContext,
            input::editing,
            panel::{Panel, hints},
        },
        terminal::Frame,
    },
};

/// Rows of the text that a dialog has room for, when the screen has.
const ROWS: u16 = 10;

/// A question that a text answers.
pub(super) struct EditorDialog {
    asked: Asked,
    editor: Editor,
    /// The room of the text when it was drawn last.
    room: std::cell::Cell<Geometry>,
}

impl EditorDialog {
    pub fn new(asked: Asked, prefill: Option<&str>) -> Self {
        let mut editor = Editor::new();
        editor.set_text(prefill.unwrap_or_default());
        Self { asked, editor, room: std::cell::Cell::new(Geometry { width: 80, rows: ROWS }) }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::Submit, "answer"), (Action::NewLine, "new line"), (Action::SelectCancel, "cancel")];
        let mut line = self.asked.countdown(context);
        line.spans.extend(hints(context.keymap, &actions, width, context.theme).spans);
        Panel { hints: line, ..Panel::default() }
    }
}

/// What an action does to a text of several lines.
fn in_text(action: Action) -> Option<EditorAction> {
    match action {
        Action::CursorUp => Some(EditorAction::CursorUp),
        Action::CursorDown => Some(EditorAction::CursorDown),
        Action::EditorPageUp => Some(EditorAction::PageUp),
        Action::EditorPageDown => Some(EditorAction::PageDown),
        Action::NewLine => Some(EditorAction::NewLine),
        _ => editing(action),
    }
}

fn edit(editor: &mut Editor, key: Key, keymap: &Keymap, room: Geometry) {
    match (keymap.actions(key).find_map(in_text), key.typed()) {
        (Some(action), _) => editor.act(action, room),
        (None, Some(character)) => editor.type_char(character),
        (None, None) => {}
    }
}

impl Overlay for EditorDialog {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        if context.keymap.is(key, Action::SelectCancel) {
            return self.asked.answer(Answer::Cancelled);
        }
        if context.keymap.is(key, Action::Submit) && !context.keymap.is(key, Action::NewLine) {
            return self.asked.answer(Answer::Value(self.editor.text()));
        }
        edit(&mut self.editor, key, context.keymap, self.room.get());
        Outcome::stay()
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        self.editor.paste(text);
        Outcome::stay()
    }

    fn is_moving(&self) -> bool {
        self.asked.question.timeout_ms.is_some()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        let asked = self.asked.rows("", width, context).len();
        self.panel(width, context).height(asked + usize::from(ROWS)).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let asked = self.asked.rows("", area.width, context);
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            let above = u16::try_from(asked.len()).unwrap_or(u16::MAX).min(body.height / 2);
            (0..above).zip(&asked).for_each(|(row, line)| frame.line(body, row, line));
            let place = Rect::new(body.x, body.y + above, body.width, body.height - above);
            let room = Geometry { width: place.width.max(1), rows: place.height.max(1) };
            self.room.set(room);
            let view = self.editor.layout(room);
            (0u16..).zip(view.lines(context.theme)).for_each(|(row, line)| frame.line(place, row, &line));
            let (column, row) = view.cursor;
            if row < place.height {
                frame.cursor = Some(Position::new(place.x + column.min(place.width.saturating_sub(1)), place.y + row));
            }
        });
    }

    fn question(&self) -> Option<&QuestionId> {
        Some(self.asked.id())
    }
}
