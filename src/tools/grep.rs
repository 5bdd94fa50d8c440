//! The tool `grep`: lines that match a pattern.

use serde::Deserialize;
use serde_json::json;

use super::{
    BoxFuture, Failure, Tool, ToolContext,
    listing::{Listing, limit},
    operations::{GrepHits, GrepQuery},
    paths,
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
        root: paths::resolve(arguments.path.as_deref().unwrap_or("."), &context.cwd),
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
    if hits.lines.is_empty() {
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
    let mut listing = Listing::default();
    if hits.more {
        let more = limit.saturating_mul(2);
        let notice = format!("{limit} matches limit reached. Use limit={more} for more, or refine pattern");
        listing.notice("matchLimitReached", limit, notice);
    }
    listing.text(&lines.join("\n"));
    if hits.lines.iter().any(|line| line.cut) {
        let notice = format!("Some lines truncated to {MAX_LINE_UNITS} chars. Use read tool to see full lines");
        listing.notice("linesTruncated", true, notice);
    }
    listing.result()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use crate::tools::testing::{Bench, text};

    #[tokio::test]
    async fn matches_are_shown_with_file_line_and_context() {
        let bench = Bench::new();
        bench.write("a.txt", "one\nTwo two\nthree\n");
        bench.write("sub/b.md", "two\r\n");
        bench.write(".hid/c.txt", "two hidden\n");
        bench.write("bin", b"two\0two\n");
        let table = [
            (json!({"pattern": "two"}), ".hid/c.txt:1: two hidden\na.txt:2: Two two\nsub/b.md:1: two"),
            (json!({"pattern": "TWO", "ignoreCase": true, "path": "a.txt"}), "a.txt:2: Two two"),
            (
                json!({"pattern": "Two", "path": "a.txt", "context": 1}),
                "a.txt-1- one\na.txt:2: Two two\na.txt-3- three",
            ),
            (json!({"pattern": "two", "glob": "*.md"}), "sub/b.md:1: two"),
            (json!({"pattern": "two", "glob": "./sub/*"}), "sub/b.md:1: two"),
            (json!({"pattern": "two", "glob": "!*.txt"}), "sub/b.md:1: two"),
            (json!({"pattern": "two", "path": "sub"}), "b.md:1: two"),
            (json!({"pattern": "t.o$", "path": "a.txt"}), "a.txt:2: Two two"),
            (json!({"pattern": "t.o", "literal": true}), "No matches found"),
            (json!({"pattern": "zzz"}), "No matches found"),
        ];
        for (arguments, wanted) in table {
            assert_eq!(bench.ok("grep", arguments.clone()).await, wanted, "{arguments}");
        }
    }

    #[tokio::test]
    async fn limits_stop_at_the_last_match_with_what_follows_it() {
        let bench = Bench::new();
        bench.write("a.txt", (0..150).map(|n| format!("hit {n}\n")).collect::<String>());
        bench.write("c.txt", "x\nhit a\ny\nz\nhit b\n");
        bench.write("long.txt", format!("{} needle\n", "\u{1f642}x".repeat(700)));
        let all = bench.call("grep", json!({"pattern": "hit"})).await;
        assert_eq!(text(&all).lines().filter(|line| line.contains(": hit")).count(), 100);
        assert!(text(&all).ends_with("\n\n[100 matches limit reached. Use limit=200 for more, or refine pattern]"));
        assert_eq!(all.details.unwrap(), json!({"matchLimitReached": 100}));
        let exactly = bench.ok("grep", json!({"pattern": "hit 14", "limit": 11})).await;
        assert!(!exactly.contains("limit reached"), "{exactly}");
        let with_context = bench.ok("grep", json!({"pattern": "hit", "path": "c.txt", "limit": 1, "context": 1})).await;
        assert!(
            with_context.starts_with("c.txt-1- x\nc.txt:2: hit a\nc.txt-3- y\n\n[1 matches limit"),
            "{with_context}"
        );
        let long = bench.call("grep", json!({"pattern": "needle"})).await;
        assert!(text(&long).contains(
            "\u{1f642}... [truncated]\n\n[Some lines truncated to 500 chars. Use read tool to see full lines]"
        ));
        assert_eq!(long.details.unwrap(), json!({"linesTruncated": true}));
        let many = bench.call("grep", json!({"pattern": "", "limit": 100_000, "path": "a.txt", "context": 3})).await;
        assert!(!many.is_error);
    }

    #[tokio::test]
    async fn results_are_the_first_in_order_however_many_threads_search() {
        let bench = Bench::new();
        for folder in 0..20 {
            for file in 0..50 {
                bench.write(&format!("d{folder:02}/f{file:02}"), format!("hit {folder} {file}\nhit again\n"));
            }
        }
        let got = bench.ok("grep", json!({"pattern": "hit \\d", "limit": 120})).await;
        let lines: Vec<_> = got.lines().take(120).collect();
        for (index, line) in lines.iter().enumerate() {
            let (folder, file) = (index / 50, index % 50);
            assert_eq!(*line, format!("d{folder:02}/f{file:02}:1: hit {folder} {file}"));
        }
    }

    #[tokio::test]
    async fn what_a_model_passes_is_never_an_option_fc_055() {
        let bench = Bench::new();
        bench.write("run.sh", format!("#!/bin/sh\ntouch {}\n", bench.path("marker").display()));
        bench.write("t.txt", "x --pre=./run.sh y\n");
        assert_eq!(
            bench.ok("grep", json!({"pattern": "--pre=./run.sh", "path": "."})).await,
            "t.txt:1: x --pre=./run.sh y"
        );
        assert_eq!(bench.ok("grep", json!({"pattern": "x", "glob": "--pre=./run.sh"})).await, "No matches found");
        let missing = bench.fails("grep", json!({"pattern": "x", "path": "--pre=./run.sh"})).await;
        assert!(missing.starts_with("Path not found: "), "{missing}");
        assert!(!bench.path("marker").exists());
    }

    #[tokio::test]
    async fn ignore_files_hold_in_their_folder_and_links_are_not_followed_fc_056_fc_057() {
        let bench = Bench::new();
        bench.write("a/.gitignore", "secret.txt\n");
        bench.write("a/secret.txt", "needle\n");
        bench.write("b/secret.txt", "needle\n");
        symlink("..", bench.path("b/loop")).unwrap();
        symlink("/", bench.path("root")).unwrap();
        let grep = || bench.ok("grep", json!({"pattern": "needle"}));
        assert_eq!(grep().await, "a/secret.txt:1: needle\nb/secret.txt:1: needle", "outside a repository");
        bench.write(".git/config", "needle\n");
        assert_eq!(grep().await, "b/secret.txt:1: needle");
        bench.write("b/.ignore", "*.txt\n");
        assert_eq!(grep().await, "No matches found");
    }

    #[tokio::test]
    async fn what_cannot_be_searched_is_told() {
        let bench = Bench::new();
        bench.write("a.txt", "x\n");
        assert_eq!(
            bench.fails("grep", json!({"pattern": "x", "path": "nowhere"})).await,
            format!("Path not found: {}", bench.path("nowhere").display())
        );
        let regex = bench.fails("grep", json!({"pattern": "(x"})).await;
        assert!(regex.contains("Invalid regular expression \"(x\"") && regex.contains("unclosed group"), "{regex}");
        assert!(bench.fails("grep", json!({"pattern": "x", "glob": "[x"})).await.starts_with("Invalid glob pattern"));
        assert!(bench.fails("grep", json!({"pattern": "x", "path": "/dev/zero"})).await.starts_with("Not a file"));
        bench.cancel.cancel();
        assert_eq!(bench.fails("grep", json!({"pattern": "x"})).await, "Operation aborted");
    }
}
