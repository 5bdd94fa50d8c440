//! Where there is no model yet: the ways to one, each a key away.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::{Opened, Origin, choose, key::KeyEntry, providers::For};
use crate::{
    protocol::{Command, ModelRef},
    providers::catalogue::{OFFLINE, TROUPE},
    tui::{
        effect::{Effect, Purpose},
        facts::AgentFacts,
        keys::{Action, Key, KeyCode},
        overlay::{
            Outcome, Overlay, OverlayContext,
            cursor::Cursor,
            panel::{Panel, hints, notes, title},
        },
        terminal::Frame,
        text::{StyledLine, cut, one_line},
        theme::{Theme, ThemeColor},
        work::{Work, WorkDone, login::LoginStep, servers::LocalServer},
    },
};

/// Servers that are offered at most; /model has the others once one is used.
const SERVERS: usize = 3;
/// What there is to know before the first prompt.
const NOTE: &str = "The agent runs commands and changes files with your rights: nothing asks, and no sandbox is on, until \
                    you turn them on (/permissions, docs/permissions.md, docs/sandbox.md).";

/// A way to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    Key,
    LogIn,
    Server { name: String, model: ModelRef, more: usize },
    NoServer { looking: bool },
    Offline,
}

/// The page.
pub struct FirstRun {
    ways: Vec<Way>,
    cursor: Cursor,
    /// A model of a server is being taken up.
    waiting: bool,
    problem: Option<String>,
}

/// Whether there is no model that could be used, and none is selected: then the page is shown.
#[must_use]
pub fn is_needed(facts: &AgentFacts) -> bool {
    facts.model.is_none() && facts.catalogue.now().available().is_empty()
}

/// The page, and what is to be done when it opens.
#[must_use]
pub fn open() -> Opened {
    (Box::new(FirstRun::new()), vec![Effect::Work(Work::Servers)])
}

impl FirstRun {
    fn new() -> Self {
        let mut page = Self { ways: Vec::new(), cursor: Cursor::default(), waiting: false, problem: None };
        page.fill(None);
        page
    }

    /// The ways, with the servers that were found; none while they are looked for.
    fn fill(&mut self, servers: Option<&Arc<[LocalServer]>>) {
        let mut ways = vec![Way::Key, Way::LogIn];
        let found = servers.into_iter().flat_map(|servers| servers.iter()).take(SERVERS);
        let server = |server: &LocalServer| {
            let model = server.models.first()?.clone();
            Some(Way::Server { name: server.name.clone(), model, more: server.models.len() - 1 })
        };
        ways.extend(found.filter_map(server));
        if ways.len() == 2 {
            ways.push(Way::NoServer { looking: servers.is_none() });
        }
        ways.push(Way::Offline);
        self.ways = ways;
        let at = self.cursor.at();
        self.cursor.place(at, self.ways.len(), stops(&self.ways));
    }

