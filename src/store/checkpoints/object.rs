//! Contents by their names: the SHA-256 of what they hold.
//!
//! `objects/ab/cdef…` holds a content as it is. An object is written beside its place and moved there, so that it is
//! whole or missing; it is not forced to the disk, since a power failure takes what it protects, too. Processes share
//! the store: whoever puts an object holds the folder's lock for that moment (shared), whoever cleans holds it alone.

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use ring::digest::{Context, SHA256, SHA256_OUTPUT_LEN, digest};
use serde::{Deserialize, Serialize};

use crate::store::{StoreError, paths::create_private_dir};

/// Files of up to this size are hashed before they are written; larger ones while they are, so that they need no
/// memory.
const IN_MEMORY: u64 = 8 << 20;
/// Pieces in which large contents are copied.
const PIECE: usize = 256 << 10;

/// The name of a content: its SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectId([u8; SHA256_OUTPUT_LEN]);

impl ObjectId {
    /// The name of a content.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_digest(digest(&SHA256, bytes).as_ref())
    }

    fn from_digest(digest: &[u8]) -> Self {
        let mut id = [0; SHA256_OUTPUT_LEN];
        id.copy_from_slice(digest);
        Self(id)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<ObjectId> for String {
    fn from(id: ObjectId) -> Self {
        id.to_string()
    }
}

/// A text that names no object.
#[derive(Debug, thiserror::Error)]
#[error("expected 64 hexadecimal digits")]
pub struct NoObjectId;

impl FromStr for ObjectId {
    type Err = NoObjectId;

    fn from_str(text: &str) -> Result<Self, NoObjectId> {
        let digits = text.as_bytes();
        if digits.len() != 2 * SHA256_OUTPUT_LEN || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(NoObjectId);
        }
        let mut id = [0; SHA256_OUTPUT_LEN];
        for (byte, pair) in id.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| NoObjectId)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| NoObjectId)?;
        }
        Ok(Self(id))
    }
}

impl TryFrom<String> for ObjectId {
    type Error = NoObjectId;

    fn try_from(text: String) -> Result<Self, NoObjectId> {
        text.parse()
    }
}

/// The contents that sessions of a project keep. See the module.
#[derive(Debug)]
pub struct ObjectStore {
    folder: PathBuf,
    lock: File,
    /// Bytes that this process may still add.
    left: AtomicU64,
    temporary: AtomicU64,
}

impl ObjectStore {
    /// The store in `checkpoints`, made when it is missing; this process adds at most so many bytes to it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(checkpoints: &Path, at_most: u64) -> Result<Self, StoreError> {
        let folder = checkpoints.join("objects");
        create_private_dir(&folder)?;
        let lock = open_lock(checkpoints)?;
        Ok(Self { folder, lock, left: AtomicU64::new(at_most), temporary: AtomicU64::new(0) })
    }

    /// Where the object of that name lies.
    #[must_use]
    pub fn path(&self, id: &ObjectId) -> PathBuf {
        let name = id.to_string();
        self.folder.join(&name[..2]).join(&name[2..])
    }

    /// Whether the object is there.
    #[must_use]
    pub fn has(&self, id: &ObjectId) -> bool {
        self.path(id).is_file()
    }

    /// Keeps a content.
    ///
    /// # Errors
    /// When it cannot be written, or the process has added as much as it may.
    pub fn put(&self, bytes: &[u8]) -> io::Result<ObjectId> {
        let id = ObjectId::of(bytes);
        self.locked(|| {
            if self.renew(&id) {
                return Ok(id);
            }
            self.spend(bytes.len() as u64)?;
            let (temporary, mut file) = self.temporary()?;
            let written = file.write_all(bytes);
            self.place(&temporary, &id, written)?;
            Ok(id)
        })
    }

    /// Keeps all that an open file holds, up to `at_most` bytes; none when it holds more.
    ///
    /// # Errors
    /// See [`Self::put`]; also when the file cannot be read.
    pub fn put_file(&self, file: &mut File, at_most: u64) -> io::Result<Option<(ObjectId, u64)>> {
        if file.metadata()?.len() > at_most {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        Read::take(&mut *file, IN_MEMORY + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > at_most {
            return Ok(None);
        }
        if bytes.len() as u64 <= IN_MEMORY {
            return Ok(Some((self.put(&bytes)?, bytes.len() as u64)));
        }
        self.locked(|| self.put_stream(&bytes, file, at_most))
    }

    fn put_stream(&self, head: &[u8], rest: &mut File, at_most: u64) -> io::Result<Option<(ObjectId, u64)>> {
        let (temporary, mut out) = self.temporary()?;
        let copied = copy(head, rest, &mut out, at_most);
        match copied {
            Ok(Some((id, len))) if !self.renew(&id) => {
                let paid = self.spend(len);
                self.place(&temporary, &id, paid)?;
                Ok(Some((id, len)))
            }
            other => {
                let _ = fs::remove_file(&temporary);
                other
            }
        }
    }

    /// The content of that name. It is checked: a damaged object is an error, not a wrong content.
    ///
    /// # Errors
    /// When it is not there, cannot be read, or is not what its name says.
    pub fn get(&self, id: &ObjectId) -> io::Result<Vec<u8>> {
        let bytes = fs::read(self.path(id))?;
        match ObjectId::of(&bytes) == *id {
            true => Ok(bytes),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "the kept content is damaged")),
        }
    }

    /// Runs `work` while nobody cleans.
    fn locked<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        // A file system without locks has nobody who waits for one.
        let locked = self.lock.lock_shared().is_ok();
        let result = work();
        if locked {
            let _ = self.lock.unlock();
        }
        result
    }

    /// Whether the object is there; then it counts as new, so that it is not cleaned away before a record names it.
    fn renew(&self, id: &ObjectId) -> bool {
        let Ok(file) = File::open(self.path(id)) else { return false };
        let _ = file.set_modified(SystemTime::now());
        true
    }

    fn spend(&self, bytes: u64) -> io::Result<()> {
        let spent = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        spent.map(drop).map_err(|_| io::Error::other("the limit of the setting checkpoints.maxSize is reached"))
    }

    fn temporary(&self) -> io::Result<(PathBuf, File)> {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        // Two stores of one process share the process id, not the address.
        let path = self.folder.join(format!("new-{}-{:p}-{number}", std::process::id(), std::ptr::from_ref(self)));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok((path, file))
    }

    /// Moves a written object to its place, or removes what was written of it.
    fn place(&self, temporary: &Path, id: &ObjectId, written: io::Result<()>) -> io::Result<()> {
        let target = self.path(id);
        let moved = written.and_then(|()| match fs::rename(temporary, &target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_private_dir(target.parent().unwrap_or(&self.folder)).map_err(io::Error::other)?;
                fs::rename(temporary, &target)
            }
            moved => moved,
        });
        if moved.is_err() {
            let _ = fs::remove_file(temporary);
        }
        moved
    }
}

