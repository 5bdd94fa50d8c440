//! Which files a search sees.
//!
//! Hidden files are seen, what `.gitignore`, `.ignore` and the like name is not, and `.git` itself is not. Links are
//! not followed, so a walk always ends. The order is that of names, folder by folder.

use std::path::Path;

use ignore::{DirEntry, WalkBuilder};

/// A walk through `root`. `require_git`: `.gitignore` files count only inside a repository.
pub fn builder(root: &Path, require_git: bool) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false)
        .follow_links(false)
        .require_git(require_git)
        .current_dir(root)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(|entry| entry.file_name() != ".git");
    walk
}

/// Whether `folder` is in a git repository.
pub fn in_repository(folder: &Path) -> bool {
    folder.ancestors().any(|ancestor| ancestor.join(".git").exists())
}

pub fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

pub fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// The path of an entry below the root, with slashes.
pub fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}
