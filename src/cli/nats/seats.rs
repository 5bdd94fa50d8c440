//! Agents of a team on the nodes of a server: each is a run of its own, whose prompts are the agent's tasks.

mod words;

use std::{
    collections::BTreeSet,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep, timeout},
};

pub use self::words::SeatWords;
use super::{
    address::{Client, address},
    args::POOL,
    flags::NatsFlags,
    followed::Followed,
    record::{Ended, Holder, RESULT, SPEC, STATE, Standing, Submitted},
    request::requested,
    stop::stop,
};
use crate::{
    actors::{
        front::{
            complain,
            unattended::{outcome::Outcome as RunOutcome, progress, task::Message},
        },
        nats::{Hub, Limits, NatsError, SessionLog},
        team::driver::{Assignment, Doing, Elsewhere},
    },
    cli::{env::Environment, exit::Exit, runs::spec::with_ids, start::StartError},
    protocol::{
        AgentMessage, ModelRef, Usage,
        command::Input,
        sibling::{BudgetKind, Outcome, SiblingEnd, SiblingError, SiblingId},
        time::now_ms,
    },
    store::{SessionStore, paths::create_private_dir},
};

/// A task that nobody has taken for so long is told of, and again after each further such time.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long an agent that was stopped may take to end, beyond the grace of its run.
const STOP_TIME: Duration = Duration::from_secs(20);

/// The nodes of a server, as a team sees them.
pub struct Seats {
    /// The server.
    pub client: Client,
    /// Whose nodes take the agents.
    pub pool: String,
    /// What the ids of the agents' runs begin with.
    pub team: String,
    /// Where the sessions of the agents are brought.
    pub sessions: PathBuf,
    /// How agents are started.
    pub words: SeatWords,
    /// What runs are made in.
    pub environment: Environment,
    /// Tell on standard error where agents work.
    pub is_told: bool,
    /// Those that do something.
    busy: Mutex<BTreeSet<String>>,
}

impl fmt::Debug for Seats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seats").field("on", &self.client.shown).field("team", &self.team).finish_non_exhaustive()
    }
}

impl Elsewhere for Seats {
    fn task(&self, task: Assignment) -> Doing<'_, Result<SiblingEnd, SiblingError>> {
        Box::pin(async move {
            self.busy().insert(task.name.clone());
            let ended = self.done(&task).await;
            self.busy().remove(&task.name);
            ended.map_err(|error| SiblingError::Refused(error.to_string()))
        })
    }

    fn stop<'a>(&'a self, name: &'a str) -> Doing<'a, Option<SiblingEnd>> {
        Box::pin(async move {
            self.stopped(name).await.unwrap_or_else(|error| {
                complain(&format!("Warning: {name} could not be stopped: {error}"));
                None
            })
        })
    }

    fn stop_all(&self) -> Doing<'_, Vec<(String, SiblingEnd)>> {
        Box::pin(async move {
            let names: Vec<String> = self.busy().iter().cloned().collect();
            let all = names.iter().map(async |name| self.stop(name).await.map(|end| (name.clone(), end)));
            futures_util::future::join_all(all).await.into_iter().flatten().collect()
        })
    }
}

impl Seats {
    /// The nodes of a server for the team whose runs' ids begin with `team`.
    ///
    /// # Errors
    /// The server cannot be used.
    pub async fn connect(
        environment: &Environment,
        flags: &NatsFlags,
        pool: Option<String>,
        team: String,
        words: SeatWords,
    ) -> Result<Self, StartError> {
        let address = address(environment, flags).map_err(StartError::of)?;
        let hub = Hub::connect(&address, "troupe team", Limits::default()).await.map_err(StartError::of)?;
        Ok(Self {
            client: Client { hub, shown: address.shown() },
            pool: pool.unwrap_or_else(|| POOL.to_owned()),
            team,
            sessions: environment.cwd.clone(),
            words,
            environment: environment.clone(),
            is_told: false,
            busy: Mutex::default(),
        })
    }

