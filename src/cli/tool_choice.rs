//! Which tools a session starts with, from the flags, the settings and what there is.

use std::str::FromStr;

/// A list of tools: either the tools themselves, or changes of the usual ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolList {
    /// These and no others: names, or patterns with `*`. Empty: none.
    Only(Vec<String>),
    /// The usual ones, changed in this order. Names are exact.
    Change(Vec<ToolChange>),
}

/// One change of a list of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChange {
    /// `+name`.
    Add(String),
    /// `-name`.
    Remove(String),
}

/// A list that mixes names and changes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tool names cannot be mixed with +name or -name entries")]
pub struct MixedToolList;

fn change(entry: &str) -> Option<ToolChange> {
    let add = entry.strip_prefix('+').map(|name| ToolChange::Add(name.to_owned()));
    add.or_else(|| entry.strip_prefix('-').map(|name| ToolChange::Remove(name.to_owned())))
}

impl FromStr for ToolList {
    type Err = MixedToolList;

    fn from_str(text: &str) -> Result<Self, MixedToolList> {
        let entries: Vec<_> = text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
        let changes: Vec<_> = entries.iter().filter_map(|entry| change(entry)).collect();
        if changes.is_empty() {
            Ok(Self::Only(entries.into_iter().map(str::to_owned).collect()))
        } else if changes.len() == entries.len() {
            Ok(Self::Change(changes))
        } else {
            Err(MixedToolList)
        }
    }
}

/// What a session has without any word on tools.
pub const USUAL: [&str; 4] = ["read", "bash", "edit", "write"];

/// The usual tools after the setting `defaultTools` of the user and then of a trusted project. Within a list plain
/// names replace what was there (so does an empty list), then its changes apply in order; a project's list of changes
/// alone continues the user's list, any other replaces it.
#[must_use]
pub fn usual_tools(user: Option<&[String]>, project: Option<&[String]>) -> Vec<String> {
    let only_changes = |list: &[String]| !list.is_empty() && list.iter().all(|entry| change(entry).is_some());
    let layers = match project {
        Some(list) if !only_changes(list) => [None, Some(list)],
        project => [user, project],
    };
    let mut tools: Vec<String> = USUAL.map(str::to_owned).to_vec();
    for list in layers.into_iter().flatten() {
        let names: Vec<_> = list.iter().filter(|entry| change(entry).is_none()).cloned().collect();
        if list.is_empty() || !names.is_empty() {
            tools = names;
        }
        apply(&mut tools, list.iter().filter_map(|entry| change(entry)));
    }
    tools
}

fn apply(tools: &mut Vec<String>, changes: impl IntoIterator<Item = ToolChange>) {
    for change in changes {
        match change {
            ToolChange::Remove(name) => tools.retain(|tool| *tool != name),
            ToolChange::Add(name) if tools.contains(&name) => {}
            ToolChange::Add(name) => tools.push(name),
        }
    }
}

/// What a session starts from, before `--tools` and `--exclude-tools`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolBase {
    /// The usual tools.
    #[default]
    Usual,
    /// `--no-builtin-tools`: none selected, but others may join.
    NoBuiltin,
    /// `--no-tools`: none, and none may join.
    Nothing,
}

/// What the command line says about tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolChoice {
    /// Where it starts.
    pub base: ToolBase,
    /// `--tools`.
    pub list: Option<ToolList>,
    /// `--exclude-tools`: names, or patterns with `*`.
    pub exclude: Vec<String>,
}

impl ToolChoice {
    /// Whether the command line says which tools are selected; if not, a resumed session keeps its own.
    #[must_use]
    pub fn selects(&self) -> bool {
        self.base != ToolBase::Usual || self.list.is_some()
    }

    /// The tools that are active at the start, in the order of `known` (all tools that there are). `usual` are those of
    /// [`usual_tools`]. Names that nothing answers to are left out.
    #[must_use]
    pub fn active(&self, usual: &[String], known: &[&str]) -> Vec<String> {
        let usual = if self.base == ToolBase::Usual { usual } else { &[] };
        let wanted: Box<dyn Fn(&str) -> bool> = match &self.list {
            None => Box::new(|name| usual.iter().any(|tool| tool == name)),
            Some(ToolList::Only(patterns)) => Box::new(move |name| matches_any(patterns, name)),
            Some(ToolList::Change(changes)) => {
                let mut tools = usual.to_vec();
                apply(&mut tools, changes.iter().cloned());
                Box::new(move |name| tools.iter().any(|tool| tool == name))
            }
        };
        known.iter().filter(|name| wanted(name) && !self.is_excluded(name)).map(|name| (*name).to_owned()).collect()
    }

    /// Whether a tool that joins later (of an extension, of an MCP server) may be used. A list of plain names shuts all
    /// others out, except MCP tools unless it names some of those.
    #[must_use]
    pub fn allows(&self, name: &str) -> bool {
        let listed = match (&self.list, self.base) {
            (Some(ToolList::Only(patterns)), _) => {
                let names_mcp = patterns.iter().any(|pattern| pattern.starts_with("mcp__"));
                matches_any(patterns, name) || (name.starts_with("mcp__") && !names_mcp)
            }
            (Some(ToolList::Change(changes)), ToolBase::Nothing) => {
                changes.iter().any(|change| matches!(change, ToolChange::Add(added) if added == name))
            }
            (None, ToolBase::Nothing) => false,
            (Some(ToolList::Change(_)) | None, _) => true,
        };
        listed && !self.is_excluded(name)
    }

