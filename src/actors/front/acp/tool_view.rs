//! How calls of tools look to people: their kind, title, places, and what they give. Pure.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{
    Content, ContentBlock, Diff, ImageContent, ToolCallContent, ToolCallLocation, ToolKind,
};
use serde_json::{Map, Value};

use super::patch::hunks;
use crate::{
    protocol::{Block, ToolOutput},
    tools::paths::resolve,
};

/// Characters of a title.
const TITLE: usize = 200;

/// What is known of a call before it runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallView {
    /// What it does.
    pub kind: ToolKind,
    /// What it does, for people.
    pub title: String,
    /// The files that it is about.
    pub locations: Vec<ToolCallLocation>,
    /// What it changes.
    pub content: Vec<ToolCallContent>,
}

/// What a tool does.
pub(super) fn kind(tool: &str) -> ToolKind {
    match tool {
        "read" => ToolKind::Read,
        "edit" | "write" => ToolKind::Edit,
        "grep" | "find" | "ls" => ToolKind::Search,
        "bash" => ToolKind::Execute,
        _ => ToolKind::Other,
    }
}

/// How a call looks.
pub(super) fn view(tool: &str, args: &Map<String, Value>, cwd: &Path) -> CallView {
    let text = |key: &str| args.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let path = text("path");
    let line = args.get("offset").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
    let within = path.map(|path| format!(" in {path}")).unwrap_or_default();
    let title = match (tool, path, text("pattern"), text("command")) {
        ("read", Some(path), ..) => match line {
            Some(line) => format!("Read {path} from line {line}"),
            None => format!("Read {path}"),
        },
        ("edit", Some(path), ..) => format!("Edit {path}"),
        ("write", Some(path), ..) => format!("Write {path}"),
        ("ls", path, ..) => format!("List {}", path.unwrap_or(".")),
        ("grep", _, Some(pattern), _) => format!("Search for {pattern}{within}"),
        ("find", _, Some(pattern), _) => format!("Find {pattern}{within}"),
        ("bash", .., Some(command)) => command.to_owned(),
        _ => tool.to_owned(),
    };
    let file = path.filter(|_| kind(tool) != ToolKind::Other).map(|path| resolve(path, cwd, None));
    let content = match (tool, &file) {
        ("edit", Some(file)) => edits(args).map(|(old, new)| diff(file, Some(old), new)).collect(),
        ("write", Some(file)) => text("content").map(|new| diff(file, None, new)).into_iter().collect(),
        _ => Vec::new(),
    };
    let line = line.filter(|_| tool == "read");
    let locations = file.map(|file| ToolCallLocation::new(file).line(line)).into_iter().collect();
    CallView { kind: kind(tool), title: title_of(&title), locations, content }
}

/// The replacements that an edit asks for: a list, or one in the call itself.
fn edits(args: &Map<String, Value>) -> impl Iterator<Item = (&str, &str)> {
    let list = args.get("edits").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    list.chain([args]).filter_map(|edit| Some((edit.get("oldText")?.as_str()?, edit.get("newText")?.as_str()?)))
}

fn diff(file: &Path, old: Option<&str>, new: &str) -> ToolCallContent {
    Diff::new(file, new).old_text(old.map(str::to_owned)).into()
}

/// A title is one line, and not a long one.
fn title_of(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// What a call gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ResultView {
    /// What to show; none: what was shown before stays.
    pub content: Option<Vec<ToolCallContent>>,
    /// The places of the change.
    pub locations: Option<Vec<ToolCallLocation>>,
}

/// How what a call gave (so far) looks.
pub(super) fn result(tool: &str, args: &Map<String, Value>, cwd: &Path, output: &ToolOutput) -> ResultView {
    let file = args.get("path").and_then(Value::as_str).map(|path| resolve(path, cwd, None));
    match (tool, file) {
        _ if output.is_error => ResultView { content: Some(blocks(tool, &output.content)), locations: None },
        // Without what was there, the diff that was shown when it was called says it all.
        ("write", Some(file)) => {
            let new = args.get("content").and_then(Value::as_str).unwrap_or_default();
            let content = output.replaced.as_deref().map(|old| vec![diff(&file, Some(old), new)]);
            ResultView { content, locations: None }
        }
        ("edit", Some(file)) => changes(&file, output).unwrap_or_default(),
        _ => ResultView { content: Some(blocks(tool, &output.content)), locations: None },
    }
}

/// What an edit really changed, with the lines around it.
fn changes(file: &PathBuf, output: &ToolOutput) -> Option<ResultView> {
    let hunks = hunks(output.details.as_ref()?.get("patch")?.as_str()?);
    let content = hunks.iter().map(|hunk| diff(file, Some(&hunk.old), &hunk.new)).collect::<Vec<_>>();
    let locations = hunks.iter().map(|hunk| ToolCallLocation::new(file).line(hunk.line)).collect();
    (!content.is_empty()).then_some(ResultView { content: Some(content), locations: Some(locations) })
}

/// Blocks of a result. Clients show text as Markdown, and what files and commands say is none.
fn blocks(tool: &str, content: &[Block]) -> Vec<ToolCallContent> {
    let plain = kind(tool) != ToolKind::Other;
    let block = |block: &Block| -> Option<ToolCallContent> {
        let block: ContentBlock = match block {
            Block::Text(text) if text.text.is_empty() => return None,
            Block::Text(text) if plain => fenced(&text.text).into(),
            Block::Text(text) => text.text.clone().into(),
            Block::Image(image) => ContentBlock::Image(ImageContent::new(&image.data, &image.mime_type)),
            _ => return None,
        };
        Some(ToolCallContent::Content(Content::new(block)))
    };
    content.iter().filter_map(block).collect()
}

