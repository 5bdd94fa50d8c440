//! Several agents do the same, and the best result is chosen.

use std::time::Duration;

use super::{
    Effect, Failure, Out, Plan, SeatId,
    outputs::{Moment, StepOutput},
    seat::SeatState,
};
use crate::actors::team::{
    answer,
    file::{Judge, PatternKind, Strategy},
};

impl Plan {
    pub(super) fn advance_best(&mut self, step: usize, out: &mut Out) -> bool {
        let Some(PatternKind::Best { of, judge, merge }) = self.kind(step) else { return false };
        if let Some(chosen) = self.steps[step].chosen {
            return self.close_best(step, chosen, out);
        }
        let candidates = self.seats_of(step, &of);
        if candidates.is_empty() {
            self.fail(step, Failure::Cause("there is no candidate: the list is empty".to_owned()));
            return true;
        }
        let chosen = match judge {
            Judge::Command { command, time } => self.try_candidates(step, &of, &candidates, &command, time, out),
            Judge::Role(judge) => self.judge_candidates(step, &candidates, &judge),
        };
        match chosen {
            Next::Wait => false,
            Next::Moved => true,
            Next::Failed(failure) => {
                self.fail(step, failure);
                true
            }
            Next::Chosen(seat) => {
                self.release_others(&candidates, seat, out);
                self.steps[step].chosen = Some(seat);
                if merge {
                    self.merge(seat, out);
                }
                true
            }
        }
    }

    /// The best is chosen: its work counts as soon as it is where it should be.
    fn close_best(&mut self, step: usize, chosen: SeatId, out: &mut Out) -> bool {
        match self.seats[chosen].state {
            SeatState::Done => {
                let output = StepOutput { chosen: Some(self.seats[chosen].number), ..self.output_of_seat(chosen) };
                self.done(step, output, out);
                true
            }
            SeatState::Failed(_) => {
                let failure = self.first_failure(&[chosen]).unwrap_or(Failure::Cause("it is not there".to_owned()));
                self.fail(step, failure);
                true
            }
            _ => false,
        }
    }

    /// Runs the command for each candidate that is done; the first one by number for which it succeeds is chosen.
    fn try_candidates(
        &mut self,
        step: usize,
        of: &str,
        candidates: &[SeatId],
        command: &str,
        time: Duration,
        out: &mut Out,
    ) -> Next {
        let mut moved = false;
        for seat in candidates.iter().copied() {
            if self.seats[seat].state == SeatState::Done && self.seats[seat].passed.is_none() {
                self.seats[seat].state = SeatState::Judging;
                out.push(Effect::Run { seat, command: command.to_owned(), time });
                moved = true;
            }
        }
        let passed = candidates.iter().copied().find(|seat| self.seats[*seat].passed == Some(true));
        let race = self.team.role(of).is_some_and(|role| role.strategy == Strategy::Any);
        let all_known = candidates.iter().all(|seat| self.seats[*seat].is_settled());
        match passed {
            Some(seat) if race || all_known => Next::Chosen(seat),
            None if all_known => {
                let name = &self.steps[step].name;
                Next::Failed(Failure::Cause(format!(
                    "`{command}` succeeded for none of {} candidates of {name}",
                    candidates.len()
                )))
            }
            _ if moved => Next::Moved,
            _ => Next::Wait,
        }
    }

    /// Has an agent choose among the candidates that are done.
    fn judge_candidates(&mut self, step: usize, candidates: &[SeatId], judge: &str) -> Next {
        if !candidates.iter().all(|seat| self.seats[*seat].is_settled()) {
            return Next::Wait;
        }
        let done: Vec<SeatId> =
            candidates.iter().copied().filter(|seat| self.seats[*seat].state == SeatState::Done).collect();
        match done.as_slice() {
            [] => Next::Failed(
                self.first_failure(candidates).unwrap_or(Failure::Cause("no candidate was done".to_owned())),
            ),
            // Nothing is left to choose.
            [only] => Next::Chosen(*only),
            _ => {
                let numbers: Vec<usize> = done.iter().map(|seat| self.seats[*seat].number).collect();
                let Some(judging) = self.seats_of(step, judge).last().copied() else {
                    let moment = Moment { number: 1, ..Moment::default() };
                    let seat = self.seat(step, judge, moment.clone(), judge.to_owned());
                    self.seats[seat].schema = Some(answer::verdict_schema(&numbers));
                    self.wait(seat, &moment);
                    return Next::Moved;
                };
                if let Some(failure) = self.first_failure(&[judging]) {
                    return Next::Failed(failure);
                }
                let verdict = match (&self.seats[judging].state, &self.seats[judging].answer) {
                    (SeatState::Done, Some(answer)) => answer.value.get("best").and_then(serde_json::Value::as_u64),
                    _ => return Next::Wait,
                };
                let best = verdict.and_then(|number| usize::try_from(number).ok());
                match done.iter().find(|seat| Some(self.seats[**seat].number) == best) {
                    Some(seat) => Next::Chosen(*seat),
                    None => Next::Failed(Failure::Cause(format!("{judge} chose no candidate"))),
                }
            }
        }
    }
}

enum Next {
    Wait,
    Moved,
    Chosen(SeatId),
    Failed(Failure),
}
