//! Supervised runs: `troupe run` and `troupe runs`, driven as a user drives them, with workers and supervisors that are
//! killed at chosen moments.

#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod chaos;
mod crashes;
mod ends;
mod figures;
mod limits;
mod orphans;
mod owners;
mod spending;
mod stage;
