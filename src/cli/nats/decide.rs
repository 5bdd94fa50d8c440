//! What a node does with a job that it was given. Pure.

use std::path::PathBuf;

use super::record::{Ended, Standing, Submitted};
use crate::actors::front::unattended::outcome::Outcome;

/// Nodes that may fail with a request, or have no folder for it, before it is given up.
pub const TRIES: usize = 5;

/// What is known when the lease of a run was taken.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The number of the request that the job is.
    pub number: u32,
    /// What is to be run.
    pub submitted: Option<&'a Submitted>,
    /// The latest result.
    pub ended: Option<&'a Ended>,
    /// Who had it before, and who could not take it.
    pub standing: &'a Standing,
    /// Where it would work here, or why it cannot.
    pub place: Result<PathBuf, String>,
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing is to be done any more.
    Drop,
    /// Work on it, in this folder.
    Work(PathBuf),
    /// Leave it to others, for this reason.
    LeaveToOthers(String),
    /// It ends without anybody working on it.
    End(Outcome, String),
}

/// Decides.
#[must_use]
pub fn decide(facts: Facts<'_>) -> Decision {
    let Facts { number, submitted, ended, standing, place } = facts;
    let Some(submitted) = submitted else { return Decision::Drop };
    if number < submitted.number || ended.is_some_and(|ended| ended.number >= number) {
        return Decision::Drop;
    }
    if standing.failures(number) >= TRIES {
        let text = format!("{TRIES} nodes took it and were lost, or their supervisors died");
        return Decision::End(Outcome::GaveUp, text);
    }
    match place {
        Ok(folder) => Decision::Work(folder),
        Err(reason) => refused(standing, number, &submitted.pool, reason),
    }
}

/// What follows when a node of a pool cannot take a request, for this reason: others may, until enough have tried.
#[must_use]
pub fn refused(standing: &Standing, number: u32, pool: &str, reason: String) -> Decision {
    let before = standing.refusals.iter().filter(|refusal| refusal.number == number);
    if before.clone().count() + 1 < TRIES {
        return Decision::LeaveToOthers(reason);
    }
    let mut nodes: Vec<&str> = before.map(|refusal| refusal.node.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let text = format!("no worker of the pool {pool} can take it: {reason} (asked: {})", nodes.join(", "));
    Decision::End(Outcome::Failed, text)
}

/// Where a run works: in the folder that the node was given, else in the run's own.
///
/// # Errors
/// There is no such folder.
pub fn place(of_node: Option<&PathBuf>, submitted: &Submitted) -> Result<PathBuf, String> {
    let folder = of_node.unwrap_or(&submitted.spec.cwd);
    match folder.is_dir() {
        true => Ok(folder.clone()),
        false => Err(format!("there is no folder {}", folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{
        nats::record::{Leaving, Refusal, Term, TermEnd},
        runs::{result::RunResult, spec::RunSpec},
    };

    fn submitted(number: u32) -> Submitted {
        Submitted {
            number,
            pool: "p".into(),
            at: 0,
            spec: RunSpec { cwd: "/nowhere/at/all".into(), ..RunSpec::nothing("r") },
        }
    }

    fn standing(failures: usize, refusals: usize) -> Standing {
        let end = Some(TermEnd { at: 0, how: Leaving::Lost });
        let term = Term { number: 2, node: "a".into(), epoch: 1, folder: "/w".into(), since: 0, end };
        let refusal = Refusal { number: 2, node: "b".into(), reason: "x".into() };
        Standing { terms: vec![term; failures], refusals: vec![refusal; refusals], ..Standing::default() }
    }

    #[test]
    fn a_job_is_worked_on_left_to_others_or_over() {
        let ended = |number| Ended { number, epoch: 1, node: None, result: RunResult::nothing(Outcome::Cancelled) };
        let (here, gone) = (|| Ok(PathBuf::from("/w")), || Err("there is no folder /x".to_owned()));
        let table = [
            ("a run that was forgotten", None, None, standing(0, 0), here(), "Drop"),
            ("an older request", Some(submitted(3)), None, standing(0, 0), here(), "Drop"),
            ("it has its result", Some(submitted(2)), Some(ended(2)), standing(0, 0), here(), "Drop"),
            ("the request before has", Some(submitted(2)), Some(ended(1)), standing(0, 0), here(), "Work(\"/w\")"),
            ("a new one", Some(submitted(2)), None, standing(0, 0), here(), "Work(\"/w\")"),
            ("one that was lost", Some(submitted(2)), None, standing(4, 0), here(), "Work(\"/w\")"),
            ("one that kills nodes", Some(submitted(2)), None, standing(5, 0), here(), "End(GaveUp"),
            ("no folder", Some(submitted(2)), None, standing(0, 3), gone(), "LeaveToOthers(\"there is no folder"),
            ("no folder anywhere", Some(submitted(2)), None, standing(0, 4), gone(), "End(Failed"),
            ("a folder at last", Some(submitted(2)), None, standing(0, 4), here(), "Work(\"/w\")"),
        ];
        for (what, submitted, ended, standing, place, wanted) in table {
            let facts =
                Facts { number: 2, submitted: submitted.as_ref(), ended: ended.as_ref(), standing: &standing, place };
            let decision = format!("{:?}", decide(facts));
            assert!(decision.starts_with(wanted), "{what}: {decision}");
        }
    }

    #[test]
    fn a_run_works_in_the_folder_of_the_node_else_in_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let (own, of_node) = (submitted(1), dir.path().to_owned());
        assert_eq!(place(Some(&of_node), &own), Ok(of_node.clone()));
        assert!(place(None, &own).unwrap_err().contains("/nowhere/at/all"));
        let there = Submitted { spec: RunSpec { cwd: of_node.clone(), ..own.spec }, ..own };
        assert_eq!(place(None, &there), Ok(of_node));
    }
}
