//! Settings: what they are, where they come from, other values for them.
//!
//! | file | what |
//! |---|---|
//! | [`table`] | which settings are listed, and their names for people |
//! | [`value`] | values as they are shown, changed and written |
//! | [`row`] | a row of the list |

mod row;
mod table;
mod value;

#[cfg(test)]
mod tests;

use ratatui::layout::Rect;
use serde_json::Value;

use self::{row::Row, table::LISTED};
use super::{
    Outcome, Overlay, OverlayContext,
    input::LineInput,
    list::{List, Pressed},
    panel::{Panel, hints, note, notes, title},
    saving::Save,
    theme::ThemeSelector,
};
use crate::{
    protocol::{
        Command,
        command::{QueueKind, QueueMode},
        permission::PermissionMode,
    },
    store::settings::{Scope, Settings, ValueSource},
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key},
        terminal::Frame,
        theme::ThemeColor,
        work::{Work, WorkDone},
        working::WorkContext,
    },
};

/// Rows of settings at most.
const ROWS: usize = 14;

/// The list of settings. A change is saved at once in the user's file.
pub struct SettingsSelector {
    list: List<Row>,
    /// What the files say, once they were read.
    files: Option<Box<Settings>>,
    /// The value that is being written, of the setting at that place.
    writes: Option<(usize, LineInput)>,
    problem: Option<String>,
    /// The themes that there are.
    themes: Vec<String>,
}

impl SettingsSelector {
    /// The list with the values in force, and what is to be done for it. `themes` are those that there are.
    #[must_use]
    pub fn new(in_force: &Value, themes: Vec<String>) -> (Self, Vec<Effect>) {
        let rows = LISTED.iter().map(|listed| Row::new(listed, in_force)).collect();
        let selector = Self { list: List::new(rows), files: None, writes: None, problem: None, themes };
        (selector, vec![Effect::Work(Work::ReadSettings)])
    }

    /// Enter on a row: another value, or the line to write one.
    fn change(&mut self, at: usize) -> Outcome {
        let row = &self.list.items()[at];
        let own = self.own_value(at);
        if row.key() == "theme" {
            let current = own.as_ref().and_then(Value::as_str).unwrap_or_else(|| row.default());
            return Outcome::Open(Box::new(ThemeSelector::new(self.themes.clone(), current)), Vec::new());
        }
        match value::next(row.listed.kind(), own.as_ref(), row.default()) {
            Some(next) => self.set(at, next),
            None => {
                let text = own.map(|own| value::shown(Some(&own), "")).unwrap_or_default();
                self.writes = Some((at, LineInput::with_text(&text)));
                Outcome::stay()
            }
        }
    }

    /// The value that a change starts from: that of the user's file, where it was read.
    fn own_value(&self, at: usize) -> Option<Value> {
        let row = &self.list.items()[at];
        let overridden = matches!(row.source, Some(ValueSource::Project | ValueSource::Run));
        match &self.files {
            Some(files) if overridden => files.get_in(Scope::Global, &row.listed.path()).cloned(),
            _ => row.value.clone(),
        }
    }

    fn set(&mut self, at: usize, value: Value) -> Outcome {
        let row = &mut self.list.items_mut()[at];
        let (name, path) = (row.listed.name, row.listed.path());
        let save = Save::new(format!("{name}: {}", value::shown(Some(&value), row.default())));
        if !matches!(row.source, Some(ValueSource::Project | ValueSource::Run)) {
            row.value = Some(value.clone()).filter(|value| !value.is_null());
        }
        let mut effects = vec![Effect::Work(Work::Save(save.set(&path, value.clone())))];
        effects.extend(at_once(row.key(), &value).map(|command| Effect::Send(command, Purpose::Plain)));
        Outcome::Stay(effects)
    }

