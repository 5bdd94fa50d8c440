//! What a call asks for, by tool: one line that says it, and what does not fit in there.

use serde_json::{Map, Value};

use super::{
    blocks, code,
    html::{self, preview},
};
use crate::{protocol::message::ToolCall, resources::markup::Language};

/// Characters of a call's line.
const LINE: usize = 160;

/// A call in a line, without its name: the command, the path, the pattern.
pub fn line(call: &ToolCall) -> String {
    let text = |key: &str| call.arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    let path = path(&call.arguments);
    let within = |what: &str| if path.is_empty() { what.to_owned() } else { format!("{what} in {path}") };
    let line = match call.name.as_str() {
        "bash" => text("command").to_owned(),
        "read" => format!("{path}{}", window(&call.arguments)),
        "grep" | "find" => match text("glob") {
            "" => within(text("pattern")),
            glob => format!("{} ({glob})", within(text("pattern"))),
        },
        "ls" if path.is_empty() => ".".to_owned(),
        "edit" | "write" | "ls" => path.to_owned(),
        _ => call.arguments.values().find_map(Value::as_str).unwrap_or_default().to_owned(),
    };
    preview(&line, LINE)
}

/// The path that arguments name.
pub fn path(arguments: &Map<String, Value>) -> &str {
    ["path", "file_path"].iter().find_map(|key| arguments.get(*key)?.as_str()).unwrap_or_default()
}

/// The lines that a `read` asks for.
fn window(arguments: &Map<String, Value>) -> String {
    let number = |key: &str| arguments.get(key).and_then(Value::as_u64);
    match (number("offset"), number("limit")) {
        (None, None) => String::new(),
        (from, None) => format!(":{}-", from.unwrap_or(1)),
        (from, Some(limit)) => {
            let from = from.unwrap_or(1);
            format!(":{from}-{}", from.saturating_add(limit).saturating_sub(1))
        }
    }
}

/// Adds what the line does not hold. `shows_diff` says that a result shows what an edit changed.
pub fn body(out: &mut String, call: &ToolCall, shows_diff: bool) {
    if let Some(error) = &call.arguments_error {
        html::element(out, "p", "fault", "The arguments are no JSON object:");
        return code::block(out, error, None);
    }
    let arguments = &call.arguments;
    let mut shown: Vec<&str> = vec!["path", "file_path"];
    match call.name.as_str() {
        "bash" => {
            shown.push("command");
            if let Some(command) = arguments.get("command").and_then(Value::as_str) {
                out.push_str("<pre class=\"code command\"><code>");
                code::inline(out, command, Language::named("bash"));
                out.push_str("</code></pre>");
            }
        }
        "write" => {
            shown.push("content");
            if let Some(content) = arguments.get("content").and_then(Value::as_str) {
                code::folded(out, "content", content, Language::of_file(path(arguments)), true);
            }
        }
        "edit" => {
            shown.extend(["edits", "oldText", "newText"]);
            let edits = edits(arguments);
            if !edits.is_empty() {
                let summary = |out: &mut String| out.push_str("replacements as asked for");
                let inside = |out: &mut String| edits.iter().for_each(|(old, new)| code::replacement(out, old, new));
                html::details(out, "fold", !shows_diff, summary, inside);
            }
        }
        "read" => shown.extend(["offset", "limit"]),
        "grep" | "find" => shown.extend(["pattern", "glob"]),
        _ => {}
    }
    if !is_builtin(&call.name) {
        shown.clear();
    }
    let rest: Vec<_> = arguments.iter().filter(|(key, _)| !shown.contains(&key.as_str())).collect();
    rest_of(out, &rest);
}

/// The arguments that are not shown in a form of their own.
fn rest_of(out: &mut String, rest: &[(&String, &Value)]) {
    if rest.is_empty() {
        return;
    }
    out.push_str("<dl class=\"args\">");
    for (key, value) in rest {
        html::element(out, "dt", "", key);
        out.push_str("<dd>");
        match value {
            Value::String(text) if text.contains('\n') || text.len() > LINE => {
                code::folded(out, "text", text, None, true)
            }
            Value::String(text) => html::element(out, "code", "in", text),
            Value::Object(_) | Value::Array(_) => blocks::json(out, "value", value),
            other => html::element(out, "code", "in", &other.to_string()),
        }
        out.push_str("</dd>");
    }
    out.push_str("</dl>");
}

/// The replacements of an `edit`: the list, or the one that stands by itself.
fn edits(arguments: &Map<String, Value>) -> Vec<(&str, &str)> {
    fn pair(edit: &Map<String, Value>) -> Option<(&str, &str)> {
        Some((edit.get("oldText")?.as_str()?, edit.get("newText").and_then(Value::as_str).unwrap_or_default()))
    }
    let listed = arguments.get("edits").and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_object).chain([arguments]).filter_map(pair).collect()
}

/// Whether the tool is one of those that this page knows.
pub fn is_builtin(name: &str) -> bool {
    ["bash", "edit", "write", "read", "grep", "find", "ls"].contains(&name)
}
