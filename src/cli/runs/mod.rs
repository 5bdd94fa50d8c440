//! `troupe run` and `troupe runs`: runs that nobody watches, and that survive.
//!
//! Two processes take part. The *supervisor* is small: it makes the run's folder, starts the *worker*, which has the
//! agent, and starts another one when that dies. docs/supervision.md tells what is guaranteed, docs/headless.md how it is
//! used.
//!
//! | file | what |
//! |---|---|
//! | [`args`], [`span`] | the words behind `troupe run` |
//! | [`request`] | from the words to what is to be run |
//! | [`spec`], [`state`], [`result`] | what is in `run.json`, `state.json` and `result.json` |
//! | [`folder`], [`lease`] | a run's folder, and who owns it |
//! | [`classify`], [`ladder`] | what an end of a worker means, and how the next one begins; pure |
//! | `supervisor`, `worker_process`, `lines`, `signals`, `descendants` | the process that supervises |
//! | [`node`] | the same for a node, which has the run from elsewhere |
//! | `begin`, `conclude`, `output`, `notify` | before and after that: one owner, one result |
//! | [`worker`], `opening`, `history`, `recover`, `orders` | the worker's side |
//! | [`manage`], `list`, `logs` | `troupe runs` |

pub mod args;
pub(super) mod begin;
pub mod classify;
mod conclude;
pub(super) mod descendants;
pub mod folder;
pub(super) mod history;
pub mod ladder;
pub mod lease;
mod lines;
pub(super) mod list;
mod logs;
pub mod manage;
pub mod node;
mod notify;
mod opening;
mod orders;
pub(super) mod output;
mod recover;
pub mod request;
pub mod result;
mod signals;
pub mod span;
pub mod spec;
pub mod state;
mod supervisor;
pub mod worker;
pub(super) mod worker_process;

pub use begin::run;

/// The variable by which the processes of a run are known: no other run has the same value.
pub const TAG_VARIABLE: &str = "TROUPE_RUN";
/// The variable that tells commands which run they are a part of.
pub const ID_VARIABLE: &str = "TROUPE_RUN_ID";
