//! The worker that does one thing for a team and waits for it: spawns an agent, gives it a task, runs a command.

use std::{path::PathBuf, time::Duration};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::TeamMsg;
use crate::{
    actors::{
        address::Addr,
        fleet::family::{Family, STOP_GRACE},
        shared::AgentConfig,
        team::{file::ItemSource, plan::SeatId},
    },
    protocol::{
        Usage,
        sibling::{BudgetKind, Outcome, SendMode, SiblingEnd, SiblingError, SiblingId, SiblingSpec, WorktreeFate},
    },
    tools::{
        operations::{FindQuery, read_all},
        user_bash,
    },
};

/// How long one wait for an end lasts before the fleet is asked again.
const ONE_WAIT: Duration = Duration::from_secs(3600);
/// How long a lost question waits before it is put again.
const AGAIN: Duration = Duration::from_millis(100);
/// How often: a fleet that is restarted answers soon, or never.
const TRIES: usize = 20;
/// Bytes of a patch that templates can use.
const LONGEST_PATCH: usize = 1 << 20;
/// Files that a glob gives at most.
const MOST_FILES: usize = 10_000;
/// What a budget may have too little of for another agent.
const LIMITS: [BudgetKind; 5] =
    [BudgetKind::Tokens, BudgetKind::Cost, BudgetKind::Turns, BudgetKind::Seconds, BudgetKind::Spawns];
/// How long a command that makes a list may take.
const LIST_TIME: Duration = Duration::from_secs(600);

/// An errand, and whom it is about.
#[derive(Clone, Debug)]
pub struct Job {
    /// The seat and which of its agents; none when the plan does not wait for it.
    pub seat: Option<(SeatId, u32)>,
    /// The agent, or the step.
    pub name: String,
    /// What is to be done.
    pub errand: Errand,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Errand {
    /// Spawn the agent and wait for the end of its first task.
    Start {
        /// As what.
        spec: Box<SiblingSpec>,
        /// After this time.
        after: Duration,
    },
    /// Give it a task and wait for the end.
    Say {
        /// The task.
        text: String,
    },
    /// Run a command where it works.
    Run {
        /// The command.
        command: String,
        /// How long it may take.
        time: Duration,
    },
    /// Put its changes into the team's folder.
    Merge,
    /// Stop it.
    Stop,
    /// Stop all.
    StopAll,
    /// Make a list.
    List {
        /// For this step.
        step: usize,
        /// From what.
        source: ItemSource,
    },
}

/// What came of an errand.
#[derive(Debug)]
pub enum News {
    /// A task has ended.
    Ended {
        /// The seat.
        seat: SeatId,
        /// Which of its agents.
        life: u32,
        /// The agent.
        name: String,
        /// How.
        end: Box<SiblingEnd>,
        /// What it changed.
        patch: Option<String>,
    },
    /// A command has ended.
    Ran {
        /// The seat.
        seat: SeatId,
        /// Which of its agents.
        life: u32,
        /// The agent.
        name: String,
        /// With exit code 0.
        passed: bool,
        /// What it printed.
        output: String,
    },
    /// Changes were merged, or not.
    Merged {
        /// The seat.
        seat: SeatId,
        /// Which of its agents.
        life: u32,
        /// The agent.
        name: String,
        /// Why not.
        result: Result<(), String>,
    },
    /// A list was made, or not.
    Listed {
        /// The step.
        step: usize,
        /// Its name.
        name: String,
        /// The list, or why there is none.
        items: Result<Vec<Value>, String>,
    },
    /// Agents were stopped: their last ends.
    Stopped(Vec<(String, SiblingEnd)>),
}

/// The news of an errand whose worker died.
pub(super) fn broken_off(job: Job, cause: &str) -> News {
    let Job { seat, name, errand } = job;
    let cause = format!("the work for {name} broke off: {cause}");
    let (seat, life) = seat.unwrap_or_default();
    match errand {
        Errand::Start { .. } | Errand::Say { .. } => {
            News::Ended { seat, life, end: Box::new(without_agent(failure(cause))), name, patch: None }
        }
        Errand::Run { .. } => News::Ran { seat, life, name, passed: false, output: cause },
        Errand::Merge => News::Merged { seat, life, name, result: Err(cause) },
        Errand::List { step, .. } => News::Listed { step, name, items: Err(cause) },
        Errand::Stop | Errand::StopAll => News::Stopped(Vec::new()),
    }
}

/// The worker.
pub struct ErrandWorker;

impl Actor for ErrandWorker {
    type Msg = Box<Job>;
    type State = (Family, Addr<TeamMsg>);
    type Arguments = (Family, Addr<TeamMsg>);

