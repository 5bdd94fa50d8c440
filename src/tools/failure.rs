//! Failures in words for a model.

use std::{io, path::Path};

use rustix::io::Errno;

use crate::protocol::ToolOutput;

/// Why a call failed: the text says what was expected and what the model can do. Becomes a result with `is_error`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(String);

impl Failure {
    /// A failure in these words.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The call was cancelled.
    #[must_use]
    pub fn aborted() -> Self {
        Self::new("Operation aborted")
    }

    /// `operation` failed on `path`, as in `ENOENT: no such file or directory, open '/x'`.
    #[must_use]
    pub fn io(error: &io::Error, operation: &str, path: &Path) -> Self {
        Self::new(describe(error, operation, path))
    }
}

impl From<Failure> for ToolOutput {
    fn from(Failure(text): Failure) -> Self {
        Self::error(text)
    }
}

/// An error in words: its code, what the system says, what was tried and on which path.
#[must_use]
pub fn describe(error: &io::Error, operation: &str, path: &Path) -> String {
    let path = path.display();
    match code(error) {
        Some(code) => format!("{code}: {}, {operation} '{path}'", reason(error)),
        None => format!("{}, {operation} '{path}'", reason(error)),
    }
}

/// The symbolic name of a system error; none for errors that do not come from the system and codes without a name here.
#[must_use]
pub fn code(error: &io::Error) -> Option<&'static str> {
    known(error).map(|(_, name, _)| *name)
}

/// What went wrong, without the number and in lower case.
fn reason(error: &io::Error) -> String {
    if let Some((_, _, reason)) = known(error) {
        return (*reason).to_owned();
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

fn known(error: &io::Error) -> Option<&'static (Errno, &'static str, &'static str)> {
    let errno = Errno::from_raw_os_error(error.raw_os_error()?);
    KNOWN.iter().find(|(known, ..)| *known == errno)
}

/// Errors with the names and words that models know best, which are those of Node, whatever the system says.
const KNOWN: &[(Errno, &str, &str)] = &[
    (Errno::NOENT, "ENOENT", "no such file or directory"),
    (Errno::ACCESS, "EACCES", "permission denied"),
    (Errno::PERM, "EPERM", "operation not permitted"),
    (Errno::ISDIR, "EISDIR", "illegal operation on a directory"),
    (Errno::NOTDIR, "ENOTDIR", "not a directory"),
    (Errno::EXIST, "EEXIST", "file already exists"),
    (Errno::NOTEMPTY, "ENOTEMPTY", "directory not empty"),
    (Errno::LOOP, "ELOOP", "too many symbolic links encountered"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG", "name too long"),
    (Errno::NOSPC, "ENOSPC", "no space left on device"),
    (Errno::DQUOT, "EDQUOT", "disk quota exceeded"),
    (Errno::FBIG, "EFBIG", "file too large"),
    (Errno::ROFS, "EROFS", "read-only file system"),
    (Errno::INVAL, "EINVAL", "invalid argument"),
    (Errno::IO, "EIO", "i/o error"),
    (Errno::BUSY, "EBUSY", "resource busy or locked"),
    (Errno::TXTBSY, "ETXTBSY", "text file is busy"),
    (Errno::NXIO, "ENXIO", "no such device or address"),
    (Errno::AGAIN, "EAGAIN", "resource temporarily unavailable"),
    (Errno::MFILE, "EMFILE", "too many open files"),
    (Errno::NFILE, "ENFILE", "file table overflow"),
    (Errno::NOMEM, "ENOMEM", "not enough memory"),
    (Errno::STALE, "ESTALE", "stale file handle"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_code_reason_operation_and_path() {
        let missing = std::fs::read("/nonexistent-folder/x").unwrap_err();
        assert_eq!(
            describe(&missing, "open", Path::new("/nonexistent-folder/x")),
            "ENOENT: no such file or directory, open '/nonexistent-folder/x'"
        );
        let own = io::Error::other("Not a regular file");
        assert_eq!(describe(&own, "read", Path::new("/p")), "not a regular file, read '/p'");
    }
}
