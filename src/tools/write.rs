//! The tool `write`: a whole file.

use std::{borrow::Cow, io, path::Path, sync::Arc};

use serde::Deserialize;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::{
    BoxFuture, Failure, Tool, ToolContext,
    encoding::{ANALYSED_AT_MOST, Decoded, TextEncoding},
    file_memory::{FileMemory, Sight, refuse_if_stale, refuse_if_touched},
    mutation_queue::Turn,
    operations::{Operations, read_all},
};
use crate::protocol::{ToolDeclaration, ToolOutput};

/// The tool `write`.
#[derive(Debug)]
pub struct WriteTool {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    #[serde(borrow)]
    content: Cow<'a, str>,
}

impl WriteTool {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        Self {
            declaration: ToolDeclaration {
                name: "write".into(),
                description: "Write a file: create it, with the folders above it, or replace all that it holds.".into(),
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "The file, relative to the session's folder or absolute"},
                        "content": {"type": "string", "description": "All that the file shall hold"},
                    },
                    "required": ["path", "content"],
                }),
                constrained_sampling: Some(super::prefer_strict_schema()),
            },
        }
    }
}

impl Default for WriteTool {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for WriteTool {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn prompt_snippet(&self) -> Option<&str> {
        Some("Create files or replace them as a whole")
    }

    fn prompt_guidelines(&self) -> &[&str] {
        &["Use write for new files and for complete rewrites only."]
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let path = match context.parse::<Arguments<'_>>() {
                Ok(arguments) => context.resolve(&arguments.path),
                Err(failure) => return failure.into(),
            };
            let turn = match super::turn_to_change(&context, &path).await {
                Ok(turn) => turn,
                Err(failure) => return failure.into(),
            };
            super::detached(async move { write(&context, &path, turn).await.unwrap_or_else(ToolOutput::from) }).await
        })
    }
}

/// Writes while the file's turn is held.
async fn write(context: &ToolContext, path: &Path, turn: Turn) -> Result<ToolOutput, Failure> {
    let arguments: Arguments<'_> = context.parse()?;
    let operations = context.operations.as_ref();
    let failure = |operation: &str, path: &Path, error: &io::Error| Failure::io(error, operation, path);
    let real_path = turn.real_path();
    let memory = context.session.file_memory.as_ref();
    let Before { encoding, text: replaced } = look(operations, real_path, &arguments.path, memory).await?;
    if context.cancel.is_cancelled() {
        return Err(Failure::aborted());
    }
    if let Some(folder) = real_path.parent() {
        let made = operations.create_folder(folder).await;
        made.map_err(|error| failure("mkdir", path.parent().unwrap_or(folder), &error))?;
    }
    let bytes = encoding.encode(arguments.content.as_bytes().to_vec());
    let bytes = bytes.map_err(|error| error.failure(&arguments.path))?;
    if context.cancel.is_cancelled() {
        return Err(Failure::aborted());
    }
    let sight = memory.map(|memory| (memory, Sight::of(&bytes)));
    let stat = operations.write(real_path, bytes).await.map_err(|error| failure("open", path, &error))?;
    if let Some((memory, sight)) = sight {
        memory.note(real_path.to_owned(), stat, sight);
    }
    let text = format!("Successfully wrote to {}", arguments.path);
    let output = match encoding.unusual() {
        Some(encoding) => ToolOutput {
            details: Some(json!({"encoding": encoding})),
            ..ToolOutput::text(format!("{text}. The file stays in {encoding}."))
        },
        None => ToolOutput::text(text),
    };
    Ok(ToolOutput { replaced, ..output })
}

/// What is to be replaced.
struct Before {
    encoding: TextEncoding,
    /// Its text; none when there is none, or so much that nobody looks for differences.
    text: Option<Arc<str>>,
}

impl Before {
    fn unknown() -> Self {
        Self { encoding: TextEncoding::Utf8, text: None }
    }
}

/// Bytes of the largest text that is kept to show what changed.
const SHOWN_AT_MOST: usize = 1 << 20;

/// Looks at what is to be replaced: fails when somebody else changed it, and gives the encoding that stays. That is
/// UTF-8 for a new file. A byte order mark of UTF-8 is text, and stays only when it is written again.
async fn look(
    operations: &dyn Operations,
    path: &Path,
    name: &str,
    memory: Option<&Arc<FileMemory>>,
) -> Result<Before, Failure> {
    let mut reader = match operations.open(path).await {
        Ok(reader) => reader,
        // It is new, or may be written but not read. If neither, writing tells why.
        Err(_) => return Ok(Before::unknown()),
    };
    let stat = reader.stat();
    if stat.len > ANALYSED_AT_MOST as u64 {
        memory.map_or(Ok(()), |memory| refuse_if_touched(memory, path, name, stat))?;
        return Ok(Before::unknown());
    }
    let mut bytes = read_all(reader.as_mut()).await.map_err(|error| Failure::io(&error, "read", path))?;
    if let Some(memory) = memory {
        bytes = refuse_if_stale(memory, path, name, (stat, bytes), |_| false).await?.content;
    }
    let detection = spawn_blocking(move || {
        let Decoded { encoding, utf8 } = Decoded::new(&bytes);
        let text = std::str::from_utf8(&utf8).ok().filter(|text| text.len() <= SHOWN_AT_MOST).map(Arc::from);
        Before { encoding, text }
    });
    detection.await.map_err(|error| Failure::new(format!("The write failed: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::testing::Bench;

    #[tokio::test]
    async fn files_are_created_with_their_folders_and_replaced_as_a_whole() {
        let bench = Bench::new();
        for (path, content, replaced) in
            [("x/y/z.txt", "h\u{e9}llo\r\n", None), ("x/y/z.txt", "2", Some("h\u{e9}llo\r\n")), ("e.txt", "", None)]
        {
            let output = bench.call("write", json!({"path": path, "content": content})).await;
            assert_eq!(crate::tools::testing::text(&output), format!("Successfully wrote to {path}"));
            assert_eq!(output.details, None);
            assert_eq!(output.replaced.as_deref(), replaced, "{path}");
            assert_eq!(bench.read(path), content.as_bytes());
        }
    }

    #[tokio::test]
    async fn what_cannot_be_written_is_told() {
        let bench = Bench::new();
        bench.write("f", "x");
        std::fs::create_dir(bench.path("d")).unwrap();
        let below_a_file = bench.fails("write", json!({"path": "f/g.txt", "content": "x"})).await;
        assert_eq!(below_a_file, format!("EEXIST: file already exists, mkdir '{}'", bench.path("f").display()));
        assert!(bench.fails("write", json!({"path": "d", "content": "x"})).await.starts_with("EISDIR"));
        assert!(bench.fails("write", json!({"path": "/dev/null", "content": "x"})).await.contains("a device"));
        assert_eq!(bench.read("f"), b"x");
    }
}