/// Copies a content whose beginning has been read; none when it is longer than `at_most` bytes.
fn copy(head: &[u8], rest: &mut File, out: &mut File, at_most: u64) -> io::Result<Option<(ObjectId, u64)>> {
    let mut digest = Context::new(&SHA256);
    digest.update(head);
    out.write_all(head)?;
    let mut len = head.len() as u64;
    let mut piece = vec![0; PIECE];
    loop {
        let read = rest.read(&mut piece)?;
        if read == 0 {
            return Ok(Some((ObjectId::from_digest(digest.finish().as_ref()), len)));
        }
        len += read as u64;
        if len > at_most {
            return Ok(None);
        }
        digest.update(&piece[..read]);
        out.write_all(&piece[..read])?;
    }
}

/// Opens the lock file of a folder of checkpoints.
///
/// # Errors
/// When it cannot be made.
pub(super) fn open_lock(checkpoints: &Path) -> Result<File, StoreError> {
    let path = checkpoints.join("lock");
    let mut options = OpenOptions::new();
    let file = crate::store::regular_file::open(&path, options.append(true).create(true).mode(0o600));
    file.map_err(StoreError::io("open", &path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn store(folder: &Path) -> ObjectStore {
        ObjectStore::open(folder, 64 << 20).unwrap()
    }

    #[test]
    fn a_content_is_kept_once_under_its_name_and_privately() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("checkpoints");
        let store = store(&folder);
        let contents: [&[u8]; 4] = [b"", b"text", b"\0\xff binary", &[7; 100_000]];
        for content in contents {
            let id = store.put(content).unwrap();
            assert_eq!(store.put(content).unwrap(), id);
            assert_eq!(id.to_string().parse::<ObjectId>().unwrap(), id);
            assert_eq!(store.get(&id).unwrap(), content);
            assert_eq!(fs::metadata(store.path(&id)).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        let left =
            fs::read_dir(folder.join("objects")).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_file());
        assert_eq!(left.count(), 0, "no temporary file is left");
        assert!("zz".repeat(32).parse::<ObjectId>().is_err() && "ab".parse::<ObjectId>().is_err());
    }

    #[test]
    fn files_are_kept_up_to_a_size_also_large_ones() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir.path().join("checkpoints"));
        let path = dir.path().join("file");
        for size in [0, 10, (IN_MEMORY as usize) + 5] {
            let content: Vec<u8> = (0..size).map(|n| n as u8).collect();
            fs::write(&path, &content).unwrap();
            let kept = |at_most| store.put_file(&mut File::open(&path).unwrap(), at_most).unwrap();
            assert_eq!(kept(size as u64), Some((ObjectId::of(&content), size as u64)));
            assert_eq!(kept(size as u64), Some((ObjectId::of(&content), size as u64)), "again");
            assert_eq!(store.get(&ObjectId::of(&content)).unwrap(), content);
            assert!(size == 0 || kept(size as u64 - 1).is_none());
        }
    }

    #[test]
    fn damage_and_limits_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let store = ObjectStore::open(&dir.path().join("checkpoints"), 10).unwrap();
        let id = store.put(b"12345678").unwrap();
        store.put(b"12345678").unwrap();
        assert!(store.put(b"other").unwrap_err().to_string().contains("checkpoints.maxSize"));
        fs::write(store.path(&id), "1234567x").unwrap();
        assert!(store.get(&id).unwrap_err().to_string().contains("damaged"));
        assert_eq!(store.get(&ObjectId::of(b"other")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
