//! Agents inside a program: the same runtime, the same commands and events as in the terminal, without a process around
//! it. Nothing is printed, no signal is caught, and nothing ends the process.
//!
//! ```no_run
//! use troupe::embed::Troupe;
//!
//! # async fn example() -> Result<(), troupe::embed::EmbedError> {
//! let session = Troupe::builder().model("troupe/offline").in_memory().start().await?;
//! let answer = session.prompt("What files are here?").await?;
//! println!("{}", answer.text());
//! session.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! A program may have any number of sessions side by side. What they share is what a process has once: the environment
//! variables and the connections to providers.
//!
//! | module | what |
//! |---|---|
//! | [`builder`] | what a session is made of |
//! | [`session`] | a session that runs |
//! | [`own`] | tools and providers of the program |

pub mod builder;
mod own;
pub mod session;

#[cfg(test)]
mod tests;

pub use builder::{Builder, Troupe};
pub use session::{Answer, EmbedError, Session};

pub use crate::{
    actors::{front::watch::Events, subscriber::SubscriberKind as Pace},
    protocol::session_change::SessionChange,
};
