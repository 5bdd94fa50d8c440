//! What a script says about a request: a condition of a scene, or an expectation of a turn.

use std::borrow::Cow;

use crate::{
    protocol::{Content, Message, ThinkingLevel, message::text_of, system::SystemState},
    providers::Request,
    store::document::{Fault, Field},
};

/// Facts that a request must have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expectation {
    last_user: Vec<String>,
    last_tool_result: Vec<String>,
    system: Vec<String>,
    last_role: Option<String>,
    tools: Vec<String>,
    messages: Option<u64>,
    thinking: Option<ThinkingLevel>,
}

impl Expectation {
    /// Reads an expectation.
    ///
    /// # Errors
    /// A field is unknown or of the wrong type.
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let object = field.object()?;
        object.only(&["lastUser", "lastToolResult", "system", "lastRole", "tools", "messages", "thinking"])?;
        let parts = |key: &str| object.read(key, texts).map(Option::unwrap_or_default);
        let roles = ["user", "assistant", "toolResult"];
        let level = |field: &Field<'_>| {
            let names = ThinkingLevel::ALL.map(ThinkingLevel::as_str);
            Ok(ThinkingLevel::parse(field.one_of(&names)?))
        };
        Ok(Self {
            last_user: parts("lastUser")?,
            last_tool_result: parts("lastToolResult")?,
            system: parts("system")?,
            last_role: object.read("lastRole", |field| field.one_of(&roles).map(str::to_owned))?,
            tools: parts("tools")?,
            messages: object.read("messages", Field::whole)?,
            thinking: object.read("thinking", level)?.flatten(),
        })
    }

    /// Compares with a request.
    ///
    /// # Errors
    /// What was expected and what was found.
    pub fn check(&self, request: &Request) -> Result<(), String> {
        let messages = &request.messages;
        contains("the last user message", &self.last_user, || last_user(messages))?;
        contains("the last tool result", &self.last_tool_result, || last_tool_result(messages))?;
        if !self.system.is_empty() || !self.tools.is_empty() {
            let state = system(messages);
            contains("the system prompt", &self.system, || state.render().into())?;
            let declared: Vec<_> = state.tools.iter().map(|tool| tool.name.as_str()).collect();
            if let Some(missing) = self.tools.iter().find(|name| !declared.contains(&name.as_str())) {
                return Err(format!("expected the tool {missing} among [{}]", declared.join(", ")));
            }
        }
        equals("the last message's role", self.last_role.as_deref(), || last_role(messages))?;
        equals("the thinking level", self.thinking, || request.thinking)?;
        let count = || messages.iter().filter(|message| !matches!(message, Message::System(_))).count() as u64;
        equals("the number of messages", self.messages, count)
    }
}

/// A text or a list of texts.
fn texts(field: &Field<'_>) -> Result<Vec<String>, Fault> {
    if field.value().is_array() {
        return field.items()?.iter().map(|item| item.text().map(str::to_owned)).collect();
    }
    let one = field.value().as_str().ok_or_else(|| field.expected("a text or a list of texts"))?;
    Ok(vec![one.to_owned()])
}

fn contains<'a>(what: &str, parts: &[String], found: impl FnOnce() -> Cow<'a, str>) -> Result<(), String> {
    if parts.is_empty() {
        return Ok(());
    }
    let found = found();
    match parts.iter().find(|part| !found.contains(part.as_str())) {
        Some(part) => {
            let shown: String = found.chars().take(200).collect();
            Err(format!("expected {what} to contain {part:?}, found {shown:?}"))
        }
        None => Ok(()),
    }
}

fn equals<T, U>(what: &str, expected: Option<T>, found: impl FnOnce() -> U) -> Result<(), String>
where
    T: PartialEq<U> + std::fmt::Display,
    U: std::fmt::Display,
{
    let Some(expected) = expected else { return Ok(()) };
    let found = found();
    if expected == found { Ok(()) } else { Err(format!("expected {what} to be {expected}, found {found}")) }
}

/// The text of the last user message; empty when there is none.
pub(super) fn last_user(messages: &[Message]) -> Cow<'_, str> {
    let last = messages.iter().rev().find_map(|message| match message {
        Message::User(user) => Some(&user.content),
        _ => None,
    });
    match last {
        Some(Content::Text(text)) => text.as_str().into(),
        Some(content) => content.text("\n").into(),
        None => "".into(),
    }
}

/// The text of the last tool result; empty when there is none.
pub(super) fn last_tool_result(messages: &[Message]) -> Cow<'_, str> {
    let last = messages.iter().rev().find_map(|message| match message {
        Message::ToolResult(result) => Some(text_of(&result.content, "\n")),
        _ => None,
    });
    last.unwrap_or_default().into()
}

fn last_role(messages: &[Message]) -> &'static str {
    let roles = messages.iter().rev().filter_map(|message| match message {
        Message::System(_) => None,
        Message::User(_) => Some("user"),
        Message::Assistant(_) => Some("assistant"),
        Message::ToolResult(_) => Some("toolResult"),
    });
    roles.into_iter().next().unwrap_or("none")
}

fn system(messages: &[Message]) -> SystemState {
    SystemState::replay(messages.iter().filter_map(|message| match message {
        Message::System(message) => Some(&**message),
        _ => None,
    }))
}
