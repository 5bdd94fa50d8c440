//! The name of an agent within its family.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The name of an agent within its family: `main` for the root, `agent-2` for its second child, `agent-2.1` for that
/// one's first. Never used twice in a family, also over restarts. Where a sibling is named to the program, its own name
/// ([`SiblingSpec::name`](super::spec::SiblingSpec::name)) does as well.
///
/// Ids are ordered as the family tree is written down: parents before their children, children in the order of their
/// spawns.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiblingId(Vec<u32>);

impl SiblingId {
    /// The root of every family, as text.
    pub const ROOT: &str = "main";

    /// The root.
    #[must_use]
    pub fn root() -> Self {
        Self(Vec::new())
    }

    /// The id that a text is; none when it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == Self::ROOT {
            return Some(Self::root());
        }
        text.strip_prefix("agent-")?.split('.').map(|number| number.parse().ok()).collect::<Option<_>>().map(Self)
    }

    /// The `number`th child of this agent, from 1.
    #[must_use]
    pub fn child(&self, number: u32) -> Self {
        Self(self.0.iter().copied().chain([number]).collect())
    }

    /// The parent; none for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, above)| Self(above.to_vec()))
    }

    /// Its number among the children of its parent; none for the root.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.0.last().copied()
    }

    /// The number of the child of `above` that it is or descends from; none when it is not below it.
    #[must_use]
    pub fn child_below(&self, above: &Self) -> Option<u32> {
        if self.is_below(above) { self.0.get(above.0.len()).copied() } else { None }
    }

    /// Generations above it.
    #[must_use]
    pub fn depth(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Whether `other` is its parent.
    #[must_use]
    pub fn is_child_of(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() + 1 && self.0.starts_with(&other.0)
    }

    /// The next child of its parent: the first id behind all that descend from this one. None for the root, behind whose
    /// family there is nothing.
    #[must_use]
    pub fn next(&self) -> Option<Self> {
        let (last, above) = self.0.split_last()?;
        Some(Self(above.iter().copied().chain([last.saturating_add(1)]).collect()))
    }

    /// Whether it descends from `other`.
    #[must_use]
    pub fn is_below(&self, other: &Self) -> bool {
        self.0.len() > other.0.len() && self.0.starts_with(&other.0)
    }
}

impl fmt::Display for SiblingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.0.split_first() else { return f.write_str(Self::ROOT) };
        write!(f, "agent-{first}")?;
        rest.iter().try_for_each(|number| write!(f, ".{number}"))
    }
}

impl Serialize for SiblingId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SiblingId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("{text} is no id of an agent")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_say_where_in_the_family_an_agent_stands() {
        let root = SiblingId::root();
        let second = root.child(2);
        assert_eq!([&root, &second, &second.child(13)].map(ToString::to_string), ["main", "agent-2", "agent-2.13"]);
        assert_eq!((root.number(), second.child(13).number()), (None, Some(13)));
        assert_eq!(second.child(13).parent(), Some(second.clone()));
        assert!(second.child(13).is_below(&root) && !second.is_below(&second));
        assert!(second.is_child_of(&root) && !second.child(13).is_child_of(&root) && !second.is_child_of(&second));
        assert_eq!((second.child(13).child_below(&root), second.child_below(&second)), (Some(2), None));
        assert_eq!((root.next(), second.child(13).next()), (None, Some(second.child(14))));
        assert_eq!(SiblingId::parse("agent-2.13"), Some(second.child(13)));
        for text in ["agent-", "agent-2.", "agent-x", "reviewer", ""] {
            assert_eq!(SiblingId::parse(text), None, "{text}");
        }
        let mut ids = [root.child(10), second.clone(), root.child(1), second.child(1)];
        ids.sort();
        assert_eq!(ids.map(|id| id.to_string()), ["agent-1", "agent-2", "agent-2.1", "agent-10"]);
    }
}
