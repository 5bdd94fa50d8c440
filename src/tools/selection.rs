//! Which tools are active when a session starts: settings first, then the command line.

use std::collections::HashSet;

/// The tools that are active when nobody says otherwise.
pub const DEFAULT_TOOLS: [&str; 4] = ["read", "bash", "edit", "write"];

/// Names of tools that come from MCP servers begin with this.
const MCP_PREFIX: &str = "mcp__";

/// The default selection: [`DEFAULT_TOOLS`] as changed by the setting `defaultTools` of the user and of the project.
///
/// Plain names in a list replace what was selected, then `+name` and `-name` apply in order; an empty list selects
/// nothing. A project's list of changes alone goes on from the user's list, any other replaces it.
#[must_use]
pub fn default_tools(user: Option<&[String]>, project: Option<&[String]>) -> Vec<String> {
    let builtin: Vec<String> = DEFAULT_TOOLS.map(str::to_owned).into();
    let changes_only = |list: &[String]| !list.is_empty() && list.iter().all(|entry| Change::of(entry).is_some());
    match (user, project) {
        (Some(user), Some(project)) if changes_only(project) => apply_list(apply_list(builtin, user), project),
        (_, Some(list)) | (Some(list), None) => apply_list(builtin, list),
        (None, None) => builtin,
    }
}

/// What the command line says about tools.
#[derive(Clone, Debug, Default)]
pub struct ToolFlags {
    /// `--tools`: names and patterns, or changes.
    pub tools: Option<Vec<String>>,
    /// `--exclude-tools`: names and patterns.
    pub exclude: Vec<String>,
    /// `--no-tools`.
    pub no_tools: bool,
    /// `--no-builtin-tools`.
    pub no_builtin_tools: bool,
}

/// The tools of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The names of the active tools in order.
    pub active: Vec<String>,
    /// Which tools may be active at all, also those that are registered later.
    pub filter: ToolFilter,
    /// Names of `--tools` that no registered tool has.
    pub unknown: Vec<String>,
}

/// Which tools may be active at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Names and patterns; none: all.
    allowed: Option<Vec<String>>,
    /// The list of allowed tools speaks of MCP tools, too.
    covers_mcp: bool,
    /// Names and patterns.
    excluded: Vec<String>,
}

impl ToolFilter {
    /// Whether the tool may be active.
    #[must_use]
    pub fn allows(&self, name: &str) -> bool {
        let listed = match &self.allowed {
            Some(allowed) => {
                allowed.iter().any(|pattern| matches(pattern, name))
                    || (!self.covers_mcp && name.starts_with(MCP_PREFIX))
            }
            None => true,
        };
        listed && !self.excluded.iter().any(|pattern| matches(pattern, name))
    }
}

/// Why a selection is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// Names and changes in one list.
    #[error("--tools takes either tool names or changes, not both: {name} is a name, {change} is a change")]
    Mixed {
        /// A plain name of the list.
        name: String,
        /// A change of the list.
        change: String,
    },
}

