//! The worker's side of a run: an agent like any other start's, with the run's front.

use std::{
    io::{BufRead as _, BufReader, stdin},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use super::{
    args::RunLine,
    folder::RunFolder,
    ladder::Rung,
    orders::{Begin, Order},
    recover,
    spec::RunSpec,
    state::RunState,
};
use crate::{
    actors::{
        address::Slot,
        front::{
            complain,
            stdout::{keep_for_records, write_record},
            unattended::{
                UnattendedFactory, UnattendedMsg,
                limits::Spent,
                outcome::Outcome,
                progress,
                task::{Message, Task},
                words::{Report, Settle, Word, line},
            },
        },
    },
    cli::{
        args::{HiArgs, OnDenied, SessionChoice, SessionTarget},
        base::{self, Base},
        env::Environment,
        exit::Exit,
        mode::{Mode, Terminals},
        run::{give_flags, warn},
        session::{self, ChosenSession},
        start::{self as starting, StartError},
    },
    extensions::ExtensionRegistry,
    protocol::{EntryId, wire::write_header},
    providers::credentials::settle,
    store::{
        NewSession, SessionStore, Sidecar, TreeView,
        sessions::{self, SessionDir},
        settings::Settings,
    },
    tools::operations::local::kill_all_commands,
};

/// What a worker whose supervisor is gone gets beyond the grace to settle.
const LAST: Duration = Duration::from_secs(5);

/// Works on the run in `folder` until it is over.
pub fn run(environment: &Environment, folder: PathBuf, extensions: ExtensionRegistry) -> Exit {
    let prepared = keep_for_records().map_err(|error| error.to_string()).and_then(|()| prepare(&folder));
    let (run, begin) = match prepared {
        Ok(prepared) => prepared,
        Err(text) => return give_up(&text),
    };
    match work(environment, &run, &begin, &extensions) {
        Ok(exit) => exit,
        Err(StartError::Failed(text)) => give_up(&text),
    }
}

/// A start that failed: another one would fail in the same way.
fn give_up(text: &str) -> Exit {
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    complain(&format!("Error: {text}"));
    let word = Word::End(Box::new(Report::bare(Outcome::Failed, text)));
    // Whoever does not hear it is gone.
    let _ = write_record(&line(&word));
    Exit::Failed
}

/// The run, as its folder tells.
struct Run {
    folder: RunFolder,
    spec: RunSpec,
    state: RunState,
}

fn prepare(path: &Path) -> Result<(Run, Begin), String> {
    let mut first = String::new();
    stdin().lock().read_line(&mut first).map_err(|error| error.to_string())?;
    let Ok(Order::Begin(begin)) = serde_json::from_str(&first) else {
        return Err("this is a part of `troupe run`, which starts it".to_owned());
    };
    let folder = RunFolder { path: path.to_owned() };
    let spec = folder.spec().map_err(|error| error.to_string())?;
    let state = folder.state().map_err(|error| error.to_string())?;
    Ok((Run { folder, spec, state }, begin))
}

fn work(
    environment: &Environment,
    run: &Run,
    begin: &Begin,
    extensions: &ExtensionRegistry,
) -> Result<Exit, StartError> {
    let args = arguments(environment, run, begin)?;
    args.warnings.iter().for_each(|warning| warn(warning));
    give_flags(&args, extensions).map_err(|errors| StartError::Failed(errors.join("\n")))?;
    starting::prepare(environment, &args)?;
    let user_settings = Settings::load(&environment.user_dir.join("settings.json"), None);
    let opened = open(environment, &args, run, begin, &user_settings)?;
    let Opened { chosen, task, head } = opened;
    let (settings, project) = base::project_of(environment, Mode::Json, args.trust, &chosen.cwd, extensions)?;
    let runtime = starting::async_runtime()?;
    let exit = runtime.block_on(async {
        let base = Arc::new(Base::open(environment, args, extensions, &settings, Some(&chosen), Mode::Json).await?);
        let agent = base.agent(chosen, (settings, project)).await?;
        let events = run.folder.lines("events.jsonl").map_err(StartError::of)?;
        let front = Slot::default();
        hear(front.clone(), run.spec.supervision.grace);
        let observers = agent.shared.config.observers.clone();
        let factory =
            UnattendedFactory { shared: agent.shared, task, events: Mutex::new(Some(events)), head, front };
        let exit = starting::run_front(&base, observers, Arc::new(factory)).await;
        base.close().await;
        // A renewed token that is lost logs the user out.
        settle().await;
        exit
    });
    // Threads that read or write standard streams may be blocked for ever: they do not hold up the end.
    runtime.shutdown_background();
    exit
}

/// The agent's arguments, from the words that the run was started with.
fn arguments(environment: &Environment, run: &Run, begin: &Begin) -> Result<HiArgs, StartError> {
    let told = |errors: Vec<crate::cli::args::ArgError>| {
        StartError::Failed(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    let mut line = RunLine::parse(&run.spec.words).map_err(told)?;
    line.agent.model.api_key = begin.api_key.as_ref().and_then(|key| key.parse().ok());
    let is_first = run.state.starts.len() <= 1;
    // What was said once is in the session.
    line.agent.session.name = line.agent.session.name.filter(|_| is_first);
    let terminals = Terminals { stdin: false, stdout: false };
    let mut args = HiArgs::new(line.agent, environment.launch(terminals)).map_err(told)?;
    let known = run.state.sessions.last().filter(|path| path.exists());
    let id = || run.spec.session_id.clone();
    args.session = match (known, args.session) {
        (Some(path), _) => SessionChoice::Open(SessionTarget::Path(path.clone())),
        (None, SessionChoice::New) => SessionChoice::OpenOrCreate { id: id() },
        (None, SessionChoice::Fork { source, id: wanted }) => {
            SessionChoice::Fork { source, id: wanted.or_else(|| Some(id())) }
        }
        (None, other) => other,
    };
    Ok(args)
}

/// The session, and what is to be done in it.
struct Opened {
    chosen: ChosenSession,
    task: Task,
    /// What stands in front of the session's events.
    head: Vec<u8>,
}

fn open(
    environment: &Environment,
    args: &HiArgs,
    run: &Run,
    begin: &Begin,
    settings: &Settings,
) -> Result<Opened, StartError> {
    let spec = &run.spec;
    let chosen = session::choose(environment, args, settings)?;
    let place = run.state.sessions.iter().position(|path| Some(path) == chosen.store.path().as_ref());
    let place = place.unwrap_or(run.state.sessions.len());
    let mut before = Before::of(&run.state.sessions[..place.min(run.state.sessions.len())], spec)?;
    let mut first = before.first(spec);
    let mut chosen = chosen;
    let view = chosen.store.view();
    let has_begun = view.find(&first).is_some();
    let mut is_new_session = view.is_empty();
    match begin.rung {
        Rung::Rewind if has_begun => recover::rewind(&chosen.store, &first, &begin.causes).map_err(StartError::of)?,
        Rung::Anew if has_begun => {
            before.add(&view, spec, &first);
            let path = chosen.store.path().unwrap_or_default();
            let words = recover::first_words(spec, before.delivered, &view, &begin.causes);
            before.words = Some(words);
            before.sessions += 1;
            first = before.first(spec);
            chosen = anew(environment, args, settings, &chosen, &path)?;
            is_new_session = true;
        }
        _ => {}
    }
    if before.sessions > 0 && before.words.is_none() {
        before.words = Some(before.told_again(run, begin)?);
    }
    let view = chosen.store.view();
    let ours = |op: &str| op.starts_with(&spec.stem);
    chosen.takes_over = view.find(&first).is_some() || chosen.journal.state().pending().any(|input| ours(&input.op));
    let mut head = Vec::new();
    if is_new_session || !has_begun {
        write_header(view.header(), &mut head);
    }
    let mut spent = before.spent;
    spent.add(&progress::spent(&view, &first));
    let mut prompts = Vec::new();
    if let Some(words) = before.words {
        prompts.push(Message::Anew(before.sessions).input(&spec.stem, words));
    }
    prompts.extend(spec.prompts.iter().skip(before.delivered).cloned());
    let task = Task {
        prompts,
        stem: spec.stem.clone(),
        continued: run.state.continued,
        limits: spec.limits,
        spent,
        check: spec.check.clone(),
        schema: spec.schema.clone(),
        require_change: spec.require_change,
        fail_when_denied: args.permissions.on_denied == OnDenied::Fail,
    };
    Ok(Opened { chosen, task, head })
}

/// What earlier sessions of the run tell.
#[derive(Default)]
struct Before {
    /// How many there are.
    sessions: u32,
    /// What was spent in them.
    spent: Spent,
    /// Prompts that were delivered in them.
    delivered: usize,
    /// The first words of the session that follows.
    words: Option<String>,
    last: Option<TreeView>,
}

impl Before {
    fn of(paths: &[PathBuf], spec: &RunSpec) -> Result<Self, StartError> {
        let mut before = Self::default();
        for path in paths {
            let view = SessionStore::open_read_only(path).map_err(StartError::of)?.store.view();
            let first = before.first(spec);
            before.add(&view, spec, &first);
            before.sessions += 1;
            before.last = Some(view);
        }
        Ok(before)
    }

    /// The run's first entry in the session that follows.
    fn first(&self, spec: &RunSpec) -> EntryId {
        match self.sessions {
            0 => Message::Prompt(0).id(&spec.stem),
            n => Message::Anew(n).id(&spec.stem),
        }
    }

    fn add(&mut self, view: &TreeView, spec: &RunSpec, first: &EntryId) {
        self.spent.add(&progress::spent(view, first));
        let delivered = |place: &usize| view.find(&Message::Prompt(*place).id(&spec.stem)).is_some();
        let here = (self.delivered..spec.prompts.len()).take_while(delivered).count();
        self.delivered += here;
    }

    /// The words that the session was begun with, once more: they may not be stored yet.
    fn told_again(&self, run: &Run, begin: &Begin) -> Result<String, StartError> {
        let Some(last) = &self.last else { return Ok(String::new()) };
        Ok(recover::first_words(&run.spec, self.delivered, last, &begin.causes))
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
    sessions::resolve::check_folder(store.view().header(), path).map_err(StartError::of)?;
    let journal = Sidecar::of(&store).map_err(StartError::of)?;
    Ok(ChosenSession { is_first: true, ..ChosenSession::following(store, journal) })
}

/// Hears the supervisor, in a thread of its own. When it is gone the run settles, and the process ends for certain.
fn hear(front: Slot<UnattendedMsg>, grace: Duration) {
    let listen = move || {
        let tell = |cause: Settle| {
            // The front is about to be there.
            while front.try_tell(UnattendedMsg::Settle(cause)).is_err() {
                thread::sleep(Duration::from_millis(10));
            }
        };
        let lines = BufReader::new(stdin()).lines().map_while(Result::ok);
        for line in lines {
            if let Ok(Order::Settle { cause }) = serde_json::from_str(&line) {
                tell(cause);
            }
        }
        thread::spawn(move || {
            thread::sleep(grace + LAST);
            kill_all_commands();
            std::process::exit(i32::from(Exit::Failed.code()));
        });
        tell(Settle::Orphaned);
    };
    if let Err(error) = thread::Builder::new().name("orders".into()).spawn(listen) {
        tracing::error!(%error, "the supervisor is not heard");
    }
}
