//! Finding files by name.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Mutex, PoisonError},
};

use globset::{GlobBuilder, GlobMatcher};
use tokio_util::sync::CancellationToken;

use super::walk::{self, Bound, Place};
use crate::tools::operations::{FileKind, FindHits, FindQuery, SearchError};

/// How an entry's name or path is compared with the pattern.
#[derive(Clone, Copy)]
pub enum Target {
    /// The last name of the path.
    Name,
    /// The path below the root.
    BelowRoot,
    /// The whole path.
    Absolute,
}

pub fn run(query: &FindQuery, sight: &walk::Sight, cancel: &CancellationToken) -> Result<FindHits, SearchError> {
    let root = query.root.as_path();
    check_folder(root)?;
    let (target, glob) = pattern(&query.pattern)?;
    let found = Found { limit: query.limit, places: Mutex::default(), bound: Bound::default() };
    let walk =
        walk::builder(root, walk::in_repository(root), sight).add_custom_ignore_filename(".fdignore").build_parallel();
    walk::visit(walk, &found.bound, cancel, || {
        |entry| {
            if matches(&glob, target, entry.path(), root) {
                found.add(entry.path(), walk::is_folder(entry));
            }
        }
    });
    if cancel.is_cancelled() { Err(SearchError::Cancelled) } else { Ok(found.finish(root)) }
}

/// The first places in order, one more than the limit, and whether each is a folder.
struct Found {
    limit: usize,
    places: Mutex<BTreeMap<Place, bool>>,
    bound: Bound,
}

impl Found {
    fn add(&self, path: &Path, is_folder: bool) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.insert(Place(path.to_owned()), is_folder);
        if places.len() > self.limit.saturating_add(1) {
            places.pop_last();
        }
        if places.len() > self.limit
            && let Some((last, _)) = places.last_key_value()
        {
            self.bound.set(&last.0);
        }
    }

    fn finish(self, root: &Path) -> FindHits {
        let places = self.places.into_inner().unwrap_or_else(PoisonError::into_inner);
        let more = places.len() > self.limit;
        let text = |(place, is_folder): (Place, bool)| {
            let mut path = walk::relative(&place.0, root);
            path.push_str(if is_folder { "/" } else { "" });
            path
        };
        FindHits { paths: places.into_iter().take(self.limit).map(text).collect(), more }
    }
}

fn check_folder(root: &Path) -> Result<(), SearchError> {
    match super::files::stat(root).map(|stat| stat.kind) {
        Ok(FileKind::Folder) => Ok(()),
        Ok(_) => Err(SearchError::NotAFolder(root.to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(SearchError::NotFound(root.to_owned())),
        Err(error) => Err(SearchError::Unreadable { path: root.to_owned(), error }),
    }
}

/// A pattern without capital letters ignores case. `*` and `?` do not match slashes, `**` does. An empty one matches
/// everything.
pub fn pattern(pattern: &str) -> Result<(Target, GlobMatcher), SearchError> {
    let target = match pattern {
        _ if pattern.starts_with('/') => Target::Absolute,
        _ if pattern.contains('/') => Target::BelowRoot,
        _ => Target::Name,
    };
    let glob = if pattern.is_empty() { "*" } else { pattern.strip_prefix("./").unwrap_or(pattern) };
    let glob = GlobBuilder::new(glob)
        .literal_separator(true)
        .case_insensitive(!pattern.chars().any(char::is_uppercase))
        .build()
        .map_err(|error| SearchError::Glob { pattern: pattern.to_owned(), reason: error.kind().to_string() })?;
    Ok((target, glob.compile_matcher()))
}

pub fn matches(glob: &GlobMatcher, target: Target, path: &Path, root: &Path) -> bool {
    match target {
        Target::Name => path.file_name().is_some_and(|name| glob.is_match(name)),
        Target::BelowRoot => glob.is_match(path.strip_prefix(root).unwrap_or(path)),
        Target::Absolute => glob.is_match(path),
    }
}
