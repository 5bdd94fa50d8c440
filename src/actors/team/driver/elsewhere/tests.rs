use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use tokio::sync::Notify;

use super::*;
use crate::{
    actors::team::{file::TeamFile, plan::Given, result::TeamResult},
    protocol::sibling::{BudgetKind, Outcome},
};

/// A place whose agents need so many tokens for a task, and end it when they may.
#[derive(Debug, Default)]
struct Place {
    needs: u64,
    /// Who was given a task, and what they may have used at its end.
    given: Mutex<Vec<(String, Option<u64>)>>,
    /// Agents whose task ends only now.
    slow: Notify,
    /// What an earlier process gave.
    allowed: Option<u64>,
}

impl Place {
    fn needs(needs: u64) -> Self {
        Self { needs, ..Self::default() }
    }

    fn given(&self) -> Vec<(String, Option<u64>)> {
        std::mem::take(&mut self.given.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Elsewhere for Place {
    fn task(&self, task: Assignment) -> Doing<'_, Result<SiblingEnd, String>> {
        Box::pin(async move {
            let limit = task.budget.tokens;
            self.given.lock().unwrap().push((task.name.clone(), limit));
            tokio::task::yield_now().await;
            if task.name.starts_with("slow") {
                self.slow.notified().await;
            }
            let may = limit.map_or(u64::MAX, |limit| limit - task.used.context_tokens());
            let outcome = match may < self.needs {
                true => Outcome::Budget { what: BudgetKind::Tokens, message: "its share".to_owned() },
                false => Outcome::Done,
            };
            Ok(SiblingEnd { usage: tokens(self.needs.min(may)), ..without_agent(outcome) })
        })
    }

    fn allowed<'a>(&'a self, _: &'a Assignment) -> Doing<'a, Result<Option<Budget>, String>> {
        let budget = self.allowed.map(|tokens| Budget { tokens: Some(tokens), ..Budget::default() });
        Box::pin(async move { Ok(budget) })
    }

    fn stop<'a>(&'a self, _: &'a str) -> Doing<'a, Option<SiblingEnd>> {
        Box::pin(async { None })
    }

    fn stop_all(&self) -> Doing<'_, Vec<(String, SiblingEnd)>> {
        Box::pin(async { Vec::new() })
    }
}

fn tokens(input: u64) -> Usage {
    Usage { input, ..Usage::default() }.summed()
}

/// A team with four places, and its account.
fn team(limit: Option<u64>) -> (TeamRun, Arc<Account>) {
    let text = "[team]\nname = \"t\"\nmax_parallel = 4\n[role.a]\nprompt = \"x\"\n";
    let file = TeamFile::parse(Path::new("t.toml"), text.to_owned()).unwrap();
    let account = Account::root("main");
    account.limit(Budget { tokens: limit, ..Budget::default() });
    (TeamRun::new(Arc::new(file), Given::default(), "s".into(), TeamResult::default()), account)
}

fn task(name: &str) -> Assignment {
    Assignment {
        name: name.to_owned(),
        number: 1,
        text: String::new(),
        spec: None,
        budget: Budget::default(),
        used: Usage::default(),
        is_taken_up: false,
        is_continued: false,
    }
}

fn is_limit(end: &SiblingEnd) -> bool {
    matches!(&end.outcome, Outcome::Budget { what: BudgetKind::Tokens, message } if message.starts_with("main has used"))
}

#[tokio::test]
async fn agents_that_work_at_once_have_shares_of_the_teams_budget() {
    let (run, account) = team(Some(1000));
    let place = Place::needs(100);
    let done = |name| assigned(&account, &run, &place, task(name));
    let (one, two) = tokio::join!(done("one"), done("two"));
    assert!(one.unwrap().outcome.is_done() && two.unwrap().outcome.is_done());
    assert_eq!(place.given(), [("one".to_owned(), Some(250)), ("two".to_owned(), Some(250))]);
    assert_eq!((account.spent().tokens, account.left().tokens), (200, Some(800)), "nothing is set aside any more");

    let (free, _) = team(None);
    let unlimited = Account::root("main");
    assert!(assigned(&unlimited, &free, &place, task("one")).await.unwrap().outcome.is_done());
    assert_eq!(place.given(), [("one".to_owned(), None)]);
}

#[tokio::test]
async fn an_agent_uses_share_after_share_until_it_is_done_or_nothing_is_left() {
    let (run, account) = team(Some(1000));
    let place = Place::needs(600);
    let first = assigned(&account, &run, &place, task("one")).await.unwrap();
    assert_eq!((first.outcome.is_done(), first.usage.context_tokens()), (true, 600));
    let limits: Vec<_> = place.given().into_iter().filter_map(|(_, limit)| limit).collect();
    assert_eq!(limits, [250, 750], "a quarter, and twice as much");
    let second = assigned(&account, &run, &place, task("two")).await.unwrap();
    assert!(is_limit(&second), "{second:?}");
    assert_eq!((account.spent().tokens, second.usage.context_tokens()), (1000, 400));
    // The limit of a role is its own: nobody goes on behind it.
    let (run, account) = team(Some(1000));
    let narrow = Assignment { budget: Budget { tokens: Some(500), ..Budget::default() }, ..task("narrow") };
    let used = Assignment { used: tokens(200), number: 2, ..narrow };
    let end = assigned(&account, &run, &place, used).await.unwrap();
    assert_eq!((end.outcome.message(), end.usage.context_tokens()), ("its share", 300));
    assert_eq!(place.given().last(), Some(&("narrow".to_owned(), Some(500))), "what it used before counts");
}

#[tokio::test]
async fn who_finds_all_of_it_set_aside_waits_for_what_others_leave() {
    let (run, account) = team(Some(1000));
    let place = Place::needs(100);
    let all = Assignment { budget: Budget { tokens: Some(1000), ..Budget::default() }, ..task("slow") };
    let second = async {
        let end = assigned(&account, &run, &place, task("second")).await.unwrap();
        assert!(end.outcome.is_done());
    };
    let unneeded = async {
        let end = assigned(&account, &run, &place, task("unneeded")).await.unwrap();
        assert!(matches!(end.outcome, Outcome::Stopped { .. }), "{end:?}");
    };
    let others = async {
        tokio::task::yield_now().await;
        assert_eq!(place.given(), [("slow".to_owned(), Some(1000))]);
        run.shares.drop_waiting("unneeded");
        place.slow.notify_one();
    };
    let (first, (), (), ()) = tokio::join!(assigned(&account, &run, &place, all), second, unneeded, others);
    assert!(first.unwrap().outcome.is_done());
    assert_eq!(place.given(), [("second".to_owned(), Some(225))]);
}

#[tokio::test]
async fn an_agent_of_an_earlier_process_has_what_that_gave_it_before_others_get_anything() {
    let (run, account) = team(Some(1000));
    account.charge(crate::protocol::sibling::Spent { tokens: 900, ..Default::default() });
    let place = Place { allowed: Some(300), ..Place::needs(100) };
    run.shares.expect(["slow".to_owned()].into_iter());
    let old = Assignment { is_taken_up: true, used: tokens(100), ..task("slow") };
    let fresh = async {
        let end = assigned(&account, &run, &place, task("fresh")).await.unwrap();
        assert!(is_limit(&end), "{end:?}");
    };
    let rejoined = async {
        place.slow.notify_one();
        assigned(&account, &run, &place, old).await.unwrap()
    };
    let ((), end) = tokio::join!(fresh, rejoined);
    assert!(end.outcome.is_done());
    assert_eq!(place.given(), [("slow".to_owned(), Some(300))]);
    assert_eq!(account.spent().tokens, 1000);
}
