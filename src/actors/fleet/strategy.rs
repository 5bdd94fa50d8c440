//! What becomes of a group of siblings when the task of one ends: a pure value. [`super::group`] carries it out.

use std::time::Duration;

use crate::{
    actors::restart::{Exit, RestartDecision, RestartPolicy},
    protocol::sibling::Outcome,
};

/// How the members of a group depend on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Not at all: one that fails is started again.
    #[default]
    OneForOne,
    /// Each builds on those before it: one that fails is started again with all behind it.
    RestForOne,
    /// They build on each other: when one fails, all are started again.
    OneForAll,
    /// They try the same: the first that is done ends the others.
    Any,
}

impl Strategy {
    /// Whether a failure that is followed by another start concerns the member `other`; members are in their order.
    #[must_use]
    pub fn concerns(self, failed: usize, other: usize) -> bool {
        match self {
            Self::OneForOne | Self::Any => other == failed,
            Self::RestForOne => other >= failed,
            Self::OneForAll => true,
        }
    }
}

/// Where a member stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// It works.
    Working,
    /// Its task is done.
    Done,
    /// It is over, and not started again.
    Failed,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupAction {
    /// Stop this member, and do not wait for it.
    Stop(usize),
    /// Start this member from the beginning, after a wait; it is stopped before that when it still works.
    Restart(usize, Duration),
    /// The group is over.
    Over(GroupEnd),
}

/// How a group ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupEnd {
    /// All members are done, or the one that was needed is.
    Done {
        /// The members that are done, in order.
        members: Vec<usize>,
    },
    /// It cannot be done any more.
    Failed {
        /// The member that it failed for.
        member: usize,
        /// Why.
        cause: String,
    },
}

/// A group of siblings.
#[derive(Clone, Debug)]
pub struct Group {
    strategy: Strategy,
    policy: RestartPolicy,
    members: Vec<MemberState>,
    history: Vec<Duration>,
}

impl Group {
    /// A group of so many members that work.
    #[must_use]
    pub fn new(strategy: Strategy, policy: RestartPolicy, members: usize) -> Self {
        Self { strategy, policy, members: vec![MemberState::Working; members], history: Vec::new() }
    }

    /// Where the members stand.
    #[must_use]
    pub fn members(&self) -> &[MemberState] {
        &self.members
    }

    /// The task of a member has ended, at `now` by any clock. What is to be done, in order.
    ///
    /// Only what may pass is tried again, as often as the policy allows; a limit, a refusal and a stop never are.
    pub fn decide(&mut self, member: usize, outcome: &Outcome, now: Duration) -> Vec<GroupAction> {
        if self.members.get(member) != Some(&MemberState::Working) {
            return Vec::new();
        }
        let exit = match outcome {
            Outcome::Done => Exit::Normal,
            other => Exit::Failed(other.message().to_owned()),
        };
        let again = matches!(outcome, Outcome::Done | Outcome::Failed { may_pass: true, .. });
        let decision = match again {
            true => self.policy.decide(&mut self.history, now, &exit),
            false => RestartDecision::Leave,
        };
        match decision {
            RestartDecision::Restart(wait) => self.restart(member, wait),
            _ if outcome.is_done() => self.done(member),
            _ => self.failed(member, outcome.message()),
        }
    }

    fn done(&mut self, member: usize) -> Vec<GroupAction> {
        self.members[member] = MemberState::Done;
        let mut actions = Vec::new();
        if self.strategy == Strategy::Any {
            actions.extend(self.stop_working());
        }
        actions.extend(self.end());
        actions
    }

    fn failed(&mut self, member: usize, cause: &str) -> Vec<GroupAction> {
        self.members[member] = MemberState::Failed;
        let dependent = matches!(self.strategy, Strategy::RestForOne | Strategy::OneForAll);
        let nobody_left = self.members.iter().all(|state| *state == MemberState::Failed);
        if !dependent && !nobody_left {
            // The failure is one of the results.
            return self.end().into_iter().collect();
        }
        let mut actions = self.stop_working();
        actions.push(GroupAction::Over(GroupEnd::Failed { member, cause: cause.to_owned() }));
        actions
    }

    fn restart(&mut self, member: usize, wait: Duration) -> Vec<GroupAction> {
        let strategy = self.strategy;
        let again = self.members.iter_mut().enumerate().filter(|(other, _)| strategy.concerns(member, *other));
        again
            .map(|(other, state)| {
                *state = MemberState::Working;
                GroupAction::Restart(other, wait)
            })
            .collect()
    }

    fn stop_working(&mut self) -> Vec<GroupAction> {
        let mut actions = Vec::new();
        for (place, state) in self.members.iter_mut().enumerate().filter(|(_, state)| **state == MemberState::Working) {
            *state = MemberState::Failed;
            actions.push(GroupAction::Stop(place));
        }
        actions
    }

