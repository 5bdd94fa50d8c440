//! Runs a plan: [`Team`] is the actor that feeds the plan and carries out what it says, an [`errand`] is a worker that does
//! one thing and waits for it, [`TeamFactory`] starts them in the place of a front.
//!
//! The agents are siblings below a root agent that is never asked anything: its session notes who was spawned and how
//! they ended, its account is the team's.

mod errand;
mod factory;
mod specs;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::time::Instant;

pub use factory::TeamFactory;

use self::errand::{Errand, ErrandWorker, Job, News};
use super::{
    file::TeamFile,
    plan::{Effect, Given, Input, Outcome, Plan, SeatId},
    result::{
        TeamResult,
        ledger::Ledger,
        timeline::{SpanKind, Timeline},
    },
};
use crate::{
    actors::{
        address::{Addr, Recipient},
        fleet::family::Family,
        front::{
            complain,
            page::numbers::{cost, duration, grouped},
        },
        spawn::{ended, spawn_worker},
    },
    protocol::{
        ThinkingLevel,
        sibling::{BudgetKind, SiblingEnd},
    },
};

/// A run of a team: what it begins with, and the books that outlive its actors.
pub struct TeamRun {
    /// The team.
    pub team: Arc<TeamFile>,
    /// What the user gave.
    pub given: Given,
    /// Where sessions are written.
    pub sessions: PathBuf,
    /// The model that holds for all roles, whatever the file says.
    pub model: Option<String>,
    /// The same for the thinking level.
    pub thinking: Option<ThinkingLevel>,
    /// Tell on standard error what happens.
    pub is_told: bool,
    books: Mutex<Ledger>,
    begun: Instant,
}

impl TeamRun {
    /// A run that begins now; `result` has what is known of it before.
    #[must_use]
    pub fn new(team: Arc<TeamFile>, given: Given, sessions: PathBuf, result: TeamResult) -> Self {
        Self {
            team,
            given,
            sessions,
            model: None,
            thinking: None,
            is_told: false,
            books: Mutex::new(Ledger::new(result)),
            begun: Instant::now(),
        }
    }

    /// What it did so far. Without an outcome it was broken off for `reason`.
    #[must_use]
    pub fn result(&self, reason: &str) -> (TeamResult, Timeline) {
        self.books().clone().take(self.begun.elapsed(), reason)
    }

    fn books(&self) -> MutexGuard<'_, Ledger> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, text: &str) {
        if self.is_told {
            complain(&format!("[{}] {text}", self.team.name));
        }
    }
}

/// What the team is told.
#[derive(Debug)]
pub enum TeamMsg {
    /// The root agent takes commands, or why it does not.
    Opened(Result<(), String>),
    /// An errand is done; which worker did it.
    News(ActorId, Box<News>),
    /// An errand is gone.
    Gone(ActorId, String),
    /// The team's time is over.
    TimeOver,
}

/// State of the team.
pub struct TeamState {
    run: Arc<TeamRun>,
    plan: Plan,
    family: Family,
    errands: HashMap<ActorId, Job>,
    done: Recipient<i32>,
    /// How it ended, as soon as it has: the exit code.
    code: Option<i32>,
    /// All agents are being stopped.
    stops_all: bool,
}

/// What the team begins with.
pub struct TeamArgs {
    /// The run.
    pub run: Arc<TeamRun>,
    /// The agents below the root.
    pub family: Family,
    /// Who hears of the end.
    pub done: Recipient<i32>,
}

/// The actor.
pub struct Team;

impl Actor for Team {
    type Msg = TeamMsg;
    type State = TeamState;
    type Arguments = TeamArgs;

    async fn pre_start(&self, _: ActorRef<TeamMsg>, args: TeamArgs) -> Result<TeamState, ActorProcessingErr> {
        let TeamArgs { run, family, done } = args;
        let plan = Plan::new(run.team.clone(), run.given.clone());
        Ok(TeamState { run, plan, family, errands: HashMap::new(), done, code: None, stops_all: false })
    }

