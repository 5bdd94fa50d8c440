//! Runs a plan: [`Team`] is the actor that notes what happened and carries out what follows, a [`course`] knows what that
//! is, an [`errand`] is a worker that does one thing and waits for it, [`TeamFactory`] starts them in the place of a
//! front.
//!
//! The agents are siblings below a root agent that is never asked anything: its session notes who was spawned and how
//! they ended, its account is the team's. All that the plan hears is noted there first ([`happening`]), so that another
//! process can go on with a team that was broken off: it goes through the notes, and takes up what was under way
//! ([`rejoin`]).
//!
//! Agents may also work [`elsewhere`]: then the team gives them their tasks there, with [`shares`] of its budget, and its
//! notes alone tell of them.

mod course;
mod elsewhere;
mod errand;
mod factory;
mod happening;
mod notes;
mod rejoin;
mod shares;
mod specs;
mod work;

use std::{
    collections::{HashMap, VecDeque},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::time::Instant;

pub use elsewhere::{Assignment, Doing, Elsewhere};
pub use factory::TeamFactory;

use self::{
    course::Course,
    errand::{Errand, ErrandPlace, ErrandWorker, Job},
    happening::{Happening, Record},
    notes::{Failing, Next},
    shares::Shares,
};
use super::{
    file::TeamFile,
    plan::{Given, Outcome},
    result::{TeamResult, ledger::Ledger, timeline::Timeline},
};
use crate::{
    actors::{
        address::{Addr, Recipient},
        family_board::Member,
        fleet::family::Family,
        front::{complain, page::numbers::duration},
        reply::ReplyTo,
        session_writer::WriterMsg,
        spawn::{ended, spawn_worker},
        turn_io::{Input as TurnInput, NewEntry},
    },
    protocol::{
        CommandError, EntryId, Reply, ThinkingLevel,
        sibling::{self, BudgetKind, Spent},
        time::{Millis, now_ms},
    },
    store::tree::ids::fresh_id,
};

/// How long it waits before a note that was not stored is tried again.
const NOTE_AGAIN: Duration = Duration::from_millis(500);
/// An agent that nobody here has stopped was stopped by the end of the program, which takes less than this.
const END_OF_PROGRAM: Duration = Duration::from_secs(10);

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
    /// Where agents work that need no worktree, when that is not this process.
    pub elsewhere: OnceLock<Arc<dyn Elsewhere>>,
    /// Tell on standard error what happens.
    pub is_told: bool,
    /// When the process ended that it was broken off with, by the clock; none when nobody knows.
    pub broken_at: Option<Millis>,
    /// What agents elsewhere may use.
    shares: Shares,
    books: Mutex<Ledger>,
    begun: Instant,
    /// How long it had run before this process.
    before: OnceLock<Duration>,
}

impl TeamRun {
    /// A run that begins now; `result` has what is known of it before.
    #[must_use]
    pub fn new(team: Arc<TeamFile>, given: Given, sessions: PathBuf, result: TeamResult) -> Self {
        Self {
            shares: Shares::new(team.max_parallel),
            team,
            given,
            sessions,
            model: None,
            thinking: None,
            elsewhere: OnceLock::new(),
            is_told: false,
            broken_at: None,
            books: Mutex::new(Ledger::new(result)),
            begun: Instant::now(),
            before: OnceLock::new(),
        }
    }

    /// What it did so far. Without an outcome it was broken off for `reason`.
    #[must_use]
    pub fn result(&self, reason: &str) -> (TeamResult, Timeline) {
        self.books().clone().take(self.now(), reason)
    }

    /// How long it has run, over all processes.
    fn now(&self) -> Duration {
        self.before.get().copied().unwrap_or_default() + self.begun.elapsed()
    }

