//! Agents of a team on the nodes of a server: each is a run of its own, whose prompts are the agent's tasks.

mod error;
mod next;
mod told;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep, sleep_until, timeout},
};

pub use self::words::SeatWords;
use self::{error::SeatError, next::next_request, told::Told};
use super::{
    address::{Client, address},
    args::POOL,
    flags::NatsFlags,
    followed::Followed,
    outage::Outage,
    record::{Ended, Holder, RESULT, SPEC, STATE, STOP, Standing, StopWish, Submitted},
    request::requested,
    stop::stop,
};
use crate::{
    actors::{
        front::{complain, unattended::outcome::Outcome as RunOutcome},
        nats::{Hub, Limits, SessionLog},
        team::driver::{Assignment, Doing, Elsewhere},
    },
    cli::{env::Environment, exit::Exit, start::StartError},
    protocol::{
        Usage,
        sibling::{Budget, BudgetKind, Outcome, SiblingEnd, SiblingId},
        time::now_ms,
    },
    store::paths::create_private_dir,
};

/// A task that nobody has taken for so long is told of, and again after each further such time.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long an agent that was stopped may take to end, beyond the grace of its run.
const STOP_TIME: Duration = Duration::from_secs(20);
/// Between two attempts at something that may work later.
const AGAIN: Duration = Duration::from_secs(2);
/// Between two looks at the connection.
const LOOK: Duration = Duration::from_secs(1);

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
    busy: Mutex<Busy>,
    outage: Mutex<Outage>,
}

/// What agents do.
#[derive(Debug, Default)]
struct Busy {
    /// Those that do something, as far as is known, with what they had used before.
    at_work: BTreeMap<String, Usage>,
    /// Those that this process has stopped.
    stopped: BTreeSet<String>,
}

impl fmt::Debug for Seats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seats").field("on", &self.client.shown).field("team", &self.team).finish_non_exhaustive()
    }
}

