//! What all agents of a process have in common: arguments, models, extensions, a cassette, another machine. It makes the
//! first agent, and those on other sessions while the program runs.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{
    args::HiArgs,
    cassette::Deck,
    checkpoints,
    env::Environment,
    exit::Exit,
    local,
    mode::Mode,
    operations::Closings,
    project::Project,
    remote::Remote,
    run::warn,
    session::{self, ChosenSession},
    setup::{self, Setup},
    start::StartError,
};
use crate::{
    actors::{
        agent_factory::{AgentFactory, MadeAgent, Making, OpenSession, Retiring},
        shared::{AgentShared, Observer},
    },
    extensions::{Backstage, Extension, ExtensionRegistry, Questions},
    providers::{
        Provider,
        catalogue::{Catalogue, LiveCatalogue},
        environment::Environment as Variables,
        local::Found,
    },
    store::{
        settings::Settings,
        trust::{TrustAnswer, TrustFile, TrustReach},
    },
    tools::LiveTools,
};

/// See the module.
pub struct Base {
    /// Where the program runs.
    pub environment: Environment,
    /// What it was asked.
    pub args: HiArgs,
    /// Who gives agents work and shows what they do.
    pub mode: Mode,
    /// What is recorded or replayed.
    pub deck: Deck,
    /// The wire of the script that the command line names.
    pub script: Option<Arc<dyn Provider>>,
    /// Models and keys.
    pub catalogue: LiveCatalogue,
    /// Model servers of this machine that were looked for.
    pub servers: Vec<Found>,
    /// What the extensions share.
    pub backstage: Backstage,
    /// The machine that tools work on, when it is another one.
    pub remote: Option<Arc<Remote>>,
    extensions: Mutex<LoadedExtensions>,
    /// What agents hold beside their actors, by their names.
    held: Mutex<HashMap<Arc<str>, Held>>,
    agents: AtomicUsize,
    /// What a person decided about the project.
    trust: Mutex<Option<bool>>,
}

/// What an agent holds beside its actors.
struct Held {
    shared: Arc<AgentShared>,
    closings: Closings,
}

/// The extensions as they are loaded, and their places.
#[derive(Clone, Default)]
pub struct LoadedExtensions {
    registry: ExtensionRegistry,
    observers: Vec<Observer>,
    backstage: Backstage,
}

impl LoadedExtensions {
    fn new(registry: ExtensionRegistry, backstage: &Backstage) -> Self {
        let observers = registry.iter().map(|extension| Observer::new(extension.clone(), backstage)).collect();
        Self { registry, observers, backstage: backstage.clone() }
    }

    /// What they bring.
    #[must_use]
    pub fn registry(&self) -> &ExtensionRegistry {
        &self.registry
    }

    /// Their places.
    #[must_use]
    pub fn observers(&self) -> Vec<Observer> {
        self.observers.clone()
    }

    /// Their places, and behind them one for an extension of the agent's own.
    #[must_use]
    pub fn observers_with(&self, last: Arc<dyn Extension>) -> Vec<Observer> {
        self.observers.iter().cloned().chain([Observer::new(last, &self.backstage)]).collect()
    }

    /// Those that can be made anew are; the others go on in their places.
    fn renewed(&self) -> Self {
        let registry = self.registry.renewed();
        let again = |extension: &Arc<dyn Extension>| {
            let same = self.observers.iter().find(|known| Arc::ptr_eq(&known.extension, extension));
            same.cloned().unwrap_or_else(|| {
                // Whatever the one before registered goes with it.
                self.backstage.tools.forget(extension.name());
                Observer::new(extension.clone(), &self.backstage)
            })
        };
        let observers = registry.iter().map(again).collect();
        self.backstage.tools.replace_base(setup::all_tools(&registry));
        Self { registry, observers, backstage: self.backstage.clone() }
    }
}

impl Base {
    /// Gathers what the sessions of the process need; `first` is the one that it begins with, if it has one.
    ///
    /// # Errors
    /// What prevents the start.
    pub async fn open(
        environment: &Environment,
        args: HiArgs,
        extensions: &ExtensionRegistry,
        settings: &Settings,
        first: Option<&ChosenSession>,
        mode: Mode,
    ) -> Result<Self, StartError> {
        let mut catalogue = Catalogue::load(&environment.user_dir, Variables::of_process());
        let script = setup::script_wire(&args, &mut catalogue)?;
        let cwd = first.map_or(environment.cwd.as_path(), |chosen| chosen.cwd.as_path());
        let deck = Deck::open(&args.cassette, environment, cwd, &mut catalogue)?;
        let resumed = first.filter(|chosen| !chosen.is_new);
        let session_model = resumed.and_then(|chosen| chosen.store.view().selection().model);
        let (catalogue, servers) = match deck.is_replay() {
            true => (catalogue, Vec::new()),
            false => local::with_named(catalogue, &args, settings, session_model.as_ref()).await?,
        };
        let catalogue = setup::with_extensions(catalogue, extensions);
        let remote = match &args.ssh {
            Some(target) => {
                let secrets = catalogue.now().credentials().secret_variables();
                let with_context = args.resources.context_files;
                Some(Arc::new(Remote::connect(target, settings, secrets, environment, with_context).await?))
            }
            None => None,
        };
        let tools = LiveTools::new(setup::all_tools(extensions));
        let backstage = Backstage::new(tools, Questions::default(), extensions.flag_values());
        let loaded = LoadedExtensions::new(extensions.clone(), &backstage);
        Ok(Self {
            environment: environment.clone(),
            mode,
            args,
            deck,
            script,
            catalogue,
            servers,
            backstage,
            remote,
            extensions: Mutex::new(loaded),
            held: Mutex::default(),
            agents: AtomicUsize::new(0),
            trust: Mutex::default(),
        })
    }