    /// Sets the clock of a team of which this is noted; for how long nobody has worked, when somebody had.
    fn set_clock(&self, records: &[Record]) -> Option<Duration> {
        let between = |from: Millis, to: Millis| Duration::from_millis(u64::try_from(to - from).unwrap_or(0));
        let last = records.last()?;
        let broken_at = self.broken_at.unwrap_or(last.clock).max(last.clock);
        // Set once: there is one team in a process.
        let _ = self.before.set(last.time() + between(last.clock, broken_at));
        Some(between(broken_at, now_ms()))
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
    News(ActorId, Box<Happening>),
    /// Nobody knows what came of an errand of this worker, and why.
    Broken(ActorId, String),
    /// What came of an errand was kept back, and is true.
    Kept(Box<Happening>),
    /// An errand is gone.
    Gone(ActorId, String),
    /// The oldest happening is noted, or why not.
    Noted(Result<(), String>),
    /// Try again to note it.
    NoteAgain,
    /// The team's time is over.
    TimeOver,
}

/// State of the team.
pub struct TeamState {
    run: Arc<TeamRun>,
    course: Course,
    family: Family,
    errands: HashMap<ActorId, Job>,
    /// What happened and is not noted yet, with the entries that it becomes. Nothing follows from it before.
    unnoted: VecDeque<(Record, EntryId)>,
    /// Whether they can be noted.
    failing: Failing,
    /// How long nobody has worked, when this process goes on with the team.
    down: Option<Duration>,
    done: Recipient<i32>,
    /// All agents are being stopped.
    stops_all: bool,
    /// It does not go on here.
    is_broken_off: bool,
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
        let session = family.agent().place.store.view();
        let records = Record::all(&session)?;
        let down = run.set_clock(&records);
        let course = Course::of(run.clone(), &records)?;
        // What agents had used that have ended is in this session; the others' is counted when they are made again.
        let account = family.account();
        account.limit(specs::team_budget(&run.team.budget));
        let usage = session.totals().usage;
        account.carry(Spent { tokens: usage.context_tokens(), cost: usage.cost.total, ..Spent::default() });
        let away = course.used_away();
        account.carry(Spent { tokens: away.context_tokens(), cost: away.cost.total, ..Spent::default() });
        for agent in family.status() {
            let begun = agent.name.and_then(|name| course.started().get(&name).copied());
            let seconds = begun.map_or(0.0, |begun| run.now().saturating_sub(begun).as_secs_f64());
            let carry = |member: &mut Member| member.account.carry(Spent { seconds, ..Spent::default() });
            family.agent().kin.board.change(&agent.id, carry);
        }
        let (errands, unnoted, failing) = Default::default();
        let (stops_all, is_broken_off) = (false, false);
        Ok(TeamState { run, course, family, errands, unnoted, failing, down, done, stops_all, is_broken_off })
    }

