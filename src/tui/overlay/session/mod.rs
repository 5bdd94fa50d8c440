//! Sessions: which one to go on with.
//!
//! | file | what |
//! |---|---|
//! | [`found`] | sessions that were found, and their order |
//! | [`work`] | what workers do for the list |
//! | [`row`] | a row as it is drawn |
//! | [`asking`] | renaming, deleting, and folders that are gone |

mod asking;
mod found;
mod row;
mod work;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use ratatui::layout::Rect;

pub use work::{SessionsDone, SessionsWork, Stop};

use self::{
    asking::{Asking, Next},
    found::{Found, Row, Sort},
};
use super::{
    Outcome, Overlay, OverlayContext,
    cursor::Cursor,
    input::LineInput,
    panel::{Panel, hints, notes, title},
};
use crate::{
    protocol::{session_change::SessionChange, time::Millis},
    store::sessions::{
        Scope,
        query::{Query, QueryError},
    },
    tui::{
        effect::Effect,
        keys::{Action, Key},
        terminal::Frame,
        text::StyledLine,
        theme::ThemeColor,
        work::{Work, WorkDone},
    },
};

/// Milliseconds without a key after which all that was said is searched, too.
const PAUSE_MS: u64 = 250;
/// Rows that the list takes at least while it is filled.
const LEAST_ROWS: usize = 8;

/// The list of sessions.
pub struct SessionSelector {
    found: Found,
    rows: Vec<Row>,
    cursor: Cursor,
    /// The file of the marked session: the mark stays on it when rows come and go.
    wanted: Option<PathBuf>,
    search: LineInput,
    scope: Scope,
    sort: Sort,
    named_only: bool,
    /// Files are shown instead of ages.
    shows_paths: bool,
    asking: Option<Asking>,
    /// Tells results of this list and search from those of others.
    number: u64,
    stop: Stop,
    /// The list goes on.
    lists: bool,
    /// All that was said is being searched.
    searches: bool,
    /// When that is to begin.
    search_at: Option<u64>,
    /// The time of day at which the list was made.
    now: Millis,
    /// What is wrong: a bad search, a folder that cannot be read, what could not be done.
    problem: Option<String>,
    most_rows: usize,
    page: std::cell::Cell<usize>,
}

impl SessionSelector {
    /// A list of this project's sessions, and what is to be done for it.
    #[must_use]
    pub fn new() -> (Self, Vec<Effect>) {
        let mut selector = Self {
            found: Found::default(),
            rows: Vec::new(),
            cursor: Cursor::default(),
            wanted: None,
            search: LineInput::default(),
            scope: Scope::Project,
            sort: Sort::default(),
            named_only: false,
            shows_paths: false,
            asking: None,
            number: 0,
            stop: Stop::default(),
            lists: false,
            searches: false,
            search_at: None,
            now: 0,
            problem: None,
            most_rows: LEAST_ROWS,
            page: std::cell::Cell::new(8),
        };
        let effects = selector.list();
        (selector, effects)
    }

    /// Begins the list anew.
    fn list(&mut self) -> Vec<Effect> {
        self.stop.stop();
        self.stop = Stop::default();
        self.number += 1;
        self.found = Found::default();
        self.wanted = None;
        self.lists = true;
        self.searches = false;
        self.arrange(None);
        let work = SessionsWork::List { number: self.number, scope: self.scope, stop: self.stop.clone() };
        vec![Effect::Work(Work::Sessions(work))]
    }

