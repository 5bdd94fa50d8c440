use super::*;

fn tokens(limit: u64) -> Budget {
    Budget { tokens: Some(limit), ..Budget::default() }
}

fn used(tokens: u64, cost: f64) -> Usage {
    let cost = crate::protocol::Cost { total: cost, ..Default::default() };
    Usage { total_tokens: tokens, cost, ..Usage::default() }
}

fn spend(account: &Arc<Account>, amount: u64) {
    begin(account).settle(&used(amount, 0.0));
}

/// A call, whether or not there may be one.
fn begin(account: &Arc<Account>) -> Meter {
    account.add(BudgetKind::Turns, 1);
    Reserved { account: account.clone(), begun: false }.begin()
}

fn what_ends(account: &Account) -> Option<String> {
    account.exhausted().map(|exhausted| exhausted.message)
}

#[test]
fn use_counts_in_all_accounts_above_and_stops_everybody_below_the_limit() {
    let root = Account::root("main");
    root.limit(tokens(100));
    let child = root.open("agent-1", Budget::default()).unwrap();
    let grandchild = child.open("agent-1.1", Budget::default()).unwrap();
    spend(&grandchild, 60);
    assert_eq!([&root, &child, &grandchild].map(|account| account.spent().tokens), [60; 3]);
    assert_eq!((root.spent().spawns, root.spent().turns), (2, 1));
    assert_eq!(what_ends(&child), None);
    spend(&root, 40);
    assert_eq!(what_ends(&grandchild).unwrap(), "main has used 100 tokens of 100 tokens");
    assert!(matches!(root.open("agent-2", Budget::default()), Err(SiblingError::Budget { .. })));
}

#[test]
fn what_is_set_aside_for_a_child_is_not_for_others_and_is_free_when_it_is_gone() {
    let root = Account::root("main");
    root.limit(tokens(100));
    let child = root.open("agent-1", tokens(70)).unwrap();
    let refused = root.open("agent-2", tokens(31)).unwrap_err().to_string();
    assert_eq!(
        refused,
        "tokens: 30 tokens of main left, 31 tokens wanted. Give the agent less, or do the work yourself"
    );
    let other = root.open("agent-2", tokens(30)).unwrap();
    assert!(root.exhausted().is_some(), "everything is set aside");
    spend(&child, 10);
    assert!(root.exhausted().is_some() && child.exhausted().is_none());
    child.close();
    child.close();
    assert_eq!(what_ends(&root), None);
    spend(&root, 59);
    assert_eq!(what_ends(&root), None);
    spend(&root, 1);
    assert_eq!(what_ends(&root).unwrap(), "main has used 70 tokens of 100 tokens (30 tokens more are set aside)");
    assert_eq!(what_ends(&other), None, "its part is its own");
    spend(&other, 30);
    assert_eq!(what_ends(&other).unwrap(), "agent-2 has used 30 tokens of 30 tokens");
}

#[test]
fn a_grandchilds_part_is_set_aside_in_its_parents_part() {
    let root = Account::root("main");
    root.limit(tokens(100));
    let child = root.open("agent-1", tokens(60)).unwrap();
    assert!(child.open("agent-1.1", tokens(61)).is_err());
    let grandchild = child.open("agent-1.1", tokens(60)).unwrap();
    assert!(child.exhausted().is_some());
    spend(&root, 40);
    spend(&grandchild, 59);
    assert_eq!(what_ends(&grandchild), None);
    grandchild.close();
    assert_eq!(what_ends(&child), None, "one token is left");
    assert_eq!(root.spent().tokens, 99);
}

#[test]
fn an_estimate_counts_while_it_streams_and_is_put_right_at_the_end() {
    let root = Account::root("main");
    root.limit(tokens(100));
    let child = root.open("agent-1", tokens(50)).unwrap();
    let mut meter = begin(&child);
    meter.estimate(50, 0.25);
    assert_eq!(meter.overspent(), None, "all of it is not too much");
    meter.estimate(51, 0.5);
    meter.estimate(20, 0.0);
    assert_eq!(meter.overspent().unwrap().what, BudgetKind::Tokens);
    assert_eq!((root.spent().tokens, root.spent().cost), (51, 0.5));
    meter.settle(&used(20, 0.125));
    assert_eq!((child.spent().tokens, root.spent().tokens, root.spent().cost), (20, 20, 0.125));
    assert!(root.open("agent-2", tokens(51)).is_err(), "30 are set aside again");
    assert!(root.open("agent-2", tokens(50)).is_ok());
}

#[test]
fn a_call_that_breaks_off_has_cost_what_was_estimated() {
    let root = Account::root("main");
    let mut meter = begin(&root);
    meter.estimate(7, 0.0);
    drop(meter);
    let mut meter = begin(&root);
    meter.estimate(3, 0.0);
    meter.settle(&Usage::default());
    assert_eq!(root.spent().tokens, 10);
}

#[tokio::test(start_paused = true)]
async fn time_and_turns_end_an_agent_too_and_a_running_call_may_finish_its_turn() {
    let root = Account::root("main");
    let child = root.open("agent-1", Budget { turns: Some(1), ..Budget::default() }).unwrap();
    let meter = begin(&child);
    assert_eq!(meter.overspent(), None);
    assert_eq!(child.exhausted().unwrap().what, BudgetKind::Turns);
    let timed = root.open("agent-2", Budget { seconds: Some(1.5), ..Budget::default() }).unwrap();
    assert_eq!(timed.time_left(), Some(Duration::from_millis(1_500)));
    tokio::time::advance(Duration::from_millis(1_500)).await;
    assert_eq!(timed.overspent().unwrap().text(), "Out of budget (time): agent-2 has had its 1.5 s");
}

#[test]
fn the_last_turn_is_given_once_and_comes_back_when_it_is_not_used() {
    let root = Account::root("main");
    let parent = root.open("agent-1", Budget { turns: Some(2), ..Budget::default() }).unwrap();
    let child = parent.open("agent-1.1", Budget::default()).unwrap();
    drop(parent.reserve().unwrap().begin());
    let last = child.reserve().unwrap();
    assert_eq!(parent.reserve().unwrap_err().message, "agent-1 has used 2 turns of 2 turns");
    drop(last);
    assert_eq!((parent.spent().turns, child.spent().turns), (1, 0));
    drop(parent.reserve().unwrap().begin());
    assert!(child.reserve().is_err());
    assert_eq!((root.spent().turns, child.spent().turns), (2, 0));
}

#[test]
fn the_text_of_a_failure_tells_the_limit_again() {
    let exhausted = Exhausted { what: BudgetKind::Cost, message: "main has used $1.0000 of $1.0000".into() };
    assert_eq!(Exhausted::parse(&exhausted.text()), Some(exhausted));
    assert_eq!(Exhausted::parse("Overloaded"), None);
}
