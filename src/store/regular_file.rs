//! Opening and reading files that must be regular ones.
//!
//! A named pipe waits for its other end, a terminal for its user, `/dev/zero` never ends: none of them is a session, a
//! settings file or anything else that is stored. They are refused before a byte is read.

use std::{
    fs::{File, FileType, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _},
    path::Path,
};

/// Opens `path` with these options.
///
/// # Errors
/// When the system refuses, or when it is something else than a regular file; the text says what it is, but not where:
/// callers add the path.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Without this flag, opening a pipe waits for its other end. For a regular file it means nothing.
    let dont_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = options.custom_flags(dont_wait).open(path)?;
    check(file.metadata()?.file_type())?;
    Ok(file)
}

/// Accepts a regular file only.
///
/// # Errors
/// When it is something else; the text says what.
pub fn check(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("expected a regular file, found {}", name(kind))))
}

/// Opens `path` to be read.
///
/// # Errors
/// See [`open`].
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true))
}

/// The bytes of `path`.
///
/// # Errors
/// See [`open`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_to_read(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of `path`.
///
/// # Errors
/// See [`open`]; also when it is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_to_read(path)?.read_to_string(&mut text)?;
    Ok(text)
}

fn name(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_char_device() || kind.is_block_device() => "a device",
        _ => "something else",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::pipe_in;

    #[test]
    fn only_regular_files_are_opened_and_nothing_waits() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "text").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for path in [&file, &link] {
            assert_eq!(read_to_string(path).unwrap(), "text");
            assert_eq!(read(path).unwrap(), b"text");
        }
        let pipe = pipe_in(dir.path(), "pipe");
        for (path, found) in [
            (dir.path(), "found a folder"),
            (&pipe, "found a pipe"),
            (Path::new("/dev/null"), "found a device"),
            (Path::new("/dev/zero"), "found a device"),
        ] {
            let error = read(path).unwrap_err();
            assert_eq!(error.to_string(), format!("expected a regular file, {found}"), "{}", path.display());
        }
        let append = open(&pipe, OpenOptions::new().read(true).append(true)).unwrap_err();
        assert_eq!(append.to_string(), "expected a regular file, found a pipe");
        assert_eq!(read(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
