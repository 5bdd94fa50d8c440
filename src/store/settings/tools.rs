//! `defaultTools`: which tools a session starts with.

use serde_json::Value;

use super::Settings;

/// The tools that are active when nothing says otherwise.
pub const DEFAULT_TOOLS: [&str; 4] = ["read", "bash", "edit", "write"];

/// True for a list of nothing but `+name` and `-name`: it edits the layer below instead of replacing it. An empty list
/// replaces.
pub(super) fn only_edits(list: &[Value]) -> bool {
    !list.is_empty() && list.iter().all(|entry| entry.as_str().is_some_and(is_edit))
}

fn is_edit(entry: &str) -> bool {
    entry.starts_with(['+', '-'])
}

/// Applies one list to the tools that would be active without it: plain names replace them (so does an empty list),
/// then `+name` and `-name` apply in order. Also the rule of a `--tools` list of edits.
#[must_use]
pub fn apply_tool_list(without: &[String], list: &[String]) -> Vec<String> {
    let replaces = list.is_empty() || list.iter().any(|entry| !is_edit(entry));
    let mut tools: Vec<String> = if replaces { Vec::new() } else { without.to_vec() };
    let add = |tools: &mut Vec<String>, name: &str| {
        if !tools.iter().any(|tool| tool == name) {
            tools.push(name.to_owned());
        }
    };
    list.iter().filter(|entry| !is_edit(entry)).for_each(|name| add(&mut tools, name));
    for entry in list {
        if let Some(name) = entry.strip_prefix('+') {
            add(&mut tools, name);
        } else if let Some(name) = entry.strip_prefix('-') {
            tools.retain(|tool| tool != name);
        }
    }
    tools
}

impl Settings {
    /// The tools that a session starts with: `defaultTools` of both files applied to the built-in selection.
    #[must_use]
    pub fn default_tools(&self) -> Vec<String> {
        let builtin = DEFAULT_TOOLS.map(str::to_owned);
        match self.get(&["defaultTools"]) {
            Some(Value::Array(list)) => {
                let list: Vec<_> = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                apply_tool_list(&builtin, &list)
            }
            _ => builtin.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_replace_and_signed_names_edit() {
        let table: [(&[&str], &[&str]); 6] = [
            (&[], &[]),
            (&["read"], &["read"]),
            (&["+grep"], &["read", "bash", "edit", "write", "grep"]),
            (&["-bash", "+ls", "-ls"], &["read", "edit", "write"]),
            (&["ls", "+grep", "-ls"], &["grep"]),
            (&["read", "read", "+read"], &["read"]),
        ];
        let builtin = DEFAULT_TOOLS.map(str::to_owned);
        for (list, expected) in table {
            let list: Vec<_> = list.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(apply_tool_list(&builtin, &list), expected, "{list:?}");
        }
    }
}
