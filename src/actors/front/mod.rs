//! Fronts: those who give agents work and show what they do. All send the same commands and watch the same events.
//!
//! | file | what it is |
//! |---|---|
//! | [`stdout`] | the thread that owns standard output |
//! | [`client`] | a front's side of one agent |
//! | [`printer`] | print and JSON mode |
//! | [`stdin`], [`rpc`], [`rpc_data`], [`rpc_stats`] | RPC mode |

pub mod client;
pub mod printer;
pub mod rpc;
pub mod rpc_data;
pub mod rpc_stats;
pub mod stdin;
pub mod stdout;

use std::io::Write;

/// Says something on standard error. When that cannot be written, nobody is listening.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
