//! Sessions that were found, and in which order they are shown.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use super::work::SaidIn;
use crate::store::sessions::{
    SessionInfo,
    order::{fit, forks},
    query::Query,
};

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Sessions that were taken from others stand below them.
    #[default]
    Threaded,
    /// Those in which something was said last.
    Recent,
    /// Those that fit the search best.
    Relevance,
}

impl Sort {
    /// The one that comes next.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Threaded => Self::Recent,
            Self::Recent => Self::Relevance,
            Self::Relevance => Self::Threaded,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Threaded => "threaded",
            Self::Recent => "recent",
            Self::Relevance => "relevance",
        }
    }
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// A session, and how many it stands below.
    Session {
        /// Its place.
        at: usize,
        /// Sessions above it.
        depth: usize,
    },
    /// The heading of sessions in which the words were said.
    Heading,
    /// A session in which the words were said.
    Said(usize),
}

/// See the module.
#[derive(Debug, Default)]
pub struct Found {
    /// Sessions, those in which something was said last first.
    pub sessions: Vec<SessionInfo>,
    /// Sessions in which the words were said.
    pub said: Vec<SaidIn>,
    /// Folders that are gone.
    pub gone: HashSet<String>,
    /// The places of sessions by their files.
    places: HashMap<PathBuf, usize>,
}

impl Found {
    /// More sessions were listed.
    pub fn add(&mut self, sessions: Vec<SessionInfo>, gone: Vec<String>) {
        self.sessions.extend(sessions);
        self.gone.extend(gone);
        self.index();
    }

    /// A session is gone.
    pub fn remove(&mut self, path: &Path) {
        self.sessions.retain(|session| session.path != path);
        self.said.retain(|said| said.path != path);
        self.index();
    }

    /// A session has another name.
    pub fn rename(&mut self, path: &Path, name: &str) {
        if let Some(at) = self.places.get(path) {
            self.sessions[*at].name = Some(name.to_owned()).filter(|name| !name.is_empty());
        }
    }

    fn index(&mut self) {
        self.places = self.sessions.iter().enumerate().map(|(at, session)| (session.path.clone(), at)).collect();
    }

    /// The session in a file, where it was listed.
    #[must_use]
    pub fn session(&self, path: &Path) -> Option<&SessionInfo> {
        self.places.get(path).map(|at| &self.sessions[*at])
    }

    /// The rows: sessions that fit the query, and below them those in which its words were said.
    #[must_use]
    pub fn rows(&self, query: Option<&Query>, sort: Sort, named_only: bool) -> Vec<Row> {
        let is_wanted = |at: usize| !named_only || self.sessions[at].name.is_some();
        let Some(query) = query else {
            let placed = match sort {
                Sort::Threaded => forks(&self.sessions).into_iter().map(|placed| (placed.at, placed.depth)).collect(),
                _ => (0..self.sessions.len()).map(|at| (at, 0)).collect::<Vec<_>>(),
            };
            let wanted = placed.into_iter().filter(|(at, _)| is_wanted(*at));
            return wanted.map(|(at, depth)| Row::Session { at, depth }).collect();
        };
        let fits = |at: usize| Some((at, fit(&self.sessions[at], query)?));
        let mut fitting: Vec<_> = (0..self.sessions.len()).filter(|at| is_wanted(*at)).filter_map(fits).collect();
        if sort != Sort::Recent {
            fitting.sort_by_key(|(_, fit)| std::cmp::Reverse(*fit));
        }
        let shown: HashSet<usize> = fitting.iter().map(|(at, _)| *at).collect();
        let mut rows: Vec<Row> = fitting.iter().map(|(at, _)| Row::Session { at: *at, depth: 0 }).collect();
        let is_new = |said: &SaidIn| match self.places.get(&said.path) {
            Some(at) => !shown.contains(at) && is_wanted(*at),
            None => !named_only,
        };
        let said: Vec<Row> = (0..self.said.len()).filter(|at| is_new(&self.said[*at])).map(Row::Said).collect();
        if !said.is_empty() {
            rows.push(Row::Heading);
            rows.extend(said);
        }
        rows
    }

    /// The file of a row; none for a heading.
    #[must_use]
    pub fn path(&self, row: Row) -> Option<&Path> {
        match row {
            Row::Session { at, .. } => self.sessions.get(at).map(|session| &*session.path),
            Row::Said(at) => self.said.get(at).map(|said| &*said.path),
            Row::Heading => None,
        }
    }

    /// The folder of a row, where it is gone.
    #[must_use]
    pub fn gone_folder(&self, row: Row) -> Option<&str> {
        match row {
            Row::Session { at, .. } => Some(&*self.sessions[at].cwd).filter(|cwd| self.gone.contains(*cwd)),
            Row::Said(at) => Some(&*self.said[at].cwd).filter(|_| self.said[at].gone),
            Row::Heading => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(path: &str, name: Option<&str>, first: &str, parent: Option<&str>) -> SessionInfo {
        SessionInfo {
            path: path.into(),
            cwd: "/srv/shop".into(),
            name: name.map(str::to_owned),
            first_message: first.to_owned(),
            parent_session: parent.map(str::to_owned),
            ..SessionInfo::default()
        }
    }

    fn found() -> Found {
        let mut found = Found::default();
        let sessions = vec![
            session("fork", None, "apple pie", Some("old")),
            session("new", Some("banana"), "x", None),
            session("old", Some("the apple"), "y", None),
        ];
        found.add(sessions, Vec::new());
        let said = |path: &str| SaidIn { path: path.into(), cwd: "/x".into(), gone: true, snippet: "…".into() };
        found.said = vec![said("old"), said("new"), said("elsewhere")];
        found
    }

    fn shown(query: &str, sort: Sort, named_only: bool) -> String {
        let found = found();
        let query = Query::parse(query).ok();
        let name = |row: &Row| match *row {
            Row::Session { at, depth } => format!("{}{}", "-".repeat(depth), found.sessions[at].path.display()),
            Row::Heading => "|".to_owned(),
            Row::Said(at) => found.said[at].path.display().to_string(),
        };
        found.rows(query.as_ref(), sort, named_only).iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn sessions_are_ordered_and_what_was_said_comes_below() {
        for (query, sort, named_only, expected) in [
            ("", Sort::Threaded, false, "new old -fork"),
            ("", Sort::Recent, false, "fork new old"),
            ("", Sort::Recent, true, "new old"),
            ("apple", Sort::Relevance, false, "old fork | new elsewhere"),
            ("apple", Sort::Recent, false, "fork old | new elsewhere"),
            ("apple", Sort::Relevance, true, "old | new"),
            ("re:^b", Sort::Relevance, false, "new | old elsewhere"),
        ] {
            assert_eq!(shown(query, sort, named_only), expected, "{query} {sort:?} {named_only}");
        }
    }

    #[test]
    fn what_was_deleted_or_renamed_is_so() {
        let mut found = found();
        found.remove(Path::new("new"));
        found.rename(Path::new("fork"), "fresh");
        assert_eq!((found.sessions.len(), found.said.len()), (2, 2));
        assert_eq!(found.session(Path::new("fork")).and_then(|session| session.name.as_deref()), Some("fresh"));
        assert_eq!(found.gone_folder(Row::Said(0)), Some("/x"));
    }
}
