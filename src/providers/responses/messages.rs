//! From turns to the input items and tools of a Responses request, by the API's pairing rules (rule H4).
//!
//! Reasoning must be followed by the item that it was made with, and an item that is named by its id must follow the
//! reasoning that it was made with. So a turn is sent with all its reasoning and all its ids, or with none of them.

use std::{borrow::Cow, collections::HashSet};

use serde_json::value::RawValue;

use super::{
    compat::Compat,
    dialect::Dialect,
    replay::{TextItem, reasoning_item},
    wire::{DoneItem, OutputText, Role, WireContent, WireFormat, WireItem, WirePart, WireTool},
};
use crate::{
    protocol::{AssistantMessage, Block, Failure, Model, SystemMessage, ToolDeclaration},
    providers::{
        call_ids::{fnv1a, split_item},
        prompt::update_text,
        request_json::JsonText,
        result_text::text_or_note,
        sampling::{FreeText, grammar, parameters, strict_schema},
        transform::{AssistantPart, AssistantTurn, Call, CallResult, Part, Turn},
    },
};

/// Characters of an item's id.
const ID_LIMIT: usize = 64;

/// How much of a turn the target knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It made the turn and gets it back with all reasoning and ids.
    Whole,
    /// Another model of the same API made it, or a part of its reasoning is lost: it goes back without ids, which the
    /// API then does not check.
    Parts,
    /// Another API made it.
    Foreign,
}

/// Writes the input of a request.
pub(super) struct Writer<'a, 'c> {
    model: &'c Model,
    role: Role,
    free_text: &'c FreeText<'c>,
    out: Vec<WireItem<'a>>,
    /// Ids of the calls that took free text: their results have a type of their own.
    custom: HashSet<Cow<'a, str>>,
    /// Texts of the model so far: ids are made up from it, the same in every later request.
    texts: usize,
}

impl<'a, 'c> Writer<'a, 'c> {
    pub(super) fn new(model: &'c Model, compat: &Compat, free_text: &'c FreeText<'c>) -> Self {
        let role = if compat.developer_role { Role::Developer } else { Role::System };
        Self { model, role, free_text, out: Vec::new(), custom: HashSet::new(), texts: 0 }
    }

