//! One place for an agent: it is started, told its tasks, held to the form of its answer and to its check, and replaced when
//! it fails.

use std::time::Duration;

use serde_json::Value;

use super::{Effect, Failure, Out, Plan, SeatId, outputs::Moment};
use crate::{
    actors::{
        restart::{Exit, RestartDecision},
        team::{
            answer,
            file::{Role, Verify},
        },
    },
    protocol::sibling::{BudgetKind, Outcome},
};

/// Characters of a failed check's output that go back to the agent: its end says most.
const SHOWN_OF_CHECK: usize = 8_000;

/// A place for an agent.
#[derive(Clone, Debug)]
pub struct Seat {
    /// The place of the role in the file.
    pub role: usize,
    /// The step that it belongs to.
    pub step: usize,
    /// What its agents are called.
    pub label: String,
    /// Which of its role it is, from 1.
    pub number: usize,
    /// The element of the list that it is for.
    pub item: Option<Value>,
    /// The round that it was made in, and that it is in.
    pub round: u32,
    /// Agents that it has had.
    pub life: u32,
    /// What the schema of its answer is.
    pub schema: Option<Value>,
    /// Where it stands.
    pub state: SeatState,
    /// What it answered last.
    pub answer: Option<Answer>,
    /// How a judging command ended for it.
    pub passed: Option<bool>,
    /// How often it was given a task by the plan.
    told: u32,
    repaired: bool,
    checks_left: u32,
    /// An agent is there.
    is_open: bool,
    wait: Duration,
}

/// Where a seat stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatState {
    /// It waits for its turn; what its agent will be told.
    Waiting(String),
    /// Its agent works.
    Working,
    /// A command looks at what it did.
    Checking,
    /// A command decides whether it is the best.
    Judging,
    /// Its changes go into the team's folder.
    Merging,
    /// It did what it was told.
    Done,
    /// It did not.
    Failed(Failure),
    /// It is not needed any more.
    Over,
}

/// What an agent answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Its words.
    pub text: String,
    /// The JSON in it when there is a schema, else the words.
    pub value: Value,
    /// What it changed in its worktree.
    pub patch: Option<String>,
}

impl Seat {
    /// Whether an agent of it does something that takes a place of those that work at once.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self.state, SeatState::Working | SeatState::Checking | SeatState::Judging | SeatState::Merging)
    }

    /// Whether nothing more comes of it by itself.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(self.state, SeatState::Done | SeatState::Failed(_) | SeatState::Over)
    }

    /// Why it failed, if it did.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match &self.state {
            SeatState::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// The name of the agent that it has now.
    #[must_use]
    pub fn agent(&self) -> String {
        self.agent_of(self.life)
    }

    /// The name of one of its agents.
    #[must_use]
    pub fn agent_of(&self, life: u32) -> String {
        match life {
            0 | 1 => self.label.clone(),
            life => format!("{}-try{life}", self.label),
        }
    }
}

impl Plan {
    /// Makes a seat and has it wait for its turn. A first message that cannot be made is its failure.
    pub(super) fn seat(&mut self, step: usize, role: &str, moment: Moment, label: String) -> SeatId {
        let at = self.team.roles.iter().position(|known| known.name == role).unwrap_or_default();
        let Moment { number, item, round, .. } = moment.clone();
        let schema = self.team.roles[at].output_schema.clone();
        let seat = Seat {
            role: at,
            step,
            label,
            number,
            item,
            round,
            life: 0,
            schema,
            state: SeatState::Over,
            answer: None,
            passed: None,
            told: 0,
            repaired: false,
            checks_left: 0,
            is_open: false,
            wait: Duration::ZERO,
        };
        let id = self.seats.len();
        self.seats.push(seat);
        self.steps[step].seats.push(id);
        self.wait(id, &moment);
        id
    }

    /// Has a seat wait for its turn with the role's prompt.
    pub(super) fn wait(&mut self, seat: SeatId, moment: &Moment) {
        let step = self.seats[seat].step;
        let prompt = self.fill(step, &self.role_of(seat).prompt.clone(), moment, "first");
        self.seats[seat].state = match prompt {
            Ok(task) => SeatState::Waiting(match &self.seats[seat].schema {
                Some(schema) => task + &answer::request(schema),
                None => task,
            }),
            Err(problem) => SeatState::Failed(Failure::Cause(problem)),
        };
    }

    /// The role of a seat.
    #[must_use]
    pub fn role_of(&self, seat: SeatId) -> &Role {
        &self.team.roles[self.seats[seat].role]
    }