    fn end(&self) -> Option<GroupAction> {
        if self.members.contains(&MemberState::Working) {
            return None;
        }
        let done = |(place, state): (usize, &MemberState)| (*state == MemberState::Done).then_some(place);
        Some(GroupAction::Over(GroupEnd::Done { members: self.members.iter().enumerate().filter_map(done).collect() }))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        GroupAction::{Over, Restart, Stop},
        Strategy::{Any, OneForAll, OneForOne, RestForOne},
        *,
    };
    use crate::{actors::restart::RestartKind, protocol::sibling::BudgetKind};

    fn busy() -> Outcome {
        Outcome::Failed { message: "busy".into(), may_pass: true }
    }

    fn lost() -> Outcome {
        Outcome::Failed { message: "no key".into(), may_pass: false }
    }

    fn over(members: &[usize]) -> GroupAction {
        Over(GroupEnd::Done { members: members.to_vec() })
    }

    fn given_up(member: usize, cause: &str) -> GroupAction {
        Over(GroupEnd::Failed { member, cause: cause.into() })
    }

    #[test]
    fn the_strategy_says_who_is_started_again_and_who_is_stopped() {
        let at = |n| Restart(n, Duration::ZERO);
        let spent = Outcome::Budget { what: BudgetKind::Cost, message: "spent".into() };
        let refused = Outcome::Refused { message: "no".into() };
        let stopped = Outcome::Stopped { message: "by hand".into() };
        type Script = Vec<(usize, Outcome)>;
        let table: Vec<(Strategy, Script, Vec<GroupAction>)> = vec![
            (OneForOne, vec![(1, busy())], vec![at(1)]),
            (RestForOne, vec![(1, busy())], vec![at(1), at(2)]),
            (RestForOne, vec![(0, Outcome::Done), (1, busy())], vec![at(1), at(2)]),
            (OneForAll, vec![(0, Outcome::Done), (2, busy())], vec![at(0), at(1), at(2)]),
            (Any, vec![(1, busy())], vec![at(1)]),
            (OneForOne, vec![(0, Outcome::Done)], vec![]),
            (OneForOne, vec![(0, Outcome::Done), (2, Outcome::Done), (1, Outcome::Done)], vec![over(&[0, 1, 2])]),
            (OneForOne, vec![(0, lost()), (2, Outcome::Done), (1, Outcome::Done)], vec![over(&[1, 2])]),
            (OneForOne, vec![(0, lost()), (1, lost()), (2, spent.clone())], vec![given_up(2, "spent")]),
            (RestForOne, vec![(1, lost())], vec![Stop(0), Stop(2), given_up(1, "no key")]),
            (OneForAll, vec![(0, refused)], vec![Stop(1), Stop(2), given_up(0, "no")]),
            (OneForAll, vec![(0, Outcome::Done), (1, stopped)], vec![Stop(2), given_up(1, "by hand")]),
            (Any, vec![(1, Outcome::Done)], vec![Stop(0), Stop(2), over(&[1])]),
            (Any, vec![(1, lost()), (0, spent.clone())], vec![]),
            (Any, vec![(1, lost()), (0, spent), (2, lost())], vec![given_up(2, "no key")]),
            // A late word of one that was stopped.
            (Any, vec![(1, Outcome::Done), (0, Outcome::Done)], vec![]),
        ];
        for (strategy, script, wanted) in table {
            let mut group = Group::new(strategy, RestartPolicy::actors(RestartKind::Transient), 3);
            let mut actions = Vec::new();
            for (member, outcome) in &script {
                actions = group.decide(*member, outcome, Duration::from_secs(1));
            }
            assert_eq!(actions, wanted, "{strategy:?} {script:?}");
        }
    }

    #[test]
    fn a_group_that_fails_too_often_is_given_up() {
        let mut group = Group::new(OneForAll, RestartPolicy::actors(RestartKind::Transient), 2);
        for _ in 0..3 {
            assert!(matches!(group.decide(0, &busy(), Duration::ZERO)[..], [Restart(0, _), Restart(1, _)]));
        }
        assert_eq!(group.decide(0, &busy(), Duration::ZERO), [Stop(1), given_up(0, "busy")]);
    }

    #[test]
    fn the_kind_of_the_policy_says_which_ends_are_followed_by_another_start() {
        let policy = RestartPolicy::actors;
        let mut group = Group::new(OneForOne, policy(RestartKind::Temporary), 1);
        assert_eq!(group.decide(0, &busy(), Duration::ZERO), [given_up(0, "busy")]);
        let mut group = Group::new(OneForOne, policy(RestartKind::Permanent), 1);
        assert_eq!(group.decide(0, &Outcome::Done, Duration::ZERO), [Restart(0, Duration::ZERO)]);
    }
}
