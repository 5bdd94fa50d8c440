//! The words that every part of Troupe speaks: plain data, serde and schemars only.
//!
//! Nothing here knows tokio, ractor or I/O. pi's field names appear on the wire exactly as pi writes
//! them; where the core's own shape differs, [`wire`] translates at the edge.

pub mod ask;
pub mod checkpoint;
pub mod command;
pub mod compaction;
pub mod content;
pub mod context;
pub mod display;
pub mod entry;
pub mod event;
pub mod failure;
pub mod hidden;
pub mod jobs;
pub mod message;
pub mod model;
pub mod navigation;
pub mod partial_arguments;
pub mod permission;
pub mod question;
pub mod request_ask;
pub mod route;
pub mod run_messages;
pub mod section;
pub mod session_change;
pub mod sibling;
pub mod stream;
pub mod supervision;
pub mod system;
pub mod time;
pub mod tokens;
pub mod tool;
pub mod usage;
pub mod view;
pub mod wire;

pub use command::{Command, CommandError, Reply};
pub use entry::{Entry, EntryBody, EntryId};
pub use event::{Event, Published, Seq};
pub use failure::{Failure, FailureClass};
pub use message::{
    AgentMessage, AssistantMessage, Block, Content, ImageBlock, Message, StopReason, TextBlock, ThinkingBlock,
    ToolCall, ToolResultMessage, UserMessage,
};
pub use model::{Model, ModelRef, ThinkingLevel};
pub use partial_arguments::PartialArguments;
pub use run_messages::RunMessages;
pub use stream::StreamEvent;
pub use system::SystemMessage;
pub use tool::{ToolDeclaration, ToolOutput};
pub use usage::{Cost, Usage};
