//! The tool `ls`: the entries of a folder.

use std::io;

use serde::Deserialize;
use serde_json::json;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{
    BoxFuture, Failure, Tool, ToolContext,
    failure::describe,
    listing::{Listing, limit},
    operations::{FileKind, FolderEntry},
    truncate::{self, MAX_BYTES},
};
use crate::protocol::{ToolDeclaration, ToolOutput};

/// Entries that are shown when the call does not say how many.
const DEFAULT_LIMIT: usize = 500;

/// The tool `ls`.
#[derive(Debug)]
pub struct LsTool {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
struct Arguments {
    path: Option<String>,
    limit: Option<f64>,
}

impl LsTool {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = format!(
            "List a folder: its entries in alphabetical order, hidden ones too; folders end in a slash. At most \
             {DEFAULT_LIMIT} entries or {} are shown.",
            truncate::size(MAX_BYTES),
        );
        Self {
            declaration: ToolDeclaration {
                name: "ls".into(),
                description,
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "The folder; the session's folder if not given"},
                        "limit": {"type": "number", "description": "Entries at most; 500 if not given"},
                    },
                }),
                constrained_sampling: None,
            },
        }
    }
}

impl Default for LsTool {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for LsTool {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn prompt_snippet(&self) -> Option<&str> {
        Some("List folders")
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { super::until_cancelled(&context, execute(&context)).await })
    }
}

async fn execute(context: &ToolContext) -> Result<ToolOutput, Failure> {
    let arguments: Arguments = context.parse()?;
    let path = context.resolve(arguments.path.as_deref().unwrap_or("."));
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Failure::new(format!("Path not found: {}", path.display())),
        _ => Failure::new(format!("Cannot read directory: {}", describe(&error, "open", &path))),
    };
    let stat = context.operations.stat(&path).await.map_err(unreadable)?;
    if stat.kind != FileKind::Folder {
        return Err(Failure::new(format!("Not a directory: {}", path.display())));
    }
    let entries = context.operations.list(&path).await.map_err(unreadable)?;
    Ok(show(entries, limit(arguments.limit, DEFAULT_LIMIT)))
}

fn show(entries: Vec<FolderEntry>, limit: usize) -> ToolOutput {
    // Entries that lead nowhere are left out.
    let mut names: Vec<String> = entries
        .into_iter()
        .filter_map(|entry| Some(if entry.kind? == FileKind::Folder { entry.name + "/" } else { entry.name }))
        .collect();
    if names.is_empty() {
        return ToolOutput::text("(empty directory)");
    }
    names.sort_by_cached_key(|name| place(name.trim_end_matches('/')));
    let mut listing = Listing::default();
    if names.len() > limit {
        names.truncate(limit);
        let notice = format!("{limit} entries limit reached. Use limit={} for more", limit.saturating_mul(2));
        listing.notice("entryLimitReached", limit, notice);
    }
    listing.text(&names.join("\n"));
    listing.result()
}

/// Signs in the order of dictionaries, as people see them in lists of files.
const SIGNS: &str = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Where a name stands in a list: by its letters without accents and case, signs before digits before letters; then by
/// its accents, then as it is.
fn place(name: &str) -> (Vec<u32>, String, String) {
    let lower = name.to_lowercase();
    let letters = lower.nfd().filter(|character| !is_combining_mark(*character));
    let rank = |character: char| match SIGNS.find(character) {
        Some(at) => u32::try_from(at).unwrap_or_default() + 0x80,
        // Digits and letters come after all signs of ASCII; blanks and controls come first.
        None if character.is_ascii() && character <= ' ' => u32::from(character),
        None => u32::from(character) + 0x100,
    };
    (letters.map(rank).collect(), lower, name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use crate::tools::testing::{Bench, text};

    #[test]
    fn names_stand_as_in_a_dictionary() {
        let listed = [
            "A b", "_a", "-b", ".dot", "(p)", "#h", "~t", "10", "9", "a_b", "a-b", "a.b", "AB", "Ab", "ab", "B", "e",
            "\u{e9}", "f", "z", "Zz", "\u{4e00}",
        ];
        let mut names = listed;
        names.reverse();
        names.sort_by_cached_key(|name| super::place(name));
        // A blank comes first where it decides.
        let wanted: Vec<_> = listed[1..9].iter().chain(&["A b"]).chain(&listed[9..]).copied().collect();
        assert_eq!(names.to_vec(), wanted);
    }

    #[tokio::test]
    async fn entries_are_sorted_and_folders_marked() {
        let bench = Bench::new();
        for name in ["b.txt", "A.txt", "c/x", ".dot"] {
            bench.write(name, "");
        }
        symlink("c", bench.path("lc")).unwrap();
        symlink("gone", bench.path("dangling")).unwrap();
        std::fs::create_dir(bench.path("empty")).unwrap();
        assert_eq!(bench.ok("ls", json!({})).await, ".dot\nA.txt\nb.txt\nc/\nempty/\nlc/");
        assert_eq!(bench.ok("ls", json!({"path": "empty"})).await, "(empty directory)");
        let cut = bench.call("ls", json!({"limit": 2})).await;
        assert_eq!(text(&cut), ".dot\nA.txt\n\n[2 entries limit reached. Use limit=4 for more]");
        assert_eq!(cut.details.unwrap(), json!({"entryLimitReached": 2}));
        let path = |name: &str| bench.path(name).display().to_string();
        assert_eq!(bench.fails("ls", json!({"path": "no"})).await, format!("Path not found: {}", path("no")));
        assert_eq!(bench.fails("ls", json!({"path": "b.txt"})).await, format!("Not a directory: {}", path("b.txt")));
    }
}
