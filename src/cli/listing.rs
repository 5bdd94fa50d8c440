//! What `list` and `mcp list` print.

use std::fmt::Write as _;

use serde_json::json;

/// The text of `list` for the package sources in the settings of the user and of a trusted project.
#[must_use]
pub fn packages(user: &[String], project: &[String]) -> String {
    let mut out = String::new();
    for (title, sources) in [("User packages:", user), ("Project packages:", project)] {
        if !sources.is_empty() {
            let _ = writeln!(out, "{title}\n  {}", sources.join("\n  "));
        }
    }
    if out.is_empty() {
        return "No packages installed.\n".to_owned();
    }
    out + "This version does not load packages yet.\n"
}

/// The text of `mcp list` for the names of the configured servers.
#[must_use]
pub fn mcp_servers(names: &[String], as_json: bool) -> String {
    const NOTE: &str = "This version does not connect to MCP servers yet.";
    if as_json {
        let servers: Vec<_> = names.iter().map(|name| json!({"name": name, "state": "disconnected"})).collect();
        let mut answer = json!({"servers": servers, "errors": []});
        if !names.is_empty() {
            answer["note"] = NOTE.into();
        }
        return format!("{answer:#}\n");
    }
    if names.is_empty() {
        return "No MCP servers configured.\n".to_owned();
    }
    format!("{}\n{NOTE}\n", names.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_configured_is_listed_and_what_is_not_loaded_is_said() {
        let none: &[String] = &[];
        let one = ["npm:foo".to_owned()];
        assert_eq!(packages(none, none), "No packages installed.\n");
        let note = "This version does not load packages yet.\n";
        assert_eq!(packages(&one, none), format!("User packages:\n  npm:foo\n{note}"));
        assert_eq!(packages(none, &one), format!("Project packages:\n  npm:foo\n{note}"));
        assert_eq!(mcp_servers(none, false), "No MCP servers configured.\n");
        assert_eq!(mcp_servers(none, true), "{\n  \"servers\": [],\n  \"errors\": []\n}\n");
        assert_eq!(mcp_servers(&one, false), "npm:foo\nThis version does not connect to MCP servers yet.\n");
        assert!(mcp_servers(&one, true).contains("\"name\": \"npm:foo\""));
    }
}
