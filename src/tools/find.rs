//! The tool `find`: files by name.

use serde::Deserialize;
use serde_json::json;

use super::{
    BoxFuture, Failure, Tool, ToolContext,
    listing::{Listing, limit},
    operations::FindQuery,
    truncate::{self, MAX_BYTES},
};
use crate::protocol::{ToolDeclaration, ToolOutput};

/// Results that are shown when the call does not say how many.
const DEFAULT_LIMIT: usize = 1000;

/// The tool `find`.
#[derive(Debug)]
pub struct FindTool {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    limit: Option<f64>,
}

impl FindTool {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = format!(
            "Find files and folders by a glob. A pattern without a slash is compared with names anywhere below the \
             folder, one with a slash with paths from the folder on. Gives paths relative to the folder, in order; \
             folders end in a slash. Hidden files are found, files that .gitignore excludes are not. At most \
             {DEFAULT_LIMIT} results or {} are shown.",
            truncate::size(MAX_BYTES),
        );
        Self {
            declaration: ToolDeclaration {
                name: "find".into(),
                description,
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "pattern": {"type": "string", "description": "A glob, such as '*.ts', '**/*.json' or 'src/**/*.test.ts'; without capital letters it ignores case"},
                        "path": {"type": "string", "description": "The folder to search; the session's folder if not given"},
                        "limit": {"type": "number", "description": "Results at most; 1000 if not given"},
                    },
                    "required": ["pattern"],
                }),
                constrained_sampling: None,
            },
        }
    }
}

impl Default for FindTool {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for FindTool {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn prompt_snippet(&self) -> Option<&str> {
        Some("Find files by name, leaving out what .gitignore excludes")
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
    let root = context.resolve(arguments.path.as_deref().unwrap_or("."));
    let query = FindQuery { pattern: arguments.pattern, root, limit };
    let hits = context.operations.find(query, context.cancel.clone()).await?;
    if hits.paths.is_empty() {
        return Ok(ToolOutput::text("No files found matching pattern"));
    }
    let mut listing = Listing::default();
    if hits.more {
        let more = limit.saturating_mul(2);
        let notice = format!("{limit} results limit reached. Use limit={more} for more, or refine pattern");
        listing.notice("resultLimitReached", limit, notice);
    }
    listing.text(&hits.paths.join("\n"));
    Ok(listing.result())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use crate::tools::testing::{Bench, text};

    #[tokio::test]
    async fn names_and_paths_are_matched_as_fd_does() {
        let bench = Bench::new();
        for name in ["a.txt", "src/b.txt", "src/deep/c.txt", "src/deep/d.md", ".hid/e.txt", "Foo.TXT"] {
            bench.write(name, "");
        }
        symlink("src", bench.path("link.txt")).unwrap();
        let absolute = format!("{}/src/*.txt", bench.root().display());
        let table = [
            ("*.txt", ".hid/e.txt\nFoo.TXT\na.txt\nlink.txt\nsrc/b.txt\nsrc/deep/c.txt"),
            ("*.TXT", "Foo.TXT"),
            ("src/**/*.txt", "src/b.txt\nsrc/deep/c.txt"),
            ("src/*.txt", "src/b.txt"),
            ("./src/*.txt", "src/b.txt"),
            ("**/c.*", "src/deep/c.txt"),
            ("deep/*", "No files found matching pattern"),
            ("deep", "src/deep/"),
            ("*.{md,TXT}", "Foo.TXT\nsrc/deep/d.md"),
            ("zzz*", "No files found matching pattern"),
            (
                "",
                ".hid/\n.hid/e.txt\nFoo.TXT\na.txt\nlink.txt\nsrc/\nsrc/b.txt\nsrc/deep/\nsrc/deep/c.txt\nsrc/deep/d.md",
            ),
            ("--exec=./run.sh", "No files found matching pattern"),
            (absolute.as_str(), "src/b.txt"),
        ];
        for (pattern, wanted) in table {
            assert_eq!(bench.ok("find", json!({"pattern": pattern})).await, wanted, "{pattern}");
        }
        assert_eq!(bench.ok("find", json!({"pattern": "*.md", "path": "src"})).await, "deep/d.md");
    }

    #[tokio::test]
    async fn limits_and_failures_are_told() {
        let bench = Bench::new();
        for name in ["a.txt", "b.txt", "c.txt"] {
            bench.write(name, "");
        }
        let cut = bench.call("find", json!({"pattern": "*.txt", "limit": 2})).await;
        assert_eq!(text(&cut), "a.txt\nb.txt\n\n[2 results limit reached. Use limit=4 for more, or refine pattern]");
        assert_eq!(cut.details.unwrap(), json!({"resultLimitReached": 2}));
        assert_eq!(bench.call("find", json!({"pattern": "*.txt", "limit": 3})).await.details, None);
        assert!(bench.fails("find", json!({"pattern": "x", "path": "nowhere"})).await.starts_with("Path not found: /"));
        assert!(bench.fails("find", json!({"pattern": "x", "path": "a.txt"})).await.starts_with("Not a directory: /"));
        assert!(bench.fails("find", json!({"pattern": "{x"})).await.starts_with("Invalid glob pattern \"{x\""));
    }

    #[tokio::test]
    async fn results_are_the_first_in_order_however_many_threads_walk() {
        let bench = Bench::new();
        for folder in 0..30 {
            for file in 0..30 {
                bench.write(&format!("d{folder:02}/e{}/f{file:02}", file % 3), "");
            }
        }
        let all = bench.ok("find", json!({"pattern": "f*"})).await;
        let mut sorted: Vec<&str> = all.lines().collect();
        sorted.sort_unstable();
        assert_eq!((sorted.len(), sorted.join("\n")), (900, all.clone()));
        for limit in [1, 2, 17, 500, 899] {
            let got = bench.ok("find", json!({"pattern": "f*", "limit": limit})).await;
            assert!(got.lines().take(limit).eq(all.lines().take(limit)) && got.contains("results limit reached"));
        }
    }

    #[tokio::test]
    async fn ignore_files_hold_in_their_folder_also_outside_repositories_fc_056_fc_057() {
        let bench = Bench::new();
        bench.write("a/.gitignore", "secret.txt\n");
        bench.write("a/secret.txt", "");
        bench.write("b/secret.txt", "");
        symlink("..", bench.path("b/loop")).unwrap();
        symlink("/", bench.path("root")).unwrap();
        let find = || bench.ok("find", json!({"pattern": "*.txt"}));
        assert_eq!(find().await, "b/secret.txt");
        bench.write(".git/x.txt", "");
        assert_eq!(find().await, "b/secret.txt");
        // In a worktree it is a file.
        bench.write("b/.git", "gitdir: /elsewhere\n");
        assert_eq!(bench.ok("find", json!({"pattern": ".git"})).await, "b/.git");
    }
}
