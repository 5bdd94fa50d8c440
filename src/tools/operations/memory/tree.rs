//! Files, folders and links as a value.

use std::{
    collections::BTreeMap,
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use rustix::io::Errno;

use crate::tools::{
    operations::{FileKind, FileStat, FolderEntry},
    paths::normalize,
};

/// As many links in a row as systems follow.
const LINKS_AT_MOST: usize = 40;
/// Owner may read, owner may write.
const READ: u32 = 0o400;
const WRITE: u32 = 0o200;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A folder.
    Folder,
    /// A regular file.
    File {
        /// Its content.
        bytes: Arc<Vec<u8>>,
        /// Its permission bits.
        mode: u32,
        /// When it changed last.
        modified: SystemTime,
    },
    /// A symbolic link to a path, absolute or from its folder on.
    Link(PathBuf),
    /// A named pipe.
    Pipe,
}

/// All that there is. Paths are absolute and normal; their order is that of a walk: folder by folder, by name.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
    /// A clock of its own, so that every change has another time and tests see the same ones each time.
    ticks: u64,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: BTreeMap::from([(PathBuf::from("/"), Node::Folder)]), ticks: 0 }
    }
}

impl Node {
    /// A file that only its name matters of.
    #[must_use]
    pub fn empty_file() -> Self {
        Self::File { bytes: Arc::default(), mode: 0o644, modified: SystemTime::UNIX_EPOCH }
    }
}

impl Tree {
    /// Puts something at `path`, with the folders that lead there. What was there before is gone.
    pub fn put(&mut self, path: &Path, node: Node) {
        let path = normalize(path);
        for folder in path.ancestors().skip(1) {
            self.nodes.entry(folder.to_owned()).or_insert(Node::Folder);
        }
        self.nodes.insert(path, node);
    }

    /// Puts a file with the usual permissions at `path`.
    pub fn put_file(&mut self, path: &Path, bytes: Vec<u8>) {
        let modified = self.tick();
        self.put(path, Node::File { bytes: Arc::new(bytes), mode: 0o644, modified });
    }

    /// Takes away what is at `path`, with all that is below.
    pub fn remove(&mut self, path: &Path) {
        self.nodes.retain(|known, _| !known.starts_with(path));
    }

    /// What is at `path` itself, links not followed.
    #[must_use]
    pub fn node(&self, path: &Path) -> Option<&Node> {
        self.nodes.get(path)
    }

    /// What is at `path`, to be changed.
    pub fn node_mut(&mut self, path: &Path) -> Option<&mut Node> {
        self.nodes.get_mut(path)
    }

