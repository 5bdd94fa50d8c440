//! Which agents below the one in front have a card: those that work, and for a while those that have just ended.
//!
//! What a card says is in the [`View`]; here is only how long it is there.

use std::{collections::BTreeMap, sync::Arc};

use crate::protocol::{
    Event,
    sibling::{SiblingId, SiblingStatus},
    view::View,
};

/// Milliseconds that the card of an agent stays whose task has ended.
const STAYS_MS: u64 = 10_000;

/// Milliseconds since the screen began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    /// The task began, as far as the screen knows.
    since: u64,
    /// It ended.
    ended: Option<u64>,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cards(BTreeMap<SiblingId, Times>);

/// A card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Card<'v> {
    /// What is known of the agent.
    pub status: &'v Arc<SiblingStatus>,
    /// How long its task has run, or ran, in milliseconds.
    pub ms: u64,
}

impl Cards {
    /// How things are when the screen begins to look: whoever works has a card.
    pub fn reset(&mut self, view: &View, now: u64) {
        self.0.clear();
        for status in view.siblings.iter().filter(|status| status.state.is_active()) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a process's life")]
            let passed = (status.spent.seconds * 1_000.0) as u64;
            self.0.insert(status.id.clone(), Times { since: now.saturating_sub(passed), ended: None });
        }
    }

    /// Something happened.
    pub fn apply(&mut self, event: &Event, now: u64) {
        let status = match event {
            Event::SiblingStart { sibling } | Event::SiblingUpdate { sibling } | Event::SiblingEnd { sibling, .. } => {
                sibling
            }
            _ => return,
        };
        let known = self.0.get_mut(&status.id);
        match (known, status.state.is_active()) {
            // It works on its next task.
            (Some(times), true) if times.ended.is_some() => *times = Times { since: now, ended: None },
            (Some(times), false) => drop(times.ended.get_or_insert(now)),
            (None, true) => drop(self.0.insert(status.id.clone(), Times { since: now, ended: None })),
            (Some(_), true) | (None, false) => {}
        }
    }

    /// Time passed: cards that were there long enough go.
    pub fn pass(&mut self, now: u64) {
        self.0.retain(|_, times| times.ended.is_none_or(|ended| now < ended + STAYS_MS));
    }

    /// The cards, parents before their children.
    pub fn shown<'v>(&self, view: &'v View, now: u64) -> Vec<Card<'v>> {
        let card = |status: &'v Arc<SiblingStatus>| {
            let times = self.0.get(&status.id)?;
            Some(Card { status, ms: times.ended.unwrap_or(now).saturating_sub(times.since) })
        };
        view.siblings.iter().filter_map(card).collect()
    }

    /// Whether cards change as time passes.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        !self.0.is_empty()
    }
}

/// Agents that work.
#[must_use]
pub fn running(view: &View) -> usize {
    view.siblings.iter().filter(|status| status.state.is_active()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::{
            Published, Seq,
            sibling::{Outcome, SiblingState},
        },
        tui::testing::sibling,
    };

    /// Plays changes of one agent, each at its time in seconds, and says which times its card shows at the end.
    fn check(script: &[(u64, SiblingState)], at: u64, expected: Option<u64>) {
        let (mut cards, mut view) = (Cards::default(), View::default());
        for (n, (seconds, state)) in script.iter().enumerate() {
            let outcome = (!state.is_active()).then_some(Outcome::Done);
            let status = Arc::new(SiblingStatus { state: *state, outcome, ..sibling("agent-1") });
            let event = Event::SiblingUpdate { sibling: status };
            view.apply(&Published { seq: Seq { epoch: 1, n: n as u64 }, event: event.clone() });
            cards.apply(&event, seconds * 1_000);
            cards.pass(seconds * 1_000);
        }
        cards.pass(at * 1_000);
        let shown: Vec<u64> = cards.shown(&view, at * 1_000).iter().map(|card| card.ms / 1_000).collect();
        assert_eq!(shown.first().copied(), expected, "{script:?} at {at}");
        assert_eq!(cards.is_moving(), expected.is_some());
    }

    #[test]
    fn a_card_lives_from_the_start_of_a_task_to_a_while_after_its_end() {
        use SiblingState::{Gone, Idle, Paused, Running, Starting};
        check(&[], 9, None);
        check(&[(1, Starting)], 9, Some(8));
        check(&[(1, Starting), (2, Running), (3, Paused)], 9, Some(8));
        check(&[(1, Running), (5, Idle)], 9, Some(4));
        check(&[(1, Running), (5, Idle), (6, Gone)], 14, Some(4));
        check(&[(1, Running), (5, Idle), (6, Gone)], 15, None);
        check(&[(1, Running), (5, Idle), (8, Starting)], 9, Some(1));
        check(&[(1, Running), (5, Idle), (30, Running)], 31, Some(1));
        // Whoever idles when it is first heard of has nothing to show.
        check(&[(1, Idle)], 2, None);
    }

    #[test]
    fn a_screen_that_comes_later_shows_those_that_work() {
        let mut status = sibling("agent-1");
        status.spent.seconds = 3.5;
        let idle = SiblingStatus { state: SiblingState::Idle, ..sibling("agent-2") };
        let view = View { siblings: vec![Arc::new(status), Arc::new(idle)], ..View::default() };
        let mut cards = Cards::default();
        cards.reset(&view, 10_000);
        let shown: Vec<_> =
            cards.shown(&view, 11_000).iter().map(|card| (card.status.id.to_string(), card.ms)).collect();
        assert_eq!(shown, [("agent-1".to_owned(), 4_500)]);
        assert_eq!(running(&view), 1);
    }
}
