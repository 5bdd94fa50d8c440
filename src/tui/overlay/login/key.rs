//! A key that is typed or pasted unseen.

use ratatui::layout::{Position, Rect};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{
    Origin,
    providers::{For, Providers},
};
use crate::{
    providers::{
        Secret,
        credentials::{recognise::provider_of_key, storing::checked_key},
    },
    tui::{
        effect::Effect,
        keys::{Action, Key},
        overlay::{
            Outcome, Overlay, OverlayContext,
            input::LineInput,
            panel::{Panel, hints, notes, title},
        },
        terminal::Frame,
        text::{StyledLine, one_line},
        theme::ThemeColor,
        work::{
            Work, WorkDone,
            login::{LoginStep, ProviderState},
        },
    },
};

/// Rows of a problem at most.
const MOST_ROWS: usize = 4;

/// The dialog. What is typed is shown as dots, and kept nowhere.
pub struct KeyEntry {
    /// The provider's id and name; none when the key is to tell whose it is.
    provider: Option<(String, String)>,
    origin: Origin,
    input: LineInput,
    /// The key is being stored.
    waiting: bool,
    problem: Option<String>,
}

impl KeyEntry {
    /// For the key of a provider.
    #[must_use]
    pub fn of(state: &ProviderState, origin: Origin) -> Self {
        let provider = Some((state.id.clone(), state.name.clone()));
        Self { provider, origin, input: LineInput::default(), waiting: false, problem: None }
    }

    /// For a key of any provider.
    #[must_use]
    pub fn of_any(origin: Origin) -> Self {
        Self { provider: None, origin, input: LineInput::default(), waiting: false, problem: None }
    }

    /// For the key of a provider that is being stored.
    #[must_use]
    pub fn waiting(state: &ProviderState, origin: Origin) -> Self {
        Self { waiting: true, ..Self::of(state, origin) }
    }

    /// Stores the key, or asks whose it is.
    fn enter(&mut self) -> Outcome {
        let key = match checked_key(self.input.text()) {
            Ok(key) => Secret::new(key),
            Err(fault) => {
                self.problem = Some(format!("{fault}."));
                return Outcome::stay();
            }
        };
        let known = self.provider.as_ref().map(|(id, _)| id.as_str()).or_else(|| provider_of_key(key.expose()));
        match known {
            Some(provider) => {
                self.waiting = true;
                self.problem = None;
                Outcome::Stay(vec![Effect::Work(Work::StoreKey(provider.to_owned(), key))])
            }
            None => {
                let list = Providers::new(For::Key(key), None, self.origin);
                Outcome::Become(Box::new(list), vec![Effect::Work(Work::Providers)])
            }
        }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let about = match &self.provider {
            Some((_, name)) => format!("API key of {}", one_line(name)),
            None => "API key".to_owned(),
        };
        let actions = [(Action::SelectConfirm, "store it"), (Action::SelectCancel, "back")];
        let text = match (&self.problem, &self.provider) {
            (Some(problem), _) => notes(problem, ThemeColor::Error, width, MOST_ROWS, context.theme),
            (None, Some(_)) => {
                notes("It is kept in auth.json, which you alone can read.", ThemeColor::Muted, width, 2, context.theme)
            }
            (None, None) => {
                let text = "Paste a key of Anthropic, OpenAI, Google, OpenRouter, Groq, xAI or another provider. It is \
                            kept in auth.json, which you alone can read.";
                notes(text, ThemeColor::Muted, width, MOST_ROWS, context.theme)
            }
        };
        Panel {
            title: title(about, context.theme),
            foot: text,
            hints: hints(context.keymap, &actions, width, context.theme),
            ..Panel::default()
        }
    }
}

impl Overlay for KeyEntry {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        if context.keymap.is(key, Action::SelectCancel) {
            return self.origin.back();
        }
        if self.waiting {
            return Outcome::stay();
        }
        if context.keymap.is(key, Action::SelectConfirm) {
            return self.enter();
        }
        if self.input.on_key(key, context.keymap) {
            self.problem = None;
        }
        Outcome::stay()
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        match checked_key(text) {
            Ok(key) if !self.waiting => {
                self.input.paste(key);
                self.problem = None;
            }
            Ok(_) => {}
            Err(fault) => self.problem = Some(format!("{fault}.")),
        }
        Outcome::stay()
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        match done {
            WorkDone::Login(LoginStep::Done { .. }) if self.waiting => Outcome::close(),
            WorkDone::Login(LoginStep::Failed(why)) if self.waiting => {
                self.waiting = false;
                self.problem = Some(why.clone());
                Outcome::stay()
            }
            _ => Outcome::stay(),
        }
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.panel(width, context).height(1).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            if self.waiting {
                frame.line(body, 0, &StyledLine::of("Storing it...", context.theme.fg(ThemeColor::Muted)));
                return;
            }
            let count = self.input.text().graphemes(true).count();
            let shown = count.min(usize::from(body.width).saturating_sub(16));
            let mut line = StyledLine::of("> ", context.theme.fg(ThemeColor::Accent));
            line.push("•".repeat(shown), context.theme.fg(ThemeColor::Text));
            if count > 0 {
                line.push(format!("  ({count})"), context.theme.fg(ThemeColor::Dim));
            }
            frame.line(body, 0, &line);
            let column = u16::try_from(shown + 2).unwrap_or(u16::MAX);
            if column < body.width && body.height > 0 {
                frame.cursor = Some(Position::new(body.x + column, body.y));
            }
        });
    }
}
