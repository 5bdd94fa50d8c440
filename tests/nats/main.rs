//! Runs on any machine: `troupe worker` and `--on`, with a NATS server of each test's own. Machines are folders here: each
//! worker has a user folder of its own, and all of them share the project.

#![cfg(feature = "nats")]
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod chaos;
mod first;
mod handing_on;
mod live;
mod one_run;
mod server;
mod stage;
mod takeover;
mod team;
mod team_faults;
mod trouble;

use support::until;
