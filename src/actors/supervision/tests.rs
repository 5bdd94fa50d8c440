use serde_json::json;

use super::*;
use crate::{
    actors::{
        fleet::{family::Family, renewing::renew},
        testing::{Parts, moment, within},
    },
    protocol::sibling::{SiblingSpec, WaitMode},
};

fn flat<'t>(actor: &'t ActorInfo, into: &mut Vec<&'t ActorInfo>) {
    into.push(actor);
    actor.children.iter().for_each(|child| flat(child, into));
}

#[tokio::test]
async fn the_tree_has_every_part_of_every_agent_below_its_supervisor() {
    let mut bench = Parts { turns: json!("the answer"), ..Parts::default() }.start().await;
    let family = Family::of(&bench.shared);
    within("receipt", family.spawn(SiblingSpec::of_task("work"))).await.unwrap();
    within("end", family.wait(&[], WaitMode::All, None)).await.unwrap();
    bench.run("hello").await;
    let tree = actors(bench.shared.bus.get().unwrap().id()).unwrap();
    let mut all = Vec::new();
    flat(&tree, &mut all);
    let main = bench.shared.id.to_string();
    for agent in [main.clone(), format!("{main}/agent-1")] {
        let agent = all.iter().find(|actor| actor.kind == "Agent" && actor.label == agent).unwrap();
        let kinds: Vec<&str> = agent.children.iter().map(|child| child.kind.as_str()).collect();
        assert_eq!(kinds, ["SessionWriter", "EventBus", "Compactor", "Jobs", "TurnLoop"]);
        assert!(agent.children.iter().all(|child| child.label == agent.label));
    }
    let turn_loop = all.iter().find(|actor| actor.kind == "TurnLoop" && actor.label == main).unwrap();
    assert!(turn_loop.handled > 0);
    let infos = agents(&bench.shared);
    let ids: Vec<String> = infos.iter().map(|info| info.status.id.to_string()).collect();
    assert_eq!(ids, ["main", "agent-1"]);
    assert_eq!(infos[0].status.state, SiblingState::Idle);
    assert!(infos[0].status.spent.tokens >= infos[1].status.spent.tokens && infos[1].status.spent.tokens > 0);
}

#[tokio::test]
async fn a_renewed_agent_goes_on_from_its_leaf_and_the_restart_is_counted() {
    let mut bench = Parts { turns: json!("the answer"), ..Parts::default() }.start().await;
    bench.run("one").await;
    let before = bench.shared.turn_loop.get().unwrap().id();
    let counted = Gauge::restarts_of(&bench.shared.id);
    within("renewed", renew(&bench.shared)).await.unwrap();
    let is_new = || bench.shared.turn_loop.get().is_some_and(|addr| addr.id() != before);
    within("another turn loop", async {
        while !is_new() {
            moment().await;
        }
    })
    .await;
    bench.run("two").await;
    assert!(Gauge::restarts_of(&bench.shared.id) > counted);
    assert_eq!(bench.shared.tree().unwrap().totals().user_messages, 2);
}

#[tokio::test]
async fn a_sibling_is_started_again_unless_it_is_gone() {
    let bench = Parts { turns: json!("the answer"), ..Parts::default() }.start().await;
    let family = Family::of(&bench.shared);
    within("receipt", family.spawn(SiblingSpec::of_task("work"))).await.unwrap();
    within("end", family.wait(&[], WaitMode::All, None)).await.unwrap();
    within("restarted", family.restart("agent-1")).await.unwrap();
    let end = within("answer", family.ask("agent-1", "more", std::time::Duration::from_secs(20))).await.unwrap();
    assert_eq!((end.task, end.text.as_str()), (2, "the answer"));
    within("gone", family.kill(&["agent-1"], "enough")).await.unwrap();
    let error = within("refused", family.restart("agent-1")).await.unwrap_err();
    assert_eq!(error.to_string(), "agent-1 cannot be started again: it is gone; spawn another one");
}
