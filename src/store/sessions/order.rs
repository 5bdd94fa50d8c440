//! Choosing and ordering sessions. Pure: a list and a picker use the same.

use std::{cmp::Reverse, collections::HashMap};

use super::{info::SessionInfo, query::Query};

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// Those in which something was said last.
    #[default]
    Recent,
    /// Those that were made last.
    Created,
    /// By name or, without one, by the first message; without regard to capitals.
    Name,
}

/// Orders sessions; those that are equal keep their order.
pub fn sort(sessions: &mut [SessionInfo], by: SortBy) {
    match by {
        SortBy::Recent => sessions.sort_by_key(|session| Reverse(session.modified)),
        SortBy::Created => sessions.sort_by_key(|session| Reverse(session.created)),
        SortBy::Name => sessions.sort_by_cached_key(|session| session.title().to_lowercase()),
    }
}

impl SessionInfo {
    /// What a person knows the session by: its name, else its first message.
    #[must_use]
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.first_message)
    }
}

/// How well a session fits a query; more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// A word's characters are spread over the name or the folder.
    Spread,
    /// All words stand in the id, the first message or the folder.
    Literal,
    /// All words stand in the name.
    Name,
}

/// How well `session` fits `query`; `None` when it does not. The worst word counts.
#[must_use]
pub fn fit(session: &SessionInfo, query: &Query) -> Option<Fit> {
    let name = session.name.as_deref().unwrap_or_default();
    let fits = query.terms().iter().map(|term| {
        let is_in = |text: &str| term.find(text.as_bytes()).is_some();
        if is_in(name) {
            Some(Fit::Name)
        } else if [&*session.id, &*session.first_message, &*session.cwd].into_iter().any(is_in) {
            Some(Fit::Literal)
        } else if [name, &*session.cwd].into_iter().any(|text| term.is_spread_over(text)) {
            Some(Fit::Spread)
        } else {
            None
        }
    });
    fits.reduce(|worst, fit| worst.zip(fit).map(|(worst, fit)| worst.min(fit))).flatten()
}

/// The sessions that fit at least so well, those that fit best first; among equals the order stays.
#[must_use]
pub fn matching(sessions: Vec<SessionInfo>, query: &Query, least: Fit) -> Vec<SessionInfo> {
    let fits = |session: &SessionInfo| fit(session, query).filter(|fit| *fit >= least);
    let mut found: Vec<_> = sessions.into_iter().filter_map(|session| Some((fits(&session)?, session))).collect();
    found.sort_by_key(|(fit, _)| Reverse(*fit));
    found.into_iter().map(|(_, session)| session).collect()
}

/// A session in the tree of sessions that were taken from one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its place in the list.
    pub at: usize,
    /// How many sessions of the list are above it.
    pub depth: usize,
}

/// The sessions as a tree: each is followed by those that were taken from it. Roots, and those of one parent, keep the
/// order of the list. A session whose parent is not in the list is a root, and so is one of a circle of parents.
#[must_use]
pub fn forks(sessions: &[SessionInfo]) -> Vec<Placed> {
    let places: HashMap<_, _> =
        sessions.iter().enumerate().map(|(at, session)| (session.path.as_os_str(), at)).collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); sessions.len()];
    let mut roots = Vec::new();
    for (at, session) in sessions.iter().enumerate() {
        let parent = session.parent_session.as_ref().and_then(|parent| places.get(std::ffi::OsStr::new(parent)));
        match parent.filter(|parent| **parent != at) {
            Some(parent) => children[*parent].push(at),
            None => roots.push(at),
        }
    }
    let mut placed = Vec::with_capacity(sessions.len());
    let mut seen = vec![false; sessions.len()];
    // Behind the real roots, whoever was not reached stands in a circle: the first of it begins it.
    for root in roots.into_iter().chain(0..sessions.len()) {
        let mut waiting = vec![Placed { at: root, depth: 0 }];
        while let Some(next) = waiting.pop() {
            if std::mem::replace(&mut seen[next.at], true) {
                continue;
            }
            placed.push(next);
            waiting.extend(children[next.at].iter().rev().map(|at| Placed { at: *at, depth: next.depth + 1 }));
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(path: &str, name: Option<&str>, first: &str, parent: Option<&str>) -> SessionInfo {
        SessionInfo {
            path: path.into(),
            id: format!("id-{path}"),
            cwd: "/srv/shop".into(),
            name: name.map(str::to_owned),
            first_message: first.to_owned(),
            parent_session: parent.map(str::to_owned),
            ..SessionInfo::default()
        }
    }

    #[test]
    fn a_name_fits_better_than_words_and_words_better_than_letters() {
        let sessions = vec![
            session("spread", Some("long, ordinary, genuine index"), "x", None),
            session("none", Some("other"), "else", None),
            session("literal", None, "the LOGIN page", None),
            session("name", Some("Fix login"), "x", None),
        ];
        let at_least = |query: &str, least| {
            let found = matching(sessions.clone(), &Query::parse(query).unwrap(), least);
            found.iter().map(|session| session.path.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let paths = |query: &str| at_least(query, Fit::Spread);
        assert_eq!(paths("login"), ["name", "literal", "spread"]);
        assert_eq!(at_least("login", Fit::Literal), ["name", "literal"]);
        assert_eq!(paths("fix shop"), ["name"], "each word may stand elsewhere");
        assert_eq!(paths("id-none"), ["none"]);
        assert_eq!(paths("nowhere"), Vec::<String>::new());
    }

    #[test]
    fn sessions_are_ordered_by_name_where_they_have_one() {
        let mut sessions = [
            session("1", Some("beta"), "", None),
            session("2", None, "Alpha", None),
            session("3", None, "gamma", None),
        ];
        sort(&mut sessions, SortBy::Name);
        assert_eq!(sessions.iter().map(SessionInfo::title).collect::<Vec<_>>(), ["Alpha", "beta", "gamma"]);
    }

    #[test]
    fn forks_follow_their_parents_and_circles_end() {
        let rows = [
            ("new", None),
            ("child", Some("old")),
            ("old", None),
            ("grandchild", Some("child")),
            ("orphan", Some("/gone")),
            ("a", Some("b")),
            ("b", Some("a")),
            ("self", Some("self")),
            ("second", Some("old")),
        ];
        let sessions: Vec<_> = rows.iter().map(|(path, parent)| session(path, None, "", *parent)).collect();
        let tree: Vec<_> = forks(&sessions)
            .iter()
            .map(|placed| format!("{}{}", "-".repeat(placed.depth), rows[placed.at].0))
            .collect();
        assert_eq!(tree, ["new", "old", "-child", "--grandchild", "-second", "orphan", "self", "a", "-b"]);
    }
}
