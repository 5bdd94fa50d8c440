//! The agent in front and those below it: looked at, steered, stopped, started again, held.
//!
//! | file | what |
//! |---|---|
//! | `row` | an agent as a row |
//! | `reader` | the conversation of one |
//! | `steer` | a message for one |

mod reader;
mod row;
mod steer;
#[cfg(test)]
mod tests;

use ratatui::layout::Rect;

use self::{reader::AgentReader, row::Row, steer::SteerLine};
use super::{
    Outcome, Overlay, OverlayContext,
    list::{List, Pressed},
    panel::{Panel, hints, note, title},
};
use crate::{
    protocol::{
        Command,
        sibling::{SiblingId, SiblingState},
        supervision::AgentInfo,
    },
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key},
        settings::ScreenSettings,
        terminal::Frame,
        text::StyledLine,
        theme::ThemeColor,
        work::{
            Work, WorkDone,
            agents::{AgentsDone, AgentsWork, Deed},
        },
    },
};

/// Rows of agents at most.
const ROWS: usize = 20;
/// Milliseconds after which it is looked again how they are.
const AGAIN_MS: u64 = 500;

/// Does something to an agent below the one in front.
fn act(id: &SiblingId, deed: Deed) -> Vec<Effect> {
    vec![Effect::Work(Work::Agents(AgentsWork::Do(id.clone(), deed)))]
}

fn list() -> Vec<Effect> {
    vec![Effect::Work(Work::Agents(AgentsWork::List))]
}

/// The list of agents.
pub struct AgentSelector {
    list: List<Row>,
    /// How conversations are to be shown.
    settings: ScreenSettings,
    /// The agent that is to be stopped when the user says so.
    stops: Option<SiblingId>,
    problem: Option<String>,
    /// When it was looked last how they are.
    asked: u64,
}

impl AgentSelector {
    /// A list, and what is to be done for it.
    #[must_use]
    pub fn new(settings: &ScreenSettings, now: u64) -> (Self, Vec<Effect>) {
        let list_of_none = List::new(Vec::new());
        let settings = settings.clone();
        (Self { list: list_of_none, settings, stops: None, problem: None, asked: now }, list())
    }

    fn marked(&self) -> Option<&AgentInfo> {
        self.list.marked().map(|row| &row.info)
    }

    /// What a key wants of the marked agent; none when it is a key of the list.
    fn wanted(&mut self, key: Key, context: &OverlayContext<'_>) -> Option<Outcome> {
        let is = |action| context.keymap.is(key, action);
        let info = self.marked()?.clone();
        let (id, state) = (&info.status.id, info.status.state);
        let is_front = info.status.depth == 0;
        Some(if is(Action::SteerAgent) {
            Outcome::Open(Box::new(SteerLine::new(&info.status)), Vec::new())
        } else if is(Action::StopAgent) {
            if state == SiblingState::Gone || (is_front && state == SiblingState::Idle) {
                self.problem = Some(format!("{id} does nothing that could be stopped"));
            } else {
                self.stops = Some(id.clone());
            }
            Outcome::stay()
        } else if is_front && (is(Action::RestartAgent) || is(Action::PauseAgent)) {
            self.problem = Some("This is the agent in front: it can be steered and stopped".to_owned());
            Outcome::stay()
        } else if is(Action::RestartAgent) {
            Outcome::Stay(act(id, Deed::Restart))
        } else if is(Action::PauseAgent) {
            let deed = if state == SiblingState::Paused { Deed::Resume } else { Deed::Pause };
            Outcome::Stay(act(id, deed))
        } else {
            return None;
        })
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let theme = context.theme;
        let mut foot = Vec::new();
        if let Some(last) = self.marked().map(|info| &info.status.last_line).filter(|line| !line.is_empty()) {
            foot.push(note(last, ThemeColor::Muted, theme));
        }
        if let Some(id) = &self.stops {
            let text = format!("Stop {id}, with all below it? Enter stops it.");
            foot.push(note(&text, ThemeColor::Warning, theme));
        }
        foot.extend(self.problem.iter().map(|problem| note(problem, ThemeColor::Error, theme)));
        let actions: &[_] = match self.stops {
            Some(_) => &[(Action::SelectConfirm, "stop it"), (Action::SelectCancel, "back")],
            None => &[
                (Action::SelectConfirm, "look"),
                (Action::SteerAgent, "steer"),
                (Action::StopAgent, "stop"),
                (Action::SelectCancel, "leave"),
                (Action::PauseAgent, "pause or go on"),
                (Action::RestartAgent, "start again"),
            ],
        };
        Panel {
            title: self.title(context),
            foot,
            hints: hints(context.keymap, actions, width, theme),
            ..Panel::default()
        }
    }

    fn title(&self, context: &OverlayContext<'_>) -> StyledLine {
        let mut line = title("Agents", context.theme);
        let below = self.list.items().iter().filter(|row| row.info.status.depth > 0);
        let (all, running) = below
            .fold((0, 0), |(all, running), row| (all + 1, running + usize::from(row.info.status.state.is_active())));
        line.push(format!("  {running} of {all} run"), context.theme.fg(ThemeColor::Dim));
        line
    }
}

impl Overlay for AgentSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        self.problem = None;
        if let Some(id) = self.stops.take() {
            return match context.keymap.is(key, Action::SelectConfirm) {
                true if id == SiblingId::root() => Outcome::Stay(vec![Effect::Send(Command::Abort, Purpose::Plain)]),
                true => Outcome::Stay(act(&id, Deed::Stop)),
                false => Outcome::stay(),
            };
        }
        if let Some(outcome) = self.wanted(key, context) {
            return outcome;
        }
        match (self.list.on_key(key, context.keymap), self.marked()) {
            // The agent in front is what is seen without this list.
            (Pressed::Chosen, Some(info)) if info.status.depth == 0 => Outcome::close(),
            (Pressed::Chosen, Some(info)) => {
                let (reader, effects) = AgentReader::new(info.clone(), &self.settings, context.now);
                Outcome::Open(Box::new(reader), effects)
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
        match done {
            WorkDone::Agents(AgentsDone::Listed(agents)) => {
                let rows = agents.iter().cloned().map(Row::new).collect();
                self.list.replace(rows, |a, b| a.info.status.id == b.info.status.id);
                Outcome::stay()
            }
            WorkDone::Agents(AgentsDone::Did(result)) => {
                self.problem = result.as_ref().err().cloned();
                Outcome::Stay(list())
            }
            _ => Outcome::stay(),
        }
    }

    fn on_change(&mut self, context: &OverlayContext<'_>) -> Outcome {
        if context.now < self.asked + AGAIN_MS {
            return Outcome::stay();
        }
        self.asked = context.now;
        Outcome::Stay(list())
    }

    fn is_moving(&self) -> bool {
        true
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.list.height(&self.panel(width, context), ROWS, most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, "  Looking for agents …", context.theme);
        });
    }
}
