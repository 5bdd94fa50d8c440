//! The tool `read`: text by lines, pictures as such.
//!
//! - `window`: the lines that are wanted, from a file that comes in pieces.

use std::{
    io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use super::{
    BoxFuture, Failure, Tool, ToolContext,
    encoding::{ANALYSED_AT_MOST, Decoded, PlainCheck, TextEncoding},
    file_memory::{Eye, Sight},
    operations::{FileReader, FileStat, read_all},
    picture::{self, ImageKind, Picture},
    truncate::{self, MAX_BYTES, MAX_LINES, TruncatedBy},
};
use crate::protocol::{Block, ImageBlock, ToolDeclaration, ToolOutput};

#[cfg(test)]
mod tests;
mod window;

use window::{LineCollector, Lines, Window};

/// Bytes of a file after which its lines are no longer counted, once the wanted ones are there: some seconds of reading.
const COUNTED_AT_MOST: u64 = if cfg!(test) { 4 << 20 } else { 2 << 30 };
/// Bytes of the largest picture that is looked at.
const PICTURE_AT_MOST: u64 = 128 << 20;

/// The tool `read`.
#[derive(Debug)]
pub struct ReadTool {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    path: std::borrow::Cow<'a, str>,
    offset: Option<f64>,
    limit: Option<f64>,
}

impl ReadTool {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = format!(
            "Read a file. Text comes as it is, cut to {MAX_LINES} lines or {}, whichever is less; offset and limit \
             choose the lines of a long file, and the result says how to go on. Pictures (PNG, JPEG, GIF, WebP, BMP) \
             come as pictures.",
            truncate::size(MAX_BYTES),
        );
        Self {
            declaration: ToolDeclaration {
                name: "read".into(),
                description,
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "The file, relative to the session's folder or absolute"},
                        "offset": {"type": "number", "description": "The first line to read, counted from 1"},
                        "limit": {"type": "number", "description": "How many lines to read at most"},
                    },
                    "required": ["path"],
                }),
                constrained_sampling: Some(super::prefer_strict_schema()),
            },
        }
    }
}

impl Default for ReadTool {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for ReadTool {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn prompt_snippet(&self) -> Option<&str> {
        Some("Read text files and pictures")
    }

    fn prompt_guidelines(&self) -> &[&str] {
        &["Look at files with read, not with cat or sed."]
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { super::until_cancelled(&context, execute(&context)).await })
    }
}

async fn execute(context: &ToolContext) -> Result<ToolOutput, Failure> {
    let arguments: Arguments<'_> = context.parse()?;
    let (path, mut reader) = open(context, &arguments.path).await?;
    let failure = |error: io::Error| Failure::io(&error, "read", &path);
    let first = reader.next_chunk().await.map_err(failure)?;
    match ImageKind::sniff(&first) {
        Some(kind) => {
            if reader.stat().len > PICTURE_AT_MOST {
                let size = truncate::size(reader.stat().len as usize);
                return Ok(ToolOutput::text(format!("{}\n[Image omitted: it has {size}]", headline(kind))));
            }
            let mut bytes = first;
            bytes.extend(read_all(reader.as_mut()).await.map_err(failure)?);
            note(context, &path, reader.stat(), Sight::of(&bytes)).await;
            Ok(show(context, kind, bytes).await)
        }
        None => {
            let window = window(context, &path, &arguments).await.map_err(failure)?;
            let Collected { lines, sight, is_plain } =
                collect(reader.as_mut(), first, window).await.map_err(failure)?;
            if !is_plain
                && let Some(Recoded { window, lines, encoding }) =
                    recoded(context, &path, &arguments).await.map_err(failure)?
            {
                return text(&arguments, window, &lines, encoding);
            }
            if let Some(sight) = sight {
                note(context, &path, reader.stat(), sight).await;
            }
            text(&arguments, window, &lines, TextEncoding::Utf8)
        }
    }
}

