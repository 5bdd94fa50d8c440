//! The tool `edit`: exact replacements in a file.
//!
//! - `arguments`: the forms that models send.
//! - `matching`: where edits apply; `fuzzy`: what looks alike.
//! - `source`: a file's text, and the way back to its bytes.

use std::{io, path::Path};

use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use super::{
    BoxFuture, Failure, Tool, ToolContext,
    diff::{Diff, diff},
    encoding::{Decoded, TextEncoding},
    failure::{code, describe},
    file_memory::{Fresh, Sight, refuse_if_stale},
    mutation_queue::Turn,
    operations::{FileStat, Operations, read_all},
    truncate,
};
use crate::protocol::{Block, ToolDeclaration, ToolOutput};

mod arguments;
mod fuzzy;
mod matching;
#[cfg(test)]
mod properties;
mod source;
#[cfg(test)]
mod tests;

use arguments::Arguments;
use fuzzy::normalize;
use matching::{EditError, plan};
use source::{Source, with_lf};

/// Bytes of the largest file that is edited: its text, its lines and the result are in memory together.
const EDITED_AT_MOST: u64 = 256 << 20;

/// The tool `edit`.
#[derive(Debug)]
pub struct EditTool {
    declaration: ToolDeclaration,
}

impl EditTool {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        Self {
            declaration: ToolDeclaration {
                name: "edit".into(),
                description: "Replace texts in a file. Each oldText must be in the file once, as it was before the \
                              call; edits must not overlap. Put several changes of one file into one call."
                    .into(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "The file, relative to the session's folder or absolute"},
                        "edits": {
                            "type": "array",
                            "description": "The replacements, all looked for in the file as it is now",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "oldText": {"type": "string", "description": "Text of the file, with enough around it to be there only once"},
                                    "newText": {"type": "string", "description": "What comes in its place"},
                                },
                                "required": ["oldText", "newText"],
                            },
                        },
                    },
                    "required": ["path", "edits"],
                }),
                constrained_sampling: Some(super::prefer_strict_schema()),
            },
        }
    }
}

impl Default for EditTool {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for EditTool {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn prompt_snippet(&self) -> Option<&str> {
        Some("Change files by replacing exact texts")
    }

    fn prompt_guidelines(&self) -> &[&str] {
        &[
            "Use edit for changes of existing files. oldText must match the file exactly.",
            "Several changes of one file go into one edit call with several entries in edits; keep each oldText short, \
             but unique, and do not let them overlap.",
        ]
    }

    fn prepare_arguments(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        arguments::prepare(arguments)
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let path = match context.parse::<Arguments<'_>>() {
                Ok(arguments) if arguments.edits().is_empty() => {
                    return ToolOutput::error(
                        "Edit tool input is invalid. edits must contain at least one replacement.",
                    );
                }
                Ok(arguments) => context.resolve(&arguments.path),
                Err(failure) => return failure.into(),
            };
            let turn = match super::turn_to_change(&context, &path).await {
                Ok(turn) => turn,
                Err(failure) => return failure.into(),
            };
            super::detached(async move { edit(context, &path, turn).await.unwrap_or_else(ToolOutput::from) }).await
        })
    }
}

/// Reads, edits and writes while the file's turn is held.
async fn edit(context: ToolContext, path: &Path, turn: Turn) -> Result<ToolOutput, Failure> {
    let arguments: Arguments<'_> = context.parse()?;
    let name = arguments.path.as_ref();
    let operations = context.operations.as_ref();
    let memory = context.session.file_memory.as_ref();
    let real_path = turn.real_path();
    let (content, stat) = content(operations, path, real_path, name).await?;
    let Fresh { content: original, has_changed } = match memory {
        Some(memory) => {
            let context = context.clone();
            let knows_better = move |seen: &[u8]| context.parse().is_ok_and(|arguments| is_news(&arguments, seen));
            refuse_if_stale(memory, real_path, name, (stat, content), knows_better).await?
        }
        None => Fresh { content, has_changed: false },
    };
    let Changed { bytes, sight, encoding, count, diff } = {
        let context = context.clone();
        let work = spawn_blocking(move || Changed::new(&context.parse()?, &original));
        work.await.map_err(|error| Failure::new(format!("The edit failed: {error}")))??
    };
    if context.cancel.is_cancelled() {
        return Err(Failure::aborted());
    }
    let written = operations.write(real_path, bytes).await;
    let stat = written.map_err(|error| Failure::io(&error, "write", path))?;
    if let Some(memory) = memory {
        memory.note(real_path.to_owned(), stat, sight);
    }
    let mut text = format!("Successfully replaced {count} block(s) in {name}.");
    if has_changed {
        text = format!("{text} It had changed on disk since you last read it; the rest of it may be new to you.");
    }
    let mut details = json!({"diff": diff.display, "patch": diff.patch, "firstChangedLine": diff.first_changed_line});
    if let Some(encoding) = encoding.unusual() {
        text = format!("{text} The file stays in {encoding}.");
        details["encoding"] = encoding.into();
    }
    Ok(ToolOutput { content: vec![Block::text(text)], details: Some(details), ..ToolOutput::default() })
}

