//! The body of a Gemini request.

use std::collections::HashSet;

use bytes::Bytes;
use serde_json::Map;

use super::{
    contents::contents,
    family::Family,
    schema::without_const,
    thinking::Thinking,
    wire::{CallingConfig, CallingMode, ToolConfig, WireBody, WireContent, WirePart, WireTool, WireTools},
};
use crate::{
    protocol::{Failure, ToolDeclaration},
    providers::{
        Request,
        call_ids::IdForm,
        prompt::{Prompt, ToolMode},
        request_json::written,
        sampling::wants_strict,
        transform::{Target, turns},
    },
};

/// Writes the body. Later system messages are folded into the leading prompt: there is no place for them.
pub(super) fn write(request: &Request) -> Result<Bytes, Failure> {
    let model = &*request.model;
    let family = Family::of(&model.id);
    let prompt = Prompt::read(&request.messages, false, ToolMode::Listed);
    let declared: HashSet<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    // Gemini's ids have the form of Anthropic's.
    let target = Target { model, ids: IdForm::Anthropic, late_system: false, declared: &declared };
    let validated = validated(&prompt.tools, &family)?;
    let (thinking, cap) = Thinking::of(request, &family);
    let mut generation_config = Map::new();
    if cap > 0 {
        generation_config.insert("maxOutputTokens".into(), cap.into());
    }
    thinking.write(&mut generation_config);
    let body = WireBody {
        system_instruction: (!prompt.text.is_empty())
            .then(|| WireContent { role: None, parts: vec![WirePart::text(prompt.text.as_str())] }),
        tools: tools(&prompt.tools),
        tool_config: validated
            .then_some(ToolConfig { function_calling_config: CallingConfig { mode: CallingMode::Validated } }),
        contents: contents(turns(&request.messages, &target), &family),
        generation_config,
    };
    written(&body, model)
}

/// Whether arguments are to follow their schemas: some tool wants it, and the model can.
fn validated(tools: &[ToolDeclaration], family: &Family) -> Result<bool, Failure> {
    let mut any = false;
    for tool in tools {
        any |= wants_strict(tool, family.newest)?;
    }
    Ok(any)
}

fn tools(declared: &[ToolDeclaration]) -> Vec<WireTools<'_>> {
    if declared.is_empty() {
        return Vec::new();
    }
    let function_declarations = declared.iter().map(|tool| WireTool {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: without_const(&tool.parameters),
    });
    vec![WireTools { function_declarations: function_declarations.collect() }]
}

#[cfg(test)]
mod tests;
