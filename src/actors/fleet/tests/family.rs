//! What tests of siblings share: scripts in which parents and children play different turns, and what models heard.

use serde_json::{Value, json};

use crate::{
    actors::{
        fleet::family::Family,
        testing::{Bench, FnTool, Parts, text_of},
    },
    protocol::{AgentMessage, ToolOutput},
    tools::siblings,
};
use std::sync::Arc;

/// An agent whose family plays this script, and whose model has the tools for siblings.
pub async fn bench(turns: Value) -> Bench {
    Parts { turns, tools: siblings::tools(), ..Parts::default() }.start().await
}

pub fn family(bench: &Bench) -> Family {
    Family::of(&bench.shared)
}

/// A script in which the parent plays `turns`, and whoever has the role `child` plays `child`.
pub fn script(turns: Value, child: Value) -> Value {
    json!({
        "turns": turns,
        "end": "repeat",
        "scenes": [{"when": {"system": "You are a child"}, "end": "repeat", "turns": child}],
    })
}

pub fn call(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

pub fn spawn(more: Value) -> Value {
    let mut arguments = json!({"task": "go", "prompt": "You are a child"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call("agent_spawn", arguments)
}

/// Everything that the model was told of its siblings: results, and notices.
pub fn heard(bench: &Bench) -> Vec<String> {
    let messages = bench.shared.tree().unwrap().context().messages;
    let text = |message: &AgentMessage| match message {
        AgentMessage::ToolResult(result) => Some(text_of(&result.content)),
        AgentMessage::Custom(custom) => Some(format!("notice: {}", custom.content.text(""))),
        _ => None,
    };
    messages.iter().filter_map(text).collect()
}

pub fn times(bench: &Bench, what: &str) -> usize {
    heard(bench).iter().map(|text| text.matches(what).count()).sum()
}

/// The same with a tool that never ends.
pub async fn hanging_bench(turns: Value) -> Bench {
    let hangs = FnTool::new("hangs", |_| std::future::pending::<ToolOutput>());
    let mut tools = siblings::tools();
    tools.push(Arc::new(hangs));
    Parts { turns, tools, ..Parts::default() }.start().await
}
