//! Changes of siblings in worktrees.

use serde::{Deserialize, Serialize};

/// Changes that a sibling made in its worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Patch {
    /// The file with the patch, as `git diff --binary` writes it.
    pub file: String,
    /// The branch that holds the sibling's commits.
    pub branch: String,
    /// The commit that the worktree was made from.
    pub base: String,
    /// Files that differ.
    pub files: usize,
}

/// What becomes of a worktree when its sibling is stopped. Its patch is saved first, whatever follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorktreeFate {
    /// The worktree goes; patch and branch stay.
    #[default]
    Patch,
    /// Its changes are put into the parent's folder; then the worktree goes. Where that conflicts, nothing of the
    /// parent's folder is changed, and the worktree goes with its patch and branch kept.
    Merge,
    /// Worktree and branch go; the patch stays.
    Drop,
}

/// What a merge did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Merged {
    /// Files that changed in the parent's folder.
    pub files: Vec<String>,
    /// Files that conflict; then nothing was changed.
    pub conflicts: Vec<String>,
}
