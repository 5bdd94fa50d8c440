//! Opening and creating sessions.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Home, NewSession, SessionStore};
use crate::{
    protocol::entry::SessionHeader,
    store::{
        StoreError,
        jsonl::{
            Damage, Loaded, SessionFile, VERSION,
            encode::encode_header,
            file::{LineSource, load},
            read,
        },
        regular_file,
        tree::{Tree, TreeView},
    },
};

/// A session that was opened, and what people should be told about its file.
#[derive(Debug)]
pub struct Opened {
    /// The session.
    pub store: SessionStore,
    /// What could not be read.
    pub damage: Damage,
    /// The version of the file, when it is not ours. An older file is rewritten with the first append; a newer one
    /// can only be read.
    pub version: Option<u32>,
    /// What people should know of the file's lock; none when it is held, or not wanted.
    pub lock_notice: Option<String>,
}

impl Opened {
    fn fresh(store: SessionStore) -> Self {
        Self { store, damage: Damage::default(), version: None, lock_notice: None }
    }

    /// What to tell people about damage; none when there is none.
    #[must_use]
    pub fn damage_notice(&self) -> Option<String> {
        let path = self.store.path().unwrap_or_default();
        (!self.damage.is_none()).then(|| {
            format!(
                "Session file {} is damaged: {}. Everything else was loaded, and the file keeps its bytes.",
                path.display(),
                self.damage
            )
        })
    }
}

impl SessionStore {
    /// A session that leaves no file.
    ///
    /// # Errors
    /// When the id is not allowed.
    pub fn in_memory(new: NewSession) -> Result<Self, StoreError> {
        Ok(Self::with(Tree::new(new.header()?), Home::Memory))
    }

    /// A new session in the folder `dir`. Its file is made with the first message of a user or a model.
    ///
    /// # Errors
    /// When the id is not allowed.
    pub fn create_in(dir: &Path, new: NewSession) -> Result<Self, StoreError> {
        let header = new.header()?;
        let path = dir.join(crate::store::sessions::file_name(&header));
        Self::unborn(path, header)
    }

    fn unborn(path: PathBuf, header: SessionHeader) -> Result<Self, StoreError> {
        let mut lines = Vec::new();
        encode_header(&header, &mut lines)?;
        Ok(Self::with(Tree::new(header), Home::Unborn { path, lines }))
    }

    /// The session in the file `path`. When there is no such file, or an empty one, it is a new session there: made
    /// with the first message, or written at once into the empty file.
    ///
    /// # Errors
    /// When the file cannot be opened or read, is in use, or holds something else than a session. It is untouched
    /// then.
    pub fn open(path: &Path, new: NewSession) -> Result<Opened, StoreError> {
        match SessionFile::open(path) {
            Ok((file, Some(loaded))) => Ok(Self::loaded(file, loaded)),
            Ok((mut file, None)) => {
                let header = new.header()?;
                let mut line = Vec::new();
                encode_header(&header, &mut line)?;
                file.append(&line)?;
                let mut tree = Tree::new(header);
                tree.set_source(file.source());
                let lock_notice = file.lock_notice();
                let home = Home::File { file, unsaved: Vec::new(), outdated: None };
                Ok(Opened { lock_notice, ..Opened::fresh(Self::with(tree, home)) })
            }
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                Self::unborn(path.to_owned(), new.header()?).map(Opened::fresh)
            }
            Err(StoreError::Io { source, .. })
                if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
            {
                Self::open_read_only(path)
            }
            Err(error) => Err(error),
        }
    }

    fn loaded(file: SessionFile, loaded: Loaded) -> Opened {
        let Loaded { header, version, lines, gaps, damage, .. } = loaded;
        let tree = Tree::load(header, lines, &gaps, Some(file.source()));
        let lock_notice = file.lock_notice();
        let home = if version > VERSION {
            Home::ReadOnly { path: file.path().to_owned(), newer: Some(version) }
        } else {
            let outdated = (version < VERSION).then_some(version);
            Home::File { file, unsaved: Vec::new(), outdated }
        };
        let version = (version != VERSION).then_some(version);
        Opened { store: Self::with(tree, home), damage, version, lock_notice }
    }

    /// The session in a file that is not going to be written, whoever else has it open.
    ///
    /// # Errors
    /// When it cannot be read, or holds something else than a session.
    pub fn open_read_only(path: &Path) -> Result<Opened, StoreError> {
        let (tree, (version, damage)) = load_tree(path)?;
        let newer = (version > VERSION).then_some(version);
        let store = Self::with(tree, Home::ReadOnly { path: path.to_owned(), newer });
        Ok(Opened { store, damage, version: (version != VERSION).then_some(version), lock_notice: None })
    }

    /// A session in memory, or unborn, with lines that were taken from another one.
    pub(super) fn with_lines(
        home: impl FnOnce(Vec<u8>) -> Home,
        header: SessionHeader,
        lines: &[String],
    ) -> Result<Self, StoreError> {
        let mut text = Vec::new();
        encode_header(&header, &mut text)?;
        for line in lines {
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
        let Ok(Loaded { lines, gaps, .. }) = read::read(text.as_slice(), None) else {
            return Err(StoreError::NotASession(PathBuf::new()));
        };
        let tree = Tree::load(header, lines, &gaps, Some(Arc::new(text.clone())));
        Ok(Self::with(tree, home(text)))
    }

    /// A session whose file is made now, with these lines.
    pub(super) fn with_file(
        path: &Path,
        header: &SessionHeader,
        lines: impl Iterator<Item = Result<String, String>>,
    ) -> Result<Self, StoreError> {
        let mut first = Vec::new();
        encode_header(header, &mut first)?;
        let file = SessionFile::create(path, |writer| {
            writer.write_all(&first)?;
            for line in lines {
                writer.write_all(line.map_err(std::io::Error::other)?.as_bytes())?;
                writer.write_all(b"\n")?;
            }
            Ok(())
        })?;
        // Read again, so that no line stays in memory.
        drop(file);
        let (file, loaded) = SessionFile::open(path)?;
        let loaded = loaded.ok_or_else(|| StoreError::NotASession(path.to_owned()))?;
        Ok(Self::loaded(file, loaded).store)
    }
}

/// The view of a session file whose entries are going into a file of ours. One of a newer version does not: what makes
/// it newer would get lost.
pub(super) fn read_to_fork(path: &Path) -> Result<TreeView, StoreError> {
    let (tree, (version, _)) = load_tree(path)?;
    match version > VERSION {
        true => Err(StoreError::Newer { path: path.to_owned(), found: version }),
        false => Ok(tree.view().clone()),
    }
}

/// The view of a session file that nobody is going to write.
///
/// # Errors
/// When it cannot be read, or holds something else than a session.
pub fn read_view(path: &Path) -> Result<TreeView, StoreError> {
    Ok(load_tree(path)?.0.view().clone())
}

fn load_tree(path: &Path) -> Result<(Tree, (u32, Damage)), StoreError> {
    let file = regular_file::open_to_read(path).map_err(StoreError::io("open", path))?;
    let loaded = load(&file, path)?.ok_or_else(|| StoreError::NotASession(path.to_owned()))?;
    let Loaded { header, version, lines, gaps, damage, .. } = loaded;
    let source: Arc<dyn LineSource> = Arc::new(file);
    Ok((Tree::load(header, lines, &gaps, Some(source)), (version, damage)))
}
