//! Fronts: those who give agents work and show what they do. All send the same commands and watch the same events.
//!
//! | file | what it is |
//! |---|---|
//! | [`stdout`] | the thread that owns standard output |
//! | [`voice`] | what is said on standard error, and who shows it |
//! | [`client`] | a front's side of one agent |
//! | [`printer`] | print and JSON mode |
//! | [`unattended`] | a supervised run that nobody watches |
//! | [`program`], [`watch`] | a program with agents inside, and events as a stream |
//! | [`sibling_work`] | the worker for commands about siblings |
//! | [`page`], [`exporter`] | a session as a page, and the worker that writes it |
//! | [`acp`] | the Agent Client Protocol: editors, several sessions |
//! | [`control`] | the socket by which others look at this process, steer and stop |
//! | [`stdin`], [`rpc`], [`rpc_data`], `rpc_pending`, [`rpc_stats`], [`rpc_stream`] | RPC mode |

pub mod acp;
pub mod client;
pub mod control;
pub mod exporter;
pub mod page;
pub mod printer;
pub mod program;
pub mod rpc;
pub mod rpc_data;
mod rpc_pending;
pub mod rpc_stats;
pub mod rpc_stream;
pub mod sibling_work;
pub mod stdin;
pub mod stdout;
pub mod unattended;
pub mod voice;
pub mod watch;

use std::time::Duration;

pub use voice::say;

use crate::protocol::{Event, hidden, message::text_of};

/// What a restarting agent gets before a prompt whose answer was lost is sent again.
pub const AGAIN: Duration = Duration::from_millis(20);

/// Says something on standard error, or to whoever has the terminal, in a line of its own.
pub fn complain(text: &str) {
    say(&format!("{text}\n"));
}

/// What a front that ends with its agent says of one that was given up.
fn given_up(cause: &str) -> String {
    format!("The agent failed repeatedly and was given up: {cause}")
}

/// What a person should know of a tool's result that holds what nobody sees; none for any other event.
fn warning_of_hidden(event: &Event) -> Option<String> {
    let Event::ToolExecutionEnd { call, result, .. } = event else { return None };
    let hidden = hidden::find(&text_of(&result.content, "\n"))?;
    Some(format!("Warning: The result of {} {hidden}", call.tool_name))
}