    fn busy(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_of(&self, name: &str) -> String {
        format!("{}.{name}", self.team)
    }

    async fn done(&self, task: &Assignment) -> Result<SiblingEnd, NatsError> {
        let run = self.run_of(&task.name);
        let submitted = self.given(&run, task).await?;
        let ended = self.followed(&task.name, &submitted).await;
        self.end(&task.name, task.number, &submitted, ended).await
    }

    /// Gives an agent its task, unless it has it; the request whose end is the task's.
    async fn given(&self, run: &str, task: &Assignment) -> Result<Submitted, NatsError> {
        let first = || {
            let spec = self.words.run(&self.environment, run, &self.client.shown, task);
            let spec = spec.map_err(|cause| refused(run, cause))?;
            Ok(Submitted { number: 1, pool: self.pool.clone(), at: now_ms(), spec })
        };
        let next = |known: &Submitted, ended: Option<&Ended>| {
            next_request(known, ended, task).map_err(|cause| refused(run, cause))
        };
        match requested(&self.client.hub, run, first, next).await? {
            Some(requested) => Ok(requested.submitted),
            None => Err(refused(run, "another process goes on with the same team".to_owned())),
        }
    }

    /// Waits for the end of a request, and tells where it works.
    async fn followed(&self, name: &str, submitted: &Submitted) -> Ended {
        let (hub, run, number) = (&self.client.hub, &submitted.spec.id, submitted.number);
        let mut results: Followed<Ended> = Followed::of(hub, run, RESULT);
        let mut standings: Followed<Standing> = Followed::of(hub, run, STATE);
        let (mut holder, mut reminder) = (Holder::default(), Instant::now() + PATIENCE);
        loop {
            tokio::select! {
                ended = results.next() => match ended {
                    Some(ended) if ended.number >= number => return ended,
                    _ => {}
                },
                standing = standings.next() => {
                    if let Some((term, was_taken)) = holder.news(&standing.unwrap_or_default(), number) {
                        let over = if was_taken { "goes on" } else { "works" };
                        self.tell(&format!("{name} {over} on worker {}", term.node));
                    }
                }
                () = sleep(reminder.saturating_duration_since(Instant::now())), if !holder.is_known() => {
                    reminder = Instant::now() + PATIENCE;
                    self.tell(&format!("{name} waits for a worker of the pool {}", submitted.pool));
                }
            }
        }
    }

    async fn stopped(&self, name: &str) -> Result<Option<SiblingEnd>, NatsError> {
        let (hub, run) = (&self.client.hub, self.run_of(name));
        let Some(submitted) = hub.get::<Submitted>(&run, SPEC).await?.map(|record| record.value) else {
            return Ok(None);
        };
        if submitted.end(hub).await?.is_some() {
            return Ok(None);
        }
        stop(&self.client, &submitted, Exit::Terminated).await.map_err(|error| refused(&run, error.to_string()))?;
        let grace = submitted.spec.supervision.grace + STOP_TIME;
        let Ok(ended) = timeout(grace, self.followed(name, &submitted)).await else { return Ok(None) };
        let number = u32::try_from(submitted.spec.prompts.len()).unwrap_or(u32::MAX);
        self.end(name, number, &submitted, ended).await.map(Some)
    }

    fn tell(&self, text: &str) {
        if self.is_told {
            complain(text);
        }
    }

    /// The end of a task, with its session brought here.
    async fn end(&self, name: &str, task: u32, submitted: &Submitted, ended: Ended) -> Result<SiblingEnd, NatsError> {
        let brought = self.brought(name, submitted).await?;
        let result = ended.result;
        let told = match brought {
            Some(path) => {
                let first = Message::Prompt(task.saturating_sub(1) as usize).id(&submitted.spec.stem);
                spawn_blocking(move || Told::of(&path, &first)).await.unwrap_or_default()
            }
            None => Told::default(),
        };
        let text = result.answer.unwrap_or_default();
        Ok(SiblingEnd {
            // Whoever hears of it knows it by its name.
            id: SiblingId::root().child(1),
            task,
            outcome: outcome(result.outcome, result.reason.unwrap_or_default()),
            text,
            truncated: false,
            usage: told.usage,
            model: told.model,
            session_file: told.file.map(|file| file.display().to_string()),
            patch: None,
        })
    }

    /// Brings the session of a run here; its file, when it has one.
    async fn brought(&self, name: &str, submitted: &Submitted) -> Result<Option<PathBuf>, NatsError> {
        let disk = |error: io::Error| NatsError::Disk {
            action: format!("bring the session of {name} to {}", self.sessions.display()),
            cause: error.to_string(),
        };
        create_private_dir(&self.sessions).map_err(|error| disk(io::Error::other(error)))?;
        let folder = tempfile::tempdir_in(&self.sessions).map_err(disk)?;
        if !SessionLog::restore(&self.client.hub, &submitted.spec.id, folder.path()).await? {
            return Ok(None);
        }
        let target = self.sessions.join(format!("{name}.jsonl"));
        let from = folder.path().to_owned();
        let moved = spawn_blocking(move || bring(&from, &target)).await;
        moved.map_err(io::Error::other).and_then(|moved| moved).map_err(disk)
    }
}

/// Puts the last session in `from` at `target`.
fn bring(from: &Path, target: &Path) -> io::Result<Option<PathBuf>> {
    let files = from.read_dir()?.flatten().map(|entry| entry.path());
    let Some(last) = files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).max() else {
        return Ok(None);
    };
    std::fs::rename(last, target)?;
    Ok(Some(target.to_owned()))
}

