//! Headers that some hosts want whatever the API.

use super::{Request, headers::Headers};
use crate::protocol::{Block, Content, Message};

/// OpenCode counts requests by session.
pub(crate) fn session_headers(headers: &mut Headers, request: &Request) {
    if let Some(session) = &request.session_id
        && matches!(request.model.provider.as_str(), "opencode" | "opencode-go")
    {
        headers.set("x-opencode-session", session);
    }
}

/// GitHub Copilot bills by who begins a request: a person, or the agent with a tool's result.
pub(crate) fn copilot_headers(headers: &mut Headers, request: &Request) {
    if request.model.provider != "github-copilot" {
        return;
    }
    let by_user = matches!(request.messages.last(), Some(Message::User(_)));
    headers.set("x-initiator", if by_user { "user" } else { "agent" });
    headers.set("openai-intent", "conversation-edits");
    if request.model.takes_images() && request.messages.iter().any(has_image) {
        headers.set("copilot-vision-request", "true");
    }
}

fn has_image(message: &Message) -> bool {
    let blocks = match message {
        Message::User(message) => match &message.content {
            Content::Blocks(blocks) => blocks,
            Content::Text(_) => return false,
        },
        Message::ToolResult(message) => &message.content,
        Message::System(_) | Message::Assistant(_) => return false,
    };
    blocks.iter().any(|block| matches!(block, Block::Image(_)))
}
