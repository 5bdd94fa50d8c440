//! From turns to the messages and tools of a Converse request.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{
    family::Family,
    wire::{
        ImageSource, Input, InputSchema, Reasoning, Role, ToolResult, ToolSpec, ToolUse, WireBlock, WireImage,
        WireMessage, WireTool,
    },
};
use crate::{
    protocol::{Failure, ImageBlock, ThinkingBlock, ToolDeclaration},
    providers::{
        anthropic::strict::with_strict_schemas,
        result_text::{IMAGE_FOLLOWS, NO_OUTPUT, SEE_IMAGE, image_caption},
        transform::{AssistantPart, AssistantTurn, Call, CallResult, Part, Turn, joined_text},
    },
};

/// Stands for a user's message where the API demands one and there is none.
const NO_TEXT: &str = "(no text)";

/// Writes the messages of a request. The API wants a user's message first, and roles in turn.
pub(super) struct Writer<'a> {
    family: Family,
    /// Without a list of tools the API refuses calls and results: they are told as text.
    has_tools: bool,
    out: Vec<WireMessage<'a>>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(family: Family, has_tools: bool) -> Self {
        Self { family, has_tools, out: Vec::new() }
    }

    /// All turns of a conversation.
    pub(super) fn turns(mut self, turns: Vec<Turn<'a>>) -> Vec<WireMessage<'a>> {
        self.out.reserve(turns.len());
        for turn in turns {
            match turn {
                // Later system messages are in the leading prompt.
                Turn::System(..) => {}
                Turn::User(parts) => self.push(Role::User, parts.iter().map(block).collect()),
                Turn::Assistant(turn) => self.assistant(turn),
                Turn::Results(results) => self.results(results),
            }
        }
        if self.out.is_empty() {
            self.push(Role::User, vec![WireBlock::text(NO_TEXT)]);
        }
        self.out
    }

    fn push(&mut self, role: Role, mut content: Vec<WireBlock<'a>>) {
        if content.is_empty() {
            return;
        }
        match self.out.last_mut() {
            Some(last) if last.role == role => last.content.append(&mut content),
            None if role == Role::Assistant => {
                self.out.push(WireMessage { role: Role::User, content: vec![WireBlock::text(NO_TEXT)] });
                self.out.push(WireMessage { role, content });
            }
            _ => self.out.push(WireMessage { role, content }),
        }
    }

    fn assistant(&mut self, turn: AssistantTurn<'a>) {
        let content = turn.parts.into_iter().filter_map(|part| match part {
            AssistantPart::Text(text, _) => (!text.trim().is_empty()).then(|| WireBlock::text(text)),
            AssistantPart::Thinking(block) => self.thinking(block),
            AssistantPart::Call(call) => Some(self.call(call)),
        });
        let content = content.collect();
        self.push(Role::Assistant, content);
    }

    /// Withheld thinking goes back as it came. Claude wants its signature, and takes what nobody signed for text; others
    /// refuse signatures.
    fn thinking(&self, block: &'a ThinkingBlock) -> Option<WireBlock<'a>> {
        let signature = block.thinking_signature.as_deref().filter(|signature| !signature.is_empty());
        let text = block.thinking.as_str();
        let is_blank = text.trim().is_empty();
        match (block.redacted == Some(true), signature) {
            (true, payload) => payload.map(|payload| WireBlock::ReasoningContent(Reasoning::RedactedContent(payload))),
            (false, None) if is_blank => None,
            (false, None) if self.family.is_claude() => Some(WireBlock::text(text)),
            (false, Some(_)) if is_blank && !self.family.is_claude() => None,
            (false, signature) => {
                let signature = signature.filter(|_| self.family.is_claude());
                Some(WireBlock::ReasoningContent(Reasoning::ReasoningText { text, signature }))
            }
        }
    }

    fn call(&self, call: Call<'a>) -> WireBlock<'a> {
        if self.has_tools {
            return WireBlock::ToolUse(ToolUse { tool_use_id: call.id, name: call.name, input: Input(call.arguments) });
        }
        WireBlock::text(format!("(called the tool {} with {})", call.name, json!(call.arguments)))
    }

    /// All results of a turn in one message. Failed results of Claude may hold text only: their pictures follow behind
    /// all results, with a caption.
    fn results(&mut self, results: Vec<CallResult<'a>>) {
        let mut content = Vec::with_capacity(results.len());
        let mut attached = Vec::new();
        for result in results {
            if !self.has_tools {
                content.push(WireBlock::text(told(&result)));
                content.extend(result.parts.iter().filter(|part| !is_text(part)).map(block));
                continue;
            }
            let (text, images): (Vec<&Part<'a>>, Vec<&Part<'a>>) = result.parts.iter().partition(|part| is_text(part));
            let has_text = !text.is_empty();
            let blocks = if result.is_error && self.family.is_claude() && !images.is_empty() {
                attached.push(WireBlock::text(image_caption(&result)));
                attached.extend(images.into_iter().map(block));
                text.into_iter().map(block).chain([WireBlock::text(IMAGE_FOLLOWS)]).collect()
            } else if has_text {
                result.parts.iter().map(block).collect()
            } else {
                let note = if images.is_empty() { NO_OUTPUT } else { SEE_IMAGE };
                [WireBlock::text(note)].into_iter().chain(images.into_iter().map(block)).collect()
            };
            content.push(WireBlock::ToolResult(ToolResult {
                tool_use_id: result.id,
                content: blocks,
                status: if result.is_error { "error" } else { "success" },
            }));
        }
        content.append(&mut attached);
        self.push(Role::User, content);
    }
}

/// A result as text.
fn told(result: &CallResult<'_>) -> String {
    let how = if result.is_error { "failed" } else { "gave" };
    let text = joined_text(&result.parts);
    format!("(the tool {} {how})\n{}", result.name, if text.is_empty() { NO_OUTPUT } else { &text })
}

fn is_text(part: &Part<'_>) -> bool {
    matches!(part, Part::Text(_))
}

fn block<'a>(part: &Part<'a>) -> WireBlock<'a> {
    match part {
        Part::Text(text) => WireBlock::text(*text),
        Part::Image(image) => picture(image),
    }
}

