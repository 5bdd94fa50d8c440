//! What the agents of a family do: each by its role, which its prompt names.

use std::{future::pending, sync::Arc};

use serde_json::{Value, json};
use troupe::{
    protocol::{ToolDeclaration, ToolOutput, sibling::SiblingLimits},
    providers::{Provider, scripted::Scripted},
    tools::{BoxFuture, Tool, ToolContext, siblings},
};

use crate::{
    tools::{EffectLog, tools},
    world::{Cast, World},
};

/// The roles of siblings that a test spawns.
pub const ROLES: [&str; 6] = ["talker", "worker", "hanger", "spawner", "faulty", "waiter"];

/// A tool that ends when it is ended.
struct Hangs(ToolDeclaration);

impl Tool for Hangs {
    fn declaration(&self) -> &ToolDeclaration {
        &self.0
    }

    fn execute(&self, _: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(pending())
    }
}

/// An agent that may have a family of these.
pub async fn world() -> World {
    let effects = EffectLog::default();
    let hangs = ToolDeclaration {
        name: "hangs".to_owned(),
        description: "Never ends.".to_owned(),
        parameters: json!({"type": "object"}),
        ..ToolDeclaration::default()
    };
    let mut tools = tools(&effects);
    tools.extend(siblings::tools());
    tools.push(Arc::new(Hangs(hangs)));
    let cast = Cast {
        tools,
        extensions: Vec::new(),
        model: |_| Arc::new(Scripted::from_value(&script()).unwrap()) as Arc<dyn Provider>,
        limits: SiblingLimits { running: 24, total: 400, depth: 2 },
    };
    World::of(cast, effects).await
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

fn script() -> Value {
    let spawn = |role: &str, background: bool| {
        call("agent_spawn", json!({"task": "go", "prompt": format!("You are a {role}."), "background": background}))
    };
    let text = json!({"text": {"repeat": "word ", "times": 80}, "pace": {"deltaChars": 10, "deltaDelayMs": 100}});
    let fails =
        json!({"kind": "error", "class": "overloaded", "status": 529, "message": "busy", "afterDeltas": 2, "times": 1});
    let panics = json!({"kind": "panic", "message": "a fault of the script", "times": 1});
    let role = |name: &str, turns: Value| json!({"when": {"system": format!("You are a {name}.")}, "turns": turns, "end": "loop"});
    json!({
        "pace": {"deltaChars": 8, "deltaDelayMs": 50},
        "turns": ["I have heard of all that."],
        "end": "repeat",
        "scenes": [
            role("talker", json!([text])),
            role("worker", json!([
                {"calls": [call("effect", json!({})), call("read", json!({}))]},
                {"calls": [call("ordered", json!({})), call("ordered", json!({})), call("fail", json!({}))]},
                {"calls": [call("panic", json!({}))]},
                text,
            ])),
            role("hanger", json!([{"calls": [call("read", json!({})), call("hangs", json!({}))]}, "freed"])),
            role("spawner", json!([
                {"calls": [spawn("talker", true), spawn("worker", false)]},
                {"calls": [call("agent_wait", json!({"mode": "all"}))]},
                {"calls": [call("agent_list", json!({})), spawn("faulty", true)]},
                "spawned",
            ])),
            role("faulty", json!([{"text": "one two three four", "fault": fails}, {"text": "more", "fault": panics}])),
            role("waiter", json!([{"text": "late", "pace": {"delayMs": 20_000}}])),
        ],
    })
}
