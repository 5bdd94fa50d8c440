//! Agents of a team that work in other processes: on the nodes of a server, say.

use std::{fmt, pin::Pin, sync::Arc};

use super::{
    TeamRun,
    errand::without_agent,
    shares::{less, more},
};
use crate::{
    actors::account::Account,
    protocol::{
        Usage,
        sibling::{Budget, SiblingEnd, SiblingSpec},
    },
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
    /// What it may have used when the task ends, all its tasks together.
    pub budget: Budget,
    /// What it used in its tasks before this one.
    pub used: Usage,
    /// An earlier process may have given it: the agent goes on with it when it was stopped since.
    pub is_taken_up: bool,
    /// The agent reached the limit of tokens or money that it was given, and goes on with this one.
    pub is_continued: bool,
}

/// A place where agents of a team work.
///
/// What is wrong with the way there, or with what is found there, is no end of a task: nobody knows what the agent does.
/// It ends the process of the team, and whoever resumes it finds the task as it is.
pub trait Elsewhere: fmt::Debug + Send + Sync {
    /// Has an agent do a task, and waits for its end, which tells what the task has used. The agent gets the task once,
    /// however often this is asked: a team that is gone on with waits for the same one.
    fn task(&self, task: Assignment) -> Doing<'_, Result<SiblingEnd, String>>;

    /// What an agent that was given this task by an earlier process may have used at its end, all its tasks together; none
    /// when it does not have the task. One that has it is stopped with all others from here on.
    fn allowed<'a>(&'a self, task: &'a Assignment) -> Doing<'a, Result<Option<Budget>, String>>;

    /// Stops what an agent is doing, and waits a while for its end. None when it does nothing.
    fn stop<'a>(&'a self, name: &'a str) -> Doing<'a, Option<SiblingEnd>>;

    /// Stops all agents that do something: their ends, by their names.
    fn stop_all(&self) -> Doing<'_, Vec<(String, SiblingEnd)>>;
}

/// Has an agent do a task elsewhere; `task.budget` is what its role allows it. It counts in the `account` of the team: its
/// share is set aside for it, and what it did use is charged. An agent that has used up its share goes on with another
/// one, until nothing is left.
///
/// # Errors
/// As for [`Elsewhere::task`].
pub(super) async fn assigned(
    account: &Arc<Account>,
    run: &TeamRun,
    elsewhere: &dyn Elsewhere,
    mut task: Assignment,
) -> Result<SiblingEnd, String> {
    let (shares, name) = (&run.shares, task.name.clone());
    let waits = || run.tell(&format!("{name} waits: what is left of the team's budget is set aside for others"));
    let own = task.budget;
    let known = match task.is_taken_up {
        true => elsewhere.allowed(&task).await?,
        false => None,
    };
    let mut before = task.used;
    let mut share = match known {
        Some(allowed) => shares.taken_up(account, &name, less(allowed, &before)),
        None => match shares.take(account, &name, (less(own, &before), None), waits).await {
            Ok(share) => share,
            Err(outcome) => return Ok(without_agent(outcome)),
        },
    };
    loop {
        let (tokens, cost) = more(share.limits, &before);
        task.budget = Budget { tokens, cost, ..own };
        let end = elsewhere.task(task.clone()).await?;
        let mut all = task.used;
        all.add(&end.usage);
        share.charge(&all.without(&before), &end.outcome);
        if !share.is_short(less(own, &before), &end.outcome) {
            return Ok(end);
        }
        before = all;
        task.is_continued = true;
        let had = share.limits;
        drop(share);
        share = match shares.take(account, &name, (less(own, &before), Some(had)), waits).await {
            Ok(share) => share,
            Err(outcome) => return Ok(SiblingEnd { outcome, ..end }),
        };
    }
}

#[cfg(test)]
mod tests;
