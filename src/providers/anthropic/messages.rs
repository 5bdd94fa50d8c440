//! From turns to the messages and tools of a Messages request.

use std::borrow::Cow;

use super::{
    compat::Compat,
    strict::with_strict_schemas,
    wire::{Effort, ResultContent, Role, Schema, ToolChange, WireBlock, WireMessage, WireTool},
};
use crate::{
    protocol::{Failure, ImageBlock, SystemMessage, ThinkingBlock, ToolDeclaration},
    providers::{
        prompt::{Prompt, update_text},
        result_text::{IMAGE_FOLLOWS, NO_OUTPUT, SEE_IMAGE, image_caption},
        transform::{AssistantPart, AssistantTurn, CallResult, Part, Turn, joined_text},
    },
};

/// Writes the messages of a request.
pub(super) struct Writer<'a, 'c> {
    pub(super) compat: &'c Compat,
    pub(super) prompt: &'c Prompt,
    /// The effort of the answer that is asked for, when it is set per message.
    pub(super) effort: Option<&'a str>,
    pub(super) out: Vec<WireMessage<'a>>,
    /// Later system messages wait until right before the next answer: results must follow their calls at once.
    pub(super) held: Vec<WireBlock<'a>>,
}

impl<'a> Writer<'a, '_> {
    /// All turns of a conversation.
    pub(super) fn turns(&mut self, turns: Vec<Turn<'a>>) -> Result<(), Failure> {
        self.out.reserve(turns.len());
        for turn in turns {
            match turn {
                Turn::System(place, message) => self.hold(place, message)?,
                Turn::User(parts) => self.push(Role::User, blocks(&parts)),
                Turn::Assistant(turn) => self.assistant(turn),
                Turn::Results(results) => self.results(results),
            }
        }
        self.release(self.effort);
        Ok(())
    }

    fn push(&mut self, role: Role, content: Vec<WireBlock<'a>>) {
        if !content.is_empty() {
            self.out.push(WireMessage { role, content, output_config: None });
        }
    }

    fn hold(&mut self, place: usize, message: &'a SystemMessage) -> Result<(), Failure> {
        let text = update_text(message);
        if !text.is_empty() {
            self.held.push(WireBlock::text(text));
        }
        if self.prompt.is_anchored(place) {
            for gone in message.tools_removed.iter().flatten() {
                let tool = ToolChange::ToolReference { name: &gone.name };
                self.held.push(WireBlock::ToolRemoval { tool, cache_control: None });
            }
            for definition in tools(message.tools_added.as_deref().unwrap_or_default(), self.compat)? {
                let tool = ToolChange::ToolDefinition { definition };
                self.held.push(WireBlock::ToolAddition { tool, cache_control: None });
            }
        }
        Ok(())
    }

    /// Writes what was held back, and the effort of the answer that follows.
    fn release(&mut self, effort: Option<&'a str>) {
        let content = std::mem::take(&mut self.held);
        if !content.is_empty() || effort.is_some() {
            let output_config = effort.map(|effort| Effort { effort });
            self.out.push(WireMessage { role: Role::System, content, output_config });
        }
    }

    fn assistant(&mut self, turn: AssistantTurn<'a>) {
        let past = turn.message.provider_thinking_level.as_deref();
        self.release(past.filter(|_| turn.same_model && self.effort.is_some()));
        let content = turn.parts.into_iter().filter_map(|part| match part {
            AssistantPart::Text(text, _) => (!text.trim().is_empty()).then(|| WireBlock::text(text)),
            AssistantPart::Thinking(block) => self.thinking(block),
            AssistantPart::Call(call) => {
                Some(WireBlock::ToolUse { id: call.id, name: call.name, input: call.arguments })
            }
        });
        let content = content.collect();
        self.push(Role::Assistant, content);
    }

    /// Signed thinking goes back unchanged, withheld thinking as it came; what nobody signed is only text.
    fn thinking(&self, block: &'a ThinkingBlock) -> Option<WireBlock<'a>> {
        let signature = block.thinking_signature.as_deref().unwrap_or_default();
        match (block.redacted == Some(true), signature.is_empty()) {
            (true, true) => None,
            (true, false) => Some(WireBlock::RedactedThinking { data: signature }),
            (false, true) if !self.compat.empty_signatures => Some(WireBlock::text(block.thinking.as_str())),
            (false, _) => Some(WireBlock::Thinking { thinking: &block.thinking, signature }),
        }
    }

    /// All results of a turn in one message. Failed results may hold text only: their pictures follow behind all
    /// results, with a caption.
    fn results(&mut self, results: Vec<CallResult<'a>>) {
        let mut content = Vec::with_capacity(results.len());
        let mut attached = Vec::new();
        for result in results {
            let images: Vec<&'a ImageBlock> = result.images().collect();
            let text = joined_text(&result.parts);
            let wire = match (images.is_empty(), result.is_error) {
                (true, _) if text.is_empty() => ResultContent::Text(NO_OUTPUT.into()),
                (true, _) => ResultContent::Text(text),
                (false, true) => {
                    attached.push(WireBlock::text(image_caption(&result)));
                    attached.extend(images.into_iter().map(WireBlock::image));
                    ResultContent::Text(match text.is_empty() {
                        true => IMAGE_FOLLOWS.into(),
                        false => format!("{text}\n{IMAGE_FOLLOWS}").into(),
                    })
                }
                (false, false) => {
                    let mut blocks = blocks(&result.parts);
                    if text.is_empty() {
                        blocks.insert(0, WireBlock::text(SEE_IMAGE));
                    }
                    ResultContent::Blocks(blocks)
                }
            };
            content.push(WireBlock::ToolResult {
                tool_use_id: result.id,
                content: wire,
                is_error: result.is_error,
                cache_control: None,
            });
        }
        content.append(&mut attached);
        self.push(Role::User, content);
    }
}

fn blocks<'a>(parts: &[Part<'a>]) -> Vec<WireBlock<'a>> {
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => WireBlock::text(*text),
            Part::Image(image) => WireBlock::image(image),
        })
        .collect()
}

/// Declares tools.
pub(super) fn tools<'a>(declared: &'a [ToolDeclaration], compat: &Compat) -> Result<Vec<WireTool<'a>>, Failure> {
    with_strict_schemas(declared, compat.strict_tools)
        .map(|tool| {
            let (tool, strict) = tool?;
            Ok(WireTool {
                name: &tool.name,
                description: &tool.description,
                strict: strict.is_some().then_some(true),
                input_schema: Schema(strict.map_or(Cow::Borrowed(&tool.parameters), Cow::Owned)),
                eager_input_streaming: compat.eager_tool_input.then_some(true),
                cache_control: None,
            })
        })
        .collect()
}
