//! `troupe run` until somebody supervises: which run is meant, whether it has its result, who owns it.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use super::{
    args::{OutputForm, RUN_USAGE, RunCommand, RunLine},
    conclude,
    descendants::{adopt_orphans, end_process, end_tagged, is_alive, process_of},
    folder::{FolderError, RunFolder},
    lease::{Lease, LeaseError},
    node::Node,
    output::{EventCopy, print_events, print_result, with_refusal},
    request,
    result::RunResult,
    signals::Signals,
    spec::RunSpec,
    state::Status,
    supervisor::Supervisor,
    worker,
};
use crate::{
    actors::front::complain,
    cli::{
        args::HiArgs,
        env::Environment,
        exit::Exit,
        mode::Terminals,
        nats::{self, flags::NatsFlags},
        run::{fail, flag_names},
    },
    extensions::ExtensionRegistry,
    store::paths::create_private_dir,
};

/// A run that did not begin.
#[derive(Debug, thiserror::Error)]
enum BeginError {
    /// The words make no sense.
    #[error("{0}")]
    Usage(String),
    /// Somebody else owns it.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// Its folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The server that it was to be given to cannot be used.
    #[cfg(feature = "nats")]
    #[error(transparent)]
    On(#[from] nats::error::OnError),
    /// The system refused something.
    #[error("the run cannot be supervised: {0}")]
    System(#[from] std::io::Error),
}

impl BeginError {
    fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Folder(FolderError::BadId(_) | FolderError::Unknown(_)) => Exit::Usage,
            Self::Folder(FolderError::Ambiguous { .. }) => Exit::Usage,
            #[cfg(feature = "nats")]
            Self::On(error) => error.exit(),
            Self::Lease(LeaseError::Owned { .. }) => Exit::Owned,
            Self::Lease(LeaseError::Io { .. }) | Self::Folder(FolderError::Io { .. }) | Self::System(_) => Exit::Failed,
        }
    }
}

/// `troupe run`.
pub fn run(environment: &Environment, command: RunCommand, extensions: ExtensionRegistry) -> Exit {
    match command {
        RunCommand::Work(folder) => worker::run(environment, folder.into(), extensions),
        RunCommand::SuperviseFor(folder) => told(supervise_for(&RunFolder { path: folder.into() })),
        RunCommand::Supervise(words) => supervise(environment, &words, &extensions),
    }
}

/// Supervises the run that these words mean, or tells its result.
pub(super) fn supervise(environment: &Environment, words: &[String], extensions: &ExtensionRegistry) -> Exit {
    told(begin(environment, words, extensions))
}

fn told(ended: Result<Exit, BeginError>) -> Exit {
    ended.unwrap_or_else(|error| {
        fail(&error.to_string());
        error.exit()
    })
}

/// The same for a run that the NATS server of these flags has.
#[cfg(feature = "nats")]
pub fn supervise_on(
    environment: &Environment,
    words: &[String],
    flags: &NatsFlags,
    extensions: &ExtensionRegistry,
) -> Exit {
    told(read(environment, words, Some(flags), extensions).and_then(|line| on(environment, words, &line)))
}

/// Gives the run to a NATS server.
fn on(environment: &Environment, words: &[String], line: &RunLine) -> Result<Exit, BeginError> {
    #[cfg(feature = "nats")]
    return Ok(nats::submit::run(environment, words, line)?);
    #[cfg(not(feature = "nats"))]
    {
        let _ = (environment, words, line);
        Err(BeginError::Usage(nats::missing::TEXT.to_owned()))
    }
}

/// Supervises a run for the node that made its folder.
fn supervise_for(folder: &RunFolder) -> Result<Exit, BeginError> {
    let node = Node::on_stdin()?;
    let lease = Lease::take(folder)?;
    let spec = folder.spec()?;
    let signals = Signals::begin()?;
    adopt_orphans();
    let exit = go(folder, &spec, signals, Customer::Node(node))?;
    lease.give_back(folder);
    Ok(exit)
}

/// Whom a supervisor works for.
enum Customer {
    /// Whoever started it: they get the output in this form, and the worker gets their key.
    Caller(OutputForm, Option<String>),
    /// A node: it gets the events, and reads the rest in the folder.
    Node(Node),
}