    /// All that is below `root`, in the order of a walk.
    pub fn below<'a>(&'a self, root: &'a Path) -> impl Iterator<Item = (&'a Path, &'a Node)> {
        let from_root = self.nodes.range(root.to_owned()..).take_while(move |(path, _)| path.starts_with(root));
        from_root.skip_while(move |(path, _)| *path == root).map(|(path, node)| (path.as_path(), node))
    }

    /// The path without links, also where the last name is missing.
    ///
    /// # Errors
    /// A folder on the way is missing or none, or links lead in a circle.
    pub fn follow(&self, path: &Path) -> io::Result<PathBuf> {
        let mut links = 0;
        let mut rest: Vec<PathBuf> = components(path);
        let mut real = PathBuf::from("/");
        while let Some(name) = rest.pop() {
            if name == Path::new("..") {
                real.pop();
                continue;
            }
            let next = real.join(&name);
            match self.nodes.get(&next) {
                Some(Node::Link(target)) => {
                    links += 1;
                    if links > LINKS_AT_MOST {
                        return Err(Errno::LOOP.into());
                    }
                    if target.is_absolute() {
                        real = PathBuf::from("/");
                    }
                    rest.extend(components(target));
                    continue;
                }
                Some(Node::Folder) => {}
                Some(_) if !rest.is_empty() => return Err(Errno::NOTDIR.into()),
                None if !rest.is_empty() => return Err(Errno::NOENT.into()),
                Some(_) | None => {}
            }
            real = next;
        }
        Ok(real)
    }

    /// Facts about what `path` leads to.
    ///
    /// # Errors
    /// It leads to nothing.
    pub fn stat(&self, path: &Path) -> io::Result<FileStat> {
        let node = self.nodes.get(&self.follow(path)?).ok_or(Errno::NOENT)?;
        Ok(match node {
            Node::File { bytes, modified, .. } => {
                FileStat { kind: FileKind::File, len: bytes.len() as u64, modified: Some(*modified) }
            }
            Node::Pipe => FileStat { kind: FileKind::Special, len: 0, modified: None },
            Node::Folder | Node::Link(_) => FileStat { kind: FileKind::Folder, len: 0, modified: None },
        })
    }

    /// The content of the regular file that `path` leads to.
    ///
    /// # Errors
    /// It is none, or may not be read.
    pub fn read(&self, path: &Path) -> io::Result<Arc<Vec<u8>>> {
        match self.nodes.get(&self.follow(path)?).ok_or(Errno::NOENT)? {
            Node::File { mode, .. } if mode & READ == 0 => Err(Errno::ACCESS.into()),
            Node::File { bytes, .. } => Ok(Arc::clone(bytes)),
            other => Err(not_regular(other)),
        }
    }

    /// Fails unless what `path` leads to may be read and written.
    ///
    /// # Errors
    /// It may not, or leads to nothing.
    pub fn check_access(&self, path: &Path) -> io::Result<()> {
        match self.nodes.get(&self.follow(path)?).ok_or(Errno::NOENT)? {
            Node::File { mode, .. } if mode & READ == 0 || mode & WRITE == 0 => Err(Errno::ACCESS.into()),
            _ => Ok(()),
        }
    }

    /// Makes the file that `path` leads to hold `bytes`; its mode stays.
    ///
    /// # Errors
    /// It is no regular file, may not be written, or its folder is missing.
    pub fn write(&mut self, path: &Path, bytes: Vec<u8>) -> io::Result<FileStat> {
        let real = self.follow(path)?;
        let mode = match self.nodes.get(&real) {
            None => 0o644,
            Some(Node::File { mode, .. }) if mode & WRITE == 0 => return Err(Errno::ACCESS.into()),
            Some(Node::File { mode, .. }) => *mode,
            Some(other) => return Err(not_regular(other)),
        };
        let modified = self.tick();
        self.nodes.insert(real.clone(), Node::File { bytes: Arc::new(bytes), mode, modified });
        self.stat(&real)
    }

    /// Creates the folder `path` and its parents where they are missing.
    ///
    /// # Errors
    /// Something else is in the way.
    pub fn create_folder(&mut self, path: &Path) -> io::Result<()> {
        let mut real = PathBuf::from("/");
        for name in components(path).into_iter().rev() {
            real = self.follow(&real.join(name))?;
            match self.nodes.get(&real) {
                None => drop(self.nodes.insert(real.clone(), Node::Folder)),
                Some(Node::Folder) => {}
                Some(_) if real == normalize(path) => return Err(Errno::EXIST.into()),
                Some(_) => return Err(Errno::NOTDIR.into()),
            }
        }
        Ok(())
    }

    /// The entries of a folder.
    ///
    /// # Errors
    /// It is none.
    pub fn list(&self, path: &Path) -> io::Result<Vec<FolderEntry>> {
        let real = self.follow(path)?;
        match self.nodes.get(&real).ok_or(Errno::NOENT)? {
            Node::Folder => {}
            _ => return Err(Errno::NOTDIR.into()),
        }
        let children = self.below(&real).filter(|(path, _)| path.parent() == Some(&real));
        Ok(children
            .map(|(path, _)| FolderEntry {
                name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                kind: self.stat(path).ok().map(|stat| stat.kind),
            })
            .collect())
    }

    fn tick(&mut self) -> SystemTime {
        self.ticks += 1;
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.ticks)
    }
}

/// The names of a path, the last one first.
fn components(path: &Path) -> Vec<PathBuf> {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    names.map(|part| PathBuf::from(part.as_os_str())).rev().collect()
}

fn not_regular(node: &Node) -> io::Error {
    match node {
        Node::Pipe => io::Error::new(io::ErrorKind::InvalidInput, "not a regular file but a named pipe"),
        _ => Errno::ISDIR.into(),
    }
}
