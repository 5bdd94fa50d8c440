//! Tests of the turn machine.
//!
//! | file | what it is |
//! |---|---|
//! | [`world`] | carries out effects in memory and answers what can be answered at once |
//! | [`run_state`] | what the notes of the machine leave for the next process |
//! | [`laws`] | what holds in every run, checked at every effect |
//! | [`render`] | one word for everything that the outside sees |
//! | [`script`] | scripts and their expected traces: `check(script, expected)` |
//! | the others | tables by subject; [`properties`] has random scripts |

mod aborts;
mod compaction;
mod deaths;
mod disk;
mod idle;
mod laws;
mod properties;
mod queueing;
mod render;
mod resuming;
mod retries;
mod routes;
mod run_state;
mod runs;
mod script;
mod verdicts;
mod world;
