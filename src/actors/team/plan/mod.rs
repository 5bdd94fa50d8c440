//! The plan of a team as a machine: which agents are started, what they are told, when it is over. Pure: it knows no
//! clock, no files and no actors.
//!
//! [`Plan::on`] takes an [`Input`] and says what is to be done ([`Effect`]). A *step* is a role that works by itself or a
//! pattern of roles; a *seat* is a place for one agent in it ([`seat`]), where a failed agent may be replaced by another.
//! How the seats of a step follow each other: [`crew`] for roles, [`review`], [`best`], [`debate`]. [`outputs`] has what
//! comes of steps, and puts it into texts.

mod best;
mod crew;
mod debate;
pub mod outputs;
mod review;
pub mod seat;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;

use self::{debate::Statement, outputs::StepOutput, seat::Seat};
use super::file::{ItemSource, PatternKind, TeamFile};
use crate::{
    actors::restart::{RestartKind, RestartPolicy},
    protocol::sibling::{BudgetKind, Outcome as TaskOutcome},
};

/// The place of a seat in [`Plan::seats`].
pub type SeatId = usize;

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The team begins.
    Begin,
    /// A list is there, or why it is not.
    Listed {
        /// The step that asked.
        step: usize,
        /// The elements.
        items: Result<Vec<Value>, String>,
    },
    /// An agent has nothing more to do.
    Ended {
        /// Whose.
        seat: SeatId,
        /// Which agent of the seat, from 1.
        life: u32,
        /// How its task ended.
        outcome: TaskOutcome,
        /// Its last words.
        text: String,
        /// What it changed in its worktree.
        patch: Option<String>,
    },
    /// A command has ended.
    Ran {
        /// Whose.
        seat: SeatId,
        /// Which agent of the seat.
        life: u32,
        /// It succeeded.
        passed: bool,
        /// What it printed.
        output: String,
    },
    /// Changes were put into the team's folder, or why not.
    Merged {
        /// Whose.
        seat: SeatId,
        /// Which agent of the seat.
        life: u32,
        /// How it went.
        result: Result<(), String>,
    },
    /// The team's budget is used up.
    Limit {
        /// What ran out.
        what: BudgetKind,
        /// Which limit.
        message: String,
    },
    /// Somebody stops the team.
    Stop(String),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Make a list; [`Input::Listed`] follows.
    List {
        /// For which step.
        step: usize,
        /// From what.
        source: ItemSource,
    },
    /// Start an agent; [`Input::Ended`] follows.
    Start {
        /// On which seat.
        seat: SeatId,
        /// Which agent of the seat, from 1.
        life: u32,
        /// Its name, which no other agent of the team has.
        name: String,
        /// Its first message.
        task: String,
        /// After this time.
        after: Duration,
    },
    /// Give an agent that has nothing to do its next task; [`Input::Ended`] follows.
    Say {
        /// Whom.
        seat: SeatId,
        /// What.
        text: String,
    },
    /// Run a command where the agent works; [`Input::Ran`] follows.
    Run {
        /// Whose.
        seat: SeatId,
        /// The shell command.
        command: String,
        /// How long it may take.
        time: Duration,
    },
    /// Put what the agent changed in its worktree into the team's folder; [`Input::Merged`] follows.
    Merge {
        /// Whose.
        seat: SeatId,
    },
    /// The agent is not needed any more. Nothing follows.
    Stop {
        /// Whose.
        seat: SeatId,
        /// Which agent of the seat.
        life: u32,
    },
    /// It is over: end all that still runs.
    Finish(Outcome),
}

/// How a team ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All steps are done.
    Done(Value),
    /// A step failed.
    Failed {
        /// Which.
        step: String,
        /// Why.
        message: String,
    },
    /// A limit was reached.
    Limit {
        /// Of what.
        what: BudgetKind,
        /// Which, and where.
        message: String,
    },
    /// Somebody stopped it.
    Stopped(String),
}

/// What a run of a team begins with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// What the user gave.
    pub inputs: BTreeMap<String, String>,
    /// The seed.
    pub seed: u64,
}

