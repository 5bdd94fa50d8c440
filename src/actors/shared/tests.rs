use serde_json::json;

use super::*;
use crate::{
    actors::testing::{Bench, Ext, FnTool, Parts},
    protocol::{AgentMessage, ToolOutput, section::SectionName},
};

/// A section with a text that tests change; `{tools}` in it is replaced by the tools' names.
struct Note(&'static str, Mutex<Option<String>>);

impl Note {
    fn new(name: &'static str, text: Option<&str>) -> Arc<Self> {
        Arc::new(Self(name, Mutex::new(text.map(str::to_owned))))
    }

    fn set(&self, text: Option<&str>) {
        *self.1.lock().unwrap() = text.map(str::to_owned);
    }
}

impl SectionSource for Note {
    fn name(&self) -> SectionName {
        SectionName::parse(self.0).unwrap()
    }

    fn text(&self, moment: &SectionMoment<'_>) -> Option<String> {
        Some(self.1.lock().unwrap().clone()?.replace("{tools}", &moment.tools.join(" ")))
    }
}

/// The sections that the session's system messages change, one object a message.
fn changes(bench: &Bench) -> Vec<Value> {
    let messages = bench.shared.tree().unwrap().context().messages;
    let sections = |message: &AgentMessage| match message {
        AgentMessage::System(system) => Some(json!(system.sections)),
        _ => None,
    };
    messages.iter().filter_map(sections).collect()
}

#[tokio::test]
async fn added_sections_are_asked_at_every_turn_and_only_changes_are_stored() {
    let plan = Note::new("plan_mode", None);
    let notes: Vec<Arc<dyn SectionSource>> =
        vec![Note::new("ssh", Some("on host")), plan.clone(), Note::new("ssh", Some("a second one of the name"))];
    let flip = plan.clone();
    let tool = FnTool::new("flip", move |_| {
        flip.set(Some("only plan; tools: {tools}"));
        async { ToolOutput::text("flipped") }
    });
    let mut bench = Parts {
        turns: json!([{"calls": [{"name": "flip", "arguments": {}}]}, "done", "again", "and again"]),
        tools: vec![Arc::new(tool)],
        extensions: vec![Arc::new(Ext::new("notes", &[], |_| crate::actors::testing::Reaction::Panic).telling(notes))],
        ..Parts::default()
    }
    .start()
    .await;
    bench.run("begin").await;
    let first = json!({"ssh": "<ssh>\non host\n</ssh>"});
    let second = json!({"plan_mode": "<plan_mode>\nonly plan; tools: flip\n</plan_mode>"});
    assert_eq!(changes(&bench), [first.clone(), second.clone()], "the second turn was told of the change");
    bench.run("nothing changed").await;
    plan.set(None);
    bench.run("the section is taken back").await;
    assert_eq!(changes(&bench), [first, second, json!({"plan_mode": null})]);
}
