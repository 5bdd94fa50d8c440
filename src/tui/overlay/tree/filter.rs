//! Which entries of a session's tree are shown.

use crate::store::jsonl::{EntryKind, Role};

/// Which entries are shown. The names are those of the setting `treeFilterMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// What was said, called and folded.
    #[default]
    Default,
    /// The same without the results of tools.
    NoTools,
    /// What the user said.
    UserOnly,
    /// Entries with a label.
    LabeledOnly,
    /// Everything but notes about usage.
    All,
}

impl Filter {
    /// All of them, in the order in which they follow each other.
    pub const ALL: [Self; 5] = [Self::Default, Self::NoTools, Self::UserOnly, Self::LabeledOnly, Self::All];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::NoTools => "no-tools",
            Self::UserOnly => "user-only",
            Self::LabeledOnly => "labeled-only",
            Self::All => "all",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|filter| filter.name() == name)
    }

    /// The one that comes `by` places behind it, around the end.
    #[must_use]
    pub fn next(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|filter| *filter == self).unwrap_or_default();
        Self::ALL[(at + by) % Self::ALL.len()]
    }

    /// Whether entries of that kind are shown; `labelled` says whether the entry has a label, and `silent` whether it is
    /// an answer that holds nothing but calls.
    #[must_use]
    pub fn takes(self, kind: EntryKind, labelled: bool, silent: bool) -> bool {
        let is_said = match kind {
            EntryKind::Message(Role::System)
            | EntryKind::Label
            | EntryKind::ContextEdit
            | EntryKind::Custom
            | EntryKind::ModelChange
            | EntryKind::ThinkingLevelChange
            | EntryKind::SessionInfo
            | EntryKind::Usage => false,
            _ => !silent,
        };
        match self {
            Self::Default => is_said,
            Self::NoTools => is_said && kind != EntryKind::Message(Role::ToolResult),
            Self::UserOnly => kind == EntryKind::Message(Role::User),
            Self::LabeledOnly => labelled,
            Self::All => kind != EntryKind::Usage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_takes_its_kinds() {
        let kinds = [
            ("user", EntryKind::Message(Role::User)),
            ("answer", EntryKind::Message(Role::Assistant)),
            ("result", EntryKind::Message(Role::ToolResult)),
            ("model", EntryKind::ModelChange),
            ("summary", EntryKind::Compaction),
            ("usage", EntryKind::Usage),
        ];
        for (filter, expected) in [
            (Filter::Default, "user answer result summary"),
            (Filter::NoTools, "user answer summary"),
            (Filter::UserOnly, "user"),
            (Filter::LabeledOnly, ""),
            (Filter::All, "user answer result model summary"),
        ] {
            let taken = kinds.iter().filter(|(_, kind)| filter.takes(*kind, false, false)).map(|(name, _)| *name);
            assert_eq!(taken.collect::<Vec<_>>().join(" "), expected, "{}", filter.name());
            assert_eq!(Filter::parse(filter.name()), Some(filter));
        }
        assert!(Filter::LabeledOnly.takes(EntryKind::ModelChange, true, true));
        assert!(!Filter::Default.takes(EntryKind::Message(Role::Assistant), false, true));
        assert_eq!((Filter::All.next(1), Filter::Default.next(4)), (Filter::Default, Filter::All));
    }
}