/// The machine.
pub struct Plan {
    team: Arc<TeamFile>,
    given: Given,
    steps: Vec<Step>,
    seats: Vec<Seat>,
    restarts: Vec<Duration>,
    started: usize,
    over: bool,
}

/// A step of the plan.
struct Step {
    name: String,
    needs: Vec<usize>,
    state: StepState,
    seats: Vec<SeatId>,
    /// Rounds of a review or debate that have begun.
    round: u32,
    /// What was said in a debate.
    said: Vec<Statement>,
    /// The best of several.
    chosen: Option<SeatId>,
    output: Option<StepOutput>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum StepState {
    /// Its needs are not done.
    Blocked,
    /// It waits for its list.
    Listing,
    /// Its agents work.
    Running,
    Done,
    Failed(Failure),
}

/// Why a seat or a step failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A limit was reached.
    Limit(BudgetKind, String),
    /// Anything else.
    Cause(String),
}

impl Failure {
    fn message(&self) -> &str {
        match self {
            Self::Limit(_, message) | Self::Cause(message) => message,
        }
    }
}

/// What a transition collects.
type Out = Vec<Effect>;

impl Plan {
    /// The plan of a team.
    #[must_use]
    pub fn new(team: Arc<TeamFile>, given: Given) -> Self {
        let names: Vec<String> = team.steps().into_iter().map(str::to_owned).collect();
        let place = |name: &str| names.iter().position(|known| known == name);
        let steps = names.iter().map(|name| Step {
            name: name.clone(),
            needs: team.needs_of(name).into_iter().filter_map(place).collect(),
            state: StepState::Blocked,
            seats: Vec::new(),
            round: 0,
            said: Vec::new(),
            chosen: None,
            output: None,
        });
        let steps = steps.collect();
        Self { team, given, steps, seats: Vec::new(), restarts: Vec::new(), started: 0, over: false }
    }

