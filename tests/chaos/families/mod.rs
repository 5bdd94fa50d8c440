//! Families in which anything may die, the fleet included: spawns, messages, pauses, stops, budgets and deaths by seed, on
//! a virtual clock. Afterwards the sessions are well formed, every call has one result, the end of every task is in the
//! session of its parent once, models were told of it once at most, budgets hold, and nothing runs.
//!
//! `TROUPE_FAMILY_SEED=<seed>` plays one seed and prints what happened; `TROUPE_FAMILY_SEEDS=<count>` plays more.

mod acts;
mod look;
mod script;

use std::time::Duration;

use acts::Stage;
use troupe::actors::address::Gauge;

use crate::{alone, killer::Dice};

/// Runs, each with a story of its own.
const SEEDS: u64 = 8;

/// Virtual time that a run may take.
const LIMIT: Duration = Duration::from_secs(24 * 3600);

/// Plays a seed; what went wrong, and the story.
fn play(seed: u64) -> (Result<(), String>, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let world = script::world().await;
        let mut stage = Stage::new(&world.client, Dice(seed));
        let played = tokio::time::timeout(LIMIT, stage.play()).await;
        let (story, budgets) = (stage.story, stage.budgets);
        let found = match played {
            Err(_) => Err("the story hangs".to_owned()),
            Ok(Err(problem)) => Err(problem),
            Ok(Ok(())) => look::family(&world.client.shared, &budgets),
        };
        world.runtime.end(0);
        let code = match tokio::time::timeout(LIMIT, world.runtime.wait()).await {
            Ok(code) => code,
            Err(_) => return (found.and(Err("the runtime does not end".to_owned())), story),
        };
        let left: Vec<_> = Gauge::all().into_iter().map(|(_, gauge)| (gauge.kind, gauge.label.clone())).collect();
        let ended = match (code, left.is_empty()) {
            (0, true) => Ok(()),
            (0, false) => Err(format!("actors outlive the runtime: {left:?}")),
            (code, _) => Err(format!("the runtime ended with {code}")),
        };
        (found.and(ended), story)
    })
}

#[test]
fn whatever_dies_in_a_family_every_end_reaches_its_parent_once_and_nothing_is_left() {
    let _alone = alone();
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let one = number("TROUPE_FAMILY_SEED");
    let seeds = match one {
        Some(seed) => seed..seed + 1,
        None => 0..number("TROUPE_FAMILY_SEEDS").unwrap_or(SEEDS),
    };
    let mut failures = Vec::new();
    for seed in seeds {
        let (result, story) = play(seed);
        if one.is_some() {
            story.iter().for_each(|line| eprintln!("{line}"));
        }
        if let Err(problem) = result {
            let end = story[story.len().saturating_sub(40)..].join("\n  ");
            failures.push(format!("TROUPE_FAMILY_SEED={seed}: {problem}\n  …\n  {end}"));
        }
    }
    assert!(failures.is_empty(), "{} of the seeds failed\n{}", failures.len(), failures.join("\n\n"));
}