    /// Makes the rows anew; the mark stays on its session, or goes to the first row when `at` says so.
    fn arrange(&mut self, at: Option<usize>) {
        let query = Query::parse(self.search.text());
        self.problem = match &query {
            Err(QueryError::Empty) | Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
        self.rows = match &query {
            Err(QueryError::Empty) => self.found.rows(None, self.sort, self.named_only),
            Ok(query) => self.found.rows(Some(query), self.sort, self.named_only),
            Err(_) => Vec::new(),
        };
        let wanted = self.wanted.as_deref();
        let is_marked = |row: &Row| wanted.is_some() && self.found.path(*row) == wanted;
        let at = at.or_else(|| self.rows.iter().position(is_marked)).unwrap_or_else(|| self.cursor.at());
        let rows = &self.rows;
        self.cursor.place(at, rows.len(), |at| rows[at] != Row::Heading);
        self.most_rows = self.most_rows.max(self.rows.len());
        self.remember();
    }

    fn remember(&mut self) {
        if let Some(path) = self.marked_path() {
            self.wanted = Some(path.to_owned());
        }
    }

    fn marked(&self) -> Option<Row> {
        self.rows.get(self.cursor.at()).copied().filter(|row| *row != Row::Heading)
    }

    fn marked_path(&self) -> Option<&std::path::Path> {
        self.marked().and_then(|row| self.found.path(row))
    }

    /// The search was changed: what fits is shown at once, and what was said is looked through when the user pauses.
    fn searched(&mut self, now: u64) {
        self.found.said.clear();
        self.searches = false;
        self.arrange(Some(0));
        let is_worth_it = self.search.text().trim().chars().count() > 1 && self.problem.is_none();
        self.search_at = is_worth_it.then_some(now + PAUSE_MS);
    }

    fn choose(&mut self, context: &OverlayContext<'_>) -> Outcome {
        let Some(row) = self.marked() else { return Outcome::stay() };
        let Some(path) = self.found.path(row) else { return Outcome::stay() };
        if is_open(path, context) {
            return Outcome::close();
        }
        if let Some(folder) = self.found.gone_folder(row) {
            self.asking = Some(Asking::Gone { path: path.to_owned(), folder: folder.to_owned() });
            return Outcome::stay();
        }
        opens(path)
    }

    fn list_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let is = |action| context.keymap.is(key, action);
        if is(Action::SelectCancel) {
            return Outcome::close();
        }
        if is(Action::SelectConfirm) {
            return self.choose(context);
        }
        if is(Action::InputTab) {
            self.scope = if self.scope == Scope::Project { Scope::All } else { Scope::Project };
            let effects = self.list();
            self.searched(context.now);
            return Outcome::Stay(effects);
        }
        if is(Action::ToggleSessionSort) {
            self.sort = self.sort.next();
            self.arrange(None);
        } else if is(Action::ToggleNamedSessions) {
            self.named_only = !self.named_only;
            self.arrange(None);
        } else if is(Action::ToggleSessionPath) {
            self.shows_paths = !self.shows_paths;
        } else if is(Action::RenameSession) {
            if let Some(path) = self.marked_path() {
                let name = self.found.session(path).and_then(|session| session.name.as_deref()).unwrap_or_default();
                self.asking = Some(Asking::Name { path: path.to_owned(), input: LineInput::with_text(name).into() });
            }
        } else if is(Action::DeleteSession) || (is(Action::DeleteSessionNoninvasive) && self.search.is_empty()) {
            self.ask_to_delete(context);
        } else {
            let rows = &self.rows;
            if self.cursor.on_key(key, context.keymap, self.page.get(), |at| rows[at] != Row::Heading) {
                self.remember();
            } else if self.search.on_key(key, context.keymap) {
                self.searched(context.now);
            }
        }
        Outcome::stay()
    }

    fn ask_to_delete(&mut self, context: &OverlayContext<'_>) {
        let Some(path) = self.marked_path() else { return };
        if is_open(path, context) {
            self.problem = Some("This session is open: begin another one before you delete it.".to_owned());
            return;
        }
        let name = self.found.session(path).map_or_else(|| path.display().to_string(), |info| info.title().to_owned());
        self.asking = Some(Asking::Delete { path: path.to_owned(), name });
    }

    fn learn(&mut self, done: &SessionsDone) -> Outcome {
        match done {
            SessionsDone::Page { number, sessions, gone, more, now, problems } if *number == self.number => {
                self.lists = *more;
                self.now = *now;
                self.found.add(sessions.clone(), gone.clone());
                self.arrange(None);
                if let Some(problem) = problems.first() {
                    self.problem.get_or_insert_with(|| problem.clone());
                }
            }
            SessionsDone::Hits { number, hits, more } if *number == self.number && self.searches => {
                self.searches = *more;
                self.found.said.extend(hits.iter().cloned());
                self.arrange(None);
            }
            SessionsDone::Renamed(path, Ok(name)) => {
                self.found.rename(path, name);
                self.arrange(None);
            }
            SessionsDone::Deleted(path, Ok(())) => {
                self.found.remove(path);
                self.arrange(None);
            }
            SessionsDone::Copied(Ok(path)) => return opens(path),
            SessionsDone::Renamed(_, Err(error))
            | SessionsDone::Deleted(_, Err(error))
            | SessionsDone::Copied(Err(error)) => self.problem = Some(error.clone()),
            SessionsDone::Page { .. } | SessionsDone::Hits { .. } => {}
        }
        Outcome::stay()
    }

