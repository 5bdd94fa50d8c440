//! Kills every type of actor in each state of the turn machine through a script of 50 turns. Afterwards the session is
//! that of a run in which nothing died, and no call with effects ran twice.
//!
//! Everything runs in one thread on a virtual clock, so a seed names one run. When a seed fails, the test prints it with
//! all deaths and the first difference; `TROUPE_CHAOS_SEED=<seed> cargo test --test chaos` plays it alone.
//!
//! `families` does the same with agents that spawn others: see there.
//!
//! Runtime and Fleet are left alive: the end of the first is the end of the process, and the second begins all agents
//! anew.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod client;
mod compare;
mod families;
mod killer;
mod script;
mod table;
mod tools;
mod watcher;
mod world;

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use killer::{Dice, Kill, Killer, Target};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use troupe::{actors::address::Gauge, store::session::open::read_view};
use world::World;

/// Runs, each with deaths of its own.
const SEEDS: u64 = 12;

/// Virtual time that a run may take: one that hangs has nothing else to do than to reach it.
const LIMIT: Duration = Duration::from_secs(24 * 3600);

/// The gauges are those of the whole process: one test at a time looks at them.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a run leaves.
struct Outcome {
    kills: Vec<Kill>,
    seen: BTreeSet<Target>,
}

/// Plays the script on a runtime of its own. Without a killer nothing dies.
fn play(curious: bool, killer: impl FnOnce() -> Option<Killer>) -> (Result<Vec<Value>, String>, Option<Killer>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let world = World::start(curious).await;
        let stop = CancellationToken::new();
        let killer = killer()
            .map(|killer| tokio::spawn(killer.run(world.client.shared.clone(), world.store.clone(), stop.clone())));
        let played = tokio::time::timeout(LIMIT, client::play(&world.client, &world.store)).await;
        stop.cancel();
        let killer = match killer {
            None => None,
            Some(killer) => Some(killer.await.unwrap()),
        };
        let played = played.unwrap_or_else(|_| Err("the script hangs".to_owned()));
        (played.and(finish(world).await), killer)
    })
}

/// Ends the runtime and looks at what it left.
async fn finish(world: World) -> Result<Vec<Value>, String> {
    world.runtime.end(0);
    let code = world.runtime.wait().await;
    if code != 0 {
        return Err(format!("the runtime ended with {code}"));
    }
    let lines = compare::lines(&world.store.view())?;
    if compare::lines(&read_view(&world.file).map_err(|error| error.to_string())?)? != lines {
        return Err("the session's file holds something else than its tree".to_owned());
    }
    compare::ran_once(&lines, &world.effects.counts())?;
    if !world.journal.state().is_settled() {
        return Err(format!("the journal is not settled: {:?}", world.journal.state()));
    }
    let left: Vec<_> = Gauge::all().into_iter().map(|(_, gauge)| (gauge.kind, gauge.label.clone())).collect();
    if left.is_empty() { Ok(lines) } else { Err(format!("actors outlive the runtime: {left:?}")) }
}

/// Plays a seed and compares it with the calm run.
fn check(seed: u64, wanted: Vec<Target>, calm: &[Value]) -> Result<Outcome, String> {
    let (played, killer) = play(is_curious(seed), || Some(Killer::new(Dice(seed), wanted)));
    let Killer { kills, seen, .. } = killer.unwrap();
    match played.and_then(|lines| compare::same_session(calm, &lines, &kills)) {
        Ok(()) => Ok(Outcome { kills, seen }),
        Err(problem) => {
            let deaths: String = kills.iter().map(|kill| format!("\n  {kill}")).collect();
            Err(format!("TROUPE_CHAOS_SEED={seed}: {problem}\ndeaths:{deaths}"))
        }
    }
}

/// Whom a seed kills first. Four seeds make a round; one of them waits for the short and rare phases around
/// compactions and retries, one for idle moments.
fn wanted(seed: u64) -> Vec<Target> {
    let group = |phase: &str| match phase {
        "compacting" | "retry_wait" => 0,
        "idle" => 1,
        _ => 2,
    };
    let (place, seeds, dealt) = match seed % 4 {
        0 | 1 => (seed / 4, SEEDS / 4, 2),
        side => (2 * (seed / 4) + side - 2, SEEDS / 2, 3),
    };
    let mine = |at: u64| (0..dealt).any(|more| (at + more) % seeds == place % seeds);
    let targets = table::targets().filter(|(_, phase)| group(phase) == (seed % 4).min(2));
    (0..).zip(targets).filter(|(at, _)| mine(*at)).map(|(_, target)| target).collect()
}

/// Whether the extension of a seed's agent is a curious one: every second round.
fn is_curious(seed: u64) -> bool {
    (seed / 4).is_multiple_of(2)
}

#[test]
fn whatever_dies_the_session_is_that_of_a_calm_run_and_no_call_runs_twice() {
    let _alone = alone();
    let calm = play(false, || None).0.unwrap();
    assert!(calm.len() > 150, "the script is {} entries long", calm.len());
    let one = std::env::var("TROUPE_CHAOS_SEED").ok();
    let seeds = match &one {
        Some(seed) => vec![seed.parse().expect("TROUPE_CHAOS_SEED is a number")],
        None => (0..SEEDS).collect(),
    };
    let mut failures = Vec::new();
    let mut killed = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for seed in seeds {
        match check(seed, wanted(seed), &calm) {
            Ok(outcome) => {
                if one.is_some() {
                    outcome.kills.iter().for_each(|kill| eprintln!("{kill}"));
                }
                killed.extend(outcome.kills.iter().map(|kill| (kill.kind, kill.phase)));
                seen.extend(outcome.seen);
            }
            Err(failure) => failures.push(failure),
        }
    }
    assert!(failures.is_empty(), "{} of the seeds failed\n{}", failures.len(), failures.join("\n\n"));
    if one.is_some() {
        return;
    }
    let missed: Vec<Target> = table::targets().filter(|target| !killed.contains(target)).collect();
    assert!(missed.is_empty(), "nobody killed {missed:?}");
    let known: BTreeSet<&str> = table::targets().map(|(kind, _)| kind).collect();
    let unknown: Vec<&Target> =
        seen.iter().filter(|(kind, _)| !known.contains(kind) && !killer::is_spared(kind)).collect();
    assert!(unknown.is_empty(), "the table does not know {unknown:?}");
}
