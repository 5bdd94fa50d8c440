//! The worker's side of a run: an agent like any other start's, with the run's front.

use std::{
    io::{BufRead as _, BufReader, stdin},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use super::{
    folder::RunFolder,
    opening::{self, Opened},
    orders::{Begin, Order},
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
                outcome::Outcome,
                words::{Report, Settle, Word, line},
            },
        },
    },
    cli::{
        base::{self, Base},
        control::{is_wanted, offered_of},
        env::Environment,
        exit::Exit,
        mode::Mode,
        run::{give_flags, warn},
        start::{self as starting, StartError},
    },
    extensions::ExtensionRegistry,
    providers::credentials::settle,
    store::{replica::Replica, settings::Settings},
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
pub(super) struct Run {
    pub(super) folder: RunFolder,
    pub(super) spec: RunSpec,
    pub(super) state: RunState,
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
    let args = opening::arguments(environment, run, begin)?;
    args.warnings.iter().for_each(|warning| warn(warning));
    give_flags(&args, extensions).map_err(|errors| StartError::Failed(errors.join("\n")))?;
    starting::prepare(environment, &args)?;
    let runtime = starting::async_runtime()?;
    // Before the session is opened: it may be another one by then.
    let Some(log) = Log::take(&runtime, begin)? else { return Ok(Exit::TakenOver) };
    let user_settings = Settings::load(&environment.user_dir.join("settings.json"), None);
    let Opened { mut chosen, task, head } = opening::open(environment, &args, run, begin, &user_settings)?;
    chosen.replica = log.replica();
    let (settings, project) = base::project_of(environment, Mode::Json, args.trust, &chosen.cwd, extensions)?;
    let exit = runtime.block_on(async {
        let base = Arc::new(Base::open(environment, args, extensions, &settings, Some(&chosen), Mode::Json).await?);
        let agent = base.agent(chosen, (settings, project)).await?;
        let events = run.folder.lines("events.jsonl").map_err(StartError::of)?;
        let front = Slot::default();
        hear(front.clone(), run.spec.supervision.grace);
        let observers = agent.shared.config.observers.clone();
        let shared = agent.shared;
        let offered = is_wanted(&base.args, &shared, true);
        let offered = offered.then(|| offered_of("run", Some(run.spec.id.clone()), shared.clone()));
        let factory = UnattendedFactory { shared, task, events: Mutex::new(Some(events)), head, front };
        let exit = starting::run_offered(&base, observers, Arc::new(factory), offered).await;
        base.close().await;
        log.close().await;
        // A renewed token that is lost logs the user out.
        settle().await;
        // What the front believes of a run that is another's by now does not count.
        if log.is_lost() { Ok(Exit::TakenOver) } else { exit }
    });
    // Threads that read or write standard streams may be blocked for ever: they do not hold up the end.
    runtime.shutdown_background();
    exit
}

/// The log of the session on a server, when a node has the run.
#[cfg(feature = "nats")]
struct Log(Option<Arc<crate::actors::nats::SessionLog>>);

#[cfg(feature = "nats")]
impl Log {
    /// Takes it; none when another process has it by now.
    fn take(runtime: &tokio::runtime::Runtime, begin: &Begin) -> Result<Option<Self>, StartError> {
        use crate::{actors::nats::NatsError, cli::nats::place};
        let Some(at) = &begin.log else { return Ok(Some(Self(None))) };
        match runtime.block_on(place::take(at)) {
            Ok(log) => Ok(Some(Self(Some(log)))),
            Err(NatsError::Lost(_)) => Ok(None),
            Err(error) => Err(StartError::of(error)),
        }
    }

    fn replica(&self) -> Option<Arc<dyn Replica>> {
        self.0.clone().map(|log| log as Arc<dyn Replica>)
    }

    fn is_lost(&self) -> bool {
        self.0.as_ref().is_some_and(|log| log.lost().is_cancelled())
    }

    /// The session is written: whoever opens it next gets it in one piece.
    async fn close(&self) {
        if let Some(log) = &self.0
            && let Err(error) = log.snapshot().await
        {
            tracing::warn!(%error, "the session stays in the log");
        }
    }
}

/// The log of the session on a server: this build has none.
#[cfg(not(feature = "nats"))]
struct Log;

#[cfg(not(feature = "nats"))]
impl Log {
    fn take(_: &tokio::runtime::Runtime, begin: &Begin) -> Result<Option<Self>, StartError> {
        match begin.log {
            None => Ok(Some(Self)),
            Some(_) => Err(StartError::of(crate::cli::nats::missing::TEXT)),
        }
    }

    fn replica(&self) -> Option<Arc<dyn Replica>> {
        None
    }

    fn is_lost(&self) -> bool {
        false
    }

    async fn close(&self) {}
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
