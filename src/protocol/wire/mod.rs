//! pi's JSON mode and RPC: the only place where their records are produced and parsed.
//!
//! | file | what |
//! |---|---|
//! | `events` | [`write_event`]: lifecycle events as JSON lines; [`write_header`]: the first line of JSON mode |
//! | `request` | [`parse_line`]: one line of a client becomes a [`Request`], an answer to a dialog, or a refusal |
//! | `fields` | taking typed fields out of a request |
//! | `response` | [`Response`], [`write_response`] and the data that each command gives back |
//! | `siblings` | the commands about siblings |
//! | `tree` | the nested form of a session's tree, written without recursion |
//! | `ui` | the questions that extensions ask through a client |
//! | `lenient` | JSON as other programs write it: bad UTF-8 and half surrogate pairs |
//! | `json` | writing records into a byte buffer |
//!
//! A record is one line that ends in LF; U+2028 and U+2029 are ordinary characters. Field names are pi's, optional
//! fields are left out rather than null. Where the core's events and pi's differ:
//!
//! - One [`Event::MessageUpdate`](super::Event::MessageUpdate) holds all steps of one socket read; each becomes a
//!   `message_update` line. The steps carry deltas only, so nothing like pi's `partial` has to be removed.
//!   `usage` repeats what the provider reported last: zeros until it does.
//! - `bash_execution_update` and `extension_error` exist in RPC only ([`WireMode`]).
//! - `restart`, `parked`, `gap` and `saving_changed` are ours: pi's clients skip types that they do not know. `restart`
//!   says which part of the agent died and why, `parked` that it is no longer run, `gap` which updates a lagging reader
//!   missed, `saving_changed` that the disk refuses the session (or takes it again) and how many entries are in memory
//!   only. `get_state` has `unsavedEntries` and `readOnly` when they are not zero and false.
//! - `sibling_start`, `sibling_update` and `sibling_end` are ours, too: what the agents below this one do.
//! - `Notice` goes to stderr and `ModelChanged` nowhere: pi has no record for them, and a client that selects a model
//!   gets the response. Both are visible to subscribers inside the process, as are `SessionCompact`,
//!   `SessionCompactFailed` and `SessionTree`, which pi tells to extensions only.

mod events;
mod fields;
mod json;
pub mod lenient;
mod request;
mod response;
mod siblings;
mod tree;
mod ui;

pub use events::{WireMode, WireState, write_event, write_header};
pub use request::{Incoming, Request, RequestId, RpcCommand, parse_line};
pub use response::{
    CommandInfo, CommandSource, ContextUsage, ForkMessage, ModelChoiceData, Response, ResponseData, SourceInfo,
    StateData, StatsData, TokenTotals, reply_data, streamed_response, write_response,
};
pub use tree::{TreeData, TreeNode};
pub use ui::{NotifyType, UiAnswer, UiRequest, UiResponse, WidgetPlacement, write_ui_request};