    async fn handle(
        &self,
        myself: ActorRef<TeamMsg>,
        message: TeamMsg,
        state: &mut TeamState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            TeamMsg::Opened(Ok(())) => {
                state.family.account().limit(specs::team_budget(&state.run.team.budget));
                if let Some(time) = state.run.team.budget.time {
                    myself.send_after(time, || TeamMsg::TimeOver);
                }
                state.feed(&myself, Input::Begin).await;
            }
            TeamMsg::Opened(Err(error)) => {
                state.feed(&myself, Input::Stop(format!("the team did not begin: {error}"))).await;
            }
            TeamMsg::News(worker, news) => {
                state.errands.remove(&worker);
                state.news(&myself, *news).await;
            }
            TeamMsg::Gone(id, cause) => {
                // One that brought its news is not in the list any more.
                if let Some(job) = state.errands.remove(&id) {
                    state.news(&myself, errand::broken_off(job, &cause)).await;
                }
            }
            TeamMsg::TimeOver => {
                let time = state.run.team.budget.time.unwrap_or_default();
                let message = format!("the team had {}", duration(millis(time)));
                state.feed(&myself, Input::Limit { what: BudgetKind::Seconds, message }).await;
            }
        }
        state.close(&myself).await;
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<TeamMsg>,
        event: SupervisionEvent,
        _: &mut TeamState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, exit)) = ended(&event) {
            Addr::of(&myself).tell(TeamMsg::Gone(id, exit.cause().to_owned()));
        }
        Ok(())
    }
}

impl TeamState {
    fn now(&self) -> Duration {
        self.run.begun.elapsed()
    }

    /// Gives the plan an input and carries out what follows.
    async fn feed(&mut self, myself: &ActorRef<TeamMsg>, input: Input) {
        let effects = self.plan.on(self.now(), input);
        for effect in effects {
            self.carry_out(myself, effect).await;
        }
    }

    async fn carry_out(&mut self, myself: &ActorRef<TeamMsg>, effect: Effect) {
        let now = self.now();
        let run = self.run.clone();
        match effect {
            Effect::Start { seat, life, name, task, after } => {
                let role = self.plan.role_of(seat);
                let spec = specs::spec(&run, role, &name, task);
                run.books().started(now, &name, &role.name, self.step_of(seat));
                run.tell(&format!("{name} begins"));
                self.send(
                    myself,
                    Job { seat: Some((seat, life)), name, errand: Errand::Start { spec: Box::new(spec), after } },
                )
                .await;
            }
            Effect::Say { seat, text } => {
                let job = self.job(seat, Errand::Say { text });
                run.books().told(now, &job.name, self.step_of(seat));
                self.send(myself, job).await;
            }
            Effect::Run { seat, command, time } => {
                let job = self.job(seat, Errand::Run { command, time });
                run.books().began(now, &job.name, self.step_of(seat), SpanKind::Command);
                self.send(myself, job).await;
            }
            Effect::Merge { seat } => {
                let job = self.job(seat, Errand::Merge);
                run.books().began(now, &job.name, self.step_of(seat), SpanKind::Merge);
                self.send(myself, job).await;
            }
            Effect::List { step, source } => {
                let name = self.plan.step_name(step).to_owned();
                run.books().began(now, &name, &name, SpanKind::List);
                self.send(myself, Job { seat: None, name, errand: Errand::List { step, source } }).await;
            }
            Effect::Stop { seat, life } => {
                let name = self.plan.seats()[seat].agent_of(life);
                self.send(myself, Job { seat: None, name, errand: Errand::Stop }).await;
            }
            Effect::Finish(outcome) => {
                self.code = Some(i32::from(code_of(&outcome)));
                run.books().over(&self.plan, outcome);
                // Commands end with their workers; how agents end is told by the stop. What is being stopped already is
                // waited for.
                let stops = |job: &Job| matches!(job.errand, Errand::Stop);
                let (kept, dropped): (HashMap<_, _>, _) = self.errands.drain().partition(|(_, job)| stops(job));
                self.errands = kept;
                let dropped: HashMap<ActorId, Job> = dropped;
                let children = myself.get_children();
                children.iter().filter(|child| dropped.contains_key(&child.get_id())).for_each(ractor::ActorCell::kill);
            }
        }
    }