    /// The whole input: the leading prompt and all turns.
    pub(super) fn write(mut self, prompt: &'a str, turns: Vec<Turn<'a>>) -> Vec<WireItem<'a>> {
        self.out.reserve(turns.len() + 1);
        self.prompt(prompt.into());
        for turn in turns {
            match turn {
                Turn::System(_, message) => self.late_system(message),
                Turn::User(parts) => self.out.push(WireItem::Said { role: Role::User, content: listed(&parts) }),
                Turn::Assistant(turn) => self.assistant(turn),
                Turn::Results(results) => results.into_iter().for_each(|result| self.result(result)),
            }
        }
        self.out
    }

    fn prompt(&mut self, text: Cow<'a, str>) {
        if !text.is_empty() {
            self.out.push(WireItem::Said { role: self.role, content: WireContent::Text(text) });
        }
    }

    fn late_system(&mut self, message: &'a SystemMessage) {
        self.prompt(update_text(message).into());
    }

    fn assistant(&mut self, turn: AssistantTurn<'a>) {
        let whole = if turn.same_model { reasoning(turn.message) } else { None };
        let origin = match &whole {
            Some(_) => Origin::Whole,
            None if turn.message.provider == self.model.provider && turn.message.api == self.model.api => Origin::Parts,
            None => Origin::Foreign,
        };
        let mut reasoning = whole.unwrap_or_default().into_iter();
        let begin = self.out.len();
        for part in turn.parts {
            match part {
                AssistantPart::Thinking(_) => self.out.extend(reasoning.next().map(WireItem::Reasoning)),
                AssistantPart::Text(text, signature) => self.text(text, signature, origin),
                AssistantPart::Call(call) => self.call(call, origin),
            }
        }
        // An answer that ended while the model was thinking: nothing follows that the reasoning was made with.
        while self.out.len() > begin && matches!(self.out.last(), Some(WireItem::Reasoning(_))) {
            self.out.pop();
        }
    }

    fn text(&mut self, text: &'a str, signature: Option<&'a str>, origin: Origin) {
        self.texts += 1;
        let kept = signature.map(TextItem::read).unwrap_or_default();
        let id = Some(kept.id).filter(|id| !id.is_empty() && origin == Origin::Whole);
        if id.is_none() && text.trim().is_empty() {
            return;
        }
        let id = match id {
            Some(id) if id.len() > ID_LIMIT => format!("msg_{:08x}", fnv1a(&id)).into(),
            Some(id) => id,
            None => format!("msg_troupe_{}", self.texts).into(),
        };
        self.out.push(WireItem::Done(DoneItem::Message {
            role: Role::Assistant,
            id,
            status: "completed",
            phase: kept.phase,
            content: [OutputText::new(text)],
        }));
    }

    fn call(&mut self, call: Call<'a>, origin: Origin) {
        let id = match origin {
            Origin::Whole => split_item(call.stored_id).1.map(Cow::Borrowed),
            Origin::Parts => None,
            Origin::Foreign => Some(format!("fc_{:08x}", fnv1a(&call.id)).into()),
        };
        let named = |prefix: &str| id.filter(|id| id.starts_with(prefix) && id.len() <= ID_LIMIT);
        let (call_id, name) = (call.id, call.name);
        let property = self.free_text.get(name.as_ref());
        let item = match property.and_then(|property| call.arguments.get(*property)?.as_str()) {
            Some(input) => {
                self.custom.insert(call_id.clone());
                DoneItem::CustomToolCall { id: named("ctc_"), call_id, name, input }
            }
            None => DoneItem::FunctionCall { id: named("fc_"), call_id, name, arguments: JsonText(call.arguments) },
        };
        self.out.push(WireItem::Done(item));
    }

    fn result(&mut self, result: CallResult<'a>) {
        let output = match result.images().next() {
            Some(_) => listed(&result.parts),
            None => WireContent::Text(text_or_note(&result)),
        };
        let call_id = result.id;
        self.out.push(WireItem::Done(match self.custom.contains(&call_id) {
            true => DoneItem::CustomToolCallOutput { call_id, output },
            false => DoneItem::FunctionCallOutput { call_id, output },
        }));
    }
}

/// The reasoning items of an answer in order; `None` when one of them is lost.
fn reasoning(answer: &AssistantMessage) -> Option<Vec<&RawValue>> {
    let thinking = answer.content.iter().filter_map(|block| match block {
        Block::Thinking(block) => Some(block.thinking_signature.as_deref().unwrap_or_default()),
        _ => None,
    });
    thinking.map(reasoning_item).collect()
}

fn listed<'a>(parts: &[Part<'a>]) -> WireContent<'a> {
    let part = |part: &Part<'a>| match *part {
        Part::Text(text) => WirePart::InputText { text },
        Part::Image(image) => WirePart::image(image),
    };
    WireContent::Parts(parts.iter().map(part).collect())
}

/// Declares tools.
pub(super) fn tools<'a>(
    declared: &'a [ToolDeclaration],
    compat: &Compat,
    dialect: Dialect,
) -> Result<Vec<WireTool<'a>>, Failure> {
    declared.iter().map(|tool| declare(tool, compat, dialect)).collect()
}

fn declare<'a>(tool: &'a ToolDeclaration, compat: &Compat, dialect: Dialect) -> Result<WireTool<'a>, Failure> {
    let (name, description) = (tool.name.as_str(), tool.description.as_str());
    if let Some(grammar) = grammar(tool).filter(|_| compat.grammar_tools) {
        let format = WireFormat::Grammar { syntax: grammar.syntax, definition: grammar.definition };
        return Ok(WireTool::Custom { name, description, format });
    }
    let schema = strict_schema(tool, compat.strict_mode, |_, _| true)?;
    let strict = if schema.is_some() { Some(true) } else { dialect.not_strict() };
    Ok(WireTool::Function { name, description, parameters: parameters(tool, schema), strict })
}
