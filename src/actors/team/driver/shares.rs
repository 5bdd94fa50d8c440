//! What an agent that works elsewhere may use of the team's budget.
//!
//! Nobody here sees what it uses before its task ends, so it gets a *share*, which is set aside for it: what is left of the
//! team's budget, divided by the places of the team that have no share. Who has used up a share gets another one of
//! twice the size, as long as there is something: the answer that a limit cuts off is lost, so there should be few. While
//! all of it is set aside for others, it waits for what they leave. So the team's budget holds, however many work at once,
//! and all of it can be used.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use super::errand::refusal;
use crate::{
    actors::account::Account,
    protocol::{
        Usage,
        sibling::{Budget, BudgetKind, Outcome, Spent},
    },
};

/// The smallest share, as a part of the team's limit: with less an agent would come to its end again and again.
const LEAST: f64 = 0.02;

/// The shares of a team's agents that work elsewhere.
#[derive(Debug)]
pub(super) struct Shares {
    /// Agents that work at once.
    places: usize,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Shares that agents have.
    out: usize,
    /// Agents that an earlier process gave shares to, while nobody has found out which.
    unknown: BTreeSet<String>,
    /// Agents that are not needed any more.
    dropped: BTreeSet<String>,
}

/// What there is for an agent that wants a share.
enum Attempt<'a> {
    Share(Share<'a>),
    Later,
    Nothing(Outcome),
}

/// What there is of one quantity.
#[derive(Debug, PartialEq)]
enum Part {
    Some(f64),
    /// Others may leave something.
    Later,
    Nothing,
}

/// How much of a quantity an agent gets whose role leaves it `own` and whose last share was `had`, of a `limit` of which so
/// much is `left`, when so many `places` have no share; `is_alone` when nobody has one.
fn part(limit: f64, left: f64, (own, had): (Option<f64>, Option<f64>), places: usize, is_alone: bool) -> Part {
    let least = limit * LEAST;
    let fair = (left / places.max(1) as f64).max(least).max(had.unwrap_or(0.0) * 2.0);
    let wanted = own.unwrap_or(fair);
    match (left > 0.0, is_alone) {
        (false, true) => Part::Nothing,
        (false, false) => Part::Later,
        (true, false) if left < wanted.min(least) => Part::Later,
        (true, _) => Part::Some(wanted.min(left)),
    }
}

impl Shares {
    /// None are out yet; so many agents work at once.
    pub fn new(places: usize) -> Self {
        Self { places, state: Mutex::default(), changed: Notify::new() }
    }

    /// Agents that an earlier process may have given shares to: nobody else gets one before it is known what they have.
    pub fn expect(&self, names: impl Iterator<Item = String>) {
        self.state().unknown.extend(names);
    }

    /// Nothing more is to be found out about what an earlier process gave to this one.
    pub fn settle(&self, name: &str) {
        if self.state().unknown.remove(name) {
            self.changed.notify_waiters();
        }
    }

    /// An agent is not needed any more: if it waits for a share, or comes to ask for one, it gets none.
    pub fn drop_waiting(&self, name: &str) {
        self.state().dropped.insert(name.to_owned());
        self.changed.notify_waiters();
    }

    /// A share for an agent whose role leaves it `own`, and whose last share for the same task was `had`; `waits` is called when there is none now.
    ///
    /// # Errors
    /// How its task ends without one.
    pub async fn take(
        &self,
        account: &Arc<Account>,
        name: &str,
        (own, had): (Budget, Option<Budget>),
        waits: impl Fn(),
    ) -> Result<Share<'_>, Outcome> {
        self.settle(name);
        let mut is_told = false;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // What changes from here on is heard.
            changed.as_mut().enable();
            match self.attempt(account, name, own, had.unwrap_or_default()) {
                Attempt::Share(share) => return Ok(share),
                Attempt::Nothing(outcome) => return Err(outcome),
                Attempt::Later => {
                    if !std::mem::replace(&mut is_told, true) {
                        waits();
                    }
                    changed.await;
                }
            }
        }
    }

    fn attempt(&self, account: &Arc<Account>, name: &str, own: Budget, had: Budget) -> Attempt<'_> {
        let mut state = self.state();
        if state.dropped.contains(name) {
            return Attempt::Nothing(Outcome::Stopped { message: "the team does not need it any more".to_owned() });
        }
        let (limits, left) = (account.budget(), account.left());
        let is_limited = limits.tokens.is_some() || limits.cost.is_some();
        if is_limited && !state.unknown.is_empty() {
            return Attempt::Later;
        }
        let places = self.places.saturating_sub(state.out);
        let is_alone = state.out == 0;
        let of = |limit: Option<f64>, left: Option<f64>, own: Option<f64>, had| match (limit, left) {
            (Some(limit), Some(left)) => Some(part(limit, left, (own, had), places, is_alone)),
            _ => own.map(Part::Some),
        };
        let float = |tokens: Option<u64>| tokens.map(|tokens| tokens as f64);
        let tokens = of(float(limits.tokens), float(left.tokens), float(own.tokens), float(had.tokens));
        let cost = of(limits.cost, left.cost, own.cost, had.cost);
        let is = |wanted: Part| tokens.as_ref() == Some(&wanted) || cost.as_ref() == Some(&wanted);
        if is(Part::Nothing) {
            let what = if tokens == Some(Part::Nothing) { BudgetKind::Tokens } else { BudgetKind::Cost };
            let known = account.exhausted().map(|limit| limit.message);
            let message = known.unwrap_or_else(|| "nothing is left of the team's budget".to_owned());
            return Attempt::Nothing(Outcome::Budget { what, message });
        }
        if is(Part::Later) {
            return Attempt::Later;
        }
        let some = |part: Option<Part>| match part {
            Some(Part::Some(amount)) => Some(amount),
            _ => None,
        };
        let limits =
            Budget { tokens: some(tokens).map(|tokens| tokens.ceil() as u64), cost: some(cost), ..Budget::default() };
        match account.open(name, limits) {
            Ok(account) => {
                state.out += 1;
                Attempt::Share(Share { shares: self, account, limits })
            }
            // An agent here took it in the same moment.
            Err(error) => Attempt::Nothing(refusal(&error)),
        }
    }

    /// The share that an earlier process has given to an agent: it has it, whatever is left.
    pub fn taken_up(&self, account: &Arc<Account>, name: &str, limits: Budget) -> Share<'_> {
        let account = account.reopen(name, limits);
        self.state().out += 1;
        self.settle(name);
        Share { shares: self, account, limits }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A share that an agent has. What it does not use is free again when this goes.
