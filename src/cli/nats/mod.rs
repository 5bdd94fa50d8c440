//! Runs on any machine: `troupe worker`, and `--on` for the commands of runs. docs/workers.md tells users about it.
//!
//! A *node* is a process of `troupe worker`. For each run that it takes from the server it starts a supervisor, as
//! `troupe run` is one, which starts the worker with the agent.
//!
//! | file | what |
//! |---|---|
//! | [`flags`], [`args`], [`missing`] | the words, and what a build without NATS says |
//! | `address`, `error` | from the words to a connection |
//! | `record`, `standing`, `ending` | what the server keeps of a run beside its sessions, and how it is written |
//! | `decide` | what a node does with a job; pure |
//! | `node` | the process of `troupe worker` |
//! | `submit`, `request`, `follow`, `followed`, `stop`, `manage` | the client's side: `troupe run --on`, `troupe runs … --on` |
//! | `seats` | agents of a team as runs: `troupe team run --on` |
//! | `live` | `troupe top --on`, `troupe attach --on` |
//! | `outage` | what people are told of a connection that is lost |
//! | `place` | the agent's side: its session goes to the server |

#[cfg(feature = "nats")]
mod address;
pub mod args;
#[cfg(feature = "nats")]
mod decide;
#[cfg(feature = "nats")]
mod ending;
#[cfg(feature = "nats")]
pub mod error;
pub mod flags;
#[cfg(feature = "nats")]
mod follow;
#[cfg(feature = "nats")]
mod followed;
#[cfg(feature = "nats")]
pub mod live;
#[cfg(feature = "nats")]
pub mod manage;
#[cfg(not(feature = "nats"))]
pub mod missing;
#[cfg(feature = "nats")]
pub mod node;
#[cfg(feature = "nats")]
mod outage;
#[cfg(feature = "nats")]
pub mod place;
#[cfg(feature = "nats")]
mod record;
#[cfg(feature = "nats")]
mod request;
#[cfg(feature = "nats")]
pub mod seats;
#[cfg(feature = "nats")]
mod standing;
#[cfg(feature = "nats")]
mod stop;
#[cfg(feature = "nats")]
pub mod submit;