/// Text that Markdown leaves alone.
pub(super) fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn args(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn shown(content: &[ToolCallContent]) -> String {
        let one = |content: &ToolCallContent| match content {
            ToolCallContent::Diff(diff) => {
                format!("{}: {} > {}", diff.path.display(), diff.old_text.as_deref().unwrap_or("-"), diff.new_text)
            }
            ToolCallContent::Content(content) => match &content.content {
                ContentBlock::Text(text) => text.text.clone(),
                ContentBlock::Image(image) => image.mime_type.clone(),
                _ => "?".to_owned(),
            },
            _ => "?".to_owned(),
        };
        content.iter().map(one).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn a_call_has_a_kind_a_title_and_places() {
        let table = [
            ("read", json!({"path": "a.rs", "offset": 7}), ToolKind::Read, "Read a.rs from line 7", "/p/a.rs:7"),
            ("read", json!({"path": "/x"}), ToolKind::Read, "Read /x", "/x"),
            ("edit", json!({"path": "a"}), ToolKind::Edit, "Edit a", "/p/a"),
            ("write", json!({"path": "b/../a"}), ToolKind::Edit, "Write b/../a", "/p/a"),
            ("ls", json!({}), ToolKind::Search, "List .", ""),
            ("grep", json!({"pattern": "x", "path": "s"}), ToolKind::Search, "Search for x in s", "/p/s"),
            ("find", json!({"pattern": "*.rs"}), ToolKind::Search, "Find *.rs", ""),
            ("bash", json!({"command": "ls\n  -l"}), ToolKind::Execute, "ls -l", ""),
            ("weather", json!({"path": "x"}), ToolKind::Other, "weather", ""),
            ("read", json!({}), ToolKind::Read, "read", ""),
        ];
        for (tool, input, kind, title, place) in table {
            let view = view(tool, &args(input.clone()), Path::new("/p"));
            let place_of = |at: &ToolCallLocation| match at.line {
                Some(line) => format!("{}:{line}", at.path.display()),
                None => at.path.display().to_string(),
            };
            let places: Vec<String> = view.locations.iter().map(place_of).collect();
            assert_eq!(
                (view.kind, view.title.as_str(), places.join(" ").as_str()),
                (kind, title, place),
                "{tool} {input}"
            );
        }
        let long = view("bash", &args(json!({"command": "é".repeat(500)})), Path::new("/p")).title;
        assert_eq!(long.chars().count(), TITLE + 1);
    }

    #[test]
    fn changes_are_shown_before_and_after_they_are_made() {
        let before = |tool, input| shown(&view(tool, &args(input), Path::new("/p")).content);
        assert_eq!(before("write", json!({"path": "a", "content": "new"})), "/p/a: - > new");
        let edits = json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}, {"oldText": "1", "newText": "2"}]});
        assert_eq!(before("edit", edits.clone()), "/p/a: x > y | /p/a: 1 > 2");
        assert_eq!(before("edit", json!({"path": "a", "oldText": "x", "newText": "y"})), "/p/a: x > y");

        let patch = "--- a\n+++ a\n@@ -3,2 +3,2 @@\n same\n-old\n+new\n";
        let output = ToolOutput { details: Some(json!({"patch": patch})), ..ToolOutput::text("done") };
        let after = result("edit", &args(edits.clone()), Path::new("/p"), &output);
        assert_eq!(shown(&after.content.unwrap()), "/p/a: same\nold\n > same\nnew\n");
        assert_eq!(after.locations.unwrap()[0].line, Some(3));
        let write = args(json!({"path": "a", "content": "new"}));
        let over = ToolOutput { replaced: Some("old".into()), ..ToolOutput::text("done") };
        let after = result("write", &write, Path::new("/p"), &over);
        assert_eq!(shown(&after.content.unwrap()), "/p/a: old > new");
        assert_eq!(result("write", &write, Path::new("/p"), &ToolOutput::text("done")), ResultView::default());
        let no_patch = result("edit", &args(edits.clone()), Path::new("/p"), &ToolOutput::text("done"));
        assert_eq!(no_patch, ResultView::default(), "what was shown stays");
        let failed = result("edit", &args(edits), Path::new("/p"), &ToolOutput::error("no such text"));
        assert_eq!(shown(&failed.content.unwrap()), "```\nno such text\n```");
    }

    #[test]
    fn what_tools_print_is_no_markdown() {
        let table = [("a\n", "```\na\n```"), ("a", "```\na\n```"), ("``` x", "````\n``` x\n````"), ("", "```\n\n```")];
        for (text, wanted) in table {
            assert_eq!(fenced(text), wanted);
        }
        let picture = Block::Image(crate::protocol::ImageBlock { data: "AA==".into(), mime_type: "image/png".into() });
        assert_eq!(shown(&blocks("read", &[Block::text(""), Block::text("x"), picture])), "```\nx\n``` | image/png");
        assert_eq!(shown(&blocks("weather", &[Block::text("*sun*")])), "*sun*");
    }
}
