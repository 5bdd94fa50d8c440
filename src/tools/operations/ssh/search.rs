//! Searches on the other machine.
//!
//! Where ripgrep is there, it searches contents; where fd is, it walks for names. Without them, the walk is `find`'s and
//! the rules of ignore files are applied here, by the same code as for files in memory; contents are searched here, too,
//! after `grep` has said there which files can match at all. So results are the same, and only the time differs.

use std::{
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::{
    Ssh, candidates,
    files::{bytes, check},
    ripgrep::{self, Hits},
    script::Script,
    scripts,
};
use crate::tools::operations::{
    FindHits, FindQuery, GrepHits, GrepQuery, SearchError,
    local::{find, grep},
    memory::{
        search,
        tree::{Node, Tree},
    },
    read_all,
};

impl Ssh {
    pub(super) async fn grep_there(&self, query: &GrepQuery) -> Result<GrepHits, SearchError> {
        check(&query.root).map_err(|error| search_error(&query.root, error))?;
        // What is wrong with a query is said in the same words everywhere.
        grep::matcher(query)?;
        grep::overrides(query, &query.root)?;
        match &self.facts.rg {
            Some(rg) => self.ripgrep(rg, query).await.map_err(|error| search_error(&query.root, error)),
            None => self.grep_here(query).await,
        }
    }

    async fn ripgrep(&self, rg: &str, query: &GrepQuery) -> io::Result<GrepHits> {
        let script = self.search_script(&query.root).set("r", rg).set("g", ripgrep::glob(query));
        let script = script.arguments(ripgrep::arguments(query)).run(scripts::RIPGREP);
        let mut channel = self.link.start(&script).await?;
        channel.end_input();
        let is_file = channel.answer().await? == "file";
        let name = query.root.file_name().filter(|_| is_file).map(|name| name.to_string_lossy().into_owned());
        let mut hits = Hits::new(query, name);
        let mut line = Vec::new();
        loop {
            let chunk = channel.chunk().await?;
            if chunk.is_empty() {
                channel.finish().await?;
                return Ok(hits.finish());
            }
            line.extend_from_slice(&chunk);
            while let Some(end) = memchr::memchr(b'\n', &line) {
                let rest = line.split_off(end + 1);
                if !hits.add(&line) {
                    // Enough: what ripgrep would still find is not waited for.
                    return Ok(hits.finish());
                }
                line = rest;
            }
        }
    }

    /// The search without ripgrep there.
    async fn grep_here(&self, query: &GrepQuery) -> Result<GrepHits, SearchError> {
        let failed = |error| search_error(&query.root, error);
        let root = query.root.as_path();
        let matcher = grep::matcher(query)?;
        let overrides = grep::overrides(query, root)?;
        let script = self.search_script(root).arguments(candidates::arguments(query));
        let (kind, names) = self.output(&script.run(scripts::CANDIDATES)).await.map_err(failed)?;
        let is_file = kind == "file";
        let files = if is_file {
            vec![root.to_owned()]
        } else {
            let mut tree = Tree::default();
            put_all(&mut tree, root, names.split(|byte| *byte == b'\n'), &Node::empty_file());
            self.add_ignore_files(&mut tree, root).await.map_err(failed)?;
            search::searched_files(&tree, root, &overrides)
        };
        let mut found = grep::Found::new(query);
        for path in &files {
            let content = match self.content(path).await {
                Ok(content) => content,
                Err(error) if is_file || error.kind() == io::ErrorKind::ConnectionAborted => return Err(failed(error)),
                // What cannot be read is left out, as in all searches.
                Err(_) => continue,
            };
            let name = if is_file { path.file_name().map(Path::new) } else { path.strip_prefix(root).ok() };
            let name = || name.unwrap_or(path).to_string_lossy().into_owned();
            let mut searcher = grep::searcher(query, is_file);
            let hits = grep::search(&mut searcher, &matcher, query, content.as_slice(), &name).map_err(failed)?;
            // Files come in order: as soon as there are enough, nothing further can matter.
            if !hits.is_empty() && found.add(path, hits).is_some() {
                break;
            }
        }
        Ok(found.finish())
    }

    pub(super) async fn find_there(&self, query: &FindQuery) -> Result<FindHits, SearchError> {
        check(&query.root).map_err(|error| search_error(&query.root, error))?;
        find::pattern(&query.pattern)?;
        let tree = self.names_below(&query.root).await.map_err(|error| search_error(&query.root, error))?;
        tree.map_or_else(|| Err(SearchError::NotAFolder(query.root.clone())), |tree| search::find(&tree, query))
    }

    /// What a search for names sees below `root`, without contents; none when it is no folder.
    async fn names_below(&self, root: &Path) -> io::Result<Option<Tree>> {
        let script = self.search_script(root);
        let script = match &self.facts.fd {
            Some(fd) => script.set("f", fd).run(scripts::FD),
            None => script.run(scripts::LIST_ALL),
        };
        let (kind, names) = self.output(&script).await?;
        if kind != "folder" {
            return Ok(None);
        }
        let mut tree = Tree::default();
        tree.put(root, Node::Folder);
        // Folders come first, then an empty name, then everything else.
        let names: Vec<&[u8]> = names.split(|byte| *byte == 0).collect();
        let mut groups = names.split(|name| name.is_empty());
        put_all(&mut tree, root, groups.next().unwrap_or_default().iter().copied(), &Node::Folder);
        put_all(&mut tree, root, groups.flatten().copied(), &Node::empty_file());
        if self.facts.fd.is_none() {
            self.add_ignore_files(&mut tree, root).await?;
        }
        Ok(Some(tree))
    }

    /// The ignore files below `root` and around it, and the repositories.
    async fn add_ignore_files(&self, tree: &mut Tree, root: &Path) -> io::Result<()> {
        let (_, output) = self.output(&self.search_script(root).run(scripts::IGNORE_FILES)).await?;
        tree.put(root, Node::Folder);
        let mut parts = output.split(|byte| *byte == 0);
        while let (Some(name), Some(text)) = (parts.next(), parts.next()) {
            let path = below(root, name);
            if path.file_name().is_none_or(|name| name != ".git") {
                tree.put_file(&path, text.to_vec());
            } else if tree.node(&path).is_none() {
                tree.put(&path, Node::Folder);
            }
        }
        Ok(())
    }

    /// A script that begins with the kind of the search's root, in that folder.
    fn search_script(&self, root: &Path) -> Script {
        self.facts.file_script(&self.link).set("p", bytes(root)).run(scripts::SEARCH_ROOT)
    }

    /// What a search's script says of the root, and all that it prints.
    async fn output(&self, script: &Script) -> io::Result<(String, Vec<u8>)> {
        let mut channel = self.link.start(script).await?;
        let kind = channel.answer().await?;
        Ok((kind, channel.rest().await?))
    }

    async fn content(&self, path: &Path) -> io::Result<Vec<u8>> {
        read_all(&mut self.reader_of(path).await?).await
    }
}

fn put_all<'a>(tree: &mut Tree, root: &Path, names: impl Iterator<Item = &'a [u8]>, node: &Node) {
    for name in names.filter(|name| !name.is_empty()) {
        let path = below(root, name);
        if path != root {
            tree.put(&path, node.clone());
        }
    }
}

/// `./name` below the root; an absolute name as it is.
fn below(root: &Path, name: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(name.strip_prefix(b"./").unwrap_or(name)))
}

fn search_error(root: &Path, error: io::Error) -> SearchError {
    match error.kind() {
        io::ErrorKind::NotFound => SearchError::NotFound(root.to_owned()),
        io::ErrorKind::InvalidInput => SearchError::Special(root.to_owned()),
        _ => SearchError::Unreadable { path: root.to_owned(), error },
    }
}