    /// The seats so far.
    #[must_use]
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// The names of the steps, in the order of their places.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|step| step.name.as_str())
    }

    /// The name of a step.
    #[must_use]
    pub fn step_name(&self, step: usize) -> &str {
        &self.steps[step].name
    }

    /// What steps made, in the order of the file.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &StepOutput)> {
        self.steps.iter().filter_map(|step| Some((step.name.as_str(), step.output.as_ref()?)))
    }

    /// What follows from an input that comes at `now`, a time since the team began. When it is over, nothing does.
    pub fn on(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        let mut out = Vec::new();
        if self.over {
            return out;
        }
        match input {
            Input::Begin => {}
            Input::Listed { step, items } => self.listed(step, items),
            Input::Ended { seat, life, outcome, text, patch } => {
                if self.is_now(seat, life) {
                    self.ended(now, seat, outcome, seat::Answer { text, value: Value::Null, patch }, &mut out);
                }
            }
            Input::Ran { seat, life, passed, output } => {
                if self.is_now(seat, life) {
                    self.ran(seat, passed, &output, &mut out);
                }
            }
            Input::Merged { seat, life, result } => {
                if self.is_now(seat, life) {
                    self.merged(seat, result);
                }
            }
            Input::Limit { what, message } => self.finish(Outcome::Limit { what, message }, &mut out),
            Input::Stop(reason) => self.finish(Outcome::Stopped(reason), &mut out),
        }
        self.settle(&mut out);
        out
    }

    /// Moves everything as far as it goes.
    fn settle(&mut self, out: &mut Out) {
        let mut moved = true;
        while moved && !self.over {
            moved = false;
            for step in 0..self.steps.len() {
                moved |= self.advance(step, out);
            }
            if let Some(at) = self.steps.iter().position(|step| matches!(step.state, StepState::Failed(_))) {
                let StepState::Failed(failure) = self.steps[at].state.clone() else { return };
                let step = self.steps[at].name.clone();
                let outcome = match failure {
                    Failure::Limit(what, message) => Outcome::Limit { what, message: format!("{step}: {message}") },
                    Failure::Cause(message) => Outcome::Failed { step, message },
                };
                return self.finish(outcome, out);
            }
            if self.steps.iter().all(|step| step.state == StepState::Done) {
                let result = self.result();
                return self.finish(Outcome::Done(result), out);
            }
        }
        self.fill_places(out);
        self.go_on_or_say_so(out);
    }

    /// A plan that waits for nothing would wait for ever.
    fn go_on_or_say_so(&mut self, out: &mut Out) {
        let listing = self.steps.iter().any(|step| step.state == StepState::Listing);
        if self.over || listing || self.seats.iter().any(Seat::is_busy) {
            return;
        }
        let stuck = self.steps.iter().find(|step| step.state != StepState::Done);
        let step = stuck.map(|step| step.name.clone()).unwrap_or_default();
        self.finish(Outcome::Failed { step, message: "nothing is left that could go on".to_owned() }, out);
    }

    /// Moves a step; whether it did.
    fn advance(&mut self, step: usize, out: &mut Out) -> bool {
        match self.steps[step].state {
            StepState::Blocked => {
                let ready = self.steps[step].needs.iter().all(|need| self.steps[*need].state == StepState::Done);
                if ready {
                    self.steps[step].state = StepState::Running;
                    self.begin(step, out);
                }
                ready
            }
            StepState::Running => match self.kind(step) {
                None => self.advance_crew(step, out),
                Some(PatternKind::Review { .. }) => self.advance_review(step, out),
                Some(PatternKind::Best { .. }) => self.advance_best(step, out),
                Some(PatternKind::Debate { .. }) => self.advance_debate(step, out),
            },
            StepState::Listing | StepState::Done | StepState::Failed(_) => false,
        }
    }

    fn begin(&mut self, step: usize, out: &mut Out) {
        match self.kind(step) {
            None => {
                let role = self.steps[step].name.clone();
                self.begin_crew(step, &role, out);
            }
            Some(PatternKind::Review { writer, .. }) => self.begin_review(step, &writer),
            Some(PatternKind::Best { of, .. }) => self.begin_crew(step, &of, out),
            Some(PatternKind::Debate { speakers, .. }) => self.begin_debate(step, &speakers),
        }
    }

    /// The pattern that a step is; none for a role.
    fn kind(&self, step: usize) -> Option<PatternKind> {
        let name = &self.steps[step].name;
        self.team.patterns.iter().find(|pattern| pattern.name == *name).map(|pattern| pattern.kind.clone())
    }

    /// A step has what it was for; its agents are not needed any more.
    fn done(&mut self, step: usize, output: StepOutput, out: &mut Out) {
        self.steps[step].output = Some(output);
        self.steps[step].state = StepState::Done;
        for seat in self.steps[step].seats.clone() {
            self.release(seat, out);
        }
    }

    fn fail(&mut self, step: usize, failure: Failure) {
        self.steps[step].state = StepState::Failed(failure);
    }

    fn finish(&mut self, outcome: Outcome, out: &mut Out) {
        self.over = true;
        out.push(Effect::Finish(outcome));
    }

    /// What the team was for.
    fn result(&self) -> Value {
        if let Some(name) = &self.team.output {
            return self.output_of(name).map(|output| output.value.clone()).unwrap_or_default();
        }
        let needed = |at: usize| self.steps.iter().any(|step| step.needs.contains(&at));
        let last = self.steps.iter().enumerate().filter(|(at, _)| !needed(*at)).map(|(_, step)| step);
        let last: Vec<_> =
            last.filter_map(|step| Some((step.name.clone(), step.output.as_ref()?.value.clone()))).collect();
        match last.as_slice() {
            [(_, only)] => only.clone(),
            _ => Value::Object(last.into_iter().collect()),
        }
    }

    fn policy(&self) -> RestartPolicy {
        RestartPolicy {
            kind: RestartKind::Permanent,
            intensity: self.team.supervision.restarts,
            period: self.team.supervision.within,
            backoff: Duration::from_secs(1),
        }
    }
}

#[cfg(test)]
mod tests;
