//! System messages for a request: the leading prompt, the declared tools, and what stands in place later.
//!
//! The transcript holds the prompt as changes. Most models take one leading prompt, so all changes are folded into it;
//! some take later system messages, which keeps the prefix of the request (and its cache) as it was.

use serde_json::Value;

use crate::protocol::{Message, SystemMessage, ToolDeclaration, system::SystemState};

/// Where later changes of the declared tools are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolMode {
    /// The request's tool list is the current set.
    Listed,
    /// Tools that are only added stand in later system messages.
    Additions,
    /// Every later change stands in a later system message.
    Changes,
}

/// The prompt of a request.
#[derive(Debug)]
pub struct Prompt {
    /// The leading prompt.
    pub text: String,
    /// The tools of the request's own list.
    pub tools: Vec<ToolDeclaration>,
    /// Later system messages stand in place, instead of being folded into the leading prompt.
    pub late: bool,
    /// From this message on, system messages declare their tools in place.
    pub anchored_from: usize,
}

impl Prompt {
    /// Reads the prompt of `messages`. `late` says whether the model takes later system messages.
    #[must_use]
    pub fn read(messages: &[Message], late: bool, tools: ToolMode) -> Self {
        let leading = messages.iter().take_while(|message| matches!(message, Message::System(_))).count();
        let all = SystemState::replay(systems(messages));
        if !late {
            return Self { text: all.render(), tools: all.tools, late, anchored_from: usize::MAX };
        }
        let text = SystemState::replay(systems(&messages[..leading])).render();
        let anchored_from = match tools {
            ToolMode::Listed => usize::MAX,
            ToolMode::Changes => leading,
            ToolMode::Additions => after_last_replacement(messages).max(leading),
        };
        let tools = match anchored_from {
            usize::MAX => all.tools,
            from => SystemState::replay(systems(&messages[..from])).tools,
        };
        Self { text, tools, late, anchored_from }
    }

    /// All tools that the model knows of: the listed ones, and those that `messages` declare in place.
    pub(crate) fn known_tools<'a>(&'a self, messages: &'a [Message]) -> impl Iterator<Item = &'a ToolDeclaration> {
        let anchored = systems(messages.iter().skip(self.anchored_from));
        self.tools.iter().chain(anchored.flat_map(|message| message.tools_added.iter().flatten()))
    }

    /// Whether the system message at `place` declares its tools in place.
    #[must_use]
    pub fn is_anchored(&self, place: usize) -> bool {
        place >= self.anchored_from
    }
}

fn systems<'a>(messages: impl IntoIterator<Item = &'a Message>) -> impl Iterator<Item = &'a SystemMessage> {
    messages.into_iter().filter_map(|message| match message {
        Message::System(message) => Some(&**message),
        _ => None,
    })
}

/// The place behind the last system message that removes or replaces a tool.
fn after_last_replacement(messages: &[Message]) -> usize {
    let mut state = SystemState::default();
    let mut after = 0;
    for (place, message) in messages.iter().enumerate() {
        let Message::System(message) = message else { continue };
        let removes = message.tools_removed.as_ref().is_some_and(|gone| !gone.is_empty());
        let mut added = message.tools_added.iter().flatten();
        if removes || added.any(|tool| state.tools.iter().any(|known| known.name == tool.name)) {
            after = place + 1;
        }
        state.apply(message);
    }
    after
}

/// A later system message as the model reads it; empty when it changes no text.
#[must_use]
pub fn update_text(message: &SystemMessage) -> String {
    let mut parts = vec![message.content.text("\n\n")];
    for (name, value) in message.sections.iter().flatten() {
        parts.push(match value {
            Value::String(text) => format!("Updated system prompt section \"{name}\":\n{text}"),
            _ => format!("Removed system prompt section \"{name}\"."),
        });
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::providers::testing::user;

    fn system(message: Value) -> Message {
        Message::System(Arc::new(serde_json::from_value(message).unwrap()))
    }

    fn conversation() -> Vec<Message> {
        vec![
            system(json!({"content": "Base.", "sections": {"cwd": "C"}, "toolsAdded": [{"name": "a"}, {"name": "b"}]})),
            user("one"),
            system(json!({"content": "", "toolsAdded": [{"name": "c"}], "toolsRemoved": [{"name": "a"}]})),
            user("two"),
            system(json!({"content": "Late.", "sections": {"cwd": null, "rules": "R"}, "toolsAdded": [{"name": "d"}]})),
        ]
    }

    #[test]
    fn changes_are_folded_or_stand_in_place_as_the_model_takes_them() {
        let table = [
            (false, ToolMode::Listed, "Base.\n\nLate.\n\nR", "b,c,d", usize::MAX),
            (true, ToolMode::Listed, "Base.\n\nC", "b,c,d", usize::MAX),
            (true, ToolMode::Additions, "Base.\n\nC", "b,c", 3),
            (true, ToolMode::Changes, "Base.\n\nC", "a,b", 1),
        ];
        for (late, mode, text, tools, anchored_from) in table {
            let prompt = Prompt::read(&conversation(), late, mode);
            let names: Vec<_> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!((prompt.text.as_str(), names.join(",").as_str()), (text, tools), "{late} {mode:?}");
            assert_eq!(prompt.anchored_from, anchored_from);
        }
    }

    #[test]
    fn an_update_names_the_sections_that_it_changes() {
        let Message::System(late) = &conversation()[4] else { panic!() };
        assert_eq!(
            update_text(late),
            "Late.\n\nRemoved system prompt section \"cwd\".\n\nUpdated system prompt section \"rules\":\nR"
        );
        let Message::System(tools_only) = &conversation()[2] else { panic!() };
        assert_eq!(update_text(tools_only), "");
    }
}
