//! Finding files by name.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use tokio_util::sync::CancellationToken;

use super::walk;
use crate::tools::operations::{FileKind, FindHits, FindQuery, SearchError};

/// How an entry's name or path is compared with the pattern.
enum Target {
    /// The last name of the path.
    Name,
    /// The path below the root.
    BelowRoot,
    /// The whole path.
    Absolute,
}

pub fn run(query: &FindQuery, cancel: &CancellationToken) -> Result<FindHits, SearchError> {
    let root = query.root.as_path();
    check_folder(root)?;
    let (target, glob) = pattern(&query.pattern)?;
    let mut hits = FindHits::default();
    for entry in walk::builder(root, walk::in_repository(root)).add_custom_ignore_filename(".fdignore").build() {
        if cancel.is_cancelled() {
            return Err(SearchError::Cancelled);
        }
        // Folders that cannot be read are left out, as they are for the person who runs this.
        let Ok(entry) = entry else { continue };
        if entry.depth() == 0 || !matches(&glob, &target, entry.path(), root) {
            continue;
        }
        if hits.paths.len() == query.limit {
            hits.more = true;
            break;
        }
        let mut path = walk::relative(entry.path(), root);
        if walk::is_folder(&entry) {
            path.push('/');
        }
        hits.paths.push(path);
    }
    Ok(hits)
}

fn check_folder(root: &Path) -> Result<(), SearchError> {
    match super::files::stat(root).map(|stat| stat.kind) {
        Ok(FileKind::Folder) => Ok(()),
        Ok(_) => Err(SearchError::NotAFolder(root.to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(SearchError::NotFound(root.to_owned())),
        Err(error) => Err(SearchError::Unreadable { path: root.to_owned(), error }),
    }
}

/// A pattern without capital letters ignores case. `*` and `?` do not match slashes, `**` does.
fn pattern(pattern: &str) -> Result<(Target, GlobMatcher), SearchError> {
    let target = match pattern {
        _ if pattern.starts_with('/') => Target::Absolute,
        _ if pattern.contains('/') => Target::BelowRoot,
        _ => Target::Name,
    };
    let glob = GlobBuilder::new(pattern.strip_prefix("./").unwrap_or(pattern))
        .literal_separator(true)
        .case_insensitive(!pattern.chars().any(char::is_uppercase))
        .build()
        .map_err(|error| SearchError::Glob { pattern: pattern.to_owned(), reason: error.kind().to_string() })?;
    Ok((target, glob.compile_matcher()))
}

fn matches(glob: &GlobMatcher, target: &Target, path: &Path, root: &Path) -> bool {
    match target {
        Target::Name => path.file_name().is_some_and(|name| glob.is_match(name)),
        Target::BelowRoot => glob.is_match(path.strip_prefix(root).unwrap_or(path)),
        Target::Absolute => glob.is_match(path),
    }
}
