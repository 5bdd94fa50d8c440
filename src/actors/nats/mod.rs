//! Runs on any machine, over NATS JetStream: everything that speaks to the server. No type of the client crate leaves
//! this folder.
//!
//! | file | what |
//! |---|---|
//! | [`address`], [`error`] | where the server is, and why it cannot be used |
//! | [`hub`] | the connection, and the streams and buckets that it needs |
//! | `connect`, `link`, `names` | how the connection is made, whether it stands, what things are called there |
//! | `wire`, `follow` | questions that are asked again, reading in order |
//! | `clock` | the clock by which leases are measured |
//! | [`jobs`] | what is to be run, and who takes it |
//! | [`records`] | what is known of runs |
//! | [`lease`] | who owns a run |
//! | [`log`] | the sessions of a run, with the fence that only its owner passes |
//! | [`events`] | what a run tells, line by line |
//! | [`control`] | questions to a run, wherever it is |

pub mod address;
mod clock;
mod connect;
pub mod control;
pub mod error;
pub mod events;
mod follow;
pub mod hub;
pub mod jobs;
pub mod lease;
mod link;
pub mod log;
mod names;
pub mod records;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod wire;

pub use self::{
    address::{DEFAULT_PREFIX, NatsAddress},
    control::{Requests, RunRequest},
    error::NatsError,
    events::{EventSink, Events},
    hub::{Hub, Limits},
    jobs::{Delivery, Job, Jobs},
    lease::{Lease, Owner, Taking},
    log::SessionLog,
    records::{Put, Versioned, Watch},
};
