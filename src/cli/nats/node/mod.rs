//! The process of `troupe worker`.
//!
//! | file | what |
//! |---|---|
//! | `start` | from the words to a node that works |
//! | `actor` | the node: takes jobs while it has slots, and ends in order |
//! | `keeper` | one run, from its job to its result |
//! | `term` | the time in which its supervisor runs |
//! | `heart` | keeps a lease and a job alive |
//! | `desk` | the run's folder on this machine |
//! | `child` | the supervisor below the node |
//! | `report` | what the run tells goes to the server |
//! | `control` | requests to the run's agent |

mod actor;
mod child;
mod control;
mod desk;
mod heart;
mod keeper;
mod report;
mod start;
mod term;

pub use start::run;
