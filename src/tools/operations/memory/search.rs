//! Searches in a tree, with the rules and the matching of this machine's.

use std::path::{Path, PathBuf};

use ignore::overrides::Override;

use super::{
    ignores::Ignores,
    tree::{Node, Tree},
};
use crate::tools::operations::{
    FileKind, FindHits, FindQuery, GrepHits, GrepQuery, SearchError,
    local::{find, grep},
};

/// Searches contents.
///
/// # Errors
/// The query makes no sense, or there is nothing to be searched.
pub fn grep(tree: &Tree, query: &GrepQuery) -> Result<GrepHits, SearchError> {
    let matcher = grep::matcher(query)?;
    let (root, kind) = root(tree, &query.root)?;
    let mut found = grep::Found::new(query);
    match kind {
        FileKind::Special => return Err(SearchError::Special(query.root.clone())),
        FileKind::File => {
            let unreadable = |error| SearchError::Unreadable { path: query.root.clone(), error };
            let name = || query.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let content = tree.read(&root).map_err(unreadable)?;
            let mut searcher = grep::searcher(query, true);
            let hits = grep::search(&mut searcher, &matcher, query, content.as_slice(), &name).map_err(unreadable)?;
            found.add(&root, hits);
        }
        FileKind::Folder => {
            let overrides = grep::overrides(query, &root)?;
            let mut searcher = grep::searcher(query, false);
            for (path, node) in walk(tree, &root, ".rgignore", true, &overrides) {
                // What cannot be read is left out, as in all searches.
                let Some(content) = is_file(node).then(|| tree.read(path).ok()).flatten() else { continue };
                let name = || relative(path, &root);
                let hits = grep::search(&mut searcher, &matcher, query, content.as_slice(), &name);
                // Files come in order: as soon as there are enough, nothing further can matter.
                if hits.is_ok_and(|hits| !hits.is_empty() && found.add(path, hits).is_some()) {
                    break;
                }
            }
        }
    }
    Ok(found.finish())
}

/// Searches names.
///
/// # Errors
/// The pattern is no glob, or there is no such folder.
pub fn find(tree: &Tree, query: &FindQuery) -> Result<FindHits, SearchError> {
    let (root, kind) = root(tree, &query.root)?;
    if kind != FileKind::Folder {
        return Err(SearchError::NotAFolder(query.root.clone()));
    }
    let (target, glob) = find::pattern(&query.pattern)?;
    let in_repository = root.ancestors().any(|folder| tree.node(&folder.join(".git")).is_some());
    let mut hits = FindHits::default();
    for (path, node) in walk(tree, &root, ".fdignore", in_repository, &Override::empty()) {
        if !find::matches(&glob, target, path, &root) {
            continue;
        }
        if hits.paths.len() == query.limit {
            hits.more = true;
            break;
        }
        let slash = if matches!(node, Node::Folder) { "/" } else { "" };
        hits.paths.push(relative(path, &root) + slash);
    }
    Ok(hits)
}

/// The regular files below `root` that a search in contents sees, in order.
pub fn searched_files(tree: &Tree, root: &Path, overrides: &Override) -> Vec<PathBuf> {
    let files = walk(tree, root, ".rgignore", true, overrides).filter(|(_, node)| is_file(node));
    files.map(|(path, _)| path.to_owned()).collect()
}

/// What a search below `root` sees, in order.
fn walk<'a>(
    tree: &'a Tree,
    root: &'a Path,
    own: &str,
    require_git: bool,
    overrides: &'a Override,
) -> impl Iterator<Item = (&'a Path, &'a Node)> {
    let ignores = Ignores::of(tree, root, own, require_git);
    let mut left_out: Option<&Path> = None;
    tree.below(root).filter(move |(path, node)| {
        if left_out.is_some_and(|folder| path.starts_with(folder)) {
            return false;
        }
        let is_folder = matches!(node, Node::Folder);
        let decided = overrides.matched(path, is_folder);
        let ignored = decided.is_ignore() || (!decided.is_whitelist() && ignores.name(path, is_folder));
        if ignored || (is_folder && path.file_name().is_some_and(|name| name == ".git")) {
            left_out = Some(path);
            return false;
        }
        true
    })
}

fn root(tree: &Tree, path: &Path) -> Result<(PathBuf, FileKind), SearchError> {
    let missing = |_| SearchError::NotFound(path.to_owned());
    let kind = tree.stat(path).map_err(missing)?.kind;
    Ok((tree.follow(path).map_err(missing)?, kind))
}

fn is_file(node: &Node) -> bool {
    matches!(node, Node::File { .. })
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}
