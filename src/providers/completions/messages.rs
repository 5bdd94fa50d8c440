//! From turns to the messages and tools of a Chat Completions request.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{
    compat::Compat,
    wire::{
        ImageUrl, WireAssistant, WireCall, WireContent, WireCustom, WireCustomCall, WireFormat, WireFunction,
        WireFunctionCall, WireGrammar, WireMessage, WirePart, WireSystem, WireTool,
    },
};
use crate::{
    protocol::{Failure, ImageBlock, Model, SystemMessage, ThinkingBlock, ToolDeclaration},
    providers::{
        prompt::{Prompt, update_text},
        request_json::{DataUrl, JsonText},
        result_text::text_or_note,
        sampling::{FreeText, grammar, parameters, strict_schema},
        transform::{AssistantPart, AssistantTurn, Call, CallResult, Part, Turn},
    },
};

const ATTACHED_IMAGES: &str = "Attached image(s) from tool result:";
/// Stands between results and a user message at hosts that want an answer there.
const RESULTS_READ: &str = "I have read the tool results.";
/// Fields in which hosts send readable reasoning and want it back.
pub(super) const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// Writes the messages of a request.
pub(super) struct Writer<'a, 'c> {
    pub(super) model: &'c Model,
    pub(super) compat: &'c Compat,
    pub(super) prompt: &'c Prompt,
    pub(super) free_text: &'c FreeText<'c>,
    pub(super) out: Vec<WireMessage<'a>>,
}

impl<'a> Writer<'a, '_> {
    /// The leading prompt.
    pub(super) fn prompt(&mut self, text: &'a str) {
        if !text.is_empty() {
            let message = self.system(Some(text.into()), None);
            self.out.push(message);
        }
    }

    /// All turns of a conversation.
    pub(super) fn turns(&mut self, turns: Vec<Turn<'a>>) -> Result<(), Failure> {
        self.out.reserve(turns.len());
        for turn in turns {
            match turn {
                Turn::System(place, message) => self.late_system(place, message)?,
                Turn::User(parts) => self.user(content(&parts)),
                Turn::Assistant(turn) => self.assistant(turn),
                Turn::Results(results) => self.results(results),
            }
        }
        Ok(())
    }

    fn system(&self, content: Option<Cow<'a, str>>, tools: Option<Vec<WireTool<'a>>>) -> WireMessage<'a> {
        let system = WireSystem { content: content.map(WireContent::Text), tools };
        match self.model.reasoning && self.compat.developer_role {
            true => WireMessage::Developer(system),
            false => WireMessage::System(system),
        }
    }

    fn late_system(&mut self, place: usize, message: &'a SystemMessage) -> Result<(), Failure> {
        let text = Some(update_text(message)).filter(|text| !text.is_empty());
        let added = message.tools_added.as_deref().filter(|added| self.prompt.is_anchored(place) && !added.is_empty());
        let tools = added.map(|added| tools(added, self.compat)).transpose()?;
        if text.is_some() || tools.is_some() {
            let message = self.system(text.map(Cow::Owned), tools);
            self.out.push(message);
        }
        Ok(())
    }

    fn user(&mut self, content: WireContent<'a>) {
        if self.compat.assistant_after_tool_result && matches!(self.out.last(), Some(WireMessage::Tool { .. })) {
            let content = Some(WireContent::Text(RESULTS_READ.into()));
            self.out.push(WireMessage::Assistant(Box::new(WireAssistant { content, ..WireAssistant::default() })));
        }
        self.out.push(WireMessage::User { content });
    }

    fn assistant(&mut self, turn: AssistantTurn<'a>) {
        let mut texts = Vec::new();
        let mut thinking = Vec::new();
        let mut message = WireAssistant::default();
        for part in turn.parts {
            match part {
                AssistantPart::Text(text, _) if !text.is_empty() => texts.push(text),
                AssistantPart::Text(..) => {}
                AssistantPart::Thinking(block) => thinking.push(block),
                AssistantPart::Call(call) => message.tool_calls.push(self.call(call)),
            }
        }
        let mut text = joined(&texts, "\n");
        if self.compat.thinking_as_text {
            let thought = joined(&readable(&thinking), "\n");
            text = match (thought.is_empty(), text.is_empty()) {
                (true, _) => text,
                (false, true) => thought,
                (false, false) => format!("{thought}\n\n{text}").into(),
            };
        } else {
            self.replay_thinking(&mut message, &thinking);
        }
        if text.is_empty() && message.tool_calls.is_empty() {
            return;
        }
        let wants_text = self.compat.non_null_assistant_content || self.compat.assistant_after_tool_result;
        message.content = (!text.is_empty() || wants_text).then_some(WireContent::Text(text));
        self.out.push(WireMessage::Assistant(Box::new(message)));
    }

    /// Thinking goes back in the field that it came in, or as the details that it came with.
    fn replay_thinking(&self, message: &mut WireAssistant<'a>, thinking: &[&'a ThinkingBlock]) {
        let signatures = || thinking.iter().filter_map(|block| block.thinking_signature.as_deref());
        message.reasoning_details = signatures().find_map(details);
        if message.reasoning_details.is_none() {
            let text = joined(&readable(thinking), "\n");
            let known = signatures().find_map(|name| REASONING_FIELDS.into_iter().find(|field| *field == name));
            // OpenCode Go answers in one field and wants it back in the other.
            let renamed = known.map(|field| match (self.model.provider.as_str(), field) {
                ("opencode-go", "reasoning") => "reasoning_content",
                _ => field,
            });
            match renamed.filter(|_| !text.is_empty()) {
                Some("reasoning_content") => message.reasoning_content = Some(text),
                Some("reasoning") => message.reasoning = Some(text),
                Some(_) => message.reasoning_text = Some(text),
                None => {}
            }
        }
        if self.compat.reasoning_content_on_assistant && message.reasoning_content.is_none() {
            message.reasoning_content = Some("".into());
        }
    }

    fn call(&self, call: Call<'a>) -> WireCall<'a> {
        let free = self.free_text.get(call.name.as_ref()).and_then(|property| call.arguments.get(*property)?.as_str());
        match free {
            Some(input) => WireCall::Custom { id: call.id, custom: WireCustomCall { name: call.name, input } },
            None => WireCall::Function {
                id: call.id,
                function: WireFunctionCall { name: call.name, arguments: JsonText(call.arguments) },
            },
        }
    }

    /// Results are texts; their pictures follow in one user message behind all results of the turn.
    fn results(&mut self, results: Vec<CallResult<'a>>) {
        let mut images: Vec<&'a ImageBlock> = Vec::new();
        for result in results {
            images.extend(result.images());
            let text = text_or_note(&result);
            self.out.push(WireMessage::Tool {
                tool_call_id: result.id,
                name: self.compat.tool_result_name.then_some(result.name),
                content: WireContent::Text(text),
            });
        }
        if !images.is_empty() {
            let mut parts = vec![text_part(ATTACHED_IMAGES)];
            parts.extend(images.into_iter().map(image_part));
            self.user(WireContent::Parts(parts));
        }
    }
}