/// The tools that are active at the start: `defaults` (see [`default_tools`]; with what extensions switch on by
/// themselves in `extra`) as changed by the flags.
///
/// A plain `--tools` list replaces the selection and limits all later ones, except that MCP tools stay allowed unless an
/// entry begins with `mcp__`. A list of changes edits the selection. `--no-tools` starts with nothing and allows
/// nothing but what a list names; `--no-builtin-tools` only starts without `defaults`. `--exclude-tools` comes last.
///
/// # Errors
/// When `--tools` mixes names and changes.
pub fn select<S: AsRef<str>>(
    registered: &[S],
    defaults: &[String],
    extra: &[String],
    flags: &ToolFlags,
) -> Result<Selection, SelectionError> {
    let base = match flags {
        ToolFlags { no_tools: true, .. } => Vec::new(),
        ToolFlags { no_builtin_tools: true, .. } => extra.to_vec(),
        _ => unique(defaults.iter().chain(extra).cloned()),
    };
    let mut filter = ToolFilter { allowed: None, covers_mcp: flags.no_tools, excluded: flags.exclude.clone() };
    let mut unknown = Vec::new();
    let selected = match &flags.tools {
        Some(list) => match kind(list)? {
            ListKind::Names => {
                let names = list.iter().flat_map(|pattern| {
                    let mut found =
                        registered.iter().map(AsRef::as_ref).filter(|name| matches(pattern, name)).peekable();
                    if found.peek().is_none() && !pattern.contains('*') {
                        unknown.push(pattern.clone());
                    }
                    found.map(str::to_owned).collect::<Vec<_>>()
                });
                let names = unique(names);
                filter.allowed = Some(list.clone());
                filter.covers_mcp |= list.iter().any(|entry| entry.starts_with(MCP_PREFIX));
                names
            }
            ListKind::Changes => apply_list(base, list),
        },
        None => base,
    };
    if flags.no_tools && filter.allowed.is_none() {
        filter.allowed = Some(selected.clone());
    }
    let known: HashSet<&str> = registered.iter().map(AsRef::as_ref).collect();
    let active = selected.into_iter().filter(|name| known.contains(name.as_str()) && filter.allows(name)).collect();
    Ok(Selection { active, filter, unknown })
}

enum ListKind {
    Names,
    Changes,
}

fn kind(list: &[String]) -> Result<ListKind, SelectionError> {
    let is_change = |entry: &&String| Change::of(entry).is_some();
    match (list.iter().find(|entry| !is_change(entry)), list.iter().find(is_change)) {
        (Some(name), Some(change)) => Err(SelectionError::Mixed { name: name.clone(), change: change.clone() }),
        (None, Some(_)) => Ok(ListKind::Changes),
        _ => Ok(ListKind::Names),
    }
}