/// A picture, or a note in its place when it is of a kind that the API does not know.
fn picture(image: &ImageBlock) -> WireBlock<'_> {
    let format = match image.mime_type.as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpeg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        other => return WireBlock::text(format!("(image omitted: {other} is not supported)")),
    };
    WireBlock::Image(WireImage { format, source: ImageSource { bytes: &image.data } })
}

/// Declares tools.
pub(super) fn tools(declared: &[ToolDeclaration], supports_strict: bool) -> Result<Vec<WireTool<'_>>, Failure> {
    with_strict_schemas(declared, supports_strict)
        .map(|tool| {
            let (tool, strict) = tool?;
            Ok(WireTool::ToolSpec(ToolSpec {
                name: &tool.name,
                description: &tool.description,
                strict: strict.is_some().then_some(true),
                input_schema: InputSchema { json: strict.map_or_else(|| schema(&tool.parameters), Cow::Owned) },
            }))
        })
        .collect()
}

/// The schema as it is, as one of an object. Models refuse alternatives at its root.
fn schema(parameters: &Value) -> Cow<'_, Value> {
    const REFUSED: [&str; 3] = ["anyOf", "oneOf", "allOf"];
    match parameters {
        Value::Object(map) if map.contains_key("type") && !REFUSED.iter().any(|key| map.contains_key(*key)) => {
            Cow::Borrowed(parameters)
        }
        Value::Object(map) => {
            let mut plain = map.clone();
            plain.retain(|key, _| !REFUSED.contains(&key.as_str()));
            plain.entry("type").or_insert_with(|| "object".into());
            Cow::Owned(Value::Object(plain))
        }
        _ => Cow::Owned(json!({"type": "object", "properties": {}})),
    }
}
