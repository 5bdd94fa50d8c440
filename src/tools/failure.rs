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
    let errno = Errno::from_raw_os_error(error.raw_os_error()?);
    NAMES.iter().find(|(known, _)| *known == errno).map(|(_, name)| *name)
}

/// What the system says, without the number and in lower case.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

const NAMES: &[(Errno, &str)] = &[
    (Errno::NOENT, "ENOENT"),
    (Errno::ACCESS, "EACCES"),
    (Errno::PERM, "EPERM"),
    (Errno::ISDIR, "EISDIR"),
    (Errno::NOTDIR, "ENOTDIR"),
    (Errno::EXIST, "EEXIST"),
    (Errno::NOTEMPTY, "ENOTEMPTY"),
    (Errno::LOOP, "ELOOP"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG"),
    (Errno::NOSPC, "ENOSPC"),
    (Errno::DQUOT, "EDQUOT"),
    (Errno::FBIG, "EFBIG"),
    (Errno::ROFS, "EROFS"),
    (Errno::INVAL, "EINVAL"),
    (Errno::IO, "EIO"),
    (Errno::BUSY, "EBUSY"),
    (Errno::TXTBSY, "ETXTBSY"),
    (Errno::NXIO, "ENXIO"),
    (Errno::AGAIN, "EAGAIN"),
    (Errno::MFILE, "EMFILE"),
    (Errno::NFILE, "ENFILE"),
    (Errno::NOMEM, "ENOMEM"),
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
