//! The list of providers: to log in at one, to store its key, or to forget what is stored.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::{Origin, flow::FlowView, key::KeyEntry};
use crate::{
    providers::Secret,
    tui::{
        effect::Effect,
        keys::{Action, Key},
        overlay::{
            Outcome, Overlay, OverlayContext,
            list::{Item, List, Look, Pressed},
            panel::{Panel, hints, note, title},
        },
        terminal::Frame,
        text::{StyledLine, one_line},
        theme::ThemeColor,
        work::{
            Work, WorkDone,
            login::{LoginLine, ProviderState},
        },
    },
};

/// Rows of the list at most.
const MOST_ROWS: usize = 12;

/// What the provider is chosen for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum For {
    /// To log in, or to store a key.
    LogIn,
    /// To store this key.
    Key(Secret),
    /// To forget what is stored.
    LogOut,
}

/// See the module.
pub struct Providers {
    purpose: For,
    origin: Origin,
    /// The provider that was named, by its id or name.
    wanted: Option<String>,
    /// None until they are known.
    list: Option<List<Row>>,
    problem: Option<String>,
}

struct Row {
    state: ProviderState,
    text: String,
}

impl Item for Row {
    fn text(&self) -> &str {
        &self.text
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let mut line = StyledLine::of(one_line(&self.state.name), look.name());
        if let Some(has) = &self.state.has {
            line.push(format!("  {}", one_line(has)), look.theme.fg(ThemeColor::Success));
        }
        line.push(format!("  {}", one_line(&self.state.id)), look.aside());
        line
    }
}

impl Providers {
    /// The list; it fills when the providers are known.
    #[must_use]
    pub fn new(purpose: For, wanted: Option<String>, origin: Origin) -> Self {
        Self { purpose, origin, wanted, list: None, problem: None }
    }

    fn fill(&mut self, states: &Arc<[ProviderState]>) -> Outcome {
        let fits = |state: &&ProviderState| match self.purpose {
            For::LogIn => state.takes_key || state.takes_login,
            For::Key(_) => state.takes_key,
            For::LogOut => state.stored,
        };
        let row = |state: &ProviderState| Row { text: format!("{} {}", state.name, state.id), state: state.clone() };
        self.list = Some(List::new(states.iter().filter(fits).map(row).collect()));
        let Some(wanted) = self.wanted.take() else { return Outcome::stay() };
        let is_wanted = |row: &Row| row.state.id == wanted || row.state.name.eq_ignore_ascii_case(&wanted);
        let found = self.list.iter().flat_map(List::items).find(|row| is_wanted(row)).map(|row| row.state.clone());
        match found {
            Some(state) => self.chosen(&state),
            None => {
                self.problem = Some(match self.purpose {
                    For::LogOut => format!("Nothing is stored for {wanted}."),
                    _ => format!("There is no provider {wanted} that takes a key or a login."),
                });
                Outcome::stay()
            }
        }
    }

    fn chosen(&self, state: &ProviderState) -> Outcome {
        match &self.purpose {
            For::LogOut => Outcome::Close(vec![Effect::Work(Work::LogOut(state.id.clone()))]),
            For::Key(key) => {
                let entry = KeyEntry::waiting(state, self.origin);
                Outcome::Become(Box::new(entry), vec![Effect::Work(Work::StoreKey(state.id.clone(), key.clone()))])
            }
            For::LogIn if state.takes_login && state.takes_key => {
                Outcome::Become(Box::new(Method::new(state.clone(), self.origin)), Vec::new())
            }
            For::LogIn if state.takes_login => begin(state, self.origin),
            For::LogIn => Outcome::Become(Box::new(KeyEntry::of(state, self.origin)), Vec::new()),
        }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let (about, does) = match self.purpose {
            For::LogIn => ("Log in", "choose"),
            For::Key(_) => ("Whose key is it?", "store it"),
            For::LogOut => ("Log out", "forget"),
        };
        let actions = [(Action::SelectConfirm, does), (Action::SelectCancel, "back")];
        let problem = self.problem.iter().map(|text| note(text, ThemeColor::Error, context.theme));
        Panel {
            title: title(about, context.theme),
            input: self.list.as_ref().map(|list| (list.search(), "Search")),
            foot: problem.collect(),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

/// Begins a login.
fn begin(state: &ProviderState, origin: Origin) -> Outcome {
    let line = LoginLine::default();
    let view = FlowView::new(&state.name, line.clone(), origin);
    Outcome::Become(Box::new(view), vec![Effect::Work(Work::LogIn(state.id.clone(), line))])
}

impl Overlay for Providers {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let Some(list) = &mut self.list else {
            return if context.keymap.is(key, Action::SelectCancel) { self.origin.back() } else { Outcome::stay() };
        };
        match list.on_key(key, context.keymap) {
            Pressed::Cancelled => self.origin.back(),
            Pressed::Chosen => match list.marked().map(|row| row.state.clone()) {
                Some(state) => self.chosen(&state),
                None => Outcome::stay(),
            },
            _ => Outcome::stay(),
        }
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        if let Some(list) = &mut self.list {
            list.on_paste(text);
        }
        Outcome::stay()
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        match done {
            WorkDone::Providers(states) if self.list.is_none() => self.fill(states),
            _ => Outcome::stay(),
        }
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        let rows = self.list.as_ref().map_or(MOST_ROWS, |list| list.body_rows(MOST_ROWS));
        self.panel(width, context).height(rows).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let nothing = if self.purpose == For::LogOut { "  Nothing is stored" } else { "  There is no provider" };
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| match &self.list {
            Some(list) => list.draw(frame, body, nothing, context.theme),
            None => frame.line(body, 0, &note("  Looking...", ThemeColor::Muted, context.theme)),
        });
    }
}

/// How to log in at a provider that knows two ways.
struct Method {
    state: ProviderState,
    origin: Origin,
    list: List<Way>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Login,
    Key,
}

impl Item for Way {
    fn text(&self) -> &str {
        match self {
            Self::Login => "Log in with a browser",
            Self::Key => "Enter an API key",
        }
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        StyledLine::of(self.text().to_owned(), look.name())
    }
}

impl Method {
    fn new(state: ProviderState, origin: Origin) -> Self {
        Self { state, origin, list: List::new(vec![Way::Login, Way::Key]) }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::SelectConfirm, "choose"), (Action::SelectCancel, "back")];
        Panel {
            title: title(one_line(&self.state.name), context.theme),
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for Method {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        match self.list.on_key(key, context.keymap) {
            Pressed::Cancelled => self.origin.back(),
            Pressed::Chosen if self.list.marked() == Some(&Way::Login) => begin(&self.state, self.origin),
            Pressed::Chosen => Outcome::Become(Box::new(KeyEntry::of(&self.state, self.origin)), Vec::new()),
            _ => Outcome::stay(),
        }
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.panel(width, context).height(2).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, "", context.theme);
        });
    }
}

#[cfg(test)]
mod tests;