    async fn handle(
        &self,
        myself: ActorRef<TeamMsg>,
        message: TeamMsg,
        state: &mut TeamState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            TeamMsg::Opened(Ok(())) => {
                if let Some(time) = state.run.team.budget.time {
                    myself.send_after(time.saturating_sub(state.run.now()), || TeamMsg::TimeOver);
                }
                let begins = state.down.map_or(Happening::Begun, |down| Happening::GoesOn { down_ms: millis(down) });
                state.happened(&myself, begins);
            }
            TeamMsg::Opened(Err(error)) => {
                state.break_off(&myself, format!("the team did not begin: {error}"));
            }
            TeamMsg::News(worker, news) => {
                let job = state.errand_over(worker);
                if state.is_surprising(job.as_ref(), &news) {
                    myself.send_after(END_OF_PROGRAM, || TeamMsg::Kept(news));
                    return Ok(());
                }
                state.happened(&myself, *news);
            }
            TeamMsg::Broken(worker, cause) => {
                state.errands.remove(&worker);
                state.break_off(&myself, cause);
            }
            TeamMsg::Kept(news) => state.happened(&myself, *news),
            TeamMsg::Gone(id, cause) => {
                // One that brought its news is not in the list any more.
                if let Some(job) = state.errand_over(id) {
                    state.happened(&myself, errand::broken_off(job, &cause));
                }
            }
            TeamMsg::Noted(result) => state.noted(&myself, result).await,
            TeamMsg::NoteAgain => state.note(&myself),
            TeamMsg::TimeOver => {
                let time = state.run.team.budget.time.unwrap_or_default();
                let message = format!("the team had {}", duration(millis(time)));
                state.happened(&myself, Happening::Limit { what: BudgetKind::Seconds, message });
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
    /// A worker has done its errand, or is gone.
    fn errand_over(&mut self, worker: ActorId) -> Option<Job> {
        let job = self.errands.remove(&worker)?;
        self.run.shares.settle(&job.name);
        Some(job)
    }

    /// The team does not go on here, for a reason that is no part of its plan. Nothing of it is noted: whoever resumes the
    /// team finds everything as it was. Agents are ended with the program.
    fn break_off(&mut self, myself: &ActorRef<TeamMsg>, reason: String) {
        self.course.break_off(self.run.now(), reason);
        self.is_broken_off = true;
        self.unnoted.clear();
        self.errands.clear();
        myself.get_children().iter().for_each(ractor::ActorCell::kill);
    }

    /// Whether an agent was stopped, and not by the team: the program is about to end. That is no failure of the step; who
    /// goes on with the team has the agent go on.
    fn is_surprising(&self, job: Option<&Job>, news: &Happening) -> bool {
        let Happening::Ended { end, seat, life, .. } = news else { return false };
        let is_waited_for = job.is_some() && self.course.waits_for(*seat, *life);
        is_waited_for && matches!(end.outcome, sibling::Outcome::Stopped { .. })
    }

    /// Something happened: it is noted, and then follows what follows.
    fn happened(&mut self, myself: &ActorRef<TeamMsg>, what: Happening) {
        if self.is_broken_off {
            return;
        }
        let id = fresh_id(|id| self.is_stored(id));
        self.unnoted.push_back((Record::now(self.run.now(), what), id));
        if self.unnoted.len() == 1 {
            self.note(myself);
        }
    }

    fn is_stored(&self, id: &EntryId) -> bool {
        self.family.agent().place.store.view().find(id).is_some()
    }

    /// Has the oldest happening stored.
    fn note(&self, myself: &ActorRef<TeamMsg>) {
        let Some((record, id)) = self.unnoted.front() else { return };
        let me = Addr::of(myself);
        // A writer that dies with it answers, too.
        let reply = ReplyTo::new(move |result| me.tell(TeamMsg::Noted(result.map(drop).map_err(|e| e.to_string()))));
        let reply = Mutex::new(Some(reply));
        let to = Recipient::from_fn(move |input| {
            let reply = reply.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let (TurnInput::Stored { result, .. }, Some(reply)) = (input, reply) {
                reply.send(result.map(|_| Reply::Done).map_err(CommandError::Refused));
            }
            true
        });
        let entries = vec![NewEntry { reserved: Some(id.clone()), ..NewEntry::from(record.entry()) }];
        drop(self.family.agent().writer.try_tell(WriterMsg::Append { work: 0, entries, to }));
    }

    /// The oldest happening is noted: what follows from it is done.
    async fn noted(&mut self, myself: &ActorRef<TeamMsg>, result: Result<(), String>) {
        if self.is_broken_off {
            return;
        }
        if let Err(cause) = result
            && !self.unnoted.front().is_some_and(|(_, id)| self.is_stored(id))
        {
            return self.unstored(myself, &cause);
        }
        if self.failing.stored() {
            complain("What happens to the team can be noted again.");
        }
        let Some((record, _)) = self.unnoted.pop_front() else { return };
        let (time, was_over) = (record.time(), self.course.code().is_some());
        let jobs = self.course.on(time, record.what);
        let rejoins = jobs.iter().filter(|job| job.is_away && matches!(job.errand, Errand::Rejoin { .. }));
        self.run.shares.expect(rejoins.map(|job| job.name.clone()));
        for job in jobs {
            self.send(myself, job).await;
        }
        if self.course.code().is_some() && !was_over {
            self.drop_errands(myself);
        }
        self.note(myself);
    }

    /// The oldest happening could not be noted. Nothing follows from it, not even the end of the team's time: so it is tried
    /// again for a while, and then the team does not go on.
    fn unstored(&mut self, myself: &ActorRef<TeamMsg>, cause: &str) {
        let next = self.failing.failed();
        if next == Next::GiveUp {
            let seconds = notes::PATIENCE.as_secs();
            let reason = format!("what happens to it could not be noted for {seconds} s: {cause}");
            return self.break_off(myself, reason);
        }
        if next == Next::Tell {
            complain(&format!("Warning: what happens to the team cannot be noted: {cause}. Trying again."));
        }
        myself.send_after(NOTE_AGAIN, || TeamMsg::NoteAgain);
    }

    /// It is over. Commands end with their workers; how agents end is told by the stop. What is being stopped already is
    /// waited for.
    fn drop_errands(&mut self, myself: &ActorRef<TeamMsg>) {
        let (kept, dropped): (HashMap<_, _>, HashMap<_, _>) = self.errands.drain().partition(|(_, job)| job.stops());
        self.errands = kept;
        let children = myself.get_children();
        children.iter().filter(|child| dropped.contains_key(&child.get_id())).for_each(ractor::ActorCell::kill);
    }

    /// When it is over: stops whoever is still there, after those that are being stopped already (asked twice, the fleet
    /// does not wait for their worktrees), and says so when all are gone.
    async fn close(&mut self, myself: &ActorRef<TeamMsg>) {
        // Whoever resumes one that was broken off finds no agent stopped.
        self.stops_all |= self.is_broken_off;
        let is_quiet = self.errands.is_empty() && self.unnoted.is_empty();
        let Some(code) = self.course.code().filter(|_| is_quiet) else { return };
        if !std::mem::replace(&mut self.stops_all, true) {
            let is_away = self.run.elsewhere.get().is_some();
            return self.send(myself, Job::stop_all(is_away)).await;
        }
        // Nobody takes it: the program is ending already.
        let _ = self.done.deliver(code);
    }

    /// Sends a worker for an errand.
    async fn send(&mut self, myself: &ActorRef<TeamMsg>, job: Job) {
        let args = ErrandPlace { family: self.family.clone(), run: self.run.clone(), team: Addr::of(myself) };
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
