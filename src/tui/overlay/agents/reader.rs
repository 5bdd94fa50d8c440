//! The conversation of an agent, as that of the agent in front is shown.

use std::cell::{Cell, RefCell};

use ratatui::layout::Rect;

use super::{AGAIN_MS, act, steer::SteerLine};
use crate::{
    protocol::{sibling::SiblingState, supervision::AgentInfo},
    tui::{
        effect::Effect,
        keys::{Action, Key},
        overlay::{
            Outcome, Overlay, OverlayContext,
            panel::{Panel, hints, note, title},
        },
        settings::ScreenSettings,
        terminal::Frame,
        text::one_line,
        theme::ThemeColor,
        transcript::{Transcript, layout::LayoutContext},
        view::{
            cards::{name, sign, spent, word},
            header::StartView,
        },
        work::{
            Work, WorkDone,
            agents::{AgentsDone, AgentsWork, Deed},
        },
    },
};

/// The conversation.
pub(super) struct AgentReader {
    info: AgentInfo,
    transcript: RefCell<Transcript>,
    settings: ScreenSettings,
    /// Columns and rows of the conversation that are seen.
    seen: Cell<(u16, usize)>,
    /// It was read.
    is_read: bool,
    problem: Option<String>,
    /// When it was read last.
    asked: u64,
}

impl AgentReader {
    /// A reader, and what is to be done for it.
    pub fn new(info: AgentInfo, settings: &ScreenSettings, now: u64) -> (Self, Vec<Effect>) {
        let mut transcript = Transcript::default();
        transcript.set_running(info.status.state.is_active());
        let reader = Self {
            info,
            transcript: RefCell::new(transcript),
            settings: settings.clone(),
            seen: Cell::new((80, 1)),
            is_read: false,
            problem: None,
            asked: now,
        };
        let effects = reader.read();
        (reader, effects)
    }

    fn read(&self) -> Vec<Effect> {
        let read = AgentsWork::Read(self.info.status.id.clone());
        [AgentsWork::List, read].map(|work| Effect::Work(Work::Agents(work))).into()
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let (theme, status) = (context.theme, &self.info.status);
        let mut line = title(format!("{} ", name(status)), theme);
        line.push(word(status), theme.fg(sign(status).1));
        if let Some(tool) = &status.tool {
            line.push(format!(", {}", one_line(tool)), theme.fg(sign(status).1));
        }
        line.push(format!("  {}", spent(status)), theme.fg(ThemeColor::Dim));
        let mut foot = Vec::new();
        if status.state.is_active() && !status.last_line.is_empty() {
            foot.push(note(&format!("… {}", status.last_line), ThemeColor::Muted, theme));
        }
        foot.extend(self.problem.iter().map(|problem| note(problem, ThemeColor::Error, theme)));
        let actions = [
            (Action::SelectCancel, "back"),
            (Action::SelectDown, "scroll"),
            (Action::SteerAgent, "steer"),
            (Action::PauseAgent, "pause or go on"),
            (Action::ExpandTools, "more"),
        ];
        Panel { title: line, foot, hints: hints(context.keymap, &actions, width, theme), ..Panel::default() }
    }

    /// Does something with the conversation that needs to know how it is laid out.
    fn with_layout<T>(
        &self,
        width: u16,
        context: &OverlayContext<'_>,
        act: impl FnOnce(&mut Transcript, &LayoutContext<'_>) -> T,
    ) -> T {
        let mut transcript = self.transcript.borrow_mut();
        let expand_key = context.keymap.hint(Action::ExpandTools).unwrap_or_default();
        let header = StartView {
            keymap: context.keymap,
            surroundings: context.surroundings,
            page: None,
            has_model: true,
            expanded: transcript.expanded,
        };
        let layout = LayoutContext {
            width: usize::from(width),
            theme: context.theme,
            settings: &self.settings,
            expand_key: &expand_key,
            cwd: self.info.status.worktree.as_ref().map_or(&context.facts.cwd, |folder| folder.as_ref()),
            home: context.surroundings.home.as_deref(),
            now: context.now,
            header: &header,
            pictures: None,
        };
        act(&mut transcript, &layout)
    }

    fn scroll(&self, lines: isize, context: &OverlayContext<'_>) {
        let (width, rows) = self.seen.get();
        self.with_layout(width, context, |transcript, layout| transcript.scroll_by(lines, rows, layout));
    }
}

impl Overlay for AgentReader {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let is = |action| context.keymap.is(key, action);
        self.problem = None;
        let page = isize::try_from(self.seen.get().1).unwrap_or(2).max(2) - 1;
        if is(Action::SelectCancel) {
            return Outcome::close();
        } else if is(Action::SteerAgent) {
            return Outcome::Open(Box::new(SteerLine::new(&self.info.status)), Vec::new());
        } else if is(Action::PauseAgent) {
            let deed = if self.info.status.state == SiblingState::Paused { Deed::Resume } else { Deed::Pause };
            return Outcome::Stay(act(&self.info.status.id, deed));
        } else if is(Action::ExpandTools) {
            self.transcript.borrow_mut().toggle_expanded();
        } else if is(Action::SelectUp) {
            self.scroll(-1, context);
        } else if is(Action::SelectDown) {
            self.scroll(1, context);
        } else if is(Action::SelectPageUp) {
            self.scroll(-page, context);
        } else if is(Action::SelectPageDown) {
            self.scroll(page, context);
        } else if is(Action::CursorLineStart) || is(Action::ScrollTop) {
            self.transcript.borrow_mut().to_top();
        } else if is(Action::CursorLineEnd) || is(Action::ScrollBottom) {
            self.transcript.borrow_mut().to_bottom();
        }
        Outcome::stay()
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        let id = &self.info.status.id;
        match done {
            WorkDone::Agents(AgentsDone::Listed(agents)) => {
                if let Some(info) = agents.iter().find(|info| info.status.id == *id) {
                    self.info = info.clone();
                    self.transcript.borrow_mut().set_running(info.status.state.is_active());
                }
            }
            WorkDone::Agents(AgentsDone::Read(of, read)) if of == id => {
                self.is_read = true;
                match read {
                    Ok(tree) => self.transcript.borrow_mut().sync(tree),
                    Err(error) => self.problem = Some(format!("It cannot be read: {error}")),
                }
            }
            WorkDone::Agents(AgentsDone::Did(result)) => {
                self.problem = result.as_ref().err().cloned();
                return Outcome::Stay(self.read());
            }
            _ => {}
        }
        Outcome::stay()
    }

    fn on_change(&mut self, context: &OverlayContext<'_>) -> Outcome {
        // What is over does not change any more.
        if self.info.status.state == SiblingState::Gone || context.now < self.asked + AGAIN_MS {
            return Outcome::stay();
        }
        self.asked = context.now;
        Outcome::Stay(self.read())
    }

    fn is_moving(&self) -> bool {
        self.info.status.state != SiblingState::Gone
    }

    fn height(&self, _: u16, most: u16, _: &OverlayContext<'_>) -> u16 {
        most
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            let rows = usize::from(body.height);
            self.seen.set((body.width, rows));
            let lines = self.with_layout(body.width, context, |transcript, layout| {
                let parts = transcript.visible(rows, layout);
                transcript.lines(&parts, layout)
            });
            (0..body.height).zip(&lines).for_each(|(row, line)| frame.line(body, row, line));
            if lines.is_empty() {
                let text = if self.is_read { "  Nothing was said yet" } else { "  Reading …" };
                frame.line(body, 0, &note(text, ThemeColor::Muted, context.theme));
            }
        });
    }
}
