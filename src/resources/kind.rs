//! The kinds of resources that are found in folders, lists and packages.

/// A kind of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Instructions for certain tasks.
    Skills,
    /// Prompts with places for arguments.
    Prompts,
    /// Colours of the terminal.
    Themes,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Skills, Self::Prompts, Self::Themes];

    /// The name of its usual folder, and of its list in settings, manifests and filters.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Skills => "skills",
            Self::Prompts => "prompts",
            Self::Themes => "themes",
        }
    }
}