fn details(signature: &str) -> Option<&RawValue> {
    let raw: &RawValue = serde_json::from_str(signature).ok()?;
    raw.get().starts_with('[').then_some(raw)
}

fn readable<'a>(thinking: &[&'a ThinkingBlock]) -> Vec<&'a str> {
    thinking.iter().map(|block| block.thinking.as_str()).filter(|text| !text.trim().is_empty()).collect()
}

fn joined<'a>(texts: &[&'a str], separator: &str) -> Cow<'a, str> {
    match texts {
        [] => Cow::Borrowed(""),
        [one] => Cow::Borrowed(one),
        many => Cow::Owned(many.join(separator)),
    }
}

fn content<'a>(parts: &[Part<'a>]) -> WireContent<'a> {
    WireContent::said(parts, |part| match part {
        Part::Text(text) => text_part(text),
        Part::Image(image) => image_part(image),
    })
}

fn text_part(text: &str) -> WirePart<'_> {
    WirePart::Text { text: text.into(), cache_control: None }
}

fn image_part(image: &ImageBlock) -> WirePart<'_> {
    WirePart::ImageUrl { image_url: ImageUrl { url: DataUrl(image) } }
}

/// Declares tools.
pub(super) fn tools<'a>(declared: &'a [ToolDeclaration], compat: &Compat) -> Result<Vec<WireTool<'a>>, Failure> {
    declared.iter().map(|tool| declare(tool, compat)).collect()
}

fn declare<'a>(tool: &'a ToolDeclaration, compat: &Compat) -> Result<WireTool<'a>, Failure> {
    let (name, description) = (tool.name.as_str(), tool.description.as_str());
    if let Some(grammar) = grammar(tool).filter(|_| compat.grammar_tools) {
        let grammar = WireGrammar { syntax: grammar.syntax, definition: grammar.definition };
        let format = WireFormat::Grammar { grammar };
        return Ok(WireTool::Custom { custom: WireCustom { name, description, format } });
    }
    let strict = strict_schema(tool, compat.strict_mode, |_, _| true)?;
    let is_strict = strict.is_some();
    let parameters = parameters(tool, strict);
    // Hosts that do not know the field may refuse it: it is sent only where it is known.
    let function = WireFunction { name, description, parameters, strict: compat.strict_mode.then_some(is_strict) };
    Ok(WireTool::Function { function, cache_control: None })
}