    /// The extensions as they are loaded now.
    #[must_use]
    pub fn extensions(&self) -> LoadedExtensions {
        self.loaded().clone()
    }

    fn loaded(&self) -> MutexGuard<'_, LoadedExtensions> {
        self.extensions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of the next agent.
    #[must_use]
    pub fn next_agent(&self) -> Arc<str> {
        match self.agents.fetch_add(1, Ordering::Relaxed) {
            0 => "main".into(),
            before => format!("main-{}", before + 1).into(),
        }
    }

    /// Makes the agent of a session; `project` is that of its folder.
    ///
    /// # Errors
    /// What prevents it.
    pub async fn agent(
        &self,
        chosen: ChosenSession,
        (settings, project): (Settings, Project),
    ) -> Result<MadeAgent, StartError> {
        let Setup { shared, closings } = setup::build(self, chosen, settings, &project).await?;
        let held = Held { shared: shared.clone(), closings };
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(shared.id.clone(), held);
        Ok(MadeAgent { shared })
    }

    /// The exit code, after a last attempt to save what the disk refused.
    #[must_use]
    pub fn saved_at_last(&self, exit: Exit) -> Exit {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.values().fold(exit, |exit, held| session::saved_at_last(&held.shared.place, exit))
    }

    /// Ends what agents and their extensions held, and says what became of a cassette.
    pub async fn close(&self) {
        if let Some(remote) = &self.remote {
            remote.close().await;
        }
        let left = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
        for held in left.into_values() {
            held.finish().await;
        }
        self.deck.report();
    }

    async fn remake(&self, session: OpenSession, reload: bool) -> Result<MadeAgent, StartError> {
        if reload {
            let renewed = self.loaded().renewed();
            for (extension, error) in renewed.registry.register_models(&self.catalogue) {
                warn(&format!("The extension {extension}: {error}"));
            }
            *self.loaded() = renewed;
        }
        let OpenSession { store, journal } = session;
        let chosen = ChosenSession::following(store, journal);
        let trust = self.trust.lock().unwrap_or_else(PoisonError::into_inner).or(self.args.trust);
        let project = project_of(&self.environment, self.mode, trust, &chosen.cwd, self.extensions().registry())?;
        self.agent(chosen, project).await
    }
}

/// The settings for a folder and the project around it; what is wrong with them is told.
///
/// # Errors
/// Nobody can tell whether the project is trusted.
pub fn project_of(
    environment: &Environment,
    mode: Mode,
    trust: Option<bool>,
    cwd: &Path,
    extensions: &ExtensionRegistry,
) -> Result<(Settings, Project), StartError> {
    let user = Settings::load(&environment.user_dir.join("settings.json"), None);
    let project = Project::judged(environment, trust, &user, cwd, extensions)?;
    // The screen asks.
    if mode != Mode::Interactive {
        project.notice().iter().for_each(|notice| warn(notice));
    }
    let settings = project.settings(environment, user);
    settings.problems().iter().for_each(|problem| warn(&problem.to_string()));
    Ok((settings, project))
}

impl Held {
    async fn finish(self) {
        if let Some(taken) = &self.shared.place.checkpoints {
            checkpoints::finish(taken).await;
        }
        self.closings.close();
    }
}

impl AgentFactory for Base {
    fn make(&self, session: OpenSession, reload: bool) -> Making<'_> {
        Box::pin(async move { self.remake(session, reload).await.map_err(|error| error.to_string()) })
    }

    fn trust(&self, cwd: &Path, answer: TrustAnswer) -> Result<(), String> {
        *self.trust.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer.trusted);
        if answer.reach == TrustReach::Session {
            return Ok(());
        }
        // Answers are for real folders: a link must not borrow the trust of where it lies.
        let real = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
        let file = self.environment.user_dir.join("trust.json");
        let parent = answer.reach == TrustReach::Parent;
        TrustFile::save(&file, &real, answer.trusted, parent).map_err(|error| error.to_string())
    }

    fn retire<'a>(&'a self, agent: &'a AgentShared) -> Retiring<'a> {
        Box::pin(async move {
            let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&agent.id);
            if let Some(held) = held {
                held.finish().await;
            }
        })
    }
}
