//! Runs a group of siblings by a strategy. It waits, so it is for workers and programs.

use tokio::time::{Instant, sleep};

use super::{
    family::{Family, STOP_GRACE},
    strategy::{Group, GroupAction, GroupEnd, Strategy},
};
use crate::{
    actors::restart::RestartPolicy,
    protocol::sibling::{SiblingEnd, SiblingError, SiblingId, SiblingSpec, WaitMode, WorktreeFate},
};

/// How a group ended, and how its members did: the last end of each, in the order of their specs.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupReport {
    /// How the group ended.
    pub end: GroupEnd,
    /// How its members did; none for one that had no end.
    pub ends: Vec<Option<SiblingEnd>>,
}

/// Spawns members below `family` and starts them again as `strategy` and `policy` say, until the group is over. A
/// member that is started again is a new sibling with the same spec; the one before it is stopped.
///
/// # Errors
/// A member could not be spawned; those that were are stopped.
pub async fn run(
    family: &Family,
    specs: &[SiblingSpec],
    strategy: Strategy,
    policy: RestartPolicy,
) -> Result<GroupReport, SiblingError> {
    let mut running = Running { family, specs, ids: Vec::new(), ends: vec![None; specs.len()] };
    let result = running.drive(Group::new(strategy, policy, specs.len())).await;
    if result.is_err() {
        running.stop(&(0..running.ids.len()).collect::<Vec<_>>()).await?;
    }
    Ok(GroupReport { end: result?, ends: running.ends })
}

/// A group that runs.
struct Running<'a> {
    family: &'a Family,
    specs: &'a [SiblingSpec],
    ids: Vec<SiblingId>,
    ends: Vec<Option<SiblingEnd>>,
}

impl Running<'_> {
    async fn drive(&mut self, mut group: Group) -> Result<GroupEnd, SiblingError> {
        let begun = Instant::now();
        for place in 0..self.specs.len() {
            let id = self.spawn(place).await?;
            self.ids.push(id);
        }
        // Members of which the group has not heard the end.
        let mut open: Vec<usize> = (0..self.specs.len()).collect();
        while !open.is_empty() {
            let texts: Vec<_> = open.iter().map(|place| self.ids[*place].to_string()).collect();
            let names: Vec<_> = texts.iter().map(String::as_str).collect();
            let waited = self.family.wait(&names, WaitMode::Any, None).await?;
            for end in waited.ends {
                let Some(place) = self.ids.iter().position(|id| *id == end.id) else { continue };
                open.retain(|known| *known != place);
                let actions = group.decide(place, &end.outcome, begun.elapsed());
                self.ends[place] = Some(end);
                if let Some(over) = self.act(actions, &mut open).await? {
                    return Ok(over);
                }
            }
        }
        Ok(GroupEnd::Done { members: Vec::new() })
    }

    async fn act(
        &mut self,
        actions: Vec<GroupAction>,
        open: &mut Vec<usize>,
    ) -> Result<Option<GroupEnd>, SiblingError> {
        let stopped = |action: &GroupAction| match action {
            GroupAction::Stop(place) | GroupAction::Restart(place, _) => Some(*place),
            GroupAction::Over(_) => None,
        };
        let stops: Vec<usize> = actions.iter().filter_map(stopped).collect();
        self.stop(&stops).await?;
        open.retain(|place| !stops.contains(place));
        for action in actions {
            match action {
                GroupAction::Stop(_) => {}
                GroupAction::Restart(place, wait) => {
                    sleep(wait).await;
                    self.ids[place] = self.spawn(place).await?;
                    open.push(place);
                }
                GroupAction::Over(end) => return Ok(Some(end)),
            }
        }
        Ok(None)
    }

    async fn spawn(&self, place: usize) -> Result<SiblingId, SiblingError> {
        let spec = self.specs[place].clone();
        // A key would give the one that is to be replaced.
        let key = spec.key.filter(|_| self.ends[place].is_none());
        Ok(self.family.spawn(SiblingSpec { key, ..spec }).await?.id)
    }

    async fn stop(&mut self, places: &[usize]) -> Result<(), SiblingError> {
        if places.is_empty() {
            return Ok(());
        }
        let texts: Vec<_> = places.iter().map(|place| self.ids[*place].to_string()).collect();
        let names: Vec<_> = texts.iter().map(String::as_str).collect();
        let reason = "its group does not need it any more";
        let ends = self.family.stop(&names, reason, STOP_GRACE, WorktreeFate::Patch).await?;
        for end in ends {
            if let Some(place) = self.ids.iter().position(|id| *id == end.id) {
                self.ends[place] = Some(end);
            }
        }
        Ok(())
    }
}
