//! Sessions that come from elsewhere, and branches that go there.

use std::{
    fs::OpenOptions,
    io::{self, ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use super::dir::read_header;
use crate::{
    protocol::entry::SessionHeader,
    store::{
        StoreError, jsonl::encode::encode_header, paths::create_private_dir, regular_file, replace, tree::TreeView,
    },
};

/// Copies a session file into the folder `dir`, under its own name or, when that is taken, one with a number.
/// Returns the copy.
///
/// # Errors
/// When the file is no session or cannot be copied.
pub fn import(source: &Path, dir: &Path) -> Result<PathBuf, StoreError> {
    if read_header(source).is_none() {
        return Err(StoreError::NotASession(source.to_owned()));
    }
    create_private_dir(dir)?;
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let names = std::iter::once(format!("{stem}.jsonl")).chain((1..).map(|n| format!("{stem}-{n}.jsonl")));
    let mut input = regular_file::open_to_read(source).map_err(StoreError::io("open", source))?;
    for path in names.map(|name| dir.join(name)) {
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::io("create", &path)(error)),
            Ok(mut output) => {
                io::copy(&mut input, &mut output).map_err(StoreError::io("write", &path))?;
                return Ok(path);
            }
        }
    }
    Err(StoreError::io("create a file in", dir)(ErrorKind::AlreadyExists.into()))
}

/// What becomes of a file that is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is written.
    Keep,
    /// It is replaced.
    Replace,
}

/// Writes the branch of the view's leaf as a session file of its own, with the same id and folder.
///
/// # Errors
/// When it cannot be written.
pub fn export_branch(view: &TreeView, path: &Path, existing: Existing) -> Result<(), StoreError> {
    let header = SessionHeader { parent_session: None, ..view.header().clone() };
    let mut first = Vec::new();
    encode_header(&header, &mut first)?;
    let lines = view
        .branch_lines()
        .map_err(|reason| StoreError::io("export the session to", path)(io::Error::other(reason)))?;
    let write = |writer: &mut dyn Write| {
        writer.write_all(&first)?;
        lines.iter().try_for_each(|line| writeln!(writer, "{line}"))
    };
    let written = match existing {
        Existing::Keep => replace::create(path, write),
        Existing::Replace => replace::with(path, write),
    };
    match written {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(StoreError::Exists(path.to_owned())),
        written => written.map_err(StoreError::io("write", path)),
    }
}
