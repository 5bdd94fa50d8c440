//! The actors, and the pure machines that drive them.
//!
//! | file | what it is |
//! |---|---|
//! | [`turn`], [`turn_io`] | the turn loop's state machine, pure |
//! | [`queues`], [`batch`], [`retry`], [`resume`], [`restart`] | the pure parts that it is made of |
//! | [`address`], [`reply`], [`spawn`], [`trace`] | how actors are addressed, answered, started and watched |

pub mod address;
pub mod batch;
pub mod queues;
pub mod reply;
pub mod restart;
pub mod resume;
pub mod retry;
pub mod spawn;
pub mod trace;
pub mod turn;
pub mod turn_io;
