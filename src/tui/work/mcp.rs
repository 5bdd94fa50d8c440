//! MCP servers that are configured. This version does not connect to them.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use crate::{
    protocol::event::NoticeLevel,
    store::{
        document::{Document, Syntax},
        regular_file,
    },
    tui::{work::WorkDone, working::WorkContext},
};

/// Says which servers the user's and the project's files name.
pub(super) fn list(context: &WorkContext) {
    let mut files = vec![context.surroundings.user_dir.join("mcp.json")];
    files.extend(context.project_dir().map(|dir| dir.join("mcp.json")));
    context.send(WorkDone::Told(NoticeLevel::Info, told(&files)));
}

fn told(files: &[PathBuf]) -> String {
    let mut lines = vec!["This version does not connect to MCP servers yet.".to_owned()];
    for file in files {
        match names(file) {
            Ok(names) if names.is_empty() => {}
            Ok(names) => lines.push(format!("Configured in {}: {}", file.display(), names.join(", "))),
            Err(error) => lines.push(error),
        }
    }
    if lines.len() == 1 {
        lines.push("None is configured.".to_owned());
    }
    lines.join("\n")
}

/// The names of the servers in a file; none when there is no file.
fn names(file: &Path) -> Result<Vec<String>, String> {
    let text = match regular_file::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{}: {error}", file.display())),
    };
    let document = Document::parse(file, text, Syntax::Comments).map_err(|error| error.to_string())?;
    let root = document.root();
    let servers = root.value().get("mcpServers").and_then(serde_json::Value::as_object);
    Ok(servers.map(|servers| servers.keys().cloned().collect()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_servers_are_named_and_a_broken_file_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mcp.json");
        assert!(told(std::slice::from_ref(&file)).ends_with("None is configured."));
        std::fs::write(&file, r#"{"mcpServers": {"files": {}, "web": {}}}"#).unwrap();
        assert!(told(std::slice::from_ref(&file)).ends_with("files, web"));
        std::fs::write(&file, "{").unwrap();
        assert!(told(&[file]).contains("mcp.json"));
    }
}
