//! Which session the flags mean.

use std::path::PathBuf;

use super::{
    error::ArgError,
    flags::SessionFlags,
    high::{Launch, Task, given},
};

/// Which session a start uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChoice {
    /// A new one.
    New,
    /// One that is never written.
    InMemory,
    /// The folder's latest.
    Continue,
    /// The one that the user picks.
    Pick,
    /// This one.
    Open(SessionTarget),
    /// The folder's session with exactly this id, or a new one with it.
    OpenOrCreate {
        /// The id; its characters are checked.
        id: String,
        /// People are told when it is made: they named it, and may have meant one that is there.
        tells: bool,
    },
    /// A copy of another one.
    Fork {
        /// Which is copied.
        source: SessionTarget,
        /// The copy's id, if it is to have a certain one; its characters are checked.
        id: Option<String>,
    },
}

/// A session by file or by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionTarget {
    /// The file, absolute.
    Path(PathBuf),
    /// An id, or the beginning of one.
    Id(String),
}

/// The contradictions among the session flags, one for each pair.
pub(super) fn conflicts(flags: &SessionFlags) -> Vec<ArgError> {
    let is_given = |value: &Option<String>| value.as_ref().is_some_and(|text| !text.is_empty());
    let selectors = [
        ("--session", is_given(&flags.session)),
        ("--continue", flags.continue_latest),
        ("--resume", flags.resume),
        ("--no-session", flags.no_session),
    ];
    let clashes = |flag: &'static str, others: &[(&'static str, bool)]| -> Vec<_> {
        others.iter().filter(|(_, set)| *set).map(|(other, _)| ArgError::Conflict(flag, other)).collect()
    };
    let mut conflicts = Vec::new();
    if is_given(&flags.fork) {
        conflicts = clashes("--fork", &selectors);
    }
    if flags.session_id.is_some() {
        // With --no-session the id is simply not used.
        conflicts.append(&mut clashes("--session-id", &selectors[..3]));
    }
    if flags.read_only {
        conflicts.append(&mut clashes("--read-only", &[("--fork", is_given(&flags.fork)), selectors[3]]));
        conflicts.append(&mut clashes("--read-only", &[("--name", flags.name.is_some())]));
        if !flags.continue_latest && !flags.resume && !is_given(&flags.session) && flags.session_id.is_none() {
            conflicts.push(ArgError::Lonely("--read-only", "--session, --session-id or --continue"));
        }
    }
    conflicts
}

/// The one session that the flags mean; a start that runs nothing writes none.
pub(super) fn choice(flags: &SessionFlags, task: &Task, launch: Launch<'_>) -> Result<SessionChoice, ArgError> {
    let id = flags.session_id.clone().map(checked_id).transpose()?;
    let target = |text: &str| {
        if text.contains(['/', '\\']) || text.ends_with(".jsonl") {
            SessionTarget::Path(launch.path(text))
        } else {
            SessionTarget::Id(text.to_owned())
        }
    };
    Ok(if flags.no_session || !matches!(task, Task::Run(_)) {
        SessionChoice::InMemory
    } else if let Some(source) = given(flags.fork.clone()) {
        SessionChoice::Fork { source: target(&source), id }
    } else if let Some(session) = given(flags.session.clone()) {
        SessionChoice::Open(target(&session))
    } else if flags.resume {
        SessionChoice::Pick
    } else if flags.continue_latest {
        SessionChoice::Continue
    } else if let Some(id) = id {
        SessionChoice::OpenOrCreate { id, tells: true }
    } else {
        SessionChoice::New
    })
}

/// Ids become parts of file names, so nothing that could lead out of the folder passes.
fn checked_id(id: String) -> Result<String, ArgError> {
    let ends_well = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if ends_well(id.chars().next()) && ends_well(id.chars().next_back()) && id.chars().all(allowed) {
        return Ok(id);
    }
    Err(ArgError::RefusedValue {
        flag: "--session-id".into(),
        reason: format!("\"{id}\" is no session id: letters, digits, '-', '_' and '.', a letter or digit at both ends"),
    })
}