    async fn pre_start(&self, _: ActorRef<Box<Job>>, args: Self::Arguments) -> Result<Self::State, ActorProcessingErr> {
        Ok(args)
    }

    async fn handle(
        &self,
        myself: ActorRef<Box<Job>>,
        job: Box<Job>,
        (family, team): &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        let news = done(family, *job).await;
        team.tell(TeamMsg::News(myself.get_id(), Box::new(news)));
        myself.stop(None);
        Ok(())
    }
}

async fn done(family: &Family, job: Job) -> News {
    let Job { seat, name, errand } = job;
    let (seat, life) = seat.unwrap_or_default();
    match errand {
        Errand::Start { spec, after } => {
            tokio::time::sleep(after).await;
            let (end, patch) = ended(started(family, &name, *spec).await).await;
            News::Ended { seat, life, name, end, patch }
        }
        Errand::Say { text } => {
            let (end, patch) = ended(said(family, &name, &text).await).await;
            News::Ended { seat, life, name, end, patch }
        }
        Errand::Run { command, time } => {
            let (passed, output) = match ran(&place_of(family, &name), &command, time).await {
                Ok(ran) => ran,
                Err(problem) => (false, problem),
            };
            News::Ran { seat, life, name, passed, output }
        }
        Errand::Merge => {
            let result = match family.merge(&name).await {
                Ok(merged) if merged.conflicts.is_empty() => Ok(()),
                Ok(merged) => Err(format!("conflicts in {}", merged.conflicts.join(", "))),
                Err(error) => Err(error.to_string()),
            };
            News::Merged { seat, life, name, result }
        }
        Errand::List { step, source } => {
            News::Listed { step, name, items: listed(family.agent().config.as_ref(), source).await }
        }
        Errand::Stop => News::Stopped(stopped(family, &[&name]).await),
        Errand::StopAll => News::Stopped(stopped(family, &[]).await),
    }
}

async fn started(family: &Family, name: &str, spec: SiblingSpec) -> Result<SiblingEnd, SiblingError> {
    let mut tries = TRIES;
    loop {
        match family.spawn(spec.clone()).await {
            Ok(_) => return end_of(family, name, 1).await,
            Err(SiblingError::Lost) if tries > 0 => tries -= 1,
            Err(error) => return Err(error),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn said(family: &Family, name: &str, text: &str) -> Result<SiblingEnd, SiblingError> {
    // Said once: a message that was lost may have been heard.
    let receipt = family.send(name, text, SendMode::FollowUp).await?;
    match receipt.task() {
        Some(task) => end_of(family, name, task).await,
        None => Err(SiblingError::Refused(format!("{name} did not take its task: it is {}", receipt.word()))),
    }
}

/// Waits for the end of a task. Asking again does no harm.
async fn end_of(family: &Family, name: &str, task: u32) -> Result<SiblingEnd, SiblingError> {
    let mut tries = TRIES;
    loop {
        match family.end_of(name, task, ONE_WAIT).await {
            Err(SiblingError::Late { .. }) => tries = TRIES,
            Err(SiblingError::Lost) if tries > 0 => {
                tries -= 1;
                tokio::time::sleep(AGAIN).await;
            }
            other => return other,
        }
    }
}

/// The end, and what was changed.
async fn ended(result: Result<SiblingEnd, SiblingError>) -> (Box<SiblingEnd>, Option<String>) {
    let end = result.unwrap_or_else(|error| without_agent(refusal(&error)));
    let patch = match &end.patch {
        Some(patch) => Some(patch_text(PathBuf::from(&patch.file)).await),
        None => None,
    };
    (Box::new(end), patch)
}

async fn patch_text(file: PathBuf) -> String {
    match tokio::fs::read(&file).await {
        Ok(bytes) => String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_PATCH)]).into_owned(),
        Err(error) => format!("[the patch {} cannot be read: {error}]", file.display()),
    }
}

/// What a refusal of the fleet comes to: a limit that was reached before an agent began, or a failure.
fn refusal(error: &SiblingError) -> Outcome {
    let message = error.to_string();
    let limit = match error {
        SiblingError::Budget { what, .. } => LIMITS.into_iter().find(|kind| kind.word() == *what),
        SiblingError::Total { .. } => Some(BudgetKind::Spawns),
        _ => None,
    };
    match limit {
        Some(what) => Outcome::Budget { what, message },
        None => failure(message),
    }
}

fn failure(message: String) -> Outcome {
    Outcome::Failed { message, may_pass: false }
}

fn without_agent(outcome: Outcome) -> SiblingEnd {
    SiblingEnd {
        // There may be no agent; whoever hears of it knows it by its name.
        id: SiblingId::root(),
        task: 1,
        outcome,
        text: String::new(),
        truncated: false,
        usage: Usage::default(),
        model: None,
        session_file: None,
        patch: None,
    }
}

/// Stops agents. Of a worktree the patch stays: branches of all runs would fill the repository.
async fn stopped(family: &Family, names: &[&str]) -> Vec<(String, SiblingEnd)> {
    let ends = family.stop(names, "the team does not need it any more", STOP_GRACE, WorktreeFate::Drop).await;
    let named = |end: SiblingEnd| {
        let status = family.status().into_iter().find(|status| status.id == end.id);
        (status.and_then(|status| status.name).unwrap_or_else(|| end.id.to_string()), end)
    };
    match ends {
        Ok(ends) => ends.into_iter().map(named).collect(),
        Err(error) => {
            tracing::warn!(%error, "agents of a team were not stopped in order");
            Vec::new()
        }
    }
}

/// What commands about an agent run with: its own folder, the walls around it.
struct Workplace {
    config: AgentConfig,
}

fn place_of(family: &Family, name: &str) -> Result<Workplace, String> {
    let root = family.agent();
    let status = family.status().into_iter().find(|status| status.name.as_deref() == Some(name));
    let worktree = status.and_then(|status| status.worktree);
    let config = match (worktree, &root.kin.start.maker) {
        (None, _) => AgentConfig::clone(&root.config),
        (Some(folder), Some(maker)) => maker.config_in(&root.config, &PathBuf::from(folder))?,
        (Some(folder), None) => return Err(format!("commands cannot run in {folder} here")),
    };
    Ok(Workplace { config })
}

/// Runs a shell command; whether it succeeded, and what it printed.
async fn ran(place: &Result<Workplace, String>, command: &str, time: Duration) -> Result<(bool, String), String> {
    let Workplace { config } = place.as_ref().map_err(Clone::clone)?;
    let cancel = CancellationToken::new();
    let ran = user_bash::run_within(time, &*config.operations, command, &config.cwd, &config.facts, &cancel).await;
    let (result, timed_out) = ran.map_err(|error| format!("`{command}` did not run: {error}"))?;
    if timed_out {
        return Ok((false, format!("{}\n[not done after {} s]", result.output, time.as_secs())));
    }
    if result.truncated {
        return Ok((result.exit_code == Some(0), format!("[cut: only the end is shown]\n{}", result.output)));
    }
    Ok((result.exit_code == Some(0), result.output))
}

async fn listed(config: &AgentConfig, source: ItemSource) -> Result<Vec<Value>, String> {
    match source {
        ItemSource::Files(globs) => files(config, &globs).await,
        ItemSource::Lines(path) => {
            let full = config.cwd.join(&path);
            let read = async {
                let mut reader = config.operations.open(&full).await?;
                read_all(reader.as_mut()).await
            };
            let bytes = read.await.map_err(|error| format!("{path} cannot be read: {error}"))?;
            Ok(lines(&String::from_utf8_lossy(&bytes)))
        }
        ItemSource::Command(command) => {
            let place = Ok(Workplace { config: config.clone() });
            match ran(&place, &command, LIST_TIME).await? {
                (true, output) if output.starts_with("[cut: ") => {
                    Err(format!("`{command}` prints too much for a list"))
                }
                (true, output) => Ok(lines(&output)),
                (false, output) => {
                    Err(format!("`{command}` failed: {}", output.trim_end().lines().next_back().unwrap_or_default()))
                }
            }
        }
        ItemSource::Output(_) | ItemSource::List(_) => Ok(Vec::new()),
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(Value::from).collect()
}

/// Files that match one of the globs, each once, in the order of the globs.
async fn files(config: &AgentConfig, globs: &[String]) -> Result<Vec<Value>, String> {
    let mut found: Vec<String> = Vec::new();
    for glob in globs {
        let query = FindQuery { pattern: glob.clone(), root: config.cwd.clone(), limit: MOST_FILES };
        let hits = config.operations.find(query, CancellationToken::new()).await.map_err(|error| error.to_string())?;
        for path in hits.paths.into_iter().filter(|path| !path.ends_with('/')) {
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    Ok(found.into_iter().map(Value::from).collect())
}
