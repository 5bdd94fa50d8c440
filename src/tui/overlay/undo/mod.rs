//! Taking changes of files back.
//!
//! | file | what |
//! |---|---|
//! | [`preview`] | what would become of the files, and what is to be done |

mod preview;

#[cfg(test)]
mod tests;

use std::path::Path;

use ratatui::layout::Rect;

use self::preview::{Decided, Preview};
use super::{
    Outcome, Overlay, OverlayContext,
    list::{Item, List, Look, Pressed},
    panel::{Panel, between, hints, note, title},
    text_view::TextView,
};
use crate::{
    actors::reply::CommandResult,
    protocol::{
        Command, Reply,
        checkpoint::{CheckpointCause, CheckpointInfo, FileChange, Undo, UndoTarget},
        time::iso,
    },
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key},
        terminal::Frame,
        text::{StyledLine, one_line},
        theme::ThemeColor,
    },
};

/// Rows of checkpoints at most.
const ROWS: usize = 12;

/// What can be undone, or the way back.
enum Row {
    Checkpoint { info: CheckpointInfo, text: String },
    Redo,
}

impl Row {
    fn of(info: &CheckpointInfo, context: &OverlayContext<'_>) -> Self {
        let mut info = info.clone();
        info.files.iter_mut().for_each(|file| file.path = short(&file.path, context));
        let files: Vec<&str> = info.files.iter().map(|file| &*file.path).collect();
        Self::Checkpoint { text: files.join(" "), info }
    }

    fn target(&self) -> Option<UndoTarget> {
        match self {
            Self::Checkpoint { info, .. } => info.entry_id.clone().map(UndoTarget::Entry),
            Self::Redo => Some(UndoTarget::Redo),
        }
    }
}

impl Item for Row {
    fn text(&self) -> &str {
        match self {
            Self::Checkpoint { text, .. } => text,
            Self::Redo => "redo",
        }
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let Self::Checkpoint { info, .. } = self else {
            return StyledLine::of("Take the last undo back", look.name());
        };
        let mut left = StyledLine::default();
        for (at, file) in info.files.iter().enumerate() {
            let (mark, color) = match file.change {
                FileChange::Created => ("+", ThemeColor::Success),
                FileChange::Changed => ("~", ThemeColor::Warning),
                FileChange::Deleted => ("-", ThemeColor::Error),
            };
            left.push(if at > 0 { ", " } else { "" }, look.aside());
            left.push(mark, look.theme.fg(color));
            left.push(one_line(&file.path), look.name());
        }
        let who = match info.cause {
            CheckpointCause::Tools => "model",
            CheckpointCause::User => "your command",
        };
        let undone = if info.undone { "undone  " } else { "" };
        let when: String = iso(info.time).chars().skip(11).take(5).collect();
        let right = StyledLine::of(format!("{undone}{who}  {when}"), look.theme.fg(ThemeColor::Dim));
        between(&left, &right, look.width)
    }

    fn is_enabled(&self) -> bool {
        self.target().is_some()
    }
}

/// A path as people read it: from the agent's folder, or from the home.
fn short(path: &str, context: &OverlayContext<'_>) -> String {
    let path = Path::new(path);
    match path.strip_prefix(&context.facts.cwd) {
        Ok(inside) => inside.display().to_string(),
        Err(_) => context.surroundings.short(path),
    }
}

/// The list of what can be undone. Everything that came behind the chosen one goes with it.
pub struct UndoSelector {
    list: List<Row>,
    loads: bool,
    preview: Option<Preview>,
    problem: Option<String>,
}

fn undo(undo: Undo) -> Vec<Effect> {
    vec![Effect::Send(Command::Undo(undo), Purpose::Overlay)]
}

impl UndoSelector {
    /// A list, and what is to be done for it.
    #[must_use]
    pub fn new() -> (Self, Vec<Effect>) {
        let selector = Self { list: List::new(Vec::new()), loads: true, preview: None, problem: None };
        (selector, vec![Effect::Send(Command::Checkpoints, Purpose::Overlay)])
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        if let Some(preview) = &self.preview {
            return preview.panel(width, context);
        }
        let actions = [(Action::SelectConfirm, "show what would change"), (Action::SelectCancel, "leave")];
        Panel {
            title: title("Undo: files go back to before a change", context.theme),
            input: Some((self.list.search(), "search")),
            foot: self.problem.iter().map(|problem| note(problem, ThemeColor::Error, context.theme)).collect(),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for UndoSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        self.problem = None;
        if let Some(preview) = &mut self.preview {
            match preview.on_key(key, context.keymap) {
                Decided::NotYet => {}
                Decided::Back => self.preview = None,
                Decided::Does(ask) => return Outcome::Stay(undo(ask)),
            }
            return Outcome::stay();
        }
        match (self.list.on_key(key, context.keymap), self.list.marked().and_then(Row::target)) {
            (Pressed::Chosen, Some(target)) => Outcome::Stay(undo(Undo { target, dry_run: true, ..Undo::default() })),
            (Pressed::Cancelled, _) => Outcome::close(),
            _ => Outcome::stay(),
        }
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        if self.preview.is_none() {
            self.list.on_paste(text);
        }
        Outcome::stay()
    }

    fn on_answer(&mut self, answer: &CommandResult, context: &OverlayContext<'_>) -> Outcome {
        match answer {
            Ok(Reply::Checkpoints(infos)) => {
                self.loads = false;
                let redo = infos.iter().any(|info| info.undone).then_some(Row::Redo);
                self.list.replace(
                    redo.into_iter().chain(infos.iter().map(|info| Row::of(info, context))).collect(),
                    |_, _| false,
                );
                // The way back is no first choice.
                let first = self
                    .list
                    .items()
                    .iter()
                    .position(|row| matches!(row, Row::Checkpoint { info, .. } if !info.undone));
                first.into_iter().for_each(|first| self.list.mark(first));
            }
            Ok(Reply::Undone(report)) if report.dry_run => {
                if let Some(target) = self.list.marked().and_then(Row::target) {
                    self.preview = Some(Preview::new(target, report));
                }
            }
            // The conversation tells it.
            Ok(Reply::Undone(report)) if report.is_complete() => return Outcome::close(),
            Ok(Reply::Undone(report)) => {
                return Outcome::Become(Box::new(TextView::plain("Done", report.told())), Vec::new());
            }
            Ok(_) => {}
            Err(error) => {
                self.preview = None;
                self.loads = false;
                self.problem = Some(error.to_string());
            }
        }
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        let panel = self.panel(width, context);
        match &self.preview {
            Some(preview) => panel.height(preview.rows(width)).min(most),
            None => self.list.height(&panel, ROWS, most),
        }
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let nothing = if self.loads { "  Looking for changes …" } else { "  Nothing was changed in this session" };
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| match &self.preview {
            Some(preview) => preview.draw(frame, body, context.theme),
            None => self.list.draw(frame, body, nothing, context.theme),
        });
    }
}
