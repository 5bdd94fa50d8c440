//! `troupe team run`: makes the root agent, has the team work, writes the results; as often as it was asked for.
//!
//! The same code goes on with a run: what is run is in its folder before it begins.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::time::timeout;

use super::{
    args::RunArgs,
    away::Away,
    models::{self, Look, player},
    record::{RunRecord, last_written},
    report::{Place, is_signal, report, report_all},
    results,
    source::Source,
    texts::{COPY, Texts},
};
use crate::{
    actors::{
        shared::AgentShared,
        team::{
            driver::{TeamFactory, TeamRun},
            file::{Role, TeamFile},
            plan::{Given, Outcome},
            result::TeamResult,
        },
    },
    cli::{
        args::{self, HiArgs, SessionChoice, SessionTarget, Task},
        base::{self, Base},
        control::{is_wanted, offered_of_team},
        env::Environment,
        exit::Exit,
        mode::{Mode, Terminals},
        paths::absolute,
        run::{fail, give_flags, warn},
        runs::{
            args::without_key,
            descendants::{adopt_orphans, end_all},
        },
        session,
        start::{self, StartError},
    },
    extensions::ExtensionRegistry,
    protocol::time::{iso, now_ms},
    providers::credentials::settle,
    store::{
        paths::create_private_dir,
        regular_file,
        settings::{Scope, Settings},
    },
};

/// How long agents that work elsewhere may take to end when the team is stopped.
const LAST_STOP: Duration = Duration::from_secs(30);
/// Agents of a team whose file does not say how many it may start.
const MOST_AGENTS: usize = 10_000;

/// Why a run did not begin: wrong words or a wrong file, or something that did not work.
pub(super) enum Refusal {
    Usage(String),
    Start(StartError),
}

impl From<StartError> for Refusal {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

/// A team that can be run.
pub(super) struct Prepared {
    pub source: Source,
    pub team: Arc<TeamFile>,
    pub inputs: BTreeMap<String, String>,
    pub texts: Texts,
    /// The flags of the agents as they were given.
    pub words: Vec<String>,
    pub flags: HiArgs,
    /// Where agents work; none for this process.
    pub away: Option<Away>,
}

pub(super) fn run(environment: &Environment, args: &RunArgs, extensions: &ExtensionRegistry) -> Exit {
    let prepared = prepare(environment, args, extensions);
    ended(prepared.and_then(|prepared| {
        let runs = Runs { environment, extensions, prepared: &prepared, is_told: !args.json };
        let folder = folder(environment, args, &prepared.team.name);
        results::make(&folder).map_err(Refusal::Usage)?;
        match args.repeat {
            None => {
                let (result, exit) = runs.begun(&folder, args.seed)?;
                report(&result, exit, &runs.place(&folder))
            }
            Some(times) => {
                runs.keep(&runs.record(&folder, args.seed, Some(times)))?;
                report_all(&runs.place(&folder), times, args.seed, |own, seed| runs.begun(own, seed))
            }
        }
    }))
}

/// Tells why a run did not begin.
pub(super) fn ended(result: Result<Exit, Refusal>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Refusal::Usage(text)) => {
            fail(&text);
            Exit::InvalidState
        }
        Err(Refusal::Start(error)) => fail(&error.to_string()),
    }
}

fn prepare(environment: &Environment, args: &RunArgs, extensions: &ExtensionRegistry) -> Result<Prepared, Refusal> {
    let file = absolute(&args.file, &environment.cwd, environment.home.as_deref());
    let source = Source::read(&file).map_err(Refusal::Usage)?;
    let team = source.team().map_err(Refusal::Usage)?;
    let inputs = inputs(&team, args, environment).map_err(Refusal::Usage)?;
    source.check_inputs(&team, &inputs).map_err(Refusal::Usage)?;
    let (away, words) = Away::take(&args.flags).map_err(Refusal::Usage)?;
    let flags = flags(environment, &words, extensions)?;
    source.check(environment, &team, Look::Run(&flags, away.as_ref()), extensions).map_err(Refusal::Usage)?;
    // What is named on the command line is where agents work, which may be elsewhere.
    let script = flags.script.as_deref().filter(|_| away.is_none());
    let texts = Texts::of(&source.text, &team, script).map_err(Refusal::Usage)?;
    start::prepare(environment, &flags)?;
    Ok(Prepared { source, team: Arc::new(team), inputs, texts, words, flags, away })
}

