//! From a command line to a running runtime: settings, session, models, tools, resources, agent, front.

use std::{path::PathBuf, sync::Arc};

use super::{
    args::{HiArgs, OnDenied, SessionChoice},
    base::{self, Base},
    control::{is_wanted, offer, offered_of},
    env::Environment,
    exit::Exit,
    interactive::ScreenFactory,
    legacy, local, logging,
    mode::Mode,
    run::warn,
    session, setup, signals,
};
use crate::{
    actors::{
        address::Slot,
        agent_factory::MadeAgent,
        fleet::Agents,
        front::{
            control::Offered,
            printer::{PrintMode, PrinterFactory},
            rpc::RpcFactory,
            voice,
        },
        runtime::{FrontFactory, RuntimeHandle},
        shared::Observer,
    },
    extensions::ExtensionRegistry,
    protocol::command::Input,
    providers::{
        catalogue::{Catalogue, list_models_table},
        credentials::settle,
        environment::Environment as Variables,
    },
    store::{
        paths::create_private_dir,
        settings::{Settings, session_dir_before_trust},
    },
    tui::screen::FirstWords,
};

/// Why a start failed, in words for people.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It failed.
    #[error("{0}")]
    Failed(String),
}

impl StartError {
    /// A failure with this text.
    pub(super) fn of(error: impl std::fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}

/// The table of `--list-models`.
#[must_use]
pub fn list_models(environment: &Environment, extensions: &ExtensionRegistry, search: Option<&str>) -> String {
    let catalogue = Catalogue::load(&environment.user_dir, Variables::of_process());
    let catalogue = local::with_all(catalogue, environment);
    let live = setup::with_extensions(catalogue, extensions);
    list_models_table(&live.now().available(), search)
}

/// Runs prompts, or serves a client.
///
/// # Errors
/// What prevented the start.
pub fn run(
    environment: &Environment,
    args: HiArgs,
    extensions: ExtensionRegistry,
    mode: Mode,
    prompts: Vec<Input>,
) -> Result<Exit, StartError> {
    prepare(environment, &args)?;
    let user_settings = Settings::load(&environment.user_dir.join("settings.json"), None);
    let chosen = session::choose(environment, &args, &user_settings)?;
    let (settings, project) = base::project_of(environment, mode, args.trust, &chosen.cwd, &extensions)?;
    let left_out = project.left_out().to_vec();
    let own = project.dir.as_deref().filter(|_| project.trusted);
    legacy::notices(&environment.user_dir, own).iter().for_each(|notice| warn(notice));
    let runtime = async_runtime()?;
    let fail_when_denied = args.permissions.on_denied == OnDenied::Fail;
    let exit = runtime.block_on(async {
        let base = Arc::new(Base::open(environment, args, &extensions, &settings, Some(&chosen), mode).await?);
        let agent = base.agent(chosen, (settings, project)).await?;
        let exit = serve(&base, agent, mode, prompts, (fail_when_denied, left_out)).await;
        base.close().await;
        // A renewed token that is lost logs the user out.
        settle().await;
        exit
    });
    // Threads that read or write standard streams may be blocked for ever: they do not hold up the end.
    runtime.shutdown_background();
    exit
}

/// What every start begins with: the log, the user's folder, and a look at what this version cannot do.
pub(super) fn prepare(environment: &Environment, args: &HiArgs) -> Result<(), StartError> {
    logging::start(environment, args.log_file.as_deref(), args.trace_file.as_deref())?;
    raise_file_limit();
    if let Err(error) = create_private_dir(&environment.user_dir) {
        // Whatever really has to be written there says so itself.
        tracing::warn!(%error, "the folder for settings and sessions cannot be made");
    }
    if let Some(named) = args.resources.extensions.named.first() {
        return Err(StartError::Failed(format!(
            "the extension {named} was not loaded: this version runs native extensions only, those that a program built on \
             the library brings along. Start without -e."
        )));
    }
    Ok(())
}

/// Allows as many open files as the system lets this program have: a thousand agents have a session each.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Programs that are started inherit it; a limit above this would slow down those that close all files that could be
    // open.
    const ENOUGH: u64 = 65_536;
    let wanted = maximum.map_or(ENOUGH, |maximum| maximum.min(ENOUGH));
    if current.is_some_and(|current| current < wanted)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })
    {
        tracing::info!(%error, "the limit of open files stays");
    }
}

