//! A writer and a reviewer take turns.

use serde_json::Value;

use super::{
    Failure, Out, Plan,
    outputs::Moment,
    seat::{Answer, SeatState},
};
use crate::actors::team::{
    file::{Condition, PatternKind},
    template::{shown, within},
};

impl Plan {
    pub(super) fn begin_review(&mut self, step: usize, writer: &str) {
        self.steps[step].round = 1;
        let moment = Moment { number: 1, round: 1, ..Moment::default() };
        self.seat(step, writer, moment, writer.to_owned());
    }

    pub(super) fn advance_review(&mut self, step: usize, out: &mut Out) -> bool {
        let Some(PatternKind::Review { writer, reviewer, until, rounds, revise, accept_last, remembers }) =
            self.kind(step)
        else {
            return false;
        };
        let round = self.steps[step].round;
        let seats = self.steps[step].seats.clone();
        if let Some(failure) = self.first_failure(&seats) {
            self.fail(step, failure);
            return true;
        }
        let Some(writing) = self.seats_of(step, &writer).last().copied() else { return false };
        if self.seats[writing].state != SeatState::Done {
            return false;
        }
        let last = self.seats_of(step, &reviewer).last().copied();
        let Some(reviewing) = last.filter(|seat| self.seats[*seat].round == round) else {
            let moment = Moment { number: 1, round, ..Moment::default() };
            match last.filter(|_| remembers) {
                Some(seat) => {
                    let prompt = self.role_of(seat).prompt.clone();
                    let text = self.fill(step, &prompt, &moment, "next");
                    self.seats[seat].round = round;
                    self.tell(seat, text);
                }
                None => {
                    let label = if round == 1 { reviewer.clone() } else { format!("{reviewer}-round{round}") };
                    let before = self.seats.len();
                    self.seat(step, &reviewer, moment, label);
                    self.count_on(before);
                }
            }
            return true;
        };
        if self.seats[reviewing].state != SeatState::Done {
            return false;
        }
        let accepted = self.seats[reviewing].answer.as_ref().is_some_and(|answer| holds(&until, answer));
        if accepted || (round >= rounds && accept_last) {
            let output = self.output_of_seat(writing);
            self.done(step, output, out);
        } else if round >= rounds {
            let message = format!("{reviewer} accepted none of {rounds} drafts of {writer}");
            self.fail(step, Failure::Cause(message));
        } else {
            let moment = Moment { number: 1, round: round + 1, ..Moment::default() };
            let text = self.fill(step, &revise, &moment, "next");
            self.steps[step].round = round + 1;
            self.tell(writing, text);
            if !remembers {
                self.release(reviewing, out);
            }
        }
        true
    }
}

/// Whether an answer is what the condition asks for.
fn holds(condition: &Condition, answer: &Answer) -> bool {
    match condition {
        Condition::Contains(text) => shown(&answer.value).contains(text),
        Condition::Field { path, is } => within(&answer.value, path).is_some_and(|value| same(value, is)),
    }
}

/// Whether two values are the same; 1 and 1.0 are.
fn same(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    }
}
