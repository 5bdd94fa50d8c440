//! The front of a run that nobody watches: it sends the prompts of a run, stops at limits, has the work verified, and
//! tells the run's supervisor what goes on. The other side, the process that supervises, is in `cli/runs`.
//!
//! | file | what |
//! |---|---|
//! | `front` | the actor, and its start |
//! | `watching`, `ending` | what it makes of events, and how it ends |
//! | [`task`] | what the run is to do |
//! | [`steps`] | what comes next; pure |
//! | [`progress`] | how far the run is, read off its session; pure |
//! | [`limits`] | what a run may spend; pure |
//! | [`words`] | what is told to the supervisor, and by it |
//! | [`outcome`] | how a run ends |
//! | [`look`], `verify` | workers: what the run has done so far, and the user's check |
//!
//! The front holds nothing that a run needs: all that it decides by stands in the session, so that the front of the next
//! process decides the same.

mod ending;
mod front;
pub mod limits;
pub mod look;
pub mod outcome;
pub mod progress;
pub mod steps;
pub mod task;
mod verify;
mod watching;
pub mod words;

pub use front::{UnattendedFactory, UnattendedMsg};
