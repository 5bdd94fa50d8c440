//! Speakers answer each other, round by round.

use serde_json::{Value, json};

use super::{
    Out, Plan,
    outputs::{Moment, StepOutput, listed},
    seat::SeatState,
};
use crate::actors::team::{file::PatternKind, template::shown};

/// What a speaker said in a round.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statement {
    round: u32,
    speaker: String,
    value: Value,
}

impl Plan {
    pub(super) fn begin_debate(&mut self, step: usize, speakers: &[String]) {
        self.steps[step].round = 1;
        self.steps[step].said.clear();
        for (at, speaker) in speakers.iter().enumerate() {
            let moment = Moment { number: at + 1, round: 1, ..Moment::default() };
            self.seat(step, speaker, moment, speaker.clone());
        }
    }

    pub(super) fn advance_debate(&mut self, step: usize, out: &mut Out) -> bool {
        let Some(PatternKind::Debate { rounds, reply, .. }) = self.kind(step) else { return false };
        let seats = self.steps[step].seats.clone();
        if let Some(failure) = self.first_failure(&seats) {
            self.fail(step, failure);
            return true;
        }
        if !seats.iter().all(|seat| self.seats[*seat].state == SeatState::Done) {
            return false;
        }
        let round = self.steps[step].round;
        let said: Vec<_> = seats.iter().map(|seat| self.statement(*seat, round)).collect();
        self.steps[step].said.extend(said.iter().cloned());
        if round >= rounds {
            let all = &self.steps[step].said;
            let heading = |said: &Statement| format!("{}, round {}", said.speaker, said.round);
            let parts = all.iter().map(|said| (heading(said), said.value.clone())).collect();
            let value =
                all.iter().map(|said| json!({"round": said.round, "speaker": said.speaker, "output": said.value}));
            let output = StepOutput { value: value.collect(), ..StepOutput::many(parts, None) };
            self.done(step, output, out);
            return true;
        }
        self.steps[step].round = round + 1;
        for seat in seats {
            let label = self.seats[seat].label.clone();
            let others = said.iter().filter(|said| said.speaker != label);
            let others = listed(others.map(|said| (said.speaker.as_str(), shown(&said.value))));
            let moment = Moment { number: self.seats[seat].number, round: round + 1, others: Some(others), item: None };
            let text = self.fill(step, &reply, &moment, "next");
            self.tell(seat, text);
        }
        true
    }

    fn statement(&self, seat: usize, round: u32) -> Statement {
        let value = self.seats[seat].answer.as_ref().map(|answer| answer.value.clone()).unwrap_or_default();
        Statement { round, speaker: self.seats[seat].label.clone(), value }
    }
}
