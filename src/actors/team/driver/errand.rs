//! The worker that does one thing for a team and waits for it: spawns an agent, gives it a task, runs a command.

use std::{path::PathBuf, sync::Arc, time::Duration};

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{
    TeamMsg, TeamRun,
    elsewhere::{Assignment, assigned},
    happening::Happening,
    rejoin::rejoined,
    work::{listed, ran_for, ran_here},
};
use crate::{
    actors::{
        account::Exhausted,
        address::Addr,
        fleet::family::{Family, STOP_GRACE},
        team::{file::ItemSource, plan::SeatId},
    },
    protocol::{
        Usage,
        sibling::{
            Budget, BudgetKind, Outcome, SendMode, SiblingEnd, SiblingError, SiblingId, SiblingSpec, WorktreeFate,
        },
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
/// What a budget may have too little of for another agent.
const LIMITS: [BudgetKind; 5] =
    [BudgetKind::Tokens, BudgetKind::Cost, BudgetKind::Turns, BudgetKind::Seconds, BudgetKind::Spawns];

/// An errand, and whom it is about.
#[derive(Clone, Debug)]
pub struct Job {
    /// The seat and which of its agents; none when the plan does not wait for it.
    pub seat: Option<(SeatId, u32)>,
    /// The agent, or the step.
    pub name: String,
    /// The agent works elsewhere.
    pub is_away: bool,
    /// The number of the last task of the agent that has ended; 0 for none.
    pub ended: u32,
    /// What the agent may use by its role, all its tasks together.
    pub budget: Budget,
    /// What it has used in tasks that have ended, when it works elsewhere.
    pub used: Usage,
    /// What is to be done.
    pub errand: Errand,
}

impl Job {
    /// Ends all agents, also those elsewhere.
    pub fn stop_all(is_away: bool) -> Self {
        let (seat, name, ended, budget, used) = Default::default();
        Self { seat, name, is_away, ended, budget, used, errand: Errand::StopAll }
    }

    /// Whether it ends an agent, or all.
    pub fn stops(&self) -> bool {
        matches!(self.errand, Errand::Stop | Errand::StopAll)
    }
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
    /// Wait for the end of a task that an earlier process may have begun.
    Rejoin {
        /// What is done when none was begun since.
        otherwise: Box<Errand>,
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

/// The news of an errand whose worker died.
pub(super) fn broken_off(job: Job, cause: &str) -> Happening {
    let Job { seat, name, errand, .. } = job;
    let cause = format!("the work for {name} broke off: {cause}");
    let (seat, life) = seat.unwrap_or_default();
    match errand {
        Errand::Start { .. } | Errand::Say { .. } | Errand::Rejoin { .. } => {
            Happening::Ended { seat, life, end: Box::new(without_agent(failure(cause))), name, patch: None }
        }
        Errand::Run { .. } => Happening::Ran { seat, life, name, passed: false, output: cause },
        Errand::Merge => Happening::Merged { seat, life, name, result: Err(cause) },
        Errand::List { step, .. } => Happening::Listed { step, name, items: Err(cause) },
        Errand::Stop => Happening::Stopped { name: Some(name), ends: Vec::new() },
        Errand::StopAll => Happening::Stopped { name: None, ends: Vec::new() },
    }
}

/// Where an errand is done.
#[derive(Clone)]
pub struct ErrandPlace {
    /// The agents of this process.
    pub family: Family,
    /// The run, which knows of other places.
    pub run: Arc<TeamRun>,
    /// Who hears what came of it.
    pub team: Addr<TeamMsg>,
}

/// The worker.
pub struct ErrandWorker;

impl Actor for ErrandWorker {
    type Msg = Box<Job>;
    type State = ErrandPlace;
    type Arguments = ErrandPlace;

    async fn pre_start(&self, _: ActorRef<Box<Job>>, args: Self::Arguments) -> Result<Self::State, ActorProcessingErr> {
        Ok(args)
    }

    async fn handle(
        &self,
        myself: ActorRef<Box<Job>>,
        job: Box<Job>,
        place: &mut ErrandPlace,
    ) -> Result<(), ActorProcessingErr> {
        let id = myself.get_id();
        place.team.tell(match done(place, *job).await {
            Ok(news) => TeamMsg::News(id, Box::new(news)),
            Err(cause) => TeamMsg::Broken(id, cause),
        });
        myself.stop(None);
        Ok(())
    }
}

/// Does an errand.
///
/// # Errors
/// Nobody knows what came of it, and the plan is not to hear of that: why.
async fn done(place: &ErrandPlace, job: Job) -> Result<Happening, String> {
    let family = &place.family;
    let away = place.run.elsewhere.get().filter(|_| job.is_away);
    let (seat, life) = job.seat.unwrap_or_default();
    let (name, before) = (job.name.clone(), job.ended);
    Ok(match job.errand {
        Errand::Start { .. } | Errand::Say { .. } | Errand::Rejoin { .. } => {
            let end = match (away, job.errand.clone()) {
                (Some(elsewhere), errand) => {
                    let task = assignment(job, errand).await?;
                    Ok(assigned(family.account(), &place.run, &**elsewhere, task).await?)
                }
                (None, Errand::Rejoin { otherwise }) => rejoined(family, &name, before, *otherwise).await,
                (None, errand) => task_end(family, &name, errand).await,
            };
            let (mut end, patch) = ended(end).await;
            if away.is_none() {
                end.outcome = for_people(end.outcome, family, &name);
            }
            Happening::Ended { seat, life, name, end, patch }
        }
        Errand::Run { command, time } => {
            let ran = match away {
                // Agents elsewhere work in the same folder, on whatever machine.
                Some(_) => ran_here(family, &command, time).await,
                None => ran_for(family, &name, &command, time).await,
            };
            let (passed, output) = ran.unwrap_or_else(|problem| (false, problem));
            Happening::Ran { seat, life, name, passed, output }
        }
        Errand::Merge => {
            let result = match family.merge(&name).await {
                Ok(merged) if merged.conflicts.is_empty() => Ok(()),
                Ok(merged) => Err(conflicts(family, &name, &merged.conflicts)),
                Err(error) => Err(error.to_string()),
            };
            Happening::Merged { seat, life, name, result }
        }
        Errand::List { step, source } => {
            Happening::Listed { step, name, items: listed(family.agent().config.as_ref(), source).await }
        }
        Errand::Stop => {
            let ends = match away {
                Some(elsewhere) => {
                    place.run.shares.drop_waiting(&name);
                    elsewhere.stop(&name).await.map(|end| (name.clone(), end)).into_iter().collect()
                }
                None => stopped(family, &[&name]).await,
            };
            Happening::Stopped { ends, name: Some(name) }
        }
        Errand::StopAll => {
            let elsewhere = async {
                match away {
                    Some(elsewhere) => elsewhere.stop_all().await,
                    None => Vec::new(),
                }
            };
            let (away, here) = tokio::join!(elsewhere, stopped(family, &[]));
            Happening::Stopped { name: None, ends: [away, here].concat() }
        }
    })
}

/// The next task of an agent that works elsewhere, when its time has come.
async fn assignment(job: Job, errand: Errand) -> Result<Assignment, String> {
    let (errand, is_taken_up) = match errand {
        Errand::Rejoin { otherwise } => (*otherwise, true),
        errand => (errand, false),
    };
    let (spec, text) = match errand {
        Errand::Start { spec, after } => {
            tokio::time::sleep(after).await;
            let text = spec.task.clone();
            (Some(*spec), text)
        }
        Errand::Say { text } => (None, text),
        _ => return Err(no_task().to_string()),
    };
    let Job { name, ended, budget, used, .. } = job;
    Ok(Assignment { name, number: ended + 1, text, spec, budget, used, is_taken_up, is_continued: false })
}

fn no_task() -> SiblingError {
    SiblingError::Refused("this begins no task".to_owned())
}

/// Begins a task and waits for its end.
pub(super) async fn task_end(family: &Family, name: &str, errand: Errand) -> Result<SiblingEnd, SiblingError> {
    match errand {
        Errand::Start { spec, after } => {
            tokio::time::sleep(after).await;
            started(family, name, *spec).await
        }
        Errand::Say { text } => said(family, name, &text).await,
        _ => Err(no_task()),
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

pub(super) async fn said(family: &Family, name: &str, text: &str) -> Result<SiblingEnd, SiblingError> {
    // Said once: a message that was lost may have been heard.
    let receipt = family.send(name, text, SendMode::FollowUp).await?;
    match receipt.task() {
        Some(task) => end_of(family, name, task).await,
        None => Err(SiblingError::Refused(format!("{name} did not take its task: it is {}", receipt.word()))),
    }
}

/// Waits for the end of a task. Asking again does no harm.
pub(super) async fn end_of(family: &Family, name: &str, task: u32) -> Result<SiblingEnd, SiblingError> {
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

/// Why changes were not merged, and where they are.
fn conflicts(family: &Family, name: &str, files: &[String]) -> String {
    let end = family.last_end(name).ok().flatten();
    let patch = end.and_then(|end| end.patch).map(|patch| format!("; the work is in {}", patch.file));
    format!("conflicts in {}{}", files.join(", "), patch.unwrap_or_default())
}

/// An outcome in words for people: those of an agent's budget are for its model, which knows others by their ids.
fn for_people(outcome: Outcome, family: &Family, name: &str) -> Outcome {
    let Outcome::Budget { what, message } = outcome else { return outcome };
    let status = family.status().into_iter().find(|status| status.name.as_deref() == Some(name));
    let owners = status.map(|status| (status.id.to_string(), name)).into_iter();
    let owners = owners.chain([(SiblingId::root().to_string(), "the team")]);
    let message = owners.fold(message, |message, (id, owner)| {
        message.replace(&format!("{id} has used "), &format!("{owner} has used "))
    });
    Outcome::Budget { what, message }
}

/// A refusal of the fleet in words for people: it asks whoever spawns, and a team is changed in its file.
fn refusal_text(error: &SiblingError) -> String {
    match error {
        SiblingError::Budget { left, wanted, .. } => {
            let left = left.replace(&format!(" of {}", SiblingId::root()), " of the team");
            format!("{left} left, {wanted} wanted for the agent: change the budget of its role or of the team")
        }
        SiblingError::Total { limit } => format!("the team may start {limit} agents, and needs another one"),
        error => error.to_string(),
    }
}

/// What a refusal of the fleet comes to: a limit that was reached before an agent began, or a failure.
pub(super) fn refusal(error: &SiblingError) -> Outcome {
    let message = refusal_text(error);
    let limit = match error {
        SiblingError::Budget { what, .. } => LIMITS.into_iter().find(|kind| kind.word() == *what),
        SiblingError::Total { .. } => Some(BudgetKind::Spawns),
        _ => None,
    };
    match (limit, Exhausted::parse(&message)) {
        (Some(what), _) => Outcome::Budget { what, message },
        (None, Some(Exhausted { what, message })) => Outcome::Budget { what, message },
        (None, None) => failure(message),
    }
}

fn failure(message: String) -> Outcome {
    Outcome::Failed { message, may_pass: false }
}

pub(super) fn without_agent(outcome: Outcome) -> SiblingEnd {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_speak_to_whoever_wrote_the_team_file() {
        let budget =
            SiblingError::Budget { what: "tokens", left: "30 tokens of main".into(), wanted: "31 tokens".into() };
        let expected = "30 tokens of the team left, 31 tokens wanted for the agent: change the budget of its role or of \
                        the team";
        assert_eq!(refusal(&budget), Outcome::Budget { what: BudgetKind::Tokens, message: expected.into() });
        let total = refusal(&SiblingError::Total { limit: 3 });
        let expected = "the team may start 3 agents, and needs another one";
        assert_eq!(total, Outcome::Budget { what: BudgetKind::Spawns, message: expected.into() });
    }
}