impl Elsewhere for Seats {
    fn task(&self, task: Assignment) -> Doing<'_, Result<SiblingEnd, String>> {
        Box::pin(async move {
            self.busy().at_work.insert(task.name.clone(), task.used);
            let ended = self.done(&task).await.map_err(|error| error.to_string());
            if ended.is_ok() {
                self.busy().at_work.remove(&task.name);
            }
            // Otherwise nobody knows what it does: it is stopped with all others.
            ended
        })
    }

    fn allowed<'a>(&'a self, task: &'a Assignment) -> Doing<'a, Result<Option<Budget>, String>> {
        Box::pin(async move {
            self.busy().at_work.insert(task.name.clone(), task.used);
            let run = self.run_of(&task.name);
            let known = self.insist(&task.name, || self.known(&run)).await.map_err(|error| error.to_string())?;
            let has_it = known.filter(|known| known.spec.prompts.len() == task.number as usize);
            let limits = has_it.map(|known| known.spec.limits);
            if limits.is_none() {
                self.busy().at_work.remove(&task.name);
            }
            Ok(limits.map(|limits| Budget { tokens: limits.tokens, cost: limits.cost, ..Budget::default() }))
        })
    }

    fn stop<'a>(&'a self, name: &'a str) -> Doing<'a, Option<SiblingEnd>> {
        Box::pin(async move {
            self.busy().stopped.insert(name.to_owned());
            match self.stopped(name).await {
                Ok(end) => {
                    self.busy().at_work.remove(name);
                    end
                }
                Err(error) => {
                    complain(&format!("Warning: {name} could not be stopped: {error}"));
                    // That is tried again when all are stopped.
                    self.busy().at_work.entry(name.to_owned()).or_default();
                    None
                }
            }
        })
    }

    fn stop_all(&self) -> Doing<'_, Vec<(String, SiblingEnd)>> {
        Box::pin(async move {
            let names: Vec<String> = self.busy().at_work.keys().cloned().collect();
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
            client: Client::new(hub, &address),
            pool: pool.unwrap_or_else(|| POOL.to_owned()),
            team,
            sessions: environment.cwd.clone(),
            words,
            environment: environment.clone(),
            is_told: false,
            busy: Mutex::default(),
            outage: Mutex::default(),
        })
    }

    /// What tells the server that has the agents from all others.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn store_id(&self) -> Result<String, StartError> {
        self.client.hub.store_id().await.map_err(StartError::of)
    }

    fn busy(&self) -> MutexGuard<'_, Busy> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells that the connection is lost, or there again: once, whoever waits.
    fn look(&self) {
        let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
        outage.look(&self.client, "Agents work on.");
    }

    fn is_stopped(&self, name: &str) -> bool {
        self.busy().stopped.contains(name)
    }

    fn run_of(&self, name: &str) -> String {
        format!("{}.{name}", self.team)
    }

    /// Tries again what may work later: a server that is away comes back, and the agent works on meanwhile.
    async fn insist<T, F>(&self, name: &str, attempt: impl FnMut() -> F) -> Result<T, SeatError>
    where
        F: Future<Output = Result<T, SeatError>>,
    {
        insist(attempt, |told| complain(&format!("{name}: {told}"))).await
    }

    async fn done(&self, task: &Assignment) -> Result<SiblingEnd, SeatError> {
        let (name, run) = (&task.name, self.run_of(&task.name));
        // The wish of an earlier process to stop it was for the end of that process.
        let mut outlived = task.is_taken_up && self.insist(name, || self.wish(&run)).await?.is_some();
        if outlived {
            self.insist(name, || self.forget_wish(&run)).await?;
        }
        loop {
            let submitted = self.insist(name, || self.given(&run, task)).await?;
            if self.is_stopped(name) {
                // Whoever wanted that may not have seen the request.
                self.insist(name, || self.wish_to_stop(&submitted)).await?;
            }
            let ended = self.followed(name, &submitted).await?;
            let by_others = ended.result.outcome == RunOutcome::Cancelled && !self.is_stopped(name);
            if by_others && std::mem::take(&mut outlived) {
                continue;
            }
            return self.insist(name, || self.end(task, &submitted, &ended)).await;
        }
    }

    /// What is known of a run.
    async fn known(&self, run: &str) -> Result<Option<Submitted>, SeatError> {
        Ok(self.client.hub.get(run, SPEC).await?.map(|record| record.value))
    }

    /// The wish to stop a run that is there.
    async fn wish(&self, run: &str) -> Result<Option<StopWish>, SeatError> {
        Ok(self.client.hub.get(run, STOP).await?.map(|record| record.value))
    }

    async fn forget_wish(&self, run: &str) -> Result<(), SeatError> {
        Ok(self.client.hub.delete(run, STOP).await?)
    }

    async fn wish_to_stop(&self, submitted: &Submitted) -> Result<(), SeatError> {
        stop(&self.client, submitted, Exit::Terminated).await?;
        Ok(())
    }

    /// Gives an agent its task, unless it has it; the request whose end is the task's.
    async fn given(&self, run: &str, task: &Assignment) -> Result<Submitted, SeatError> {
        let first = || {
            let spec = self.words.run(&self.environment, run, &self.client.typed, task);
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
    async fn followed(&self, name: &str, submitted: &Submitted) -> Result<Ended, SeatError> {
        let (hub, run, number) = (&self.client.hub, &submitted.spec.id, submitted.number);
        let mut results: Followed<Ended> = Followed::of(hub, run, RESULT);
        let mut standings: Followed<Standing> = Followed::of(hub, run, STATE);
        let (mut holder, mut reminder) = (Holder::default(), Instant::now() + PATIENCE);
        loop {
            tokio::select! {
                ended = results.try_next() => match ended? {
                    Some(ended) if ended.number >= number => return Ok(ended),
                    _ => {}
                },
                standing = standings.try_next() => {
                    if let Some((term, was_taken)) = holder.news(&standing?.unwrap_or_default(), number) {
                        let over = if was_taken { "goes on" } else { "works" };
                        self.tell(&format!("{name} {over} on worker {}", term.node));
                    }
                }
                () = sleep(LOOK) => self.look(),
                () = sleep_until(reminder), if !holder.is_known() => {
                    reminder = Instant::now() + PATIENCE;
                    self.tell(&format!("{name} waits for a worker of the pool {}", submitted.pool));
                }
            }
        }
    }

    async fn stopped(&self, name: &str) -> Result<Option<SiblingEnd>, SeatError> {
        let run = self.run_of(name);
        let Some(submitted) = self.known(&run).await? else { return Ok(None) };
        if submitted.end(&self.client.hub).await?.is_some() {
            return Ok(None);
        }
        self.wish_to_stop(&submitted).await?;
        let grace = submitted.spec.supervision.grace + STOP_TIME;
        let Ok(ended) = timeout(grace, self.followed(name, &submitted)).await else { return Ok(None) };
        let number = u32::try_from(submitted.spec.prompts.len()).unwrap_or(u32::MAX);
        let used = self.busy().at_work.get(name).copied().unwrap_or_default();
        self.ended(name, number, &used, &submitted, &ended?).await.map(Some)
    }

    fn tell(&self, text: &str) {
        if self.is_told {
            complain(text);
        }
    }

    async fn end(&self, task: &Assignment, submitted: &Submitted, ended: &Ended) -> Result<SiblingEnd, SeatError> {
        self.ended(&task.name, task.number, &task.used, submitted, ended).await
    }

    /// The end of a task, with its session brought here. `used` is what the agent used before it.
    async fn ended(
        &self,
        name: &str,
        task: u32,
        used: &Usage,
        submitted: &Submitted,
        ended: &Ended,
    ) -> Result<SiblingEnd, SeatError> {
        let told = self.brought(name, submitted).await?;
        let result = &ended.result;
        Ok(SiblingEnd {
            // Whoever hears of it knows it by its name.
            id: SiblingId::root().child(1),
            task,
            outcome: outcome(result.outcome, result.reason.clone().unwrap_or_default()),
            text: result.answer.clone().unwrap_or_default(),
            truncated: false,
            // A result that was made without a session tells of no use.
            usage: told.usage.unwrap_or(result.usage).without(used),
            model: told.model,
            session_file: told.file.map(|file| file.display().to_string()),
            patch: None,
        })
    }

    /// Brings the session of a run here, when it has one.
    async fn brought(&self, name: &str, submitted: &Submitted) -> Result<Told, SeatError> {
        let disk = |source: io::Error| SeatError::Session { name: name.to_owned(), source };
        create_private_dir(&self.sessions).map_err(|error| disk(io::Error::other(error)))?;
        let folder = tempfile::tempdir_in(&self.sessions).map_err(disk)?;
        if !SessionLog::restore(&self.client.hub, &submitted.spec.id, folder.path()).await? {
            return Ok(Told::default());
        }
        let (target, spec) = (self.sessions.join(format!("{name}.jsonl")), submitted.spec.clone());
        let brought = spawn_blocking(move || Told::bring(folder.path(), &target, &spec)).await;
        brought.map_err(io::Error::other).and_then(|brought| brought).map_err(disk)
    }
}

/// Tries something until it works, or fails in a way that does not pass; that it is tried again is told once.
async fn insist<T, F>(mut attempt: impl FnMut() -> F, tell: impl Fn(&str)) -> Result<T, SeatError>
where
    F: Future<Output = Result<T, SeatError>>,
{
    let mut is_told = false;
    loop {
        match attempt().await {
            Err(error) if error.may_pass() => {
                if !std::mem::replace(&mut is_told, true) {
                    tell(&format!("{error}. Trying again; the agent goes on."));
                }
                sleep(AGAIN).await;
            }
            other => {
                if is_told && other.is_ok() {
                    tell("it works again.");
                }
                return other;
            }
        }
    }
}

fn refused(run: &str, cause: String) -> SeatError {
    SeatError::Refused { run: run.to_owned(), cause }
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
    use std::cell::RefCell;

    use super::*;
    use crate::actors::nats::NatsError;

    #[tokio::test(start_paused = true)]
    async fn what_may_work_later_is_tried_again_as_long_as_it_takes_and_told_once() {
        let away = || SeatError::from(NatsError::Failed { action: "x".into(), cause: "away".into() });
        let told = RefCell::new(Vec::new());
        let tell = |text: &str| told.borrow_mut().push(text.to_owned());
        let mut left = 1000;
        let attempt = || {
            left -= 1;
            std::future::ready(if left == 0 { Ok("there") } else { Err(away()) })
        };
        assert_eq!(insist(attempt, tell).await.unwrap(), "there");
        let wanted = ["cannot x: away. Trying again; the agent goes on.", "it works again."];
        assert_eq!(told.take(), wanted);
        let unreadable = || SeatError::from(NatsError::Unreadable { what: "x".into(), cause: "y".into() });
        let failed = insist(|| std::future::ready(Err::<(), _>(unreadable())), tell).await;
        assert!(failed.is_err() && told.take().is_empty(), "it does not get better");
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