/// What a session tells of a task.
#[derive(Default)]
struct Told {
    usage: Usage,
    model: Option<ModelRef>,
    file: Option<PathBuf>,
}

impl Told {
    fn of(path: &Path, first: &crate::protocol::EntryId) -> Self {
        let file = Some(path.to_owned());
        let opened = match SessionStore::open_read_only(path) {
            Ok(opened) => opened,
            Err(error) => {
                tracing::warn!(%error, "the session of an agent that worked elsewhere cannot be read");
                return Self { file, ..Self::default() };
            }
        };
        let tree = opened.store.view();
        let model = tree.last_message(|message| match message {
            AgentMessage::Assistant(answer) => {
                Some(ModelRef { provider: answer.provider.clone(), model_id: answer.model.clone() })
            }
            _ => None,
        });
        Self { usage: progress::spent(&tree, first).usage, model, file }
    }
}

fn refused(run: &str, cause: String) -> NatsError {
    NatsError::Failed { action: format!("have {run} work elsewhere"), cause }
}

/// The request by which an agent gets a task; none when the latest one is it. `ended` is the end of the latest one.
///
/// # Errors
/// It cannot get this task now.
fn next_request(known: &Submitted, ended: Option<&Ended>, task: &Assignment) -> Result<Option<Submitted>, String> {
    let next = |prompts: Vec<Input>| {
        let mut next = known.clone();
        next.spec.prompts = with_ids(prompts, &known.spec.stem);
        Ok(Some(Submitted { number: known.number + 1, at: now_ms(), ..next }))
    };
    let given = known.spec.prompts.len();
    let wanted = task.number as usize;
    if given + 1 == wanted {
        return match ended {
            Some(_) => next([known.spec.prompts.clone(), vec![words::prompt(&task.text)]].concat()),
            None => Err(format!("{} has not ended its task before", task.name)),
        };
    }
    if given != wanted {
        return Err(format!("{} has had {given} tasks, and this would be the {wanted}.", task.name));
    }
    match ended {
        Some(ended) if task.is_taken_up && ended.result.outcome == RunOutcome::Cancelled => {
            next(known.spec.prompts.clone())
        }
        _ => Ok(None),
    }
}