    /// The session in front was given its name by the agent, not by a worker.
    fn take_in_own_name(&mut self, context: &OverlayContext<'_>) {
        let Some(path) = context.facts.session_file.as_deref().map(std::path::Path::new) else { return };
        let name = context.facts.name();
        if self.found.session(path).is_some_and(|session| session.name != name) {
            self.found.rename(path, name.as_deref().unwrap_or_default());
            self.arrange(None);
        }
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let theme = context.theme;
        let mut head = title("Sessions", theme);
        let scope = if self.scope == Scope::Project { "this folder" } else { "all folders" };
        let named = if self.named_only { " · named" } else { "" };
        head.push(format!("  {scope} · {}{named}", self.sort.name()), theme.fg(ThemeColor::Muted));
        if self.cursor.count() > 0 {
            head.push(format!("  ({}/{})", self.cursor.at() + 1, self.cursor.count()), theme.fg(ThemeColor::Dim));
        }
        if self.lists || self.searches {
            head.push("  …", theme.fg(ThemeColor::Warning));
        }
        let problem = self.problem.as_deref().map(|text| notes(text, ThemeColor::Error, width, 2, theme));
        let actions = [
            (Action::SelectConfirm, "open"),
            (Action::InputTab, "folders"),
            (Action::SelectCancel, "leave"),
            (Action::ToggleSessionSort, "sort"),
            (Action::RenameSession, "rename"),
            (Action::DeleteSession, "delete"),
            (Action::ToggleNamedSessions, "named"),
            (Action::ToggleSessionPath, "paths"),
        ];
        let mut panel = Panel {
            title: head,
            input: Some((&self.search, "search, \"a phrase\", re:pattern")),
            foot: problem.unwrap_or_default(),
            hints: hints(context.keymap, &actions, width, theme),
            ..Panel::default()
        };
        if let Some(asking) = &self.asking {
            asking.around(&mut panel, width, context);
        }
        panel
    }
}

/// Whether it is the session in front.
fn is_open(path: &std::path::Path, context: &OverlayContext<'_>) -> bool {
    context.facts.session_file.as_deref().is_some_and(|own| std::path::Path::new(own) == path)
}

/// The session in a file takes the place of the one in front.
fn opens(path: &std::path::Path) -> Outcome {
    Outcome::Close(vec![Effect::Replace(SessionChange::Open(path.display().to_string()))])
}

impl Drop for SessionSelector {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

impl Overlay for SessionSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        self.problem = None;
        let Some(asking) = &mut self.asking else { return self.list_key(key, context) };
        match asking.on_key(key, context) {
            Next::Asks => Outcome::stay(),
            Next::Over(effects) => {
                self.asking = None;
                Outcome::Stay(effects)
            }
        }
    }

    fn on_paste(&mut self, text: &str, context: &OverlayContext<'_>) -> Outcome {
        match &mut self.asking {
            Some(asking) => asking.on_paste(text),
            None => {
                self.search.paste(text);
                self.searched(context.now);
            }
        }
        Outcome::stay()
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        match done {
            WorkDone::Sessions(done) => self.learn(done),
            _ => Outcome::stay(),
        }
    }

    fn on_change(&mut self, context: &OverlayContext<'_>) -> Outcome {
        self.take_in_own_name(context);
        if self.search_at.is_none_or(|at| context.now < at) {
            return Outcome::stay();
        }
        self.search_at = None;
        self.searches = true;
        let query = self.search.text().to_owned();
        let (number, scope, stop) = (self.number, self.scope, self.stop.clone());
        Outcome::Stay(vec![Effect::Work(Work::Sessions(SessionsWork::Search { number, scope, query, stop }))])
    }

    fn is_moving(&self) -> bool {
        self.search_at.is_some()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.panel(width, context).height(self.most_rows).min(most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            let rows = usize::from(body.height);
            self.page.set(rows.max(2) - 1);
            if self.rows.is_empty() {
                let text = match (self.lists, self.search.is_empty(), self.scope) {
                    (true, ..) => "  Looking for sessions …",
                    (false, false, _) => "  Nothing fits the search",
                    (false, true, Scope::Project) => "  No session of this folder; tab shows those of all",
                    (false, true, Scope::All) => "  No session",
                };
                frame.line(body, 0, &StyledLine::of(text, context.theme.fg(ThemeColor::Muted)));
            }
            let look = row::RowLook {
                width: usize::from(body.width),
                all_folders: self.scope == Scope::All,
                paths: self.shows_paths,
                now: self.now,
                context,
            };
            for (row, at) in (0u16..).zip(self.cursor.window(rows)) {
                let line = row::line(&self.found, self.rows[at], at == self.cursor.at(), &look);
                frame.line(body, row, &line);
            }
        });
    }
}
