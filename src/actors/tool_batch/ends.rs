//! Results of calls that did not end by themselves.

use crate::{
    actors::restart::Exit,
    protocol::{Block, ToolOutput, message::text_of},
};

/// An error result that keeps what the call printed.
pub(super) fn after_output(printed: Option<ToolOutput>, text: String) -> ToolOutput {
    let mut output = ToolOutput::error(String::new());
    let so_far = printed.map(|output| text_of(&output.content, "")).unwrap_or_default();
    let text = if so_far.is_empty() { text } else { format!("{so_far}\n\n{text}") };
    output.content = vec![Block::text(text)];
    output
}

/// What the model reads of a call that crashed.
pub(super) fn crash_text(tool: &str, cause: &str) -> String {
    format!("The tool {tool} crashed: {cause}. It may have had effects: check before repeating the call.")
}

/// The result of a call that crashed before it printed anything.
pub(super) fn crashed(tool: &str, cause: &str) -> ToolOutput {
    ToolOutput::error(crash_text(tool, cause))
}

/// The result of a call whose guards died.
pub(super) fn not_decided(exit: &Exit) -> ToolOutput {
    ToolOutput::error(format!("Denied: whether the call may run could not be decided ({})", exit.cause()))
}