/// What the user gave, with the file's defaults.
fn inputs(team: &TeamFile, args: &RunArgs, environment: &Environment) -> Result<BTreeMap<String, String>, String> {
    let names: Vec<&str> = team.inputs.iter().map(|input| input.name.as_str()).collect();
    if let Some(stranger) = args.inputs.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(match names.as_slice() {
            [] => format!("the team takes no input, and --input names {stranger}"),
            _ => format!("the team has no input {stranger}; expected one of {}", names.join(", ")),
        });
    }
    let mut inputs = BTreeMap::new();
    for input in &team.inputs {
        let text = match (args.inputs.get(&input.name), &input.default) {
            (Some(given), _) => match given.strip_prefix('@') {
                Some(path) => {
                    let file = absolute(path, &environment.cwd, environment.home.as_deref());
                    regular_file::read_to_string(&file).map_err(|error| {
                        format!("--input {}: {} cannot be read: {error}", input.name, file.display())
                    })?
                }
                None => given.clone(),
            },
            (None, Some(default)) => default.clone(),
            (None, None) => {
                let what = input.description.as_ref().map_or(String::new(), |text| format!(" ({text})"));
                return Err(format!("the team needs --input {}=…{what}", input.name));
            }
        };
        inputs.insert(input.name.clone(), text);
    }
    Ok(inputs)
}

/// The folder of the results.
fn folder(environment: &Environment, args: &RunArgs, name: &str) -> PathBuf {
    if let Some(out) = &args.out {
        return absolute(out, &environment.cwd, environment.home.as_deref());
    }
    let time = iso(now_ms()).replace([':', '.'], "-");
    environment.user_dir.join("teams").join(format!("{name}-{}", time.trim_end_matches('Z')))
}

/// Runs of one team.
pub(super) struct Runs<'a> {
    pub environment: &'a Environment,
    pub extensions: &'a ExtensionRegistry,
    pub prepared: &'a Prepared,
    /// Tell on standard error what happens.
    pub is_told: bool,
}

impl Runs<'_> {
    /// Where results are, as they are told.
    pub fn place(&self, folder: &Path) -> Place {
        Place { folder: folder.to_owned(), json: !self.is_told, is_away: self.prepared.away.is_some() }
    }

    /// What is run in a folder.
    fn record(&self, folder: &Path, seed: u64, repeat: Option<u64>) -> RunRecord {
        let Prepared { source, inputs, words, texts, .. } = self.prepared;
        RunRecord {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            file: source.file.clone(),
            cwd: self.environment.cwd.clone(),
            folder: folder.to_owned(),
            flags: without_key(words),
            is_away: self.prepared.away.is_some(),
            inputs: inputs.clone(),
            seed,
            repeat,
            started_at: iso(now_ms()),
            texts: texts.clone(),
        }
    }

    /// Writes what is run into its folder; the record comes first, as whoever has it can go on.
    pub fn keep(&self, record: &RunRecord) -> Result<(), StartError> {
        record.write().map_err(StartError::Failed)?;
        let copy = record.folder.join(COPY);
        results::write_text(&copy, &self.prepared.source.text).map_err(StartError::Failed)
    }

    /// Begins a run in a folder and carries it out.
    pub fn begun(&self, folder: &Path, seed: u64) -> Result<(TeamResult, Exit), Refusal> {
        create_private_dir(folder).map_err(StartError::of)?;
        let record = self.record(folder, seed, None);
        self.keep(&record)?;
        Ok(self.play(&record)?)
    }

    /// Carries a run out, from its beginning or from where it was broken off, and writes what came of it.
    pub fn play(&self, record: &RunRecord) -> Result<(TeamResult, Exit), StartError> {
        let Prepared { team, flags, .. } = self.prepared;
        let (RunRecord { folder, seed, inputs, .. }, sessions) = (record, record.folder.join("sessions"));
        let mut run = TeamRun::new(
            team.clone(),
            Given { inputs: inputs.clone(), seed: *seed },
            sessions.clone(),
            TeamResult {
                team: team.name.clone(),
                file: record.file.display().to_string(),
                seed: *seed,
                inputs: inputs.clone(),
                started_at: record.started_at.clone(),
                ..TeamResult::default()
            },
        );
        let mut flags = flags.clone();
        run.is_told = self.is_told;
        run.broken_at = last_written(&sessions);
        run.model = models::for_all(&flags);
        run.thinking = flags.model.thinking;
        root(&mut flags, team, folder);
        let run = Arc::new(run);
        let exit = self.carry_out(flags, run.clone())?;
        let reason = if is_signal(exit) { "a signal" } else { "the program failed" };
        let (mut result, timeline) = run.result(reason);
        if is_signal(exit) && !result.is_done() {
            // Steps whose agents the signal stopped have failed; it is what counts.
            result.close(Outcome::Stopped(reason.to_owned()));
        }
        result.exit = exit.code();
        results::write(folder, &result, &timeline).map_err(StartError::Failed)?;
        Ok((result, exit))
    }

    /// Has the team work until it is over, or a signal ends it.
    fn carry_out(&self, flags: HiArgs, run: Arc<TeamRun>) -> Result<Exit, StartError> {
        let (environment, extensions) = (self.environment, self.extensions);
        let user = Settings::load(&environment.user_dir.join("settings.json"), None);
        let chosen = session::choose(environment, &flags, &user)?;
        let (mut settings, project) = base::project_of(environment, Mode::Print, flags.trust, &chosen.cwd, extensions)?;
        limit(&mut settings, &run.team);
        let (model, script) = (flags.model.pattern.clone(), flags.script.clone());
        // What commands leave behind is below this process, and ends with the team.
        adopt_orphans();
        let runtime = start::async_runtime()?;
        let exit = runtime.block_on(async {
            let base = Base::open(environment, flags, extensions, &settings, Some(&chosen), Mode::Print).await?;
            let base = Arc::new(base);
            let root = base.agent(chosen, (settings, project)).await?.shared;
            let observers = root.config.observers.clone();
            self.send_away(&run, &root, model, script).await?;
            let offered = is_wanted(&base.args, &root, true).then(|| offered_of_team(root.clone()));
            let team = Arc::new(TeamFactory { root, run: run.clone() });
            let exit = start::run_offered(&base, observers, team, offered).await;
            if let Some(elsewhere) = run.elsewhere.get() {
                // A team that a signal ended has no more use for them; one that is over has stopped them.
                drop(timeout(LAST_STOP, elsewhere.stop_all()).await);
            }
            base.close().await;
            // A renewed token that is lost logs the user out.
            settle().await;
            exit
        });
        runtime.shutdown_background();
        end_all();
        exit
    }

    #[cfg(feature = "nats")]
    async fn send_away(
        &self,
        run: &TeamRun,
        root: &AgentShared,
        model: Option<String>,
        script: Option<PathBuf>,
    ) -> Result<(), StartError> {
        use super::record::check_store;
        use crate::cli::nats::seats::{SeatWords, Seats};

        let Some(away) = &self.prepared.away else { return Ok(()) };
        let words = SeatWords { all: self.prepared.words.clone(), model, script };
        let team = root.place.store.view().header().id.clone();
        let mut seats = Seats::connect(self.environment, &away.nats, away.pool.clone(), team, words).await?;
        // Before any agent is given anything.
        check_store(&run.sessions.with_file_name("server"), &seats.store_id().await?)?;
        seats.sessions.clone_from(&run.sessions);
        seats.is_told = self.is_told;
        // Set once: there is one team in a process.
        drop(run.elsewhere.set(Arc::new(seats)));
        Ok(())
    }

    #[cfg(not(feature = "nats"))]
    async fn send_away(
        &self,
        _: &TeamRun,
        _: &AgentShared,
        _: Option<String>,
        _: Option<PathBuf>,
    ) -> Result<(), StartError> {
        Ok(())
    }
}