/// How a task ended, as a team sees it.
fn outcome(of_run: RunOutcome, reason: String) -> Outcome {
    let message = match reason.is_empty() {
        true => of_run.told().to_owned(),
        false => format!("{}: {reason}", of_run.told()),
    };
    let budget = |what, message| Outcome::Budget { what, message };
    match of_run {
        RunOutcome::Done => Outcome::Done,
        RunOutcome::TurnLimit => budget(BudgetKind::Turns, message),
        RunOutcome::CostLimit => budget(BudgetKind::Cost, message),
        RunOutcome::TokenLimit => budget(BudgetKind::Tokens, message),
        RunOutcome::TimeLimit => budget(BudgetKind::Seconds, message),
        RunOutcome::Cancelled | RunOutcome::TakenOver => Outcome::Stopped { message },
        RunOutcome::GaveUp | RunOutcome::NotSaved => Outcome::Failed { message, may_pass: true },
        RunOutcome::Failed
        | RunOutcome::Denied
        | RunOutcome::VerificationFailed
        | RunOutcome::SchemaNotMet
        | RunOutcome::NoChange => Outcome::Failed { message, may_pass: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cli::runs::{result::RunResult, spec::RunSpec},
        protocol::sibling::Budget,
    };

    fn submitted(number: u32, prompts: usize) -> Submitted {
        let prompts = with_ids((0..prompts).map(|n| Input::text(format!("t{n}"))).collect(), "s");
        Submitted { number, pool: "p".into(), at: 0, spec: RunSpec { prompts, ..RunSpec::nothing("r") } }
    }

    fn task(number: u32, is_taken_up: bool) -> Assignment {
        let (spec, budget) = (None, Budget::default());
        Assignment { name: "a".into(), number, text: "new".into(), spec, budget, is_taken_up }
    }

    #[test]
    fn an_agent_gets_each_task_once_and_goes_on_with_one_that_was_stopped() {
        let ended = |number, outcome| Some(Ended { number, epoch: 1, node: None, result: RunResult::nothing(outcome) });
        let (done, cancelled) = (RunOutcome::Done, RunOutcome::Cancelled);
        let table = [
            ("it works on it", submitted(1, 1), None, task(1, false), "there"),
            ("it has done it", submitted(1, 1), ended(1, done), task(1, true), "there"),
            ("the next one", submitted(1, 1), ended(1, done), task(2, false), "request 2, 2 tasks"),
            ("the next one is given", submitted(2, 2), ended(1, done), task(2, false), "there"),
            ("the one before runs", submitted(2, 1), ended(1, done), task(2, false), "wrong"),
            ("one is left out", submitted(1, 1), ended(1, done), task(3, false), "wrong"),
            ("one that was stopped", submitted(1, 1), ended(1, cancelled), task(1, true), "request 2, 1 tasks"),
            ("the same, by this team", submitted(1, 1), ended(1, cancelled), task(1, false), "there"),
            ("it goes on", submitted(2, 1), ended(1, cancelled), task(1, true), "there"),
        ];
        for (what, known, ended, task, wanted) in table {
            let found = match next_request(&known, known.end_in(ended).as_ref(), &task) {
                Ok(None) => "there".to_owned(),
                Err(_) => "wrong".to_owned(),
                Ok(Some(next)) => {
                    let ids: BTreeSet<_> = next.spec.prompts.iter().map(|prompt| prompt.op.clone()).collect();
                    assert_eq!(ids.len(), next.spec.prompts.len());
                    assert!(known.spec.prompts.iter().zip(&next.spec.prompts).all(|(a, b)| a == b), "{what}");
                    format!("request {}, {} tasks", next.number, ids.len())
                }
            };
            assert_eq!(found, wanted, "{what}");
        }
    }

    #[test]
    fn each_outcome_of_a_run_is_one_of_an_agent() {
        for of_run in RunOutcome::ALL {
            let of_agent = outcome(of_run, "why".into());
            assert_eq!(of_agent.is_done(), of_run == RunOutcome::Done);
            assert!(of_agent.is_done() || of_agent.message().ends_with(": why"), "{of_agent:?}");
        }
    }
}
