//! System messages as state: the prompt's sections and the declared tools, stored as deltas.
//!
//! The first request of a session stores one message that holds everything; later ones hold only what changed
//! (pi-compatible: section `null` deletes, removals of tools apply before additions).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{message::Content, time::Millis, tool::ToolDeclaration};

/// A change of the system prompt or of the declared tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemMessage {
    /// Free text that is added to the prompt.
    #[serde(default = "no_text")]
    pub content: Content,
    /// Named sections: text sets, null deletes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sections: Option<Map<String, Value>>,
    /// Tools declared from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_added: Option<Vec<ToolDeclaration>>,
    /// Tools no longer declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_removed: Option<Vec<ToolName>>,
    /// When it was made.
    #[serde(default)]
    pub timestamp: Millis,
}

fn no_text() -> Content {
    Content::Text(String::new())
}

/// A tool by name, as removals write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolName {
    /// The name.
    pub name: String,
}

/// What a model is told at a point of the transcript: the sum of all system messages up to there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemState {
    /// Texts of messages with content, in order.
    pub texts: Vec<String>,
    /// Sections in the order in which they were first set.
    pub sections: Vec<(String, String)>,
    /// Declared tools in order.
    pub tools: Vec<ToolDeclaration>,
}

impl SystemState {
    /// The state after `messages`.
    pub fn replay<'a>(messages: impl IntoIterator<Item = &'a SystemMessage>) -> Self {
        let mut state = Self::default();
        for message in messages {
            state.apply(message);
        }
        state
    }

    /// Applies one message.
    pub fn apply(&mut self, message: &SystemMessage) {
        let text = message.content.text("\n\n");
        if !text.is_empty() {
            self.texts.push(text);
        }
        for (name, value) in message.sections.iter().flatten() {
            let place = self.sections.iter().position(|(known, _)| known == name);
            match (value.as_str(), place) {
                (Some(text), Some(at)) => text.clone_into(&mut self.sections[at].1),
                (Some(text), None) => self.sections.push((name.clone(), text.to_owned())),
                (None, Some(at)) => {
                    self.sections.remove(at);
                }
                (None, None) => {}
            }
        }
        for gone in message.tools_removed.iter().flatten() {
            self.tools.retain(|tool| tool.name != gone.name);
        }
        for tool in message.tools_added.iter().flatten() {
            self.tools.retain(|known| known.name != tool.name);
            self.tools.push(tool.clone());
        }
    }

    /// The prompt as one text: contents, then sections in order, joined by blank lines.
    #[must_use]
    pub fn render(&self) -> String {
        let mut parts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        parts.extend(self.sections.iter().map(|(_, text)| text.as_str()).filter(|text| !text.is_empty()));
        parts.join("\n\n")
    }

    /// The whole state as one message (what a compaction stores).
    #[must_use]
    pub fn to_message(&self, timestamp: Millis) -> SystemMessage {
        SystemMessage {
            content: Content::Text(self.texts.join("\n\n")),
            sections: Some(self.sections.iter().map(|(k, v)| (k.clone(), Value::String(v.clone()))).collect()),
            tools_added: Some(self.tools.clone()),
            tools_removed: None,
            timestamp,
        }
    }

    /// The message that turns this state into one with `sections` and `tools`; `None` when nothing changed.
    #[must_use]
    pub fn delta(
        &self,
        sections: &[(String, String)],
        tools: &[&ToolDeclaration],
        timestamp: Millis,
    ) -> Option<SystemMessage> {
        let first = *self == Self::default();
        let mut changed = Map::new();
        for (name, text) in sections {
            if self.sections.iter().find(|(known, _)| known == name).map(|(_, text)| text) != Some(text) {
                changed.insert(name.clone(), Value::String(text.clone()));
            }
        }
        for (name, _) in &self.sections {
            if !sections.iter().any(|(wanted, _)| wanted == name) {
                changed.insert(name.clone(), Value::Null);
            }
        }
        let added: Vec<_> =
            tools.iter().filter(|tool| !self.tools.contains(tool)).map(|tool| (*tool).clone()).collect();
        // A redefinition is a removal and an addition.
        let removed: Vec<_> = self
            .tools
            .iter()
            .filter(|tool| !tools.contains(tool))
            .map(|tool| ToolName { name: tool.name.clone() })
            .collect();
        if changed.is_empty() && added.is_empty() && removed.is_empty() {
            return None;
        }
        Some(SystemMessage {
            content: no_text(),
            sections: (first || !changed.is_empty()).then_some(changed),
            tools_added: (first || !added.is_empty()).then_some(added),
            tools_removed: (!removed.is_empty()).then_some(removed),
            timestamp,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> ToolDeclaration {
        ToolDeclaration { name: name.into(), description: description.into(), ..ToolDeclaration::default() }
    }

    fn sections(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn a_delta_replayed_gives_the_wanted_state_and_no_change_gives_none() {
        let steps = [
            (sections(&[("preamble", "P"), ("cwd", "C")]), vec![tool("read", "a"), tool("bash", "b")]),
            (sections(&[("preamble", "P"), ("cwd", "C"), ("rules", "R")]), vec![tool("read", "a2"), tool("ls", "c")]),
            (sections(&[("preamble", "P")]), vec![]),
        ];
        let mut state = SystemState::default();
        for (wanted, tools) in steps {
            let tools: Vec<_> = tools.iter().collect();
            let delta = state.delta(&wanted, &tools, 1).expect("something changed");
            state.apply(&delta);
            assert_eq!(state.sections, wanted);
            let names = |list: &[&ToolDeclaration]| {
                let mut names: Vec<_> = list.iter().map(|t| (t.name.clone(), t.description.clone())).collect();
                names.sort();
                names
            };
            assert_eq!(names(&state.tools.iter().collect::<Vec<_>>()), names(&tools));
            assert_eq!(state.delta(&wanted, &tools, 2), None);
        }
    }
}