    fn is_excluded(&self, name: &str) -> bool {
        matches_any(&self.exclude, name)
    }
}

fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// `*` stands for any text, everything else for itself.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(head) else { return false };
    (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(tail, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn choice(base: ToolBase, tools: Option<&str>, exclude: &[&str]) -> ToolChoice {
        ToolChoice { base, list: tools.map(|list| list.parse().unwrap()), exclude: strings(exclude) }
    }

    #[test]
    fn the_active_tools_follow_from_flags_and_usual_tools() {
        use ToolBase::*;
        // base, --tools, --exclude-tools, active
        type Row<'a> = (ToolBase, Option<&'a str>, &'a [&'a str], &'a [&'a str]);
        let table: &[Row] = &[
            (Usual, None, &[], &["read", "bash", "edit", "write"]),
            (Usual, Some("ls,read"), &[], &["read", "ls"]),
            (Usual, Some("read,,ls "), &[], &["read", "ls"]),
            (Usual, Some(""), &[], &[]),
            (Usual, Some("r*"), &[], &["read"]),
            (Usual, Some("*i*"), &[], &["edit", "write", "find"]),
            (Usual, Some("nosuch"), &[], &[]),
            (Usual, Some("+ls,-bash"), &[], &["read", "edit", "write", "ls"]),
            (Usual, Some("+nosuch"), &[], &["read", "bash", "edit", "write"]),
            (Usual, Some("-read,+read"), &[], &["read", "bash", "edit", "write"]),
            (Usual, None, &["b*", "edit"], &["read", "write"]),
            (Usual, Some("bash,ls"), &["bash"], &["ls"]),
            (Nothing, None, &[], &[]),
            (NoBuiltin, None, &[], &[]),
            (Nothing, Some("read"), &[], &["read"]),
            (Nothing, Some("+read"), &[], &["read"]),
            (NoBuiltin, Some("+read"), &[], &["read"]),
            (NoBuiltin, Some("read"), &[], &["read"]),
        ];
        for (base, tools, exclude, active) in table {
            let choice = choice(*base, *tools, exclude);
            assert_eq!(choice.active(&strings(&USUAL), &KNOWN), strings(active), "{choice:?}");
            assert_eq!(choice.selects(), *base != Usual || tools.is_some());
        }
    }

    #[test]
    fn names_and_changes_in_one_list_are_refused() {
        assert_eq!("read,+bash".parse::<ToolList>(), Err(MixedToolList));
        assert_eq!("-a,b".parse::<ToolList>(), Err(MixedToolList));
    }

    #[test]
    fn tools_that_join_later_are_let_in_or_not() {
        use ToolBase::*;
        let table = [
            (Usual, None, "mcp__a__b", true),
            (Usual, None, "todo", true),
            (Usual, Some("read"), "todo", false),
            (Usual, Some("read"), "mcp__a__b", true),
            (Usual, Some("read,mcp__x*"), "mcp__a__b", false),
            (Usual, Some("mcp__a__*"), "mcp__a__b", true),
            (Usual, Some("+todo"), "other", true),
            (NoBuiltin, None, "todo", true),
            (Nothing, None, "mcp__a__b", false),
            (Nothing, Some("+todo"), "todo", true),
            (Nothing, Some("+todo"), "other", false),
        ];
        for (base, tools, name, allowed) in table {
            assert_eq!(choice(base, tools, &[]).allows(name), allowed, "{base:?} {tools:?} {name}");
            assert!(!choice(base, tools, &["mcp__*", "todo", "other"]).allows(name));
        }
    }

    #[test]
    fn the_settings_of_user_and_project_make_the_usual_tools() {
        // user, project, usual
        type Row<'a> = (Option<&'a [&'a str]>, Option<&'a [&'a str]>, &'a [&'a str]);
        let table: &[Row] = &[
            (None, None, &USUAL),
            (Some(&["+ls"]), None, &["read", "bash", "edit", "write", "ls"]),
            (Some(&["read", "+ls", "-read"]), None, &["ls"]),
            (Some(&[]), None, &[]),
            (Some(&["read"]), Some(&["+ls"]), &["read", "ls"]),
            (Some(&["read"]), Some(&["bash"]), &["bash"]),
            (Some(&["read"]), Some(&[]), &[]),
            (None, Some(&["-bash", "-write"]), &["read", "edit"]),
        ];
        for (user, project, usual) in table {
            let (u, p) = (user.map(strings), project.map(strings));
            assert_eq!(usual_tools(u.as_deref(), p.as_deref()), strings(usual), "{user:?} {project:?}");
        }
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, yes) in [
            ("*", "", true),
            ("*", "x", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "acd", false),
            ("**b", "ab", true),
            ("a", "ab", false),
            ("*é*", "aéb", true),
        ] {
            assert_eq!(matches(pattern, name), yes, "{pattern} {name}");
        }
    }
}