/// The flags of the agents, as they were given.
pub(super) fn flags(
    environment: &Environment,
    words: &[String],
    extensions: &ExtensionRegistry,
) -> Result<HiArgs, Refusal> {
    let all = |errors: Vec<args::ArgError>| {
        Refusal::Usage(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    };
    let launch = environment.launch(Terminals { stdin: false, stdout: false });
    let flags = HiArgs::new(args::parse(words).map_err(all)?, launch).map_err(all)?;
    flags.warnings.iter().for_each(|warning| warn(warning));
    give_flags(&flags, extensions).map_err(|errors| Refusal::Usage(errors.join("; ")))?;
    let given = |what: &str| {
        Err(Refusal::Usage(format!("`troupe team run` takes no {what}: the team file says what agents do")))
    };
    if !flags.messages.is_empty() || !flags.files.is_empty() {
        return given("prompts and files");
    }
    if !matches!(flags.session, SessionChoice::New) || flags.name.is_some() {
        return given("session");
    }
    if !matches!(flags.task, Task::Run(_)) {
        return given("such flag");
    }
    Ok(flags)
}

/// What the root agent begins with. It is never asked anything, but those below it take over what they do not say.
fn root(flags: &mut HiArgs, team: &TeamFile, folder: &Path) {
    flags.session = SessionChoice::Open(SessionTarget::Path(folder.join("sessions").join("team.jsonl")));
    if !folder.join("sessions").join("team.jsonl").exists() {
        flags.name = Some(format!("Team {}", team.name));
    }
    if models::for_all(flags).is_none() {
        flags.model.below = team.roles.iter().filter_map(|role| role.model.clone()).collect();
    }
    let script = team.roles.iter().find_map(|role: &Role| role.script.clone());
    if flags.model.pattern.is_none() && flags.model.provider.is_none() {
        let of_role = team.roles.iter().find_map(|role| role.model.clone());
        flags.model.pattern = of_role.or_else(|| script.is_some().then(player));
    }
    if flags.model.pattern == Some(player()) && flags.script.is_none() {
        flags.script = script;
    }
}

/// The limits of a team are those of its file, for this run. How many agents work at once is its plan's decision; those
/// that are being stopped count for the fleet, and must not be in the way.
fn limit(settings: &mut Settings, team: &TeamFile) {
    let total = team.budget.agents.unwrap_or(MOST_AGENTS);
    for (name, number) in [("maxRunning", MOST_AGENTS), ("maxTotal", total)] {
        // The change for the file is dropped: nothing is stored.
        drop(settings.set(Scope::Global, &["siblings", name], Some(number.into())));
    }
}
