//! What a call gave.

use serde_json::Value;

use super::{arguments, blocks, code, html, numbers};
use crate::{
    protocol::message::{Block, ToolCall, ToolResultMessage, text_of},
    resources::markup::Language,
};

/// The difference that an edit made, as its result tells.
pub fn diff(result: &ToolResultMessage) -> Option<&str> {
    result.details.as_ref()?.get("diff")?.as_str().filter(|diff| !diff.is_empty())
}

/// Adds a result. `call` is the one that it answers; none when there is none.
pub fn body(out: &mut String, result: &ToolResultMessage, call: Option<&ToolCall>) {
    let text = text_of(&result.content, "\n");
    if text.trim_end().contains('\n') || !code::is_short(&text) {
        output(out, result, call, &text);
    } else {
        let text = if result.content.is_empty() { "(nothing)" } else { text.trim_end() };
        out.push_str("<div class=\"row\">");
        html::element(out, "code", "", text);
        ending(out, result);
        out.push_str("</div>");
    }
    if let Some(diff) = diff(result) {
        code::diff(out, diff);
    }
    for block in &result.content {
        match block {
            Block::Image(image) => blocks::picture(out, image),
            Block::Unknown(value) => blocks::unknown(out, value),
            _ => {}
        }
    }
    if let Some(nested) = &result.nested_calls {
        blocks::json(out, "calls that the tool made", nested);
    }
    // What the built-in tools put there is in their text, or shown above.
    let details = result.details.as_ref().filter(|details| !is_empty(details));
    if let Some(details) = details.filter(|_| !arguments::is_builtin(&result.tool_name)) {
        blocks::json(out, "details", details);
    }
}

/// The text of a result. What is looked up on the way is closed; the rest is open while it is short.
fn output(out: &mut String, result: &ToolResultMessage, call: Option<&ToolCall>, text: &str) {
    let looked_up = ["read", "grep", "find", "ls"].contains(&result.tool_name.as_str());
    let language = match (result.tool_name.as_str(), call) {
        ("read", Some(call)) if !result.is_error => Language::of_file(arguments::path(&call.arguments)),
        _ => None,
    };
    let open = (result.is_error || !looked_up) && code::is_short(text);
    let summary = |out: &mut String| {
        out.push_str("output");
        html::element(out, "span", "size", &code::extent(text));
        ending(out, result);
    };
    html::details(out, "fold", open, summary, |out| code::block(out, text, language));
}

/// Adds how long the call took, and that it failed.
fn ending(out: &mut String, result: &ToolResultMessage) {
    out.push_str("<span class=\"ending\">");
    if let Some(ms) = result.duration_ms {
        out.push_str(&numbers::duration(ms));
    }
    if result.is_error {
        out.push_str("<b class=\"bad\">failed</b>");
    }
    out.push_str("</span>");
}

fn is_empty(details: &Value) -> bool {
    match details {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
