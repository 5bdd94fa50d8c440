//! Any order of changes, by tools and by commands, and any place to go back to.

use proptest::prelude::*;
use serde_json::json;

use super::world::{World, tree};
use crate::protocol::checkpoint::{Undo, UndoTarget};

#[derive(Clone, Debug)]
enum Step {
    Write(usize, u8),
    Bash(Vec<String>),
    Both(usize, u8, String),
}

const NAMES: [&str; 5] = ["a", "b", "dir/c", "dir/sub/d", "e"];

fn command() -> impl Strategy<Value = String> {
    let name = || (0..NAMES.len()).prop_map(|at| NAMES[at]);
    prop_oneof![
        name().prop_map(|name| format!("rm -f {name}")),
        (name(), 0..4u8).prop_map(|(name, n)| format!("mkdir -p $(dirname {name}) && echo {n} > {name}")),
        name().prop_map(|name| format!("test -f {name} && echo more >> {name}")),
        name().prop_map(|name| format!("test -f {name} && chmod 600 {name}")),
        (name(), name()).prop_map(|(from, to)| format!("test -f {from} && mkdir -p $(dirname {to}) && mv {from} {to}")),
        Just("rm -rf dir".to_owned()),
        Just("mkdir -p empty/folder".to_owned()),
        Just("ln -sfn a link".to_owned()),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..NAMES.len(), 0..4u8).prop_map(|(at, n)| Step::Write(at, n)),
        proptest::collection::vec(command(), 1..3).prop_map(Step::Bash),
        (0..NAMES.len(), 0..4u8, command()).prop_map(|(at, n, command)| Step::Both(at, n, command)),
    ]
}

async fn carry_out(world: &World, step: &Step) -> crate::protocol::EntryId {
    let (entry, operations) = world.turn();
    let write = |at: usize, n: u8| json!({"path": NAMES[at], "content": format!("written {n}")});
    match step {
        Step::Write(at, n) => drop(world.call(&operations, "write", write(*at, *n)).await),
        Step::Bash(commands) => {
            drop(world.call(&operations, "bash", json!({"command": commands.join("; ")})).await);
        }
        Step::Both(at, n, command) => {
            drop(world.call(&operations, "bash", json!({"command": command})).await);
            drop(world.call(&operations, "write", write(*at, *n)).await);
        }
    }
    entry
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_place_can_be_gone_back_to(steps in proptest::collection::vec(step(), 1..7), seed in any::<prop::sample::Index>()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new();
            world.put("a", "at first");
            world.put("dir/c", "at first, too");
            let mut places = Vec::new();
            for step in &steps {
                let before = tree(&world.root);
                places.push((carry_out(&world, step).await, before));
                world.checkpoints.settled().await;
            }
            let last = tree(&world.root);
            let at = seed.index(places.len());
            let (entry, state) = &places[at];
            let ask = Undo { target: UndoTarget::Entry(entry.clone()), ..Undo::default() };
            match world.ask(ask).await {
                Ok(undone) => {
                    assert!(undone.report.is_complete(), "{steps:?} back to {at}: {:?}", undone.report);
                    assert_eq!(&tree(&world.root), state, "{steps:?} back to {at}");
                    world.undo(UndoTarget::Redo).await;
                    assert_eq!(tree(&world.root), last, "{steps:?} back to {at} and forth");
                }
                // Nothing happened since.
                Err(_) => assert_eq!(&last, state, "{steps:?} back to {at}"),
            }
        });
    }
}