#[derive(Debug)]
pub(super) struct Share<'a> {
    shares: &'a Shares,
    account: Arc<Account>,
    /// What the agent may use with it: tokens and money.
    pub limits: Budget,
}

impl Share<'_> {
    /// Counts what was used. Of what ended the task, the whole share: a provider tells nothing of an answer that was cut
    /// off, and has it paid.
    pub fn charge(&self, used: &Usage, outcome: &Outcome) {
        let (mut tokens, mut cost) = (used.context_tokens(), used.cost.total);
        if ended_by(outcome, BudgetKind::Tokens) {
            tokens = tokens.max(self.limits.tokens.unwrap_or(0));
        }
        if ended_by(outcome, BudgetKind::Cost) {
            cost = cost.max(self.limits.cost.unwrap_or(0.0));
        }
        self.account.charge(Spent { tokens, cost, ..Spent::default() });
    }

    /// Whether a task ended because the share was used up, and the agent's role leaves it more: that `own`.
    pub fn is_short(&self, own: Budget, outcome: &Outcome) -> bool {
        let tokens = self.limits.tokens.is_some_and(|share| own.tokens.is_none_or(|own| share < own));
        let cost = self.limits.cost.is_some_and(|share| own.cost.is_none_or(|own| share < own));
        ended_by(outcome, BudgetKind::Tokens) && tokens || ended_by(outcome, BudgetKind::Cost) && cost
    }
}

fn ended_by(outcome: &Outcome, kind: BudgetKind) -> bool {
    matches!(outcome, Outcome::Budget { what, .. } if *what == kind)
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.account.close();
        self.shares.state().out -= 1;
        self.shares.changed.notify_waiters();
    }
}

/// What a budget leaves of tokens and money when so much was used.
pub(super) fn less(budget: Budget, used: &Usage) -> Budget {
    let tokens = budget.tokens.map(|tokens| tokens.saturating_sub(used.context_tokens()));
    let cost = budget.cost.map(|cost| (cost - used.cost.total).max(0.0));
    Budget { tokens, cost, ..Budget::default() }
}

/// The limits of tokens and money that leave so much when so much was used.
pub(super) fn more(left: Budget, used: &Usage) -> (Option<u64>, Option<f64>) {
    let tokens = left.tokens.map(|tokens| tokens.saturating_add(used.context_tokens()));
    (tokens, left.cost.map(|cost| cost + used.cost.total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_what_is_left_by_the_places_without_one_and_no_crumbs() {
        let table = [
            // limit, left, own, had, places, alone
            ((1000.0, 1000.0, None, None, 4, true), Part::Some(250.0)),
            ((1000.0, 750.0, None, None, 3, false), Part::Some(250.0)),
            ((1000.0, 100.0, None, None, 10, false), Part::Some(20.0)),
            ((1000.0, 50.0, None, None, 0, false), Part::Some(50.0)),
            ((1000.0, 19.0, None, None, 1, false), Part::Later),
            ((1000.0, 19.0, None, None, 1, true), Part::Some(19.0)),
            ((1000.0, 0.0, None, None, 1, false), Part::Later),
            ((1000.0, 0.0, None, None, 4, true), Part::Nothing),
            // The next one is larger.
            ((1000.0, 750.0, None, Some(250.0), 4, true), Part::Some(500.0)),
            ((1000.0, 250.0, None, Some(500.0), 4, true), Part::Some(250.0)),
            ((1000.0, 19.0, None, Some(500.0), 4, false), Part::Later),
            // What a role has of its own is not divided.
            ((1000.0, 1000.0, Some(600.0), None, 4, true), Part::Some(600.0)),
            ((1000.0, 400.0, Some(600.0), Some(100.0), 3, false), Part::Some(400.0)),
            ((1000.0, 30.0, Some(20.0), None, 3, false), Part::Some(20.0)),
            ((1000.0, 10.0, Some(20.0), None, 3, false), Part::Later),
            ((1000.0, 100.0, Some(0.0), None, 3, false), Part::Some(0.0)),
        ];
        for ((limit, left, own, had, places, is_alone), wanted) in table {
            let found = part(limit, left, (own, had), places, is_alone);
            assert_eq!(found, wanted, "{limit} {left} {own:?} {had:?} {places} {is_alone}");
        }
    }
}