fn begin(environment: &Environment, words: &[String], extensions: &ExtensionRegistry) -> Result<Exit, BeginError> {
    let line = read(environment, words, None, extensions)?;
    if line.run.nats.on.is_some() {
        return on(environment, words, &line);
    }
    let form = line.run.output_form.unwrap_or_default();
    let id = line.run.run_id.clone().unwrap_or_else(request::fresh_id);
    let folder = RunFolder::of(&environment.user_dir, &id)?;
    let schema = request::schema_of(environment, &line.run).map_err(BeginError::Usage)?;
    let prompts = request::prompts(environment, &line, schema.as_ref()).map_err(BeginError::Usage)?;
    if prompts.is_empty() && !folder.is_run() {
        let known = line.run.run_id.as_ref().map(|id| format!("there is no run {id} yet, and ")).unwrap_or_default();
        return Err(BeginError::Usage(format!("{known}no prompt was given.\nUsage: {}", usage_line())));
    }
    create_private_dir(&environment.user_dir).map_err(std::io::Error::other)?;
    folder.make()?;
    let lease = Lease::take(&folder)?;
    let spec = match folder.is_run() {
        false => {
            let spec = request::new_run(environment, id, words, &line, prompts, schema);
            folder.write_spec(&spec)?;
            spec
        }
        true => {
            let mut spec = folder.spec()?;
            if !prompts.is_empty() && !request::is_same(&spec, &prompts) {
                return Err(BeginError::Usage(format!(
                    "the run {id} exists, and its prompts are others. Choose another --run-id, or go on with it by \
                     `troupe runs resume {id}`."
                )));
            }
            if let Some(result) = folder.result()?
                && !result.outcome.can_go_on()
            {
                lease.give_back(&folder);
                return Ok(tell_again(&folder, &result, form));
            }
            request::change_limits(&mut spec, &line.run);
            folder.write_spec(&spec)?;
            spec
        }
    };
    // Before anything is started that a signal should end in order.
    let signals = Signals::begin()?;
    adopt_orphans();
    let key = line.api_key().map(|key| key.expose().to_owned());
    let exit = go(&folder, &spec, signals, Customer::Caller(form, key))?;
    lease.give_back(&folder);
    Ok(exit)
}

/// Reads the words and refuses what makes no sense, before anything is made.
/// `on` is the server, when it does not stand in the words.
fn read(
    environment: &Environment,
    words: &[String],
    on: Option<&NatsFlags>,
    extensions: &ExtensionRegistry,
) -> Result<RunLine, BeginError> {
    let told = |errors: Vec<crate::cli::args::ArgError>| {
        BeginError::Usage(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    let mut line = RunLine::parse(words).map_err(told)?;
    if let Some(on) = on {
        line.run.nats = on.clone();
    }
    if let Some(what) = line.refused().or_else(|| line.refused_on()) {
        return Err(BeginError::Usage(format!("`troupe run` does not take {what}")));
    }
    let args = HiArgs::new(line.agent.clone(), environment.launch(Terminals::of_process())).map_err(told)?;
    if let Some(error) = args.unknown_options(&flag_names(extensions)) {
        return Err(BeginError::Usage(error.to_string()));
    }
    Ok(line)
}

fn usage_line() -> &'static str {
    RUN_USAGE.lines().next().unwrap_or_default()
}

/// Supervises a run that this process owns.
fn go(folder: &RunFolder, spec: &RunSpec, signals: Signals, customer: Customer) -> Result<Exit, BeginError> {
    let mut state = folder.state()?;
    if let Some(worker) = state.worker.take() {
        outlive(worker, spec.supervision.grace);
    }
    end_tagged(&spec.tag());
    folder.remove_leftovers();
    folder.end_torn_line("events.jsonl")?;
    if !state.starts.is_empty() {
        state.continued += 1;
        state.counted_from = state.starts.len();
    }
    folder.remove_result()?;
    state.supervisor = Some(process_of(std::process::id()));
    state.status = Status::Running;
    let (form, key, node) = match customer {
        Customer::Caller(form, key) => (Some(form), key, None),
        Customer::Node(node) => (None, None, Some(node)),
    };
    if node.is_none() {
        complain(&format!(
            "Run {}: `troupe runs logs -f {}` shows it, `troupe runs stop {}` stops it.",
            spec.id, spec.id, spec.id
        ));
    }
    let events = form.is_none_or(|form| form == OutputForm::Events).then(|| {
        let path = folder.file("events.jsonl");
        let from = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        EventCopy::begin(path, from)
    });
    let refused = events.as_ref().map(EventCopy::refused);
    let supervisor = Supervisor::new(folder, spec, state, signals, events, key, node);
    let (state, report, signal) = supervisor.run()?;
    let exit = conclude::conclude(folder, spec, state, report, signal, form)?;
    Ok(with_refusal(exit, refused.is_some_and(|refused| refused.load(Ordering::Relaxed))))
}

/// The worker of a supervisor that was killed sees that and settles; it is ended when it does not.
pub fn outlive(worker: super::state::ProcessId, grace: Duration) {
    let begun = Instant::now();
    while is_alive(worker) && begun.elapsed() < grace {
        std::thread::sleep(Duration::from_millis(10));
    }
    end_process(worker);
}

/// Tells the result of a run that has it for good.
fn tell_again(folder: &RunFolder, result: &RunResult, form: OutputForm) -> Exit {
    let is_refused = form == OutputForm::Events && !print_events(folder);
    with_refusal(print_result(result, form), is_refused)
}
