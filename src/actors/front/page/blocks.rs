//! Content of messages: texts and pictures.

use super::{code, html, prose};
use crate::protocol::message::{Block, Content, ImageBlock};

/// Kinds of pictures that a browser shows without running anything in them.
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];

/// Adds content, its texts as markdown.
pub fn content(out: &mut String, content: &Content) {
    for block in content.blocks().iter() {
        self::block(out, block);
    }
}

/// Adds a block, text as markdown.
pub fn block(out: &mut String, block: &Block) {
    match block {
        Block::Text(text) => prose::markdown(out, &text.text),
        Block::Image(image) => picture(out, image),
        Block::Thinking(_) | Block::ToolCall(_) => {}
        Block::Unknown(value) => unknown(out, value),
    }
}

/// Adds a picture that lies in the session. One of another kind, or one that is no base64, is named.
pub fn picture(out: &mut String, image: &ImageBlock) {
    let kind = image.mime_type.as_str();
    let is_base64 = image.data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    if PICTURES.contains(&kind) && is_base64 && !image.data.is_empty() {
        // Nothing else can be in there now: the kind is one of ours, the data has no quote.
        out.push_str(&format!(
            "<p class=\"shot\"><img loading=\"lazy\" alt=\"picture\" src=\"data:{kind};base64,{}\"></p>",
            image.data
        ));
    } else {
        html::element(out, "p", "missing", &format!("A picture of the kind {kind} that cannot be shown here."));
    }
}

/// Adds a block of a kind that this version does not know.
pub fn unknown(out: &mut String, value: &serde_json::Value) {
    json(out, "content of an unknown kind", value);
}

/// Adds a value as JSON, closed.
pub fn json(out: &mut String, name: &str, value: &serde_json::Value) {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    code::folded(out, name, &text, crate::resources::markup::Language::named("json"), false);
}
