//! What `mcp list` prints.

use serde_json::json;

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
        let one = ["files".to_owned()];
        assert_eq!(mcp_servers(none, false), "No MCP servers configured.\n");
        assert_eq!(mcp_servers(none, true), "{\n  \"servers\": [],\n  \"errors\": []\n}\n");
        assert_eq!(mcp_servers(&one, false), "files\nThis version does not connect to MCP servers yet.\n");
        assert!(mcp_servers(&one, true).contains("\"name\": \"files\""));
    }
}