    fn write_key(&mut self, at: usize, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let Some((_, input)) = &mut self.writes else { return Outcome::stay() };
        if context.keymap.is(key, Action::SelectCancel) {
            self.writes = None;
        } else if context.keymap.is(key, Action::SelectConfirm) {
            let row = &self.list.items()[at];
            match value::written(row.key(), row.listed.kind(), input.text()) {
                Ok(value) => {
                    self.writes = None;
                    return self.set(at, value);
                }
                Err(problem) => self.problem = Some(problem),
            }
        } else {
            input.on_key(key, context.keymap);
        }
        Outcome::stay()
    }

    fn take_in(&mut self, in_force: &Value, files: Option<Box<Settings>>) {
        self.list.items_mut().iter_mut().for_each(|row| row.take_in(in_force, files.as_deref()));
        self.files = files.or(self.files.take());
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let theme = context.theme;
        let broken = self.files.as_ref().and_then(|files| files.broken(Scope::Global));
        let head = broken.map(|problem| {
            let text = format!("{problem}. Changes hold for this run and cannot be saved: mend the file first.");
            notes(&text, ThemeColor::Error, width, 3, theme)
        });
        let marked = self.list.marked();
        let about = marked.map_or_else(String::new, |row| row.about());
        let mut foot = vec![note(&about, ThemeColor::Muted, theme)];
        match &self.problem {
            Some(problem) => foot.push(note(problem, ThemeColor::Error, theme)),
            None => foot.push(note(&marked.map_or_else(String::new, Row::origin), ThemeColor::Dim, theme)),
        }
        let (input, actions): (_, &[_]) = match &self.writes {
            Some((_, input)) => {
                ((input, "empty: the default"), &[(Action::SelectConfirm, "save"), (Action::SelectCancel, "back")])
            }
            None => (
                (self.list.search(), "search"),
                &[(Action::SelectConfirm, "change and save"), (Action::SelectCancel, "leave")],
            ),
        };
        let name = self.writes.as_ref().map_or("Settings", |(at, _)| self.list.items()[*at].listed.name);
        Panel {
            title: title(name, theme),
            head: head.unwrap_or_default(),
            input: Some(input),
            foot,
            hints: hints(context.keymap, actions, width, theme),
        }
    }
}

/// What an agent that runs does about a change.
fn at_once(key: &str, value: &Value) -> Option<Command> {
    let queue = |kind| {
        let mode = if value == "all" { QueueMode::All } else { QueueMode::OneAtATime };
        Command::SetQueueMode { kind, mode }
    };
    Some(match key {
        "steeringMode" => queue(QueueKind::Steer),
        "followUpMode" => queue(QueueKind::FollowUp),
        "compaction.enabled" => Command::SetAutoCompaction(value.as_bool()?),
        "retry.enabled" => Command::SetAutoRetry(value.as_bool()?),
        "permissions.mode" => Command::SetPermissionMode(PermissionMode::parse(value.as_str()?)?),
        _ => return None,
    })
}

/// Reads the settings' files.
#[must_use]
pub fn read(context: &WorkContext) -> Box<Settings> {
    let project = context.project_dir().map(|dir| dir.join("settings.json"));
    Box::new(Settings::load(&context.surroundings.user_dir.join("settings.json"), project.as_deref()))
}

impl Overlay for SettingsSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        self.problem = None;
        if let Some((at, _)) = self.writes {
            return self.write_key(at, key, context);
        }
        match (self.list.on_key(key, context.keymap), self.list.marked_at()) {
            (Pressed::Chosen, Some(at)) => self.change(at),
            (Pressed::Cancelled, _) => Outcome::close(),
            _ => Outcome::stay(),
        }
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        match &mut self.writes {
            Some((_, input)) => input.paste(text),
            None => self.list.on_paste(text),
        }
        Outcome::stay()
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        match done {
            WorkDone::SettingsRead(files, in_force) => self.take_in(in_force, Some(files.clone())),
            WorkDone::Saved(saved) => {
                self.take_in(&saved.all, None);
                self.problem = saved.told.clone().err();
                return Outcome::Stay(vec![Effect::Work(Work::ReadSettings)]);
            }
            _ => {}
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
        panel.draw(frame, area, context.theme, |frame, body| self.list.draw(frame, body, "", context.theme));
    }
}
