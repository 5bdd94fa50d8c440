//! What the front of a run makes of events: lines in the run's folder, what it spent, a pulse for the supervisor.

use std::time::{Duration, Instant};

use super::{front::UnattendedState, outcome::Outcome, words::Word};
use crate::{
    actors::{
        front::{
            complain, given_up,
            stdout::{Chunk, Release},
            warning_of_hidden,
        },
        subscriber::{Delivered, Delivery},
    },
    protocol::{Event, Published, event::CallLabel, wire::write_event},
};

/// The supervisor hears of events at most so often: it only wants to know that there are some.
const PULSE: Duration = Duration::from_millis(50);

/// A question to a person is open as long as that takes; the supervisor hears when it is closed.
const QUESTION_MS: u64 = 7 * 24 * 3_600_000;

/// When the supervisor last heard of an event, and of how many answers.
#[derive(Debug, Default)]
pub(super) struct Pulse(Option<(Instant, u64)>);

impl Pulse {
    /// Whether it is time to tell of another one. A new answer is told at once: it is how far the run came.
    fn is_due(&mut self, now: Instant, turns: u64) -> bool {
        let is_due = |(last, told): (Instant, u64)| told != turns || now.saturating_duration_since(last) >= PULSE;
        let due = self.0.is_none_or(is_due);
        if due {
            self.0 = Some((now, turns));
        }
        due
    }
}

impl UnattendedState {
    pub(super) fn deliver(&mut self, delivery: Delivery) {
        let events = match delivery.content {
            Delivered::Events(events) => events,
            Delivered::Snapshot(view) => {
                if let Some(cause) = &view.parked {
                    self.broken(&given_up(cause));
                }
                return;
            }
        };
        let mut bytes = Vec::new();
        for event in &events {
            write_event(event, &mut self.wire, &mut bytes);
        }
        let weights = events.iter().map(|event| event.event.weight()).collect();
        let release = self.backlog.clone().map(|backlog| Release { backlog, weights });
        if let Some(out) = &self.events {
            out.write(Chunk { bytes, release, permit: delivery.permit, ..Chunk::default() });
        }
        for event in events {
            if let Some(warning) = warning_of_hidden(&event.event) {
                complain(&warning);
            }
            self.watch(&event);
        }
        if self.pulse.is_due(Instant::now(), self.spent.turns) {
            self.tell(&Word::Beat { turns: self.spent.turns, quiet_ms: None });
        }
    }

    fn watch(&mut self, published: &Published) {
        match &published.event {
            Event::MessageEnd { message, entry_id: Some(_) } => self.spent.add_message(message),
            Event::SessionCompact { entry, .. } | Event::EntryAppended { entry } => self.spent.add_entry(entry),
            Event::TurnEnd { tool_results, .. }
                if !tool_results.is_empty() && self.task.limits.has_turns_over(&self.spent) =>
            {
                self.stop(Outcome::TurnLimit, None);
            }
            Event::SiblingEnd { .. } | Event::AgentSettled { .. } => self.look_again(),
            Event::Notice { text, .. } => complain(text),
            Event::ExtensionError { extension, event, error } => {
                complain(&format!("Extension {extension} failed at {event}: {error}"));
            }
            Event::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
                complain(&format!("Retry {attempt} of {max_attempts} in {delay_ms} ms: {error_message}"));
                self.quiet(*delay_ms);
            }
            Event::ToolExecutionStart { call } => {
                if let Some(ms) = deadline_of(call) {
                    self.quiet(ms);
                }
            }
            Event::QuestionAsked { .. } => self.quiet(QUESTION_MS),
            // The clock runs again.
            Event::QuestionClosed { .. } => self.tell(&Word::Beat { turns: self.spent.turns, quiet_ms: Some(0) }),
            Event::Parked { cause } => {
                self.broken(&given_up(cause));
            }
            _ => {}
        }
    }

    fn look_again(&mut self) {
        if std::mem::take(&mut self.lingers) {
            self.look();
        }
    }

    /// Says that nothing need happen for a while.
    fn quiet(&self, ms: u64) {
        self.tell(&Word::Beat { turns: self.spent.turns, quiet_ms: Some(ms) });
    }
}

/// The time that a call has, in milliseconds, where it says so itself.
fn deadline_of(call: &CallLabel) -> Option<u64> {
    let seconds = call.args.get("timeout")?.as_f64().filter(|seconds| seconds.is_finite() && *seconds > 0.0)?;
    u64::try_from(Duration::try_from_secs_f64(seconds).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_pulse_is_told_at_most_so_often() {
        let mut pulse = Pulse::default();
        let begun = Instant::now();
        let due = [(0, 0), (10, 0), (49, 0), (50, 0), (60, 1), (99, 1), (110, 1)]
            .map(|(ms, turns)| pulse.is_due(begun + Duration::from_millis(ms), turns));
        assert_eq!(due, [true, false, false, true, true, false, true]);
    }

    #[test]
    fn a_call_has_the_time_that_it_asks_for() {
        for (args, wanted) in [
            (json!({"timeout": 2}), Some(2_000)),
            (json!({"timeout": 0.5}), Some(500)),
            (json!({"timeout": -1}), None),
            (json!({"timeout": "x"}), None),
            (json!({}), None),
        ] {
            let args = Arc::new(args.as_object().unwrap().clone());
            let call = CallLabel { place: 0, tool_call_id: "c".into(), tool_name: "bash".into(), args };
            assert_eq!(deadline_of(&call), wanted);
        }
    }
}