    /// Whether this is the agent that the seat has now.
    pub(super) fn is_now(&self, seat: SeatId, life: u32) -> bool {
        self.seats.get(seat).is_some_and(|seat| seat.life == life && seat.is_busy())
    }

    /// Starts agents on seats that wait, as many as may work at once.
    pub(super) fn fill_places(&mut self, out: &mut Out) {
        let busy = self.seats.iter().filter(|seat| seat.is_busy()).count();
        let mut free = self.team.max_parallel.saturating_sub(busy);
        for seat in 0..self.seats.len() {
            if free == 0 || self.over {
                return;
            }
            let SeatState::Waiting(task) = &self.seats[seat].state else { continue };
            let task = task.clone();
            if self.seats[seat].is_open {
                self.seats[seat].state = SeatState::Working;
                out.push(Effect::Say { seat, text: task });
            } else {
                if self.team.budget.agents.is_some_and(|most| self.started >= most) {
                    let message = format!("the team may start {} agents, and needs another one", self.started);
                    return self.finish(super::Outcome::Limit { what: BudgetKind::Spawns, message }, out);
                }
                self.started += 1;
                let attempts = self.role_of(seat).verify.as_ref().map_or(0, |verify| verify.attempts);
                let now = &mut self.seats[seat];
                now.life += 1;
                (now.state, now.is_open) = (SeatState::Working, true);
                (now.told, now.repaired, now.checks_left) = (1, false, attempts);
                let (life, name, after) = (now.life, now.agent(), std::mem::take(&mut now.wait));
                out.push(Effect::Start { seat, life, name, task, after });
            }
            free -= 1;
        }
    }

    /// Gives a seat that is done its next task, when its turn comes.
    pub(super) fn tell(&mut self, seat: SeatId, text: Result<String, String>) {
        let attempts = self.role_of(seat).verify.as_ref().map_or(0, |verify| verify.attempts);
        let seat = &mut self.seats[seat];
        (seat.told, seat.repaired, seat.checks_left) = (seat.told + 1, false, attempts);
        seat.state = match text {
            Ok(text) => SeatState::Waiting(text),
            Err(problem) => SeatState::Failed(Failure::Cause(problem)),
        };
    }

    /// The agent of a seat has ended its task.
    pub(super) fn ended(&mut self, now: Duration, seat: SeatId, outcome: Outcome, answer: Answer, out: &mut Out) {
        match outcome {
            Outcome::Done => self.answered(seat, answer, out),
            Outcome::Failed { message, may_pass: true } => self.replace(now, seat, message, out),
            Outcome::Budget { what, message } => self.failed(seat, Failure::Limit(what, message)),
            Outcome::Refused { message } => self.failed(seat, Failure::Cause(format!("the model refused: {message}"))),
            Outcome::Failed { message, .. } | Outcome::Stopped { message } => {
                self.failed(seat, Failure::Cause(message))
            }
        }
    }

    fn failed(&mut self, seat: SeatId, failure: Failure) {
        self.seats[seat].state = SeatState::Failed(failure);
    }

    fn answered(&mut self, seat: SeatId, mut answer: Answer, out: &mut Out) {
        let verify = self.role_of(seat).verify.clone();
        let now = &mut self.seats[seat];
        answer.value = Value::String(answer.text.clone());
        if let Some(schema) = &now.schema {
            match answer::parse(&answer.text, schema) {
                Ok(value) => answer.value = value,
                Err(problem) if now.repaired => {
                    return self
                        .failed(seat, Failure::Cause(format!("its answer does not fit output_schema: {problem}")));
                }
                Err(problem) => {
                    now.repaired = true;
                    return out.push(Effect::Say { seat, text: answer::repair(&problem, schema) });
                }
            }
        }
        now.answer = Some(answer);
        match verify {
            Some(Verify { command, time, .. }) => {
                now.state = SeatState::Checking;
                out.push(Effect::Run { seat, command, time });
            }
            None => self.checked(seat, out),
        }
    }

    /// A seat's work is accepted: what is to be merged at once is.
    fn checked(&mut self, seat: SeatId, out: &mut Out) {
        if self.role_of(seat).merge {
            self.merge(seat, out);
        } else {
            self.seats[seat].state = SeatState::Done;
        }
    }

    /// Puts a seat's changes into the team's folder.
    pub(super) fn merge(&mut self, seat: SeatId, out: &mut Out) {
        self.seats[seat].state = SeatState::Merging;
        out.push(Effect::Merge { seat });
    }