/// What the file holds.
async fn content(
    operations: &dyn Operations,
    path: &Path,
    real_path: &Path,
    name: &str,
) -> Result<(Vec<u8>, FileStat), Failure> {
    let no_access = |error: io::Error| match code(&error) {
        Some(code) => Failure::new(format!("Could not edit file: {name}. Error code: {code}.")),
        None => Failure::new(format!("Could not edit file: {name}. {}", describe(&error, "open", path))),
    };
    operations.check_access(real_path).await.map_err(no_access)?;
    let mut reader = operations.open(real_path).await.map_err(no_access)?;
    let stat = reader.stat();
    if stat.len > EDITED_AT_MOST {
        let [size, most] = [stat.len, EDITED_AT_MOST].map(|bytes| truncate::size(bytes as usize));
        return Err(Failure::new(format!(
            "Could not edit file: {name}. It has {size}, and edit takes files up to {most}. Use bash, with sed for example."
        )));
    }
    Ok((read_all(reader.as_mut()).await.map_err(no_access)?, stat))
}

/// Whether nothing that the edits look for, or that looks like it, is in a content: who asks for them knows of another.
fn is_news(arguments: &Arguments<'_>, seen: &[u8]) -> bool {
    let seen = Decoded::new(seen);
    let source = Source::new(&seen.utf8);
    let seen = normalize(source.text());
    !arguments.edits().iter().any(|edit| seen.contains(normalize(&with_lf(&edit.old)).as_ref()))
}

/// What a call makes of a file.
struct Changed {
    bytes: Vec<u8>,
    sight: Sight,
    encoding: TextEncoding,
    /// Replacements.
    count: usize,
    diff: Diff,
}

impl Changed {
    fn new(arguments: &Arguments<'_>, original: &[u8]) -> Result<Self, Failure> {
        let edits = arguments.edits();
        let name = arguments.path.as_ref();
        let Decoded { encoding, utf8: before } = Decoded::new(original);
        let source = Source::new(&before);
        let replacements =
            plan(source.text(), &edits).map_err(|error| Failure::new(explain(&error, name, edits.len())))?;
        let after = source.replace(&replacements);
        let diff = diff(name, source.text(), Source::new(&after).text()).filter(|_| after != *before);
        let diff = diff.ok_or_else(|| {
            Failure::new(format!("No changes made to {name}. The replacements give what the file holds already."))
        })?;
        let bytes = encoding.encode(after).map_err(|error| error.failure(name))?;
        Ok(Self { sight: Sight::of(&bytes), bytes, encoding, count: edits.len(), diff })
    }
}

/// An error in words, for a call with this many edits.
fn explain(error: &EditError, path: &str, edits: usize) -> String {
    let which = |edit: &usize, alone: &str| if edits == 1 { alone.to_owned() } else { format!("edits[{edit}]") };
    match error {
        EditError::Empty(edit) => {
            let field = if edits == 1 { "oldText".to_owned() } else { format!("edits[{edit}].oldText") };
            format!("{field} must not be empty in {path}. To create or replace a whole file, use write.")
        }
        EditError::NotFound(edit) => format!(
            "Could not find {} in {path}. oldText must be as the file has it, with all blanks and line breaks; read the \
             file again to see what it holds now.",
            which(edit, "the exact text")
        ),
        EditError::Ambiguous { edit, count, lines } => {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let more = if *count > lines.len() { ", ..." } else { "" };
            format!(
                "Found {count} occurrences of {} in {path} (lines {}{more}); texts that only look alike count, too. \
                 Add lines around it to oldText, so that it fits one place only.",
                which(edit, "the text"),
                lines.join(", ")
            )
        }
        EditError::Overlap(first, second) => format!(
            "edits[{first}] and edits[{second}] overlap in {path}. Make one edit of them, or shorten them so that they \
             do not meet."
        ),
    }
}
