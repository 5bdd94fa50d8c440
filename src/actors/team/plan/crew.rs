//! A role that works by itself: one agent, several with the same task, or one for each element of a list.

use serde_json::Value;

use super::{
    Effect, Failure, Out, Plan, SeatId, StepState,
    outputs::{Moment, StepOutput},
    seat::SeatState,
};
use crate::actors::team::file::{ItemSource, OnFailure, Spread, Strategy};

impl Plan {
    /// Makes the seats of a role, or asks for the list that says how many there are.
    pub(super) fn begin_crew(&mut self, step: usize, role: &str, out: &mut Out) {
        let Some(spread) = self.team.role(role).map(|role| role.spread.clone()) else { return };
        match spread {
            Spread::One => {
                let moment = Moment { number: 1, ..Moment::default() };
                self.seat(step, role, moment, role.to_owned());
            }
            Spread::Count(count) => {
                for number in 1..=count {
                    let moment = Moment { number, ..Moment::default() };
                    self.seat(step, role, moment, format!("{role}-{number}"));
                }
            }
            Spread::Each(items) => match items.source {
                ItemSource::List(items) => self.listed(step, Ok(items)),
                ItemSource::Output(path) => {
                    let value = self.output_of(&path.step).and_then(|output| path.of(&output.value)).cloned();
                    let list = match value {
                        Some(Value::Array(items)) => Ok(items),
                        _ => Err(format!("{} is no list", crate::actors::team::template::Place::Output(path))),
                    };
                    self.listed(step, list);
                }
                source => {
                    self.steps[step].state = StepState::Listing;
                    out.push(Effect::List { step, source });
                }
            },
        }
    }

    /// A list is there: each element gets a seat.
    pub(super) fn listed(&mut self, step: usize, items: Result<Vec<Value>, String>) {
        let Some((name, spread)) = self.crew_of(step).map(|role| (role.name.clone(), role.spread.clone())) else {
            return;
        };
        let Spread::Each(rule) = spread else { return };
        let made = matches!(rule.source, ItemSource::Output(_));
        let items = match items {
            Ok(items) if items.len() > rule.at_most => {
                Err(format!("the list has {} elements, and each.at_most is {}", items.len(), rule.at_most))
            }
            // An agent may find that there is nothing to do; a pattern that fits no file is a slip.
            Ok(items) if items.is_empty() && !made => Err("the list has no element".to_owned()),
            other => other,
        };
        match items {
            Err(problem) => self.fail(step, Failure::Cause(problem)),
            Ok(items) => {
                self.steps[step].state = StepState::Running;
                for (at, item) in items.into_iter().enumerate() {
                    let moment = Moment { number: at + 1, item: Some(item), ..Moment::default() };
                    self.seat(step, &name, moment, format!("{name}-{}", at + 1));
                }
            }
        }
    }

    /// The role of a step that may have several agents.
    fn crew_of(&self, step: usize) -> Option<&crate::actors::team::file::Role> {
        use crate::actors::team::file::PatternKind;
        match self.kind(step) {
            None => self.team.role(&self.steps[step].name),
            Some(PatternKind::Best { of, .. }) => self.team.role(&of),
            Some(_) => None,
        }
    }

    pub(super) fn advance_crew(&mut self, step: usize, out: &mut Out) -> bool {
        let Some(role) = self.team.role(&self.steps[step].name).cloned() else { return false };
        let seats = self.steps[step].seats.clone();
        if role.strategy == Strategy::Any {
            return self.advance_race(step, &seats, out);
        }
        if role.on_failure == OnFailure::Stop
            && let Some(failure) = self.first_failure(&seats)
        {
            self.fail(step, failure);
            return true;
        }
        if !seats.iter().all(|seat| self.seats[*seat].is_settled()) {
            return false;
        }
        let done = |seat: &&SeatId| self.seats[**seat].state == SeatState::Done;
        let first = seats.iter().find(done).copied();
        match (first, role.is_many()) {
            (None, _) if !seats.is_empty() => {
                let failure = self.first_failure(&seats).unwrap_or(Failure::Cause("no agent was done".to_owned()));
                self.fail(step, failure);
            }
            (Some(seat), false) => {
                let output = self.output_of_seat(seat);
                self.done(step, output, out);
            }
            _ => {
                let output = self.all_of(&seats);
                self.done(step, output, out);
            }
        }
        true
    }

    /// The first that succeeds stops the others.
    fn advance_race(&mut self, step: usize, seats: &[SeatId], out: &mut Out) -> bool {
        if let Some(seat) = seats.iter().copied().find(|seat| self.seats[*seat].state == SeatState::Done) {
            let output = StepOutput { chosen: Some(self.seats[seat].number), ..self.output_of_seat(seat) };
            self.release_others(seats, seat, out);
            self.done(step, output, out);
            return true;
        }
        if seats.is_empty() {
            let nothing = self.all_of(seats);
            self.done(step, nothing, out);
            return true;
        }
        if seats.iter().all(|seat| self.seats[*seat].is_settled()) {
            let failure = self.first_failure(seats).unwrap_or(Failure::Cause("no agent was done".to_owned()));
            self.fail(step, failure);
            return true;
        }
        false
    }

    /// The agents of all seats but one are not needed any more.
    pub(super) fn release_others(&mut self, seats: &[SeatId], kept: SeatId, out: &mut Out) {
        for seat in seats.iter().filter(|seat| **seat != kept) {
            self.release(*seat, out);
        }
    }

    /// What the agent of a seat answered.
    pub(super) fn output_of_seat(&self, seat: SeatId) -> StepOutput {
        let answer = self.seats[seat].answer.clone();
        answer.map_or_else(|| StepOutput::one(Value::Null, None), |answer| StepOutput::one(answer.value, answer.patch))
    }

    /// Why the first of these seats failed that did.
    pub(super) fn first_failure(&self, seats: &[SeatId]) -> Option<Failure> {
        let (seat, failure) = seats.iter().find_map(|seat| Some((&self.seats[*seat], self.seats[*seat].failure()?)))?;
        let message = match &seat.label {
            label if *label == self.steps[seat.step].name => failure.message().to_owned(),
            label => format!("{label}: {}", failure.message()),
        };
        Some(match failure {
            Failure::Limit(what, _) => Failure::Limit(*what, message),
            Failure::Cause(_) => Failure::Cause(message),
        })
    }
}