    pub(super) fn merged(&mut self, seat: SeatId, result: Result<(), String>) {
        self.seats[seat].state = match result {
            Ok(()) => SeatState::Done,
            Err(problem) => SeatState::Failed(Failure::Cause(format!("its changes could not be merged: {problem}"))),
        };
    }

    /// A command about a seat has ended.
    pub(super) fn ran(&mut self, seat: SeatId, passed: bool, output: &str, out: &mut Out) {
        if self.seats[seat].state == SeatState::Judging {
            let seat = &mut self.seats[seat];
            (seat.passed, seat.state) = (Some(passed), SeatState::Done);
            return;
        }
        if passed {
            return self.checked(seat, out);
        }
        let command = self.role_of(seat).verify.as_ref().map(|verify| verify.command.clone()).unwrap_or_default();
        let now = &mut self.seats[seat];
        if now.checks_left == 0 {
            let last = output.trim_end().lines().next_back().unwrap_or_default().to_owned();
            return self.failed(seat, Failure::Cause(format!("the check `{command}` failed: {last}")));
        }
        now.checks_left -= 1;
        now.state = SeatState::Working;
        let text = format!(
            "The check `{command}` failed. This is the end of what it printed:\n\n{}\n\nPut it right, and answer again.",
            end_of(output.trim_end(), SHOWN_OF_CHECK)
        );
        out.push(Effect::Say { seat, text });
    }

    /// An agent failed in a way that may pass: supervision decides.
    fn replace(&mut self, now: Duration, seat: SeatId, message: String, out: &mut Out) {
        let policy = self.policy();
        let RestartDecision::Restart(wait) = policy.decide(&mut self.restarts, now, &Exit::Failed(message.clone()))
        else {
            let restarts = self.team.supervision.restarts;
            let message = format!("{message} (given up after {restarts} restarts in the team)");
            return self.failed(seat, Failure::Cause(message));
        };
        let step = self.seats[seat].step;
        if self.seats[seat].told > 1 {
            // Whoever has talked with others cannot be replaced alone.
            return self.begin_again(step, wait, out);
        }
        let strategy = self.role_of(seat).strategy;
        let (role, number) = (self.seats[seat].role, self.seats[seat].number);
        for id in self.steps[step].seats.clone() {
            let other = &self.seats[id];
            if other.role == role && strategy.concerns(number, other.number) {
                self.renew(id, wait, out);
            }
        }
    }

    /// Has a new agent take a seat.
    fn renew(&mut self, seat: SeatId, wait: Duration, out: &mut Out) {
        if matches!(self.seats[seat].state, SeatState::Waiting(_)) && !self.seats[seat].is_open {
            return;
        }
        self.release(seat, out);
        let now = &mut self.seats[seat];
        (now.answer, now.passed, now.wait) = (None, None, wait);
        let moment = Moment { number: now.number, item: now.item.clone(), round: now.round, others: None };
        self.wait(seat, &moment);
    }

    /// Begins a step anew, with new agents on new seats.
    fn begin_again(&mut self, step: usize, wait: Duration, out: &mut Out) {
        for seat in std::mem::take(&mut self.steps[step].seats) {
            self.release(seat, out);
        }
        let before = self.seats.len();
        self.begin(step, out);
        for seat in &mut self.seats[before..] {
            // Names are used once: a seat that follows another one counts its agents on.
            seat.wait = wait;
        }
        self.count_on(before);
    }

    /// New seats go on with the numbers of agents of seats with their label.
    pub(super) fn count_on(&mut self, from: usize) {
        for at in from..self.seats.len() {
            let label = &self.seats[at].label;
            let lives = self.seats[..from].iter().filter(|seat| seat.label == *label).map(|seat| seat.life).max();
            self.seats[at].life = lives.unwrap_or(0);
        }
    }

    /// The agent of a seat is not needed any more. What it answered stays.
    pub(super) fn release(&mut self, seat: SeatId, out: &mut Out) {
        let now = &mut self.seats[seat];
        if std::mem::take(&mut now.is_open) {
            out.push(Effect::Stop { seat, life: now.life });
        }
        if !now.is_settled() {
            now.state = SeatState::Over;
        }
    }
}

/// The last `most` characters.
fn end_of(text: &str, most: usize) -> &str {
    let skip = text.chars().count().saturating_sub(most);
    text.char_indices().nth(skip).map_or("", |(at, _)| &text[at..])
}
