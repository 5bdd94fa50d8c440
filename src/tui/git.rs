//! The git branch of a folder.

use std::path::Path;

/// The branch that is checked out; none outside of a repository.
#[must_use]
pub fn branch(folder: &Path) -> Option<String> {
    let head = folder.ancestors().find_map(|folder| std::fs::read_to_string(folder.join(".git/HEAD")).ok())?;
    Some(head.trim().strip_prefix("ref: refs/heads/").unwrap_or("detached").to_owned())
}
