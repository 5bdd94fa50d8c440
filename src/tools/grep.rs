//! The tool `grep`: lines that match a pattern.

use serde::Deserialize;
use serde_json::json;

use super::{
    BoxFuture, Failure, Tool, ToolContext,
    listing::{Listing, limit},
    operations::{GrepHits, GrepQuery},
    truncate::{self, MAX_BYTES, MAX_LINE_UNITS, MAX_LINES},
};
use crate::protocol::{ToolDeclaration, ToolOutput};

/// Matches that are shown when the call does not say how many.
const DEFAULT_LIMIT: usize = 100;

/// The tool `grep`.
#[derive(Debug)]
pub struct GrepTool {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    ignore_case: Option<bool>,
    literal: Option<bool>,
    context: Option<f64>,
    limit: Option<f64>,
}

impl GrepTool {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = format!(
            "Search file contents for a regular expression or plain text. Gives matching lines with file and line \
             number, in the order of paths. Hidden files are searched, files that .gitignore excludes are not. At most \
             {DEFAULT_LIMIT} matches or {} are shown, and {MAX_LINE_UNITS} characters of a line.",
            truncate::size(MAX_BYTES),
        );
        Self {
            declaration: ToolDeclaration {
                name: "grep".into(),
                description,
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "pattern": {"type": "string", "description": "A regular expression, or plain text with literal"},
                        "path": {"type": "string", "description": "The folder or file to search; the session's folder if not given"},
                        "glob": {"type": "string", "description": "Search only files that match this glob, such as '*.rs' or 'src/**/*.ts'"},
                        "ignoreCase": {"type": "boolean", "description": "Treat upper and lower case alike; false if not given"},
                        "literal": {"type": "boolean", "description": "Take the pattern as plain text; false if not given"},
                        "context": {"type": "number", "description": "Lines to show before and after each match; 0 if not given"},
                        "limit": {"type": "number", "description": "Matches at most; 100 if not given"},
                    },
                    "required": ["pattern"],
                }),
                constrained_sampling: None,
            },
        }
    }
}

impl Default for GrepTool {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for GrepTool {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn prompt_snippet(&self) -> Option<&str> {
        Some("Search file contents, leaving out what .gitignore excludes")
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { execute(&context).await.unwrap_or_else(ToolOutput::from) })
    }
}

async fn execute(context: &ToolContext) -> Result<ToolOutput, Failure> {
    let arguments: Arguments = context.parse()?;
    let limit = limit(arguments.limit, DEFAULT_LIMIT);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "out of range means the nearest number")]
    let context_lines = (arguments.context.unwrap_or_default() as usize).min(MAX_LINES);
    let query = GrepQuery {
        pattern: arguments.pattern,
        root: context.resolve(arguments.path.as_deref().unwrap_or(".")),
        glob: arguments.glob.filter(|glob| !glob.is_empty()),
        ignore_case: arguments.ignore_case.unwrap_or_default(),
        literal: arguments.literal.unwrap_or_default(),
        context: context_lines,
        limit,
        line_units: MAX_LINE_UNITS,
    };
    let hits = context.operations.grep(query, context.cancel.clone()).await?;
    Ok(show(&hits, limit))
}

fn show(hits: &GrepHits, limit: usize) -> ToolOutput {
    if hits.lines.is_empty() && hits.unsearched == 0 {
        return ToolOutput::text("No matches found");
    }
    let lines: Vec<String> = hits
        .lines
        .iter()
        .map(|line| {
            let mark = if line.is_match { ':' } else { '-' };
            let cut = if line.cut { "... [truncated]" } else { "" };
            format!("{}{mark}{}{mark} {}{cut}", line.path, line.number, line.text)
        })
        .collect();
    let text = lines.join("\n");
    let mut listing = Listing::default();
    if hits.more {
        let more = limit.saturating_mul(2);
        let notice = format!("{limit} matches limit reached. Use limit={more} for more, or refine pattern");
        listing.notice("matchLimitReached", limit, notice);
    }
    listing.text(if lines.is_empty() { "No matches found" } else { &text });
    if hits.unsearched > 0 {
        let notice = format!("{} files were not searched, since they have extremely long lines", hits.unsearched);
        listing.notice("filesNotSearched", hits.unsearched, notice);
    }
    if hits.lines.iter().any(|line| line.cut) {
        let notice = format!("Some lines truncated to {MAX_LINE_UNITS} chars. Use read tool to see full lines");
        listing.notice("linesTruncated", true, notice);
    }
    listing.result()
}

#[cfg(test)]
mod tests;
