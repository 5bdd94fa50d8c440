//! What black-box tests are made of: a scripted model server, a sandbox to run the binary in, and views of what came
//! out. Nothing here knows the program's insides, and nothing but the binary and a shell is needed.
//!
//! | file | what |
//! |---|---|
//! | `server` | [`Server`]: a chat-completions endpoint on a free port that records what it is asked |
//! | `reply` | [`Reply`]: what the model answers, and how (in pieces, slowly, never, broken) |
//! | `request` | [`Request`]: what the model was asked, and whether the conversation is well formed |
//! | `agent` | [`Sandbox`]: a home, a project and the binary in them |
//! | `process` | processes that a test started |
//! | `chaos` | what a seed chooses, and a run in which it happens |
//! | `rpc` | [`Rpc`]: a client of RPC mode |
//! | `acp` | [`Acp`]: a client of the Agent Client Protocol |
//! | `trace` | looking at events: their order, their messages, their texts |
//! | `session` | looking at session files |
//!
//! Waits end by [`DEADLINE`], and say what they waited for. Tests wait for events, never for time to pass; where a
//! tool or the model must be held up, a file ([`wait_for_file`]) or a [`Gate`] does it.

// Each test target uses its own part of this, and a test may fail as loudly as it likes.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::expect_used)]

pub mod acp;
pub mod agent;
pub mod chaos;
pub mod process;
pub mod reply;
pub mod request;
pub mod rpc;
pub mod server;
pub mod session;
pub mod trace;

use std::{future::Future, time::Duration};

pub use acp::Acp;
pub use agent::{Finished, Sandbox, finish, wait_for_file};
pub use chaos::{chosen, numbers, seeds, steps};
pub use process::{end, pid_of, until};
pub use reply::{Call, Gate, Reply, call, calls, hang, http, raw_call, replies, text, thinking};
pub use request::{Request, strict};
pub use rpc::Rpc;
pub use server::Server;
pub use session::{entry_roles, lines, linked};
pub use trace::{ended, of_type, one, shape, text_of, texts_of};

/// How long anything may take. Generous: it only matters when something hangs.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// The result of `future`; panics with `what` when it takes longer than [`DEADLINE`].
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("no {what} within {} seconds", DEADLINE.as_secs()),
    }
}
