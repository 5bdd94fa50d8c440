//! Which physical model answers a request of a virtual one.
//!
//! | file | what |
//! |---|---|
//! | [`rules`] | what a user writes under `virtualModels` in `models.json` |
//! | [`mod@decide`] | from rules and a [`Query`] to a model: pure |
//! | [`cool_downs`] | models that had enough for now; shared by all agents of a process |
//!
//! `docs/virtual-models.md` describes the rules for users.

pub mod cool_downs;
pub mod decide;
pub mod rules;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::Value;

use crate::protocol::{
    Message, Model, ThinkingLevel,
    route::{Dispatch, RouteReason},
};

pub use cool_downs::{CoolDown, CoolDowns};
pub use decide::{Physical, Route, RouteError, decide};
pub use rules::{Candidate, Keep, MaxPrice, Pick, Rule, Rules, When};

/// A virtual model and who chooses for it.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualModel {
    /// The model that lists show.
    pub model: Arc<Model>,
    /// Who chooses.
    pub router: Router,
}

/// Who chooses.
#[derive(Clone, Debug, PartialEq)]
pub enum Router {
    /// Rules of the user.
    Rules(Rules),
    /// The extension of that name.
    Extension(Arc<str>),
}

/// What a choice may depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Why the request is made.
    pub reason: RouteReason,
    /// Who makes it: `main`, or the role of a sibling.
    pub role: Arc<str>,
    /// The level that was chosen for the virtual model.
    pub thinking: ThinkingLevel,
    /// What the last good answer was made with.
    pub previous: Option<Dispatch>,
    /// What is tried again; none when the routing itself failed.
    pub failed: Option<Dispatch>,
    /// The state on this branch.
    pub state: Option<Value>,
    /// Estimated tokens of the conversation.
    pub input_tokens: u64,
    /// Whether there are pictures in it.
    pub images: bool,
}

/// Whether a conversation has pictures.
#[must_use]
pub fn has_images(messages: &[Message]) -> bool {
    use crate::protocol::{Block, Content};
    let any = |blocks: &[Block]| blocks.iter().any(|block| matches!(block, Block::Image(_)));
    messages.iter().any(|message| match message {
        Message::User(message) => matches!(&message.content, Content::Blocks(blocks) if any(blocks)),
        Message::ToolResult(message) => any(&message.content),
        Message::Assistant(_) | Message::System(_) => false,
    })
}