    /// When it is over: stops whoever is still there, after those that are being stopped already (asked twice, the fleet
    /// does not wait for their worktrees), and says so when all are gone.
    async fn close(&mut self, myself: &ActorRef<TeamMsg>) {
        let Some(code) = self.code.filter(|_| self.errands.is_empty()) else { return };
        if !std::mem::replace(&mut self.stops_all, true) {
            let job = Job { seat: None, name: String::new(), errand: Errand::StopAll };
            return self.send(myself, job).await;
        }
        // Nobody takes it: the program is ending already.
        let _ = self.done.deliver(code);
    }

    fn step_of(&self, seat: SeatId) -> &str {
        self.plan.step_name(self.plan.seats()[seat].step)
    }

    fn job(&self, seat: SeatId, errand: Errand) -> Job {
        let now = &self.plan.seats()[seat];
        Job { seat: Some((seat, now.life)), name: now.agent(), errand }
    }

    /// Sends a worker for an errand.
    async fn send(&mut self, myself: &ActorRef<TeamMsg>, job: Job) {
        let args = (self.family.clone(), Addr::of(myself));
        let worker =
            spawn_worker("Errand", job.name.clone(), ErrandWorker, args, Box::new(job.clone()), myself.get_cell())
                .await;
        match worker {
            Ok(worker) => drop(self.errands.insert(worker.id(), job)),
            Err(exit) => {
                let news = errand::broken_off(job, exit.cause());
                Addr::of(myself).tell(TeamMsg::News(myself.get_id(), Box::new(news)));
            }
        }
    }

    /// What an errand brought.
    async fn news(&mut self, myself: &ActorRef<TeamMsg>, news: News) {
        let (now, run) = (self.now(), self.run.clone());
        match news {
            News::Ended { seat, life, name, end, patch } => {
                self.note(&name, &end);
                let SiblingEnd { outcome, text, .. } = *end;
                self.feed(myself, Input::Ended { seat, life, outcome, text, patch }).await;
            }
            News::Ran { seat, life, name, passed, output } => {
                let word = if passed { "done" } else { "failed" };
                run.books().ended(now, &name, SpanKind::Command, word);
                run.tell(&format!("{name}: the command {}", if passed { "succeeded" } else { "failed" }));
                self.feed(myself, Input::Ran { seat, life, passed, output }).await;
            }
            News::Merged { seat, life, name, result } => {
                let word = if result.is_ok() { "done" } else { "failed" };
                run.books().ended(now, &name, SpanKind::Merge, word);
                self.feed(myself, Input::Merged { seat, life, result }).await;
            }
            News::Listed { step, name, items } => {
                run.books().ended(now, &name, SpanKind::List, if items.is_ok() { "done" } else { "failed" });
                self.feed(myself, Input::Listed { step, items }).await;
            }
            News::Stopped(ends) => ends.iter().for_each(|(name, end)| self.note(name, end)),
        }
    }

    /// Notes the end of an agent's task, the first time that it is heard of.
    fn note(&self, name: &str, end: &SiblingEnd) {
        let took = self.run.books().finished(self.now(), name, end);
        let Some(took) = took else { return };
        let mut line = format!(
            "{name} {}, {}, {} tokens",
            end.outcome.word(),
            duration(took),
            grouped(end.usage.context_tokens())
        );
        if end.usage.cost.total > 0.0 {
            line.push_str(&format!(", {}", cost(end.usage.cost.total)));
        }
        if !end.outcome.message().is_empty() {
            line.push_str(&format!(": {}", end.outcome.message()));
        }
        self.run.tell(&line);
    }
}

/// The exit code of an outcome.
#[must_use]
pub fn code_of(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Done(_) => 0,
        Outcome::Failed { .. } | Outcome::Stopped(_) => 1,
        Outcome::Limit { what: BudgetKind::Turns, .. } => 10,
        Outcome::Limit { what: BudgetKind::Seconds, .. } => 12,
        Outcome::Limit { .. } => 11,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
