//! Machines that lose power at places that a seed chooses, all through a run of several steps: each step is done once, and
//! the conversation is well formed. `TROUPE_CHAOS_SEED=N` plays one seed alone.

use crate::{stage::*, support::*};

/// Steps of a run.
const STEPS: u64 = 4;
/// Seeds that are played.
const SEEDS: u64 = 3;

/// What happens in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Nothing,
    /// The machine is gone while the call runs.
    Dies,
    /// The worker is told to end.
    Leaves,
    /// The machine is gone as soon as the call is done.
    DiesAfter,
}

async fn play(seed: u64) {
    let fates = chosen(seed, STEPS, &[Fate::Nothing, Fate::Dies, Fate::Leaves, Fate::DiesAfter]);
    let context = format!("seed {seed}, {fates:?}");
    let Some(stage) = Stage::new(steps(STEPS)).await else { return };
    let mut machines = 1;
    let mut machine = stage.worker("m1").await;
    let client = stage.start(&["go"]);
    for (n, fate) in (1..).zip(&fates) {
        let tool = stage.pid_in(&format!("pid{n}")).await;
        match fate {
            Fate::Nothing => drop(stage.sandbox.write(format!("go{n}"), "")),
            Fate::Dies => {
                machine.kill().await;
                machines += 1;
                machine = stage.worker(&format!("m{machines}")).await;
            }
            Fate::Leaves => {
                machine.stop().await;
                machines += 1;
                machine = stage.worker(&format!("m{machines}")).await;
            }
            Fate::DiesAfter => {
                stage.sandbox.write(format!("go{n}"), "");
                until("end of the call", || rustix::process::test_kill_process(tool).is_err().then_some(())).await;
                machine.kill().await;
                machines += 1;
                machine = stage.worker(&format!("m{machines}")).await;
            }
        }
    }
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{context}: {}", finished.stderr);
    assert_eq!(results(&stage.sandbox).len(), usize::try_from(STEPS).unwrap(), "{context}");
    assert_eq!(stage.sandbox.read("effects"), "1\n2\n3\n4\n", "{context}: each step once");
    for request in stage.sandbox.server.requests() {
        request.assert_strict();
    }
    machine.stop().await;
}

#[tokio::test]
async fn whichever_machine_dies_each_step_is_done_once_and_the_run_ends_well() {
    for seed in seeds(SEEDS) {
        play(seed).await;
    }
}