    fn go(&mut self, at: usize) -> Outcome {
        match self.ways.get(at) {
            Some(Way::Key) => Outcome::Become(Box::new(KeyEntry::of_any(Origin::FirstRun)), Vec::new()),
            Some(Way::LogIn) => {
                let (list, effects) = choose(For::LogIn, None, Origin::FirstRun);
                Outcome::Become(list, effects)
            }
            Some(Way::Server { model, .. }) => {
                self.waiting = true;
                Outcome::Stay(vec![Effect::Work(Work::UseServer(model.clone()))])
            }
            Some(Way::Offline) => {
                let model = ModelRef { provider: TROUPE.to_owned(), model_id: OFFLINE.to_owned() };
                let told = "The demo model answers: a small program, not an AI. /login gets a real one.".to_owned();
                Outcome::Close(vec![Effect::Send(Command::SetModel(model), Purpose::Told(told))])
            }
            Some(Way::NoServer { .. }) | None => Outcome::stay(),
        }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let actions = [(Action::SelectConfirm, "choose"), (Action::SelectCancel, "go on without a model")];
        let mut foot = vec![StyledLine::default()];
        if let Some(problem) = &self.problem {
            foot.extend(notes(problem, ThemeColor::Error, width, 3, context.theme));
        }
        foot.extend(notes(NOTE, ThemeColor::Muted, width, 4, context.theme));
        Panel {
            title: title("There is no model yet. How do you want to get one?", context.theme),
            foot,
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

fn stops(ways: &[Way]) -> impl Fn(usize) -> bool {
    let stops: Vec<bool> = ways.iter().map(|way| !matches!(way, Way::NoServer { .. })).collect();
    move |at| stops.get(at).copied().unwrap_or(false)
}

impl Way {
    /// What it is, and what goes with it.
    fn words(&self) -> (String, String) {
        match self {
            Self::Key => ("Paste an API key".into(), "Anthropic, OpenAI, Google, OpenRouter, ...".into()),
            Self::LogIn => ("Log in at a provider".into(), "or choose whose key it is".into()),
            Self::Server { name, model, more } => {
                let more = if *more > 0 { format!(", and {more} more") } else { String::new() };
                (format!("Use {} on this machine", one_line(name)), format!("{}{more}", one_line(&model.model_id)))
            }
            Self::NoServer { looking: true } => ("A model server on this machine".into(), "looking...".into()),
            Self::NoServer { looking: false } => (
                "A model server on this machine".into(),
                "none found: Ollama, LM Studio, llama.cpp, vLLM, SGLang".into(),
            ),
            Self::Offline => ("Try the offline demo".into(), "no key, no network; a small program, not an AI".into()),
        }
    }

    fn line(&self, number: usize, marked: bool, width: usize, theme: &Theme) -> StyledLine {
        let (name, aside) = self.words();
        let enabled = !matches!(self, Self::NoServer { .. });
        let color = match (enabled, marked) {
            (false, _) => ThemeColor::Dim,
            (true, true) => ThemeColor::Accent,
            (true, false) => ThemeColor::Text,
        };
        let mut line = StyledLine::of(if marked { "→ " } else { "  " }, theme.fg(ThemeColor::Accent));
        line.push(format!("{number} {name}"), theme.fg(color));
        line.push(format!("  {aside}"), theme.fg(ThemeColor::Muted));
        let line = cut(&line, width);
        if marked { line.filled(theme.bg(ThemeColor::SelectedBg)) } else { line }
    }
}

impl Overlay for FirstRun {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        if context.keymap.is(key, Action::SelectCancel) {
            return Outcome::close();
        }
        if self.waiting {
            return Outcome::stay();
        }
        self.problem = None;
        if context.keymap.is(key, Action::SelectConfirm) {
            return self.go(self.cursor.at());
        }
        let number = match key.code {
            KeyCode::Char(digit) if key.modifiers.is_empty() => {
                digit.to_digit(10).and_then(|digit| digit.checked_sub(1))
            }
            _ => None,
        };
        if let Some(number) = number.and_then(|number| usize::try_from(number).ok()) {
            return self.go(number);
        }
        let page = self.ways.len();
        self.cursor.on_key(key, context.keymap, page, stops(&self.ways));
        Outcome::stay()
    }

    /// Whoever pastes here means the first way.
    fn on_paste(&mut self, text: &str, context: &OverlayContext<'_>) -> Outcome {
        let mut entry = KeyEntry::of_any(Origin::FirstRun);
        // It stays: nothing but its own keys closes it.
        let _ = entry.on_paste(text, context);
        Outcome::Become(Box::new(entry), Vec::new())
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        match done {
            WorkDone::Servers(servers) => self.fill(Some(servers)),
            WorkDone::Login(LoginStep::Done { .. }) if self.waiting => return Outcome::close(),
            WorkDone::Login(LoginStep::Failed(why)) if self.waiting => {
                self.waiting = false;
                self.problem = Some(why.clone());
            }
            _ => {}
        }
        Outcome::stay()
    }

    /// A model came from elsewhere.
    fn on_change(&mut self, context: &OverlayContext<'_>) -> Outcome {
        if context.facts.model.is_some() { Outcome::close() } else { Outcome::stay() }
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.panel(width, context).height(self.ways.len()).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            let width = usize::from(body.width);
            // Where there is little room, the marked way is seen all the same.
            for (row, at) in (0u16..).zip(self.cursor.window(usize::from(body.height))) {
                let line = self.ways[at].line(at + 1, at == self.cursor.at(), width, context.theme);
                frame.line(body, row, &line);
            }
        });
    }
}

#[cfg(test)]
mod tests;