/// An entry of a list that is no plain name.
enum Change<'a> {
    Add(&'a str),
    Remove(&'a str),
}

impl<'a> Change<'a> {
    fn of(entry: &'a str) -> Option<Self> {
        match entry.split_at_checked(1)? {
            ("+", name) => Some(Self::Add(name)),
            ("-", name) => Some(Self::Remove(name)),
            _ => None,
        }
    }
}

/// Plain names of the list replace `selected` (an empty list does, too), then its changes apply in order.
fn apply_list(selected: Vec<String>, list: &[String]) -> Vec<String> {
    let names = unique(list.iter().filter(|entry| Change::of(entry).is_none()).cloned());
    let mut out = if names.is_empty() && !list.is_empty() { selected } else { names };
    for change in list.iter().filter_map(|entry| Change::of(entry)) {
        match change {
            Change::Add(name) if out.iter().any(|known| known == name) => {}
            Change::Add(name) => out.push(name.to_owned()),
            Change::Remove(name) => out.retain(|known| known != name),
        }
    }
    out
}

fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

/// Whether a pattern, in which `*` stands for any characters, matches the whole name.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some(place) = left.find(part) else { return false };
        left = &left[place + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_setting_replaces_or_changes_the_default_selection() {
        let table = [
            (None, None, "read bash edit write"),
            (Some("+grep -write"), None, "read bash edit grep"),
            (Some("read ls"), None, "read ls"),
            (Some("read +ls -read"), None, "ls"),
            (Some(""), None, ""),
            (Some("read ls"), Some("+find"), "read ls find"),
            (Some("+ls"), Some("-bash"), "read edit write ls"),
            (Some("read ls"), Some("write"), "write"),
            (Some("read ls"), Some("write +ls"), "write ls"),
            (Some("read ls"), Some(""), ""),
            (None, Some("+ls"), "read bash edit write ls"),
            (Some("read read +read"), None, "read"),
        ];
        for (user, project, wanted) in table {
            let (user, project) = (user.map(list), project.map(list));
            assert_eq!(default_tools(user.as_deref(), project.as_deref()), list(wanted), "{user:?} {project:?}");
        }
    }

    fn flags(tools: Option<&str>, exclude: &str, no_tools: bool, no_builtin_tools: bool) -> ToolFlags {
        ToolFlags { tools: tools.map(list), exclude: list(exclude), no_tools, no_builtin_tools }
    }

    const REGISTERED: &str = "read bash edit write grep find ls deploy mcp__db__query mcp__web__get";

    #[test]
    fn flags_replace_change_and_exclude() {
        let table = [
            (flags(None, "", false, false), "read bash edit write deploy"),
            (flags(Some("read grep"), "", false, false), "read grep"),
            (flags(Some("grep read grep nosuch"), "", false, false), "grep read"),
            (flags(Some("+grep -bash"), "", false, false), "read edit write deploy grep"),
            (flags(None, "bash w*", false, false), "read edit deploy"),
            (flags(None, "", true, false), ""),
            (flags(None, "", false, true), "deploy"),
            (flags(Some("+read"), "", false, true), "deploy read"),
            (flags(Some("read"), "", true, false), "read"),
            (flags(Some("+read"), "", true, false), "read"),
            (flags(Some("*"), "bash mcp__*", false, false), "read edit write grep find ls deploy"),
            (flags(Some("mcp__db__*"), "", false, false), "mcp__db__query"),
            (flags(Some("+nosuch"), "", false, false), "read bash edit write deploy"),
        ];
        for (flags, wanted) in table {
            let got = select(&list(REGISTERED), &list("read bash edit write"), &list("deploy"), &flags).unwrap();
            assert_eq!(got.active, list(wanted), "{flags:?}");
        }
    }

    #[test]
    fn a_plain_list_limits_what_comes_later_but_mcp_tools_only_when_it_speaks_of_them() {
        // flags, tool, allowed
        let table = [
            (flags(None, "", false, false), "later", true),
            (flags(None, "l*", false, false), "later", false),
            (flags(Some("read"), "", false, false), "later", false),
            (flags(Some("read"), "", false, false), "mcp__db__query", true),
            (flags(Some("read"), "mcp__db__*", false, false), "mcp__db__query", false),
            (flags(Some("read mcp__web__*"), "", false, false), "mcp__db__query", false),
            (flags(Some("read mcp__web__*"), "", false, false), "mcp__web__get", true),
            (flags(Some("+read"), "", false, false), "later", true),
            (flags(None, "", true, false), "later", false),
            (flags(None, "", true, false), "mcp__db__query", false),
            (flags(None, "", false, true), "later", true),
        ];
        for (flags, tool, allowed) in table {
            let got = select(&list(REGISTERED), &list("read"), &[], &flags).unwrap();
            assert_eq!(got.filter.allows(tool), allowed, "{flags:?} {tool}");
        }
    }

    #[test]
    fn names_and_changes_do_not_mix_and_unknown_names_are_told() {
        let mixed = select(&list(REGISTERED), &[], &[], &flags(Some("read +grep"), "", false, false));
        assert_eq!(mixed, Err(SelectionError::Mixed { name: "read".into(), change: "+grep".into() }));
        let unknown = select(&list(REGISTERED), &[], &[], &flags(Some("read nosuch x*"), "", false, false)).unwrap();
        assert_eq!(unknown.unknown, ["nosuch"]);
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        let table = [
            ("read", "read", true),
            ("read", "reader", false),
            ("*", "", true),
            ("w*", "write", true),
            ("*e", "write", true),
            ("w*t*e", "write", true),
            ("w*t*x", "write", false),
            ("a*a", "a", false),
            ("mcp__*__get", "mcp__web__get", true),
        ];
        for (pattern, name, matched) in table {
            assert_eq!(matches(pattern, name), matched, "{pattern} {name}");
        }
    }
}