/// Opens the file at the first of the places where it may be.
async fn open(context: &ToolContext, path: &str) -> Result<(PathBuf, Box<dyn FileReader>), Failure> {
    let mut candidates = context.candidates(path);
    let meant = candidates.remove(0);
    let error = match context.operations.open(&meant).await {
        Ok(reader) => return Ok((meant, reader)),
        Err(error) => error,
    };
    if error.kind() == io::ErrorKind::NotFound {
        for candidate in candidates {
            if let Ok(reader) = context.operations.open(&candidate).await {
                return Ok((candidate, reader));
            }
        }
    }
    let operation = if error.kind() == io::ErrorKind::IsADirectory { "read" } else { "access" };
    Err(Failure::io(&error, operation, &meant))
}

/// Notes that the agent has seen the file, also where it saw only a part: it knows that there is more.
async fn note(context: &ToolContext, path: &Path, stat: FileStat, sight: Sight) {
    if let Some(memory) = &context.session.file_memory {
        memory.note(super::real_path(&context.operations, path).await, stat, sight);
    }
}

/// The lines that the arguments ask for. A fraction does not count; a negative limit leaves out lines at the end, for
/// which the file's lines must be counted first.
async fn window(context: &ToolContext, path: &Path, arguments: &Arguments<'_>) -> io::Result<Window> {
    let slice = Slice::of(arguments);
    let total = if slice.is_from_end() {
        let mut reader = context.operations.open(path).await?;
        let first = reader.next_chunk().await?;
        collect(reader.as_mut(), first, Window::default()).await?.lines.total
    } else {
        0
    };
    Ok(slice.window(total))
}

/// The lines that a call asks for, counted from 0; a negative end counts from the file's.
#[derive(Clone, Copy)]
struct Slice {
    start: i64,
    end: Option<i64>,
}

impl Slice {
    fn of(arguments: &Arguments<'_>) -> Self {
        let start = (arguments.offset.unwrap_or(0.0) - 1.0).max(0.0);
        Self { start: whole(start), end: arguments.limit.map(|limit| whole(start + limit)) }
    }

    fn is_from_end(self) -> bool {
        self.end.is_some_and(|end| end < 0)
    }

