//! From the stored conversation to turns that any API can write (rules H1 to H14).
//!
//! Done for every request and never stored. Texts, pictures and arguments are borrowed from the messages: a request of
//! ten thousand entries must cost milliseconds.

use std::{borrow::Cow, collections::HashSet};

use serde_json::{Map, Value};

use super::call_ids::{CallIds, IdForm, replace_foreign, shorten};
use crate::protocol::{
    AssistantMessage, Block, Content, ImageBlock, Message, Model, SystemMessage, ThinkingBlock, ToolCall,
    ToolResultMessage,
};

const IMAGE_OMITTED: &str = "(image omitted: model does not support images)";
const TOOL_IMAGE_OMITTED: &str = "(tool image omitted: model does not support images)";
const NO_RESULT: &str = "No result provided";
/// The longest function name that all vendors take.
const NAME_LIMIT: usize = 64;

/// What the target of a request takes.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The model that is asked.
    pub model: &'a Model,
    /// The form of its call ids.
    pub ids: IdForm,
    /// Whether system messages stay in place; otherwise they are left out here.
    pub late_system: bool,
    /// Names of the tools that are declared.
    pub declared: &'a HashSet<&'a str>,
}

/// One turn of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn<'a> {
    /// A later system message and its place in the conversation.
    System(usize, &'a SystemMessage),
    /// A user's words; at least one part.
    User(Vec<Part<'a>>),
    /// An answer; at least one part.
    Assistant(AssistantTurn<'a>),
    /// One result for each call of the answer before, in the order of the calls.
    Results(Vec<CallResult<'a>>),
}

/// A piece of a user message or of a result. Texts are never blank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part<'a> {
    /// Text.
    Text(&'a str),
    /// A picture.
    Image(&'a ImageBlock),
}

/// An answer as it is replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct AssistantTurn<'a> {
    /// The stored message.
    pub message: &'a AssistantMessage,
    /// Made by the very model that is asked now.
    pub same_model: bool,
    /// What is replayed of it.
    pub parts: Vec<AssistantPart<'a>>,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AssistantPart<'a> {
    /// Text, and the opaque data of the same model.
    Text(&'a str, Option<&'a str>),
    /// Thinking of the same model.
    Thinking(&'a ThinkingBlock),
    /// A call.
    Call(Call<'a>),
}

/// A call with the id and name that are sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Call<'a> {
    /// The id in the target's form.
    pub id: Cow<'a, str>,
    /// The id as it is stored.
    pub stored_id: &'a str,
    /// The name; never empty.
    pub name: Cow<'a, str>,
    /// The arguments that were understood: broken text is never replayed.
    pub arguments: &'a Map<String, Value>,
    /// Opaque data of the same model.
    pub thought_signature: Option<&'a str>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult<'a> {
    /// The id of its call.
    pub id: Cow<'a, str>,
    /// The name of its call.
    pub name: Cow<'a, str>,
    /// Text and pictures; may be empty.
    pub parts: Vec<Part<'a>>,
    /// The call failed.
    pub is_error: bool,
}

impl<'a> CallResult<'a> {
    /// Its pictures.
    pub fn images(&self) -> impl Iterator<Item = &'a ImageBlock> {
        self.parts.iter().filter_map(|part| match part {
            Part::Image(image) => Some(*image),
            Part::Text(_) => None,
        })
    }
}

/// The turns of a conversation, valid for the target: calls and results pair up, ids and names are in its form, and
/// nothing of another model's is in them that it would refuse.
#[must_use]
pub fn turns<'a>(messages: &'a [Message], target: &Target<'_>) -> Vec<Turn<'a>> {
    let mut build = Build {
        target,
        ids: CallIds::new(target.ids),
        turns: Vec::with_capacity(messages.len()),
        open: Vec::new(),
        held: Vec::new(),
    };
    let leading = messages.iter().take_while(|message| matches!(message, Message::System(_))).count();
    for (place, message) in messages.iter().enumerate().skip(leading) {
        match message {
            Message::System(message) if target.late_system => build.system(place, message),
            Message::System(_) => {}
            Message::User(message) => build.user(&message.content),
            Message::Assistant(message) => build.assistant(message),
            Message::ToolResult(message) => build.result(message),
        }
    }
    build.close();
    build.turns
}

/// Whether the very model made an answer: only then it gets back what is opaque in it.
pub(crate) fn is_made_by(answer: &AssistantMessage, model: &Model) -> bool {
    answer.provider == model.provider && answer.api == model.api && answer.model == model.id
}

/// A call that waits for its result.
struct OpenCall<'a> {
    stored_id: &'a str,
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    result: Option<&'a ToolResultMessage>,
}

struct Build<'a, 't> {
    target: &'t Target<'t>,
    ids: CallIds<'a>,
    turns: Vec<Turn<'a>>,
    open: Vec<OpenCall<'a>>,
    /// System messages that came between calls and their results: they follow the results.
    held: Vec<(usize, &'a SystemMessage)>,
}

impl<'a> Build<'a, '_> {
    fn system(&mut self, place: usize, message: &'a SystemMessage) {
        if self.open.is_empty() {
            self.turns.push(Turn::System(place, message));
        } else {
            self.held.push((place, message));
        }
    }

    fn user(&mut self, content: &'a Content) {
        self.close();
        let parts = match content {
            Content::Text(text) if text.trim().is_empty() => Vec::new(),
            Content::Text(text) => vec![Part::Text(text)],
            Content::Blocks(blocks) => self.parts(blocks, IMAGE_OMITTED),
        };
        if !parts.is_empty() {
            self.turns.push(Turn::User(parts));
        }
    }

    fn assistant(&mut self, message: &'a AssistantMessage) {
        if message.is_failed() {
            // A half answer is not replayed, and results of its calls have nothing to answer.
            if message.tool_calls().next().is_some() {
                self.close();
            }
            return;
        }
        self.close();
        self.ids.next_turn();
        let same_model = is_made_by(message, self.target.model);
        let mut parts = Vec::with_capacity(message.content.len());
        for block in &message.content {
            match block {
                Block::Text(block) => {
                    let signature = block.text_signature.as_deref().filter(|_| same_model);
                    if !block.text.trim().is_empty() || signature.is_some() {
                        parts.push(AssistantPart::Text(&block.text, signature));
                    }
                }
                Block::Thinking(block) if same_model && is_worth_replaying(block) => {
                    parts.push(AssistantPart::Thinking(block));
                }
                Block::ToolCall(call) => parts.push(AssistantPart::Call(self.call(call, same_model))),
                Block::Thinking(_) | Block::Image(_) | Block::Unknown(_) => {}
            }
        }
        if !parts.is_empty() {
            self.turns.push(Turn::Assistant(AssistantTurn { message, same_model, parts }));
        }
    }

    fn call(&mut self, call: &'a ToolCall, same_model: bool) -> Call<'a> {
        let id = self.ids.assign(&call.id, same_model);
        let name = wire_name(&call.name, self.target.declared);
        self.open.push(OpenCall { stored_id: &call.id, id: id.clone(), name: name.clone(), result: None });
        let thought_signature = call.thought_signature.as_deref().filter(|_| same_model);
        Call { id, stored_id: &call.id, name, arguments: &call.arguments, thought_signature }
    }

    /// A result answers the first call of its id that has none; others answer nothing and are left out.
    fn result(&mut self, message: &'a ToolResultMessage) {
        let waiting = |call: &&mut OpenCall<'_>| call.result.is_none() && call.stored_id == message.tool_call_id;
        if let Some(call) = self.open.iter_mut().find(waiting) {
            call.result = Some(message);
        }
    }

    /// The answer before is complete: writes the results of its calls, with an error in the place of each that never
    /// came, and then what was held back.
    fn close(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let open = std::mem::take(&mut self.open);
        let results = open.into_iter().map(|call| match call.result {
            Some(result) => CallResult {
                id: call.id,
                name: call.name,
                parts: self.parts(&result.content, TOOL_IMAGE_OMITTED),
                is_error: result.is_error,
            },
            None => CallResult { id: call.id, name: call.name, parts: vec![Part::Text(NO_RESULT)], is_error: true },
        });
        let results = results.collect();
        self.turns.push(Turn::Results(results));
        self.turns.extend(self.held.drain(..).map(|(place, message)| Turn::System(place, message)));
    }

    /// Texts that are not blank, and pictures, or one note for each run of pictures that the model cannot see.
    fn parts(&self, blocks: &'a [Block], omitted: &'static str) -> Vec<Part<'a>> {
        let mut parts = Vec::with_capacity(blocks.len());
        for block in blocks {
            match block {
                Block::Text(block) if !block.text.trim().is_empty() => parts.push(Part::Text(&block.text)),
                Block::Image(image) if self.target.model.takes_images() => parts.push(Part::Image(image)),
                Block::Image(_) if parts.last() != Some(&Part::Text(omitted)) => parts.push(Part::Text(omitted)),
                _ => {}
            }
        }
        parts
    }
}

/// Signed and withheld thinking goes back even without text, unsigned thinking only with it. FC-026: the text is never
/// changed under its signature.
fn is_worth_replaying(block: &ThinkingBlock) -> bool {
    let signed = block.thinking_signature.as_ref().is_some_and(|signature| !signature.is_empty());
    signed || block.redacted == Some(true) || !block.thinking.trim().is_empty()
}

/// A name that vendors accept. Models call tools that do not exist by names that do not, and the request that replays
/// such a call would be refused for ever.
fn wire_name<'a>(name: &'a str, declared: &HashSet<&str>) -> Cow<'a, str> {
    if declared.contains(name) {
        return Cow::Borrowed(name);
    }
    let clean = replace_foreign(name);
    match clean.len() {
        0 => Cow::Borrowed("unknown_tool"),
        1..=NAME_LIMIT => clean,
        _ => Cow::Owned(shorten(&clean, name, NAME_LIMIT)),
    }
}

/// The texts of parts joined by line feeds.
#[must_use]
pub fn joined_text<'a>(parts: &[Part<'a>]) -> Cow<'a, str> {
    let mut texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(*text),
        Part::Image(_) => None,
    });
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    texts.fold(Cow::Borrowed(first), |joined, text| Cow::Owned(format!("{joined}\n{text}")))
}

#[cfg(test)]
mod tests;