/// What everything runs on.
pub(super) fn async_runtime() -> Result<tokio::runtime::Runtime, StartError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| StartError::Failed(format!("the async runtime did not start: {error}")))
}

async fn serve(
    base: &Arc<Base>,
    agent: MadeAgent,
    mode: Mode,
    prompts: Vec<Input>,
    (fail_when_denied, left_out): (bool, Vec<PathBuf>),
) -> Result<Exit, StartError> {
    let MadeAgent { shared } = agent;
    let observers = shared.config.observers.clone();
    let name = if mode == Mode::Rpc { "rpc" } else { "print" };
    let offered = is_wanted(&base.args, &shared, false).then(|| offered_of(name, None, shared.clone()));
    let front: Arc<dyn FrontFactory> = match mode {
        Mode::Rpc => {
            // Extensions may ask as soon as they run.
            base.backstage.questions.attend();
            Arc::new(RpcFactory { shared, factory: base.clone() })
        }
        Mode::Json => Arc::new(PrinterFactory { shared, mode: PrintMode::Json, prompts, fail_when_denied }),
        Mode::Print => Arc::new(PrinterFactory { shared, mode: PrintMode::Text, prompts, fail_when_denied }),
        Mode::Interactive => {
            let command = (base.args.session == SessionChoice::Pick).then_some("resume");
            let ask_trust = (!left_out.is_empty()).then_some(left_out);
            let screens = ScreenFactory::new(base.clone(), shared, FirstWords { prompts, command, ask_trust });
            let memory = screens.memory();
            let offered = Offered { front: "terminal", run: None, agent: memory.front(), end: None };
            let offered = is_wanted(&base.args, &memory.agent(), true).then_some(offered);
            let ended = run_offered(base, observers, Arc::new(screens), offered).await;
            if let Some(words) = memory.last_words().filter(|_| ended.is_ok()) {
                voice::say(&words);
            }
            return ended;
        }
    };
    run_offered(base, observers, front, offered).await
}

/// Runs a front to its end, or to that of a signal.
pub(super) async fn run_front(
    base: &Base,
    observers: Vec<Observer>,
    front: Arc<dyn FrontFactory>,
) -> Result<Exit, StartError> {
    run_offered(base, observers, front, None).await
}

/// The same of a process that offers a control socket.
pub(super) async fn run_offered(
    base: &Base,
    observers: Vec<Observer>,
    front: Arc<dyn FrontFactory>,
    offered: Option<Offered>,
) -> Result<Exit, StartError> {
    let signals = signals::Watch::begin();
    let runtime = RuntimeHandle::start(observers, Agents::default(), Slot::default(), front)
        .await
        .map_err(|exit| StartError::Failed(format!("the runtime did not start: {}", exit.cause())))?;
    let runtime = Arc::new(runtime);
    signals.serve(&runtime);
    let socket = offered.and_then(|offered| offer(&runtime, &base.environment.user_dir, offered));
    let code = Exit::of_front(runtime.wait().await);
    drop(socket);
    Ok(base.saved_at_last(code))
}

/// Where sessions are kept: flag, environment, settings (the project's is read before anything is trusted), default.
#[must_use]
pub fn session_dir(environment: &Environment, args: &HiArgs, user: &Settings) -> Option<PathBuf> {
    session_dir_with(environment, args.session_dir.clone(), user)
}

/// The same with the flag's value alone.
#[must_use]
pub fn session_dir_with(environment: &Environment, flag: Option<PathBuf>, user: &Settings) -> Option<PathBuf> {
    let from_settings = || {
        let project = crate::resources::project::project_dir(&environment.cwd, &environment.user_dir)?;
        let text = session_dir_before_trust(&project.join("settings.json"))?;
        Some(super::paths::absolute(&text, &project, environment.home.as_deref()))
    };
    flag.or_else(|| environment.session_dir.clone()).or_else(from_settings).or_else(|| {
        let text = user.session_dir()?.to_string_lossy().into_owned();
        Some(super::paths::absolute(&text, &environment.user_dir, environment.home.as_deref()))
    })
}
