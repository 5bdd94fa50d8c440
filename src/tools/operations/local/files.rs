//! Reading and writing files of this machine.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::{Access, OFlags};
use tokio::task::spawn_blocking;

use crate::tools::{
    BoxFuture,
    operations::{FileKind, FileReader, FileStat, FolderEntry},
    paths::normalize,
};

/// The first piece of a file: most files are not longer.
const FIRST_CHUNK: usize = 64 << 10;
/// Later pieces.
const CHUNK: usize = 1 << 20;
/// Files that claim to be empty and are not (`/proc`) are read up to here.
const UNSIZED_AT_MOST: u64 = 1 << 20;

pub fn stat(path: &Path) -> io::Result<FileStat> {
    fs::metadata(path).map(|metadata| describe(&metadata))
}

fn describe(metadata: &Metadata) -> FileStat {
    FileStat { kind: kind(metadata), len: metadata.len(), modified: metadata.modified().ok() }
}

fn kind(metadata: &Metadata) -> FileKind {
    if metadata.is_file() {
        FileKind::File
    } else if metadata.is_dir() {
        FileKind::Folder
    } else {
        FileKind::Special
    }
}

/// Fails unless the file is a regular one. Opening anything else can block, and reading it can go on for ever.
fn regular(metadata: &Metadata) -> io::Result<()> {
    let file_type = metadata.file_type();
    let what = if file_type.is_file() {
        return Ok(());
    } else if file_type.is_dir() {
        return Err(rustix::io::Errno::ISDIR.into());
    } else if file_type.is_fifo() {
        "a named pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("not a regular file but {what}")))
}

/// A file that is being read.
#[derive(Debug)]
pub struct LocalReader {
    /// None at the end, and while another thread reads.
    file: Option<File>,
    stat: FileStat,
    left: u64,
    first: Option<Vec<u8>>,
}

impl LocalReader {
    /// Opens a regular file and reads its first piece.
    pub fn open(path: &Path) -> io::Result<Self> {
        // Looked at before it is opened, since opening a device can have effects; and after, since it may be another
        // file by then: without waiting, so that a pipe cannot hold us.
        regular(&fs::metadata(path)?)?;
        let mut file = open(path)?;
        let metadata = file.metadata()?;
        regular(&metadata)?;
        let stat = describe(&metadata);
        let mut left = if stat.len == 0 { UNSIZED_AT_MOST } else { stat.len };
        let first = read_piece(&mut file, FIRST_CHUNK, &mut left)?;
        Ok(Self { file: Some(file), stat, left, first: Some(first) })
    }
}

/// Opens whatever is there for reading, without waiting for it.
pub fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(no_wait()).open(path)
}

fn no_wait() -> i32 {
    #[allow(clippy::cast_possible_wrap, reason = "the flag is a small number")]
    {
        OFlags::NONBLOCK.bits() as i32
    }
}

/// Reads until `size` bytes are there, nothing is left to be read, or the file ends.
fn read_piece(file: &mut File, size: usize, left: &mut u64) -> io::Result<Vec<u8>> {
    let size = usize::try_from(*left).map_or(size, |left| left.min(size));
    let mut bytes = Vec::with_capacity(size);
    match Read::take(&mut *file, size as u64).read_to_end(&mut bytes) {
        Ok(_) => {}
        // Files of the kernel that have no more to say now (`/proc/kmsg`).
        Err(error) if error.kind() == io::ErrorKind::WouldBlock && !bytes.is_empty() => {}
        Err(error) => return Err(error),
    }
    *left -= bytes.len() as u64;
    if bytes.len() < size {
        *left = 0;
    }
    Ok(bytes)
}

impl FileReader for LocalReader {
    fn stat(&self) -> FileStat {
        self.stat
    }

    fn next_chunk(&mut self) -> BoxFuture<'_, io::Result<Vec<u8>>> {
        Box::pin(async move {
            if let Some(first) = self.first.take() {
                return Ok(first);
            }
            if self.left == 0 {
                return Ok(Vec::new());
            }
            let Some(mut file) = self.file.take() else { return Ok(Vec::new()) };
            let mut left = self.left;
            let read = move || {
                let bytes = read_piece(&mut file, CHUNK, &mut left)?;
                Ok::<_, io::Error>((file, left, bytes))
            };
            let (file, left, bytes) = spawn_blocking(read).await.map_err(io::Error::other)??;
            self.left = left;
            self.file = Some(file);
            Ok(bytes)
        })
    }
}

pub fn check_access(path: &Path) -> io::Result<()> {
    rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK)?;
    Ok(())
}