    /// Its window of a file with `total` lines, which count only where [`Self::is_from_end`].
    fn window(self, total: usize) -> Window {
        let from_end = if self.is_from_end() { i64::try_from(total).unwrap_or(i64::MAX) } else { 0 };
        Window {
            start: usize::try_from(self.start).unwrap_or(usize::MAX),
            count: self.end.map(|end| usize::try_from(from_end + end - self.start).unwrap_or(0)),
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "out of range means the nearest number in it")]
fn whole(number: f64) -> i64 {
    number as i64
}

/// What is known of a file after it was read.
struct Collected {
    lines: Lines,
    /// None when it was not read to its end.
    sight: Option<Sight>,
    /// Whether it is UTF-8 beyond doubt.
    is_plain: bool,
}

async fn collect(reader: &mut dyn FileReader, first: Vec<u8>, window: Window) -> io::Result<Collected> {
    let mut collector = LineCollector::new(window);
    let mut eye = Eye::default();
    let mut check = PlainCheck::default();
    let mut piece = first;
    let mut read = 0;
    while !piece.is_empty() {
        read += piece.len() as u64;
        eye.add(&piece);
        check.push(&piece);
        collector.push(&piece);
        if read > COUNTED_AT_MOST && collector.is_full() {
            return Ok(Collected { lines: collector.stop(), sight: None, is_plain: true });
        }
        piece = reader.next_chunk().await?;
    }
    Ok(Collected { lines: collector.finish(), sight: Some(eye.sight()), is_plain: check.is_plain() })
}

/// What a call shows of a file that is not in UTF-8.
struct Recoded {
    window: Window,
    lines: Lines,
    encoding: TextEncoding,
}

/// Reads a file again, which is no plain UTF-8, as a whole: its encoding shows only there. None when it has no other
/// encoding that is known.
async fn recoded(context: &ToolContext, path: &Path, arguments: &Arguments<'_>) -> io::Result<Option<Recoded>> {
    let mut reader = context.operations.open(path).await?;
    if reader.stat().len > ANALYSED_AT_MOST as u64 {
        return Ok(None);
    }
    let bytes = read_all(reader.as_mut()).await?;
    let slice = Slice::of(arguments);
    let work = spawn_blocking(move || {
        let Decoded { encoding, utf8 } = Decoded::new(&bytes);
        let window = slice.window(truncate::count_newlines(&utf8) + 1);
        let mut collector = LineCollector::new(window);
        collector.push(&utf8);
        (Sight::of(&bytes), Recoded { window, lines: collector.finish(), encoding })
    });
    let (sight, recoded) = work.await.map_err(io::Error::other)?;
    if recoded.encoding == TextEncoding::Utf8 {
        return Ok(None);
    }
    note(context, path, reader.stat(), sight).await;
    Ok(Some(recoded))
}

fn text(
    arguments: &Arguments<'_>,
    window: Window,
    lines: &Lines,
    encoding: TextEncoding,
) -> Result<ToolOutput, Failure> {
    let Lines { total, selected, truncation: cut, .. } = lines;
    let more_than = if lines.is_counted { "" } else { "more than " };
    if window.start >= *total {
        let offset = arguments.offset.unwrap_or_default();
        return Err(Failure::new(format!("Offset {offset} is beyond end of file ({total} lines total)")));
    }
    let first = window.start + 1;
    let limit = truncate::size(MAX_BYTES);
    let notice = if cut.first_line_exceeds_limit {
        let size = truncate::size(lines.first_line_bytes);
        let path = &arguments.path;
        Some(format!(
            "Line {first} is {more_than}{size}, exceeds {limit} limit. Use bash: sed -n '{first}p' {path} | head -c {MAX_BYTES}"
        ))
    } else if let Some(by) = cut.truncated_by {
        let (last, next) = (window.start + cut.output_lines, window.start + cut.output_lines + 1);
        let limit = if by == TruncatedBy::Bytes { format!(" ({limit} limit)") } else { String::new() };
        Some(format!("Showing lines {first}-{last} of {more_than}{total}{limit}. Use offset={next} to continue."))
    } else {
        let after = window.start + selected;
        let (left, next) = (total - after.min(*total), after + 1);
        (left > 0).then(|| format!("{more_than}{left} more lines in file. Use offset={next} to continue."))
    };
    let mut text = match notice {
        Some(notice) if cut.first_line_exceeds_limit => format!("[{notice}]"),
        Some(notice) => format!("{}\n\n[{notice}]", cut.content),
        None => cut.content.clone(),
    };
    let mut details = Map::new();
    if cut.truncated {
        details.insert("truncation".to_owned(), json!(cut));
    }
    let is_guess = matches!(encoding, TextEncoding::Legacy(_));
    if let Some(encoding) = encoding.unusual() {
        let guess = if is_guess { " (guessed from its bytes)" } else { "" };
        text.push_str(&format!(
            "\n\n[File encoding: {encoding}{guess}. It stays so when edit or write change the file.]"
        ));
        details.insert("encoding".to_owned(), encoding.into());
    }
    Ok(ToolOutput {
        content: vec![Block::text(text.clone())],
        details: (!details.is_empty()).then(|| details.into()),
        structured_content: Some(Value::String(text)),
        ..ToolOutput::default()
    })
}

fn headline(kind: ImageKind) -> String {
    format!("Read image file [{}]", kind.mime_type())
}

async fn show(context: &ToolContext, kind: ImageKind, bytes: Vec<u8>) -> ToolOutput {
    let facts = &context.session;
    if facts.block_images {
        return ToolOutput::text(format!("{}\nImage reading is disabled.", headline(kind)));
    }
    let Picture { bytes, kind, notes } = match picture::fit(bytes, kind, facts.pictures).await {
        Ok(picture) => picture,
        Err(reason) => return ToolOutput::text(format!("{}\n[Image omitted: {reason}]", headline(kind))),
    };
    let mut lines = vec![headline(kind)];
    lines.extend(notes);
    let unsupported = match &facts.model {
        Some((_, id)) if !facts.takes_images => {
            lines.push(format!("[The model {id} does not take pictures, so it does not see this one.]"));
            Some(json!({"imageUnsupportedByModel": id}))
        }
        _ => None,
    };
    let (note, data, mime_type) = (lines.join("\n"), STANDARD.encode(bytes), kind.mime_type());
    let structured = json!({"type": "image", "data": data, "mimeType": mime_type, "note": note});
    ToolOutput {
        content: vec![Block::text(note), Block::Image(ImageBlock { data, mime_type: mime_type.into() })],
        details: unsupported,
        structured_content: Some(structured),
        ..ToolOutput::default()
    }
}
