//! Agents of a team that work in other processes: on the nodes of a server, say.

use std::{fmt, pin::Pin};

use crate::{
    actors::{account::Account, fleet::family::Family},
    protocol::sibling::{Budget, Outcome, SiblingEnd, SiblingError, SiblingSpec, Spent},
};

/// Something that takes its time.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A task for an agent that works elsewhere.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The agent's name: no other of the team has it.
    pub name: String,
    /// Which of the agent's tasks, from 1.
    pub number: u32,
    /// What it is to do.
    pub text: String,
    /// As what the agent is made; none when it is there.
    pub spec: Option<SiblingSpec>,
    /// What it may use, all tasks together.
    pub budget: Budget,
    /// An earlier process may have given it: the agent goes on with it when it was stopped since.
    pub is_taken_up: bool,
}

/// A place where agents of a team work.
pub trait Elsewhere: fmt::Debug + Send + Sync {
    /// Has an agent do a task, and waits for its end. It gets the task once, however often this is asked: a team that is
    /// gone on with waits for the same one.
    fn task(&self, task: Assignment) -> Doing<'_, Result<SiblingEnd, SiblingError>>;

    /// Stops what an agent is doing, and waits a while for its end. None when it does nothing.
    fn stop<'a>(&'a self, name: &'a str) -> Doing<'a, Option<SiblingEnd>>;

    /// Stops all agents that do something: their ends, by their names.
    fn stop_all(&self) -> Doing<'_, Vec<(String, SiblingEnd)>>;
}

/// Has an agent do a task elsewhere. It counts in the account of the team: what the task may use is put by for it, and what
/// it did use is charged.
pub(super) async fn assigned(
    family: &Family,
    elsewhere: &dyn Elsewhere,
    task: Assignment,
) -> Result<SiblingEnd, SiblingError> {
    let account = family.account();
    if let Some(limit) = account.exhausted() {
        let outcome = Outcome::Budget { what: limit.what, message: limit.message };
        return Ok(super::errand::without_agent(outcome));
    }
    let budget = within(account, task.budget);
    let held = account.open(&task.name, Budget { seconds: None, ..budget })?;
    let ended = elsewhere.task(Assignment { budget, ..task }).await;
    if let Ok(end) = &ended {
        let usage = &end.usage;
        held.charge(Spent { tokens: usage.context_tokens(), cost: usage.cost.total, ..Spent::default() });
    }
    held.close();
    ended
}

/// A budget that the account can bear: who asks for no limit gets what is left.
fn within(account: &Account, wanted: Budget) -> Budget {
    let (limits, spent) = (account.budget(), account.spent());
    let tokens = limits.tokens.map(|limit| limit.saturating_sub(spent.tokens));
    let cost = limits.cost.map(|limit| (limit - spent.cost).max(0.0));
    Budget { tokens: wanted.tokens.or(tokens), cost: wanted.cost.or(cost), ..wanted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_no_limit_gets_what_is_left() {
        let limit = |tokens, cost| Budget { tokens, cost, ..Budget::default() };
        let account = Account::root("team");
        assert_eq!(within(&account, limit(None, None)), limit(None, None));
        account.limit(limit(Some(100), Some(2.0)));
        account.charge(Spent { tokens: 30, cost: 0.5, ..Spent::default() });
        assert_eq!(within(&account, limit(None, None)), limit(Some(70), Some(1.5)));
        assert_eq!(within(&account, limit(Some(10), None)), limit(Some(10), Some(1.5)));
        account.charge(Spent { tokens: 300, cost: 9.0, ..Spent::default() });
        assert_eq!(within(&account, limit(None, None)), limit(Some(0), Some(0.0)));
    }
}