/// Writes in place. What is longer than the new content is cut off last, so that a full disk is noticed before
/// anything of the old end is lost.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<FileStat> {
    match fs::metadata(path) {
        Ok(metadata) => regular(&metadata)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).custom_flags(no_wait()).open(path)?;
    let before = file.metadata()?;
    regular(&before)?;
    file.write_all(bytes)?;
    if before.len() > bytes.len() as u64 {
        file.set_len(bytes.len() as u64)?;
    }
    file.metadata().map(|metadata| describe(&metadata))
}

pub fn list(path: &Path) -> io::Result<Vec<FolderEntry>> {
    fs::read_dir(path)?
        .map(|entry| {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = match entry.file_type() {
                Ok(file_type) if file_type.is_dir() => Some(FileKind::Folder),
                Ok(file_type) if file_type.is_file() => Some(FileKind::File),
                _ => fs::metadata(entry.path()).ok().map(|metadata| kind(&metadata)),
            };
            Ok(FolderEntry { name, kind })
        })
        .collect()
}

/// The path without links, also where the file, the target of a link or whole folders are missing.
pub fn real_path(path: &Path) -> PathBuf {
    // As many links in a row as systems follow.
    const LINKS_AT_MOST: usize = 40;
    let mut current = normalize(path);
    for _ in 0..LINKS_AT_MOST {
        if let Ok(real) = current.canonicalize() {
            return real;
        }
        let (Some(parent), Some(name)) = (current.parent(), current.file_name()) else { return current };
        let folder = real_path_of_folder(parent);
        let in_folder = folder.join(name);
        match in_folder.read_link() {
            Ok(target) => current = normalize(&folder.join(target)),
            Err(_) => return in_folder,
        }
    }
    current
}

/// As [`real_path`], for the folder part, which has fewer names with each call.
fn real_path_of_folder(folder: &Path) -> PathBuf {
    if folder.parent().is_none() { folder.to_owned() } else { real_path(folder) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_real_path_is_known_where_the_target_of_a_link_is_missing_fc_103() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let (folder, outside) = (folder.path().canonicalize().unwrap(), outside.path().canonicalize().unwrap());
        symlink(outside.join("new.txt"), folder.join("in.txt")).unwrap();
        symlink("in.txt", folder.join("again.txt")).unwrap();
        symlink(outside.join("none"), folder.join("gone")).unwrap();
        symlink("loop-b", folder.join("loop-a")).unwrap();
        symlink("loop-a", folder.join("loop-b")).unwrap();
        assert_eq!(real_path(&folder.join("in.txt")), outside.join("new.txt"));
        assert_eq!(real_path(&folder.join("again.txt")), outside.join("new.txt"));
        assert_eq!(real_path(&folder.join("gone/deep/x.txt")), outside.join("none/deep/x.txt"));
        assert_eq!(real_path(&folder.join("missing/x.txt")), folder.join("missing/x.txt"));
        let _ends = real_path(&folder.join("loop-a/x"));
    }

    #[test]
    fn writing_keeps_links_and_cuts_the_old_rest_fc_052() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "a long old text").unwrap();
        symlink("real", &link).unwrap();
        let stat = write(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(stat.len, 3);
    }

    #[test]
    fn only_regular_files_are_opened_fc_054() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for path in [pipe.as_path(), Path::new("/dev/zero"), folder.path()] {
            assert!(LocalReader::open(path).is_err(), "{}", path.display());
            assert!(write(path, b"x").is_err(), "{}", path.display());
        }
    }

    #[tokio::test]
    async fn files_that_grow_or_shrink_while_they_are_read_end_fc_054() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let whole = vec![b'x'; 3 << 20];
        for (len_after_opening, read) in [(9 << 20, whole.len()), (1 << 20, 1 << 20), (0, FIRST_CHUNK)] {
            fs::write(&path, &whole).unwrap();
            let mut reader = LocalReader::open(&path).unwrap();
            OpenOptions::new().write(true).open(&path).unwrap().set_len(len_after_opening).unwrap();
            let bytes = crate::tools::operations::read_all(&mut reader).await.unwrap();
            assert_eq!(bytes.len(), read, "{len_after_opening}");
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn files_without_a_size_are_read_to_a_bound_fc_054() {
        let mut reader = LocalReader::open(Path::new("/proc/self/status")).unwrap();
        let bytes = crate::tools::operations::read_all(&mut reader).await.unwrap();
        assert!(bytes.starts_with(b"Name:"));
    }
}
