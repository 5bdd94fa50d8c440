//! Looking at what a path holds.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

use rustix::fs::OFlags;

use crate::{
    store::checkpoints::{Content, FileFacts, FileState, ObjectId, ObjectStore, StoredPath, Unkept},
    tools::operations::{FileKind, Operations, read_all},
};

/// A file of this machine that is larger is not kept: 64 MiB.
pub const KEPT_AT_MOST: u64 = 64 << 20;

/// What a path of this machine holds. Links are not followed. With a store, contents of up to `at_most` bytes are kept;
/// without one they are only named.
pub fn look(path: &Path, store: Option<&ObjectStore>, at_most: u64) -> FileState {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_missing(&error) => return FileState::Missing,
        Err(_) => return FileState::Unknown,
    };
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return fs::read_link(path).map_or(FileState::Unknown, |target| FileState::Link { target: StoredPath(target) });
    }
    if kind.is_dir() {
        return FileState::Folder;
    }
    if !kind.is_file() {
        let special = kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device();
        return if special { FileState::Special } else { FileState::Unknown };
    }
    match file(path, store, at_most) {
        Ok(facts) => FileState::File(facts),
        Err(error) => {
            let content = Content::Unkept(Unkept::Unreadable { cause: error.to_string() });
            FileState::File(facts(&metadata, content))
        }
    }
}

/// Whether an error says that nothing is there.
pub fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The facts of a file with this content.
pub fn facts(metadata: &Metadata, content: Content) -> FileFacts {
    FileFacts { content, len: metadata.len(), mode: Some(metadata.mode() & 0o7777), modified: Some(modified(metadata)) }
}

/// When a file was last written, in nanoseconds.
pub fn modified(metadata: &Metadata) -> i64 {
    metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec())
}

fn file(path: &Path, store: Option<&ObjectStore>, at_most: u64) -> io::Result<FileFacts> {
    #[allow(clippy::cast_possible_wrap, reason = "the flags are small numbers")]
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it became something else"));
    }
    let content = match store {
        Some(store) => match store.put_file(&mut file, at_most) {
            Ok(Some((id, _))) => Content::Object(id),
            Ok(None) => Content::Unkept(Unkept::TooLarge),
            Err(error) => Content::Unkept(Unkept::NotStored { cause: error.to_string() }),
        },
        None if metadata.len() > at_most => Content::Unkept(Unkept::TooLarge),
        None => Content::Object(name(&mut file)?),
    };
    Ok(facts(&metadata, content))
}

fn name(file: &mut File) -> io::Result<ObjectId> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(ObjectId::of(&bytes))
}

/// What a path of another machine holds. Links are followed there.
pub async fn look_through(operations: &dyn Operations, path: &Path, store: Option<&ObjectStore>) -> FileState {
    let stat = match operations.stat(path).await {
        Ok(stat) => stat,
        Err(error) if is_missing(&error) => return FileState::Missing,
        Err(_) => return FileState::Unknown,
    };
    let modified = stat.modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified.and_then(|time| i64::try_from(time.as_nanos()).ok());
    let content = match stat.kind {
        FileKind::Folder => return FileState::Folder,
        FileKind::Special => return FileState::Special,
        FileKind::File if stat.len > KEPT_AT_MOST => Content::Unkept(Unkept::TooLarge),
        FileKind::File => match read(operations, path).await {
            Ok(bytes) => match store.map(|store| store.put(&bytes)) {
                Some(Err(error)) => Content::Unkept(Unkept::NotStored { cause: error.to_string() }),
                _ => Content::Object(ObjectId::of(&bytes)),
            },
            Err(error) => Content::Unkept(Unkept::Unreadable { cause: error.to_string() }),
        },
    };
    FileState::File(FileFacts { content, len: stat.len, mode: None, modified })
}

async fn read(operations: &dyn Operations, path: &Path) -> io::Result<Vec<u8>> {
    read_all(operations.open(path).await?.as_mut()).await
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn every_kind_of_thing_is_known_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("file"), b"\0text").unwrap();
        fs::set_permissions(path("file"), fs::Permissions::from_mode(0o751)).unwrap();
        symlink("nowhere", path("link")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let FileState::File(facts) = look(&path("file"), None, KEPT_AT_MOST) else { panic!("a file") };
        assert_eq!((facts.len, facts.mode), (5, Some(0o751)));
        assert_eq!(facts.content, Content::Object(ObjectId::of(b"\0text")));
        let FileState::File(facts) = look(&path("file"), None, 4) else { panic!("a file") };
        assert_eq!(facts.content, Content::Unkept(Unkept::TooLarge));
        assert_eq!(look(&path("link"), None, 9), FileState::Link { target: StoredPath("nowhere".into()) });
        assert_eq!(look(&path("pipe"), None, 9), FileState::Special);
        assert_eq!(look(dir.path(), None, 9), FileState::Folder);
        for missing in ["none", "none/x", "file/x"] {
            assert_eq!(look(&path(missing), None, 9), FileState::Missing, "{missing}");
        }
    }
}
