//! Opening a run's session: where its worker begins, and what is to be done from there.

use std::path::Path;

use super::{args::RunLine, history::History, ladder::Rung, orders::Begin, recover, worker::Run};
use crate::{
    actors::front::unattended::{
        progress,
        task::{Message, Task},
    },
    cli::{
        args::{ArgError, HiArgs, OnDenied, SessionChoice, SessionTarget},
        env::Environment,
        mode::Terminals,
        session::{self, ChosenSession},
        start::{self as starting, StartError},
    },
    protocol::{entry::SessionHeader, wire::write_header},
    store::{NewSession, SessionStore, Sidecar, sessions::SessionDir, settings::Settings, sidecar},
};

/// The agent's arguments, from the words that the run was started with.
///
/// # Errors
/// What is wrong with them: another version may have written them.
pub(super) fn arguments(environment: &Environment, run: &Run, begin: &Begin) -> Result<HiArgs, StartError> {
    let told = |errors: Vec<ArgError>| {
        StartError::Failed(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    let mut line = RunLine::parse(&run.spec.words).map_err(told)?;
    line.agent.model.api_key = begin.api_key.as_ref().and_then(|key| key.parse().ok());
    let is_first = run.state.starts.len() <= 1;
    // What was said once is in the session.
    line.agent.session.name = line.agent.session.name.filter(|_| is_first);
    let terminals = Terminals { stdin: false, stdout: false };
    let mut args = HiArgs::new(line.agent, environment.launch(terminals)).map_err(told)?;
    if begin.log.is_some() {
        args.session_dir = Some(run.folder.sessions());
        args.moved = true;
    }
    let known = run.state.sessions.last().filter(|path| path.exists());
    let id = || run.spec.session_id.clone();
    args.session = match (known, args.session) {
        (Some(path), _) => SessionChoice::Open(SessionTarget::Path(path.clone())),
        (None, SessionChoice::New) => SessionChoice::OpenOrCreate { id: id(), tells: false },
        (None, SessionChoice::Fork { source, id: wanted }) => {
            SessionChoice::Fork { source, id: wanted.or_else(|| Some(id())) }
        }
        (None, other) => other,
    };
    Ok(args)
}

/// The session, and what is to be done in it.
pub(super) struct Opened {
    /// The session.
    pub chosen: ChosenSession,
    /// What is to be done.
    pub task: Task,
    /// What stands in front of the session's events.
    pub head: Vec<u8>,
}

/// Opens the session at the place where the worker is to begin.
///
/// # Errors
/// It cannot be opened or written.
pub(super) fn open(
    environment: &Environment,
    args: &HiArgs,
    run: &Run,
    begin: &Begin,
    settings: &Settings,
) -> Result<Opened, StartError> {
    let spec = &run.spec;
    let mut chosen = session::choose(environment, args, settings)?;
    let known = &run.state.sessions;
    let path = chosen.store.path().unwrap_or_default();
    if chosen.is_new {
        forget_journals(&path, chosen.store.view().header());
    }
    let place = known.iter().position(|session| *session == path).unwrap_or(known.len());
    let mut before = History::of(&known[..place], spec).map_err(StartError::of)?;
    let view = chosen.store.view();
    let has_begun = view.find(&before.first(spec)).is_some();
    match begin.rung {
        Rung::Rewind if has_begun => {
            recover::rewind(&chosen.store, &before.first(spec), &begin.causes).map_err(StartError::of)?;
        }
        Rung::Anew if has_begun => {
            before.add(&path, view, spec);
            chosen = anew(environment, args, settings, &chosen, &path)?;
        }
        _ => {}
    }
    let (view, first) = (chosen.store.view(), before.first(spec));
    let is_ours = |op: &str| op.starts_with(&spec.stem);
    chosen.takes_over = view.find(&first).is_some() || chosen.journal.state().pending().any(|input| is_ours(&input.op));
    let mut head = Vec::new();
    if chosen.store.path().as_ref() != known.last() {
        write_header(view.header(), &mut head);
    }
    let mut spent = before.look.spent;
    spent.add(&progress::spent(&view, &first));
    let mut prompts = Vec::new();
    if let Some(last) = &before.last {
        let words = recover::first_words(spec, before.delivered, last, &begin.causes);
        prompts.push(Message::Anew(before.sessions).input(&spec.stem, words));
    }
    prompts.extend(spec.prompts.iter().skip(before.delivered).cloned());
    let task = Task {
        prompts,
        stem: spec.stem.clone(),
        continued: run.state.continued,
        limits: spec.limits,
        before: before.look,
        spent,
        check: spec.check.clone(),
        schema: spec.schema.clone(),
        require_change: spec.require_change,
        fail_when_denied: args.permissions.on_denied == OnDenied::Fail,
    };
    Ok(Opened { chosen, task, head })
}

/// Removes the journals of a worker that was killed before the session had a file: its prompt is sent again, in a session
/// whose file is named after another time.
fn forget_journals(session: &Path, header: &SessionHeader) {
    let suffix = format!("_{}.state", header.id);
    let entries = session.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let is_left = |path: &Path| path.to_string_lossy().ends_with(&suffix) && *path != sidecar::path_of(session);
    for path in entries.map(|entry| entry.path()).filter(|path| is_left(path)) {
        if let Err(error) = std::fs::remove_file(&path) {
            tracing::debug!(%error, "a journal without a session was not removed");
        }
    }
}

/// A new session in the place of one in which workers crash.
fn anew(
    environment: &Environment,
    args: &HiArgs,
    settings: &Settings,
    old: &ChosenSession,
    path: &Path,
) -> Result<ChosenSession, StartError> {
    let dir = match starting::session_dir(environment, args, settings) {
        Some(path) => SessionDir::custom(path, &environment.cwd),
        None => SessionDir::of_project(&environment.user_dir, &environment.cwd),
    };
    let parent_session = Some(path.display().to_string());
    let new = NewSession { parent_session, ..NewSession::in_folder(&old.cwd) };
    let store = SessionStore::create_in(&dir.path, new).map_err(StartError::of)?;
    let journal = Sidecar::of(&store).map_err(StartError::of)?;
    Ok(ChosenSession { is_first: true, ..ChosenSession::following(store, journal) })
}
