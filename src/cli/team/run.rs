//! `troupe team run`: makes the root agent, has the team work, writes the results; as often as it was asked for.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{args::RunArgs, check, results};
use crate::{
    actors::team::{
        driver::{TeamFactory, TeamRun},
        file::{Role, TeamFile},
        plan::{Given, Outcome},
        result::{TeamResult, summary::Summary},
        template::shown,
    },
    cli::{
        args::{self, HiArgs, SessionChoice, SessionTarget, Task},
        base::{self, Base},
        env::Environment,
        exit::Exit,
        mode::{Mode, Terminals},
        notices,
        paths::absolute,
        run::{fail, give_flags, print, warn},
        session,
        start::{self, StartError},
    },
    extensions::ExtensionRegistry,
    protocol::time::{iso, now_ms},
    providers::{
        catalogue::{SCRIPT, TROUPE},
        credentials::settle,
    },
    store::{
        regular_file,
        settings::{Scope, Settings},
    },
};

/// Agents of a team whose file does not say how many it may start.
const MOST_AGENTS: usize = 10_000;

/// Why a run did not begin: wrong words or a wrong file, or something that did not work.
enum Refusal {
    Usage(String),
    Start(StartError),
}

impl From<StartError> for Refusal {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

/// A team that can be run.
struct Prepared {
    file: PathBuf,
    text: String,
    team: Arc<TeamFile>,
    inputs: BTreeMap<String, String>,
    flags: HiArgs,
}

pub(super) fn run(environment: &Environment, args: &RunArgs, extensions: &ExtensionRegistry) -> Exit {
    let ended = prepare(environment, args, extensions).and_then(|prepared| match args.repeat {
        None => once(environment, args, extensions, &prepared),
        Some(times) => repeated(environment, args, extensions, &prepared, times),
    });
    match ended {
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
    let text = regular_file::read_to_string(&file)
        .map_err(|error| Refusal::Usage(format!("{} cannot be read: {error}", file.display())))?;
    let team = TeamFile::parse(&file, text.clone()).map_err(|error| Refusal::Usage(error.to_string()))?;
    check::tools(&team, &file, extensions).map_err(Refusal::Usage)?;
    let inputs = inputs(&team, args, environment).map_err(Refusal::Usage)?;
    let flags = flags(environment, args, extensions)?;
    start::prepare(environment, &flags)?;
    Ok(Prepared { file, text, team: Arc::new(team), inputs, flags })
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

/// One run, whose result is printed.
fn once(
    environment: &Environment,
    args: &RunArgs,
    extensions: &ExtensionRegistry,
    prepared: &Prepared,
) -> Result<Exit, Refusal> {
    let folder = folder(environment, args, &prepared.team.name);
    results::make(&folder).map_err(Refusal::Usage)?;
    let (result, exit) = play(environment, args, extensions, prepared, &folder, args.seed)?;
    if args.json {
        let text = serde_json::to_string_pretty(&result).map_err(StartError::of)?;
        print(&format!("{text}\n"));
    } else {
        if result.is_done() {
            print(&format!("{}\n", shown(&result.output).trim_end()));
        } else {
            fail(&told(&result));
        }
        notices::tell(&format!("results: {}", folder.display()));
    }
    Ok(exit)
}

/// Several runs, which are compared.
fn repeated(
    environment: &Environment,
    args: &RunArgs,
    extensions: &ExtensionRegistry,
    prepared: &Prepared,
    times: u64,
) -> Result<Exit, Refusal> {
    let folder = folder(environment, args, &prepared.team.name);
    results::make(&folder).map_err(Refusal::Usage)?;
    let (mut all, mut exit) = (Vec::new(), Exit::Done);
    for number in 1..=times {
        let name = format!("run-{number}");
        let own = folder.join(&name);
        results::make(&own).map_err(Refusal::Usage)?;
        let seed = args.seed.saturating_add(number - 1);
        let (result, ended) = play(environment, args, extensions, prepared, &own, seed)?;
        all.push((own.display().to_string(), result));
        let stopped = is_signal(ended);
        if ended != Exit::Done && (exit == Exit::Done || stopped) {
            exit = ended;
        }
        if stopped {
            break;
        }
    }
    let summary = Summary::of(&all);
    results::write_json(&folder.join("summary.json"), &summary).map_err(StartError::Failed)?;
    if args.json {
        let text = serde_json::to_string_pretty(&summary).map_err(StartError::of)?;
        print(&format!("{text}\n"));
    } else {
        print(&summary.table());
        notices::tell(&format!("results: {}", folder.display()));
    }
    Ok(exit)
}

fn is_signal(exit: Exit) -> bool {
    matches!(exit, Exit::Interrupted | Exit::Terminated | Exit::HungUp | Exit::Quit)
}

fn told(result: &TeamResult) -> String {
    let step = result.step.as_ref().map_or(String::new(), |step| format!(" in {step}"));
    match result.outcome.as_str() {
        "limit" => format!("a limit was reached: {}", result.message),
        outcome => format!("the team {outcome}{step}: {}", result.message),
    }
}

/// The folder of the results.
fn folder(environment: &Environment, args: &RunArgs, name: &str) -> PathBuf {
    if let Some(out) = &args.out {
        return absolute(out, &environment.cwd, environment.home.as_deref());
    }
    let time = iso(now_ms()).replace([':', '.'], "-");
    environment.user_dir.join("teams").join(format!("{name}-{}", time.trim_end_matches('Z')))
}

/// Runs the team once and writes what came of it.
fn play(
    environment: &Environment,
    args: &RunArgs,
    extensions: &ExtensionRegistry,
    prepared: &Prepared,
    folder: &Path,
    seed: u64,
) -> Result<(TeamResult, Exit), Refusal> {
    let Prepared { file, text, team, inputs, .. } = prepared;
    results::write_text(&folder.join("team.toml"), text).map_err(StartError::Failed)?;
    let mut flags = prepared.flags.clone();
    let mut run = TeamRun::new(
        team.clone(),
        Given { inputs: inputs.clone(), seed },
        folder.join("sessions"),
        TeamResult {
            team: team.name.clone(),
            file: file.display().to_string(),
            seed,
            inputs: inputs.clone(),
            started_at: iso(now_ms()),
            ..TeamResult::default()
        },
    );
    run.is_told = !args.json;
    // The player of scripts is no model that would hold for all: each role has its own script.
    run.model = flags.model.pattern.clone().filter(|model| *model != player());
    run.thinking = flags.model.thinking;
    root(&mut flags, team, folder);
    let run = Arc::new(run);
    let exit = carry_out(environment, flags, extensions, run.clone())?;
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

/// The flags of the agents, as they were given.
fn flags(environment: &Environment, args: &RunArgs, extensions: &ExtensionRegistry) -> Result<HiArgs, Refusal> {
    let all = |errors: Vec<args::ArgError>| {
        Refusal::Usage(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    };
    let launch = environment.launch(Terminals { stdin: false, stdout: false });
    let flags = HiArgs::new(args::parse(&args.flags).map_err(all)?, launch).map_err(all)?;
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

/// The model that plays scripts.
fn player() -> String {
    format!("{TROUPE}/{SCRIPT}")
}

/// What the root agent begins with. It is never asked anything, but those below it take over what they do not say.
fn root(flags: &mut HiArgs, team: &TeamFile, folder: &Path) {
    flags.session = SessionChoice::Open(SessionTarget::Path(folder.join("sessions").join("team.jsonl")));
    flags.name = Some(format!("Team {}", team.name));
    let script = team.roles.iter().find_map(|role: &Role| role.script.clone());
    if flags.model.pattern.is_none() && flags.model.provider.is_none() {
        let of_role = team.roles.iter().find_map(|role| role.model.clone());
        flags.model.pattern = of_role.or_else(|| script.is_some().then(player));
    }
    if flags.model.pattern == Some(player()) && flags.script.is_none() {
        flags.script = script;
    }
}

/// Has the team work until it is over, or a signal ends it.
fn carry_out(
    environment: &Environment,
    flags: HiArgs,
    extensions: &ExtensionRegistry,
    run: Arc<TeamRun>,
) -> Result<Exit, StartError> {
    let user = Settings::load(&environment.user_dir.join("settings.json"), None);
    let chosen = session::choose(environment, &flags, &user)?;
    let (mut settings, project) = base::project_of(environment, Mode::Print, flags.trust, &chosen.cwd, extensions)?;
    limit(&mut settings, &run.team);
    let runtime = start::async_runtime()?;
    let exit = runtime.block_on(async {
        let base = Base::open(environment, flags, extensions, &settings, Some(&chosen), Mode::Print).await?;
        let base = Arc::new(base);
        let root = base.agent(chosen, (settings, project)).await?.shared;
        let observers = root.config.observers.clone();
        let exit = start::run_front(&base, observers, Arc::new(TeamFactory { root, run })).await;
        base.close().await;
        // A renewed token that is lost logs the user out.
        settle().await;
        exit
    });
    runtime.shutdown_background();
    exit
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
