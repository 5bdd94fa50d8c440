//! Fuzzing on stable Rust, without a network: mutated provider bodies through all that reads them.
//!
//! Each target checks what must hold for every input whatever (no panic, one terminal event, the same result for every
//! way to cut the bytes, time in proportion). Inputs come from the recorded bodies, changed as bytes, as lines and as
//! JSON. Every run with the same seed tries the same inputs. `cargo test` runs a moment of it; for longer:
//!
//! ```text
//! TROUPE_FUZZ_SECONDS=600 cargo test --test fuzz fresh -- --nocapture
//! ```
//!
//! | variable | what |
//! |---|---|
//! | `TROUPE_FUZZ_SECONDS` | seconds for each target, in place of a fixed number of inputs |
//! | `TROUPE_FUZZ_TARGET` | only targets whose name contains this |
//! | `TROUPE_FUZZ_SEED` | another sequence of inputs |
//! | `TROUPE_FUZZ_KEEP` | store small inputs of new shapes in `tests/fixtures/fuzz`, from where every run takes them up |
//!
//! An input that breaks a target is made small and stored there too, and the test names the file.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)] // As in other tests.

mod corpus;
mod engine;
mod frames;
#[path = "../provider_fixtures/invariants.rs"]
mod invariants;
mod json;
mod mutate;
mod random;
mod requests;
mod targets;
mod texts;
mod wire;

use engine::{Budget, Plan};
use targets::targets;

#[test]
fn every_kept_input_still_holds() {
    for target in targets() {
        for (name, input) in corpus::kept(&target.name) {
            if let Err(fault) = target.try_input(&input) {
                panic!("{name}: {fault}");
            }
        }
    }
}

#[test]
fn every_target_holds_for_fresh_inputs() {
    let plan = Plan::from_environment();
    for target in targets().into_iter().filter(|target| plan.wants(&target.name)) {
        let report = engine::run(&target, &plan);
        println!("{report}");
        assert!(matches!(plan.budget, Budget::Time(_)) || report.inputs > 0);
    }
}

#[test]
fn a_target_that_breaks_is_found_and_its_input_made_small() {
    let target = targets::Target::new("breaks", vec![b"data: {\"a\": [1, 2, 3]}\n\n".to_vec()], |input| {
        assert!(!input.contains(&0xFF), "a byte that is no text");
        input.len() as u64
    });
    let plan = Plan { budget: Budget::Inputs(20_000), ..Plan::default() };
    let (input, fault) = engine::search(&target, &plan).unwrap_err();
    assert_eq!(input, [0xFF], "everything but the cause is cut away");
    assert!(fault.contains("a byte that is no text"), "{fault}");
}
