//! Putting files where people can get them back.
//!
//! The command `trash` is asked first, as people who installed it expect. Without it, files go into the folder that the
//! desktop shows: on Linux by freedesktop.org's specification, on macOS `~/.Trash`. Files are moved, never copied: what
//! lies in another file system goes into that one's own trash.

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write as _},
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::paths::create_private_dir;
use crate::protocol::time::{Millis, iso};

/// Where deleted files go.
#[derive(Clone, Debug, Default)]
pub struct Trash {
    /// A program that takes files as its arguments.
    pub command: Option<PathBuf>,
    /// The user's own folder for trash.
    pub folder: Option<PathBuf>,
    /// How folders for trash are kept.
    pub kind: TrashKind,
}

/// How a folder for trash is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrashKind {
    /// `files` and, for each file, `info` with the place where it lay.
    Freedesktop,
    /// The files alone.
    Plain,
}

impl Default for TrashKind {
    fn default() -> Self {
        if cfg!(target_os = "macos") { Self::Plain } else { Self::Freedesktop }
    }
}

/// Files that could not be put into any trash. None of them was deleted.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be put into the trash: {source}", path.display())]
pub struct TrashError {
    /// The first that could not be moved. Those before it were.
    pub path: PathBuf,
    /// Why not.
    pub source: io::Error,
}

impl Trash {
    /// That of a user with this home and these values of `PATH` and `XDG_DATA_HOME`.
    #[must_use]
    pub fn of_user(home: Option<&Path>, path: Option<&OsStr>, data_home: Option<&Path>) -> Self {
        let kind = TrashKind::default();
        let folder = match kind {
            TrashKind::Plain => home.map(|home| home.join(".Trash")),
            TrashKind::Freedesktop => {
                let data = data_home.filter(|data| data.is_absolute()).map(Path::to_owned);
                data.or_else(|| Some(home?.join(".local/share"))).map(|data| data.join("Trash"))
            }
        };
        let folders = path.map(std::env::split_paths).into_iter().flatten();
        let command = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join("trash"));
        Self { command: command.into_iter().find(|command| is_program(command)), folder, kind }
    }

    /// Moves files into the trash. Those that are not there count as moved.
    ///
    /// # Errors
    /// When one of them can be moved nowhere.
    pub fn take(&self, files: &[PathBuf], now: Millis) -> Result<(), TrashError> {
        let there: Vec<_> = files.iter().filter(|file| file.symlink_metadata().is_ok()).collect();
        if let Some(command) = &self.command {
            ask(command, &there);
        }
        for file in there.into_iter().filter(|file| file.symlink_metadata().is_ok()) {
            self.take_one(file, now).map_err(|source| TrashError { path: file.clone(), source })?;
        }
        Ok(())
    }

    fn take_one(&self, file: &Path, now: Millis) -> io::Result<()> {
        let place = fs::canonicalize(file.parent().unwrap_or(Path::new(".")))?;
        let file = place.join(file.file_name().ok_or(ErrorKind::InvalidInput)?);
        let own = self.folder.as_deref().ok_or_else(|| io::Error::other("there is no home folder"));
        let own = own.and_then(|folder| put(&file, folder, &file, self.kind, now));
        match (own, self.kind) {
            (Err(error), TrashKind::Freedesktop) if error.kind() == ErrorKind::CrossesDevices => {
                let top = top_of(&place)?;
                // Paths in the trash of a file system begin at its top.
                let relative = file.strip_prefix(&top).unwrap_or(&file).to_owned();
                put(&file, &trash_of(&top)?, &relative, self.kind, now)
            }
            (moved, _) => moved,
        }
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0)
}

/// Has the program move the files. What it could not move is there still.
fn ask(command: &Path, files: &[&PathBuf]) {
    // A name that begins with a dash is no option: paths are made absolute.
    let files = files.iter().filter_map(|file| std::path::absolute(file).ok());
    let mut asked = Command::new(command);
    let asked = asked.args(files).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !asked.as_ref().is_ok_and(std::process::ExitStatus::success) {
        tracing::debug!(?asked, "the command trash failed");
    }
}

/// Moves `file` into the folder `trash`, with a note that it lay at `origin`.
fn put(file: &Path, trash: &Path, origin: &Path, kind: TrashKind, now: Millis) -> io::Result<()> {
    let name = file.file_name().ok_or(ErrorKind::InvalidInput)?;
    let folder = if kind == TrashKind::Freedesktop { trash.join("files") } else { trash.to_owned() };
    let info = trash.join("info");
    create_private_dir(&folder).map_err(io::Error::other)?;
    if kind == TrashKind::Plain {
        let free = names(name).map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_err());
        return fs::rename(file, free.ok_or(ErrorKind::AlreadyExists)?);
    }
    create_private_dir(&info).map_err(io::Error::other)?;
    for name in names(name) {
        let mut note = name.clone();
        note.push(".trashinfo");
        let note = info.join(note);
        // The note reserves the name.
        let mut reserved = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&note) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            reserved => reserved?,
        };
        let target = folder.join(&name);
        let moved = match target.symlink_metadata() {
            Ok(_) => Err(ErrorKind::AlreadyExists.into()),
            Err(_) => reserved.write_all(info_text(origin, now).as_bytes()).and_then(|()| fs::rename(file, &target)),
        };
        match moved {
            Ok(()) => return Ok(()),
            Err(error) => {
                fs::remove_file(&note)?;
                if error.kind() != ErrorKind::AlreadyExists {
                    return Err(error);
                }
            }
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Names to try: the file's own, then with a number before its ending.
fn names(name: &OsStr) -> impl Iterator<Item = OsString> + '_ {
    let path = Path::new(name);
    let numbered = (2..10_000).map(move |n| {
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!(" {n}"));
        if let Some(ending) = path.extension() {
            name.push(".");
            name.push(ending);
        }
        name
    });
    std::iter::once(name.to_owned()).chain(numbered)
}

/// What the note of a deleted file says.
fn info_text(origin: &Path, now: Millis) -> String {
    let mut path = String::new();
    for byte in origin.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => path.push(char::from(*byte)),
            byte => {
                let _ = write!(path, "%{byte:02X}");
            }
        }
    }
    // The time is one without zone.
    let time = iso(now);
    let time = time.split('.').next().unwrap_or_default();
    format!("[Trash Info]\nPath={path}\nDeletionDate={time}\n")
}

/// The folder at the top of the file system that `folder` lies in.
fn top_of(folder: &Path) -> io::Result<PathBuf> {
    let device = folder.metadata()?.dev();
    let is_same = |above: &&Path| above.metadata().is_ok_and(|metadata| metadata.dev() == device);
    Ok(folder.ancestors().take_while(is_same).last().unwrap_or(folder).to_owned())
}

/// The user's folder for trash at the top of a file system: in one for all users, when there is a safe one, or of
/// its own.
fn trash_of(top: &Path) -> io::Result<PathBuf> {
    const STICKY: u32 = 0o1000;
    let user = rustix::process::getuid().as_raw();
    let shared = top.join(".Trash");
    let is_safe = |metadata: fs::Metadata| metadata.is_dir() && metadata.mode() & STICKY != 0;
    let own = match shared.symlink_metadata().map(is_safe) {
        Ok(true) => shared.join(user.to_string()),
        _ => top.join(format!(".Trash-{user}")),
    };
    create_private_dir(&own).map_err(io::Error::other)?;
    let metadata = own.symlink_metadata()?;
    if metadata.is_dir() && metadata.uid() == user {
        Ok(own)
    } else {
        Err(io::Error::other(format!("{} belongs to somebody else", own.display())))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn files_of_the_same_name_get_numbers_and_what_is_gone_counts_as_moved() {
        let dir = tempfile::tempdir().unwrap();
        for (kind, files) in [(TrashKind::Freedesktop, "t1/files"), (TrashKind::Plain, "t2")] {
            let folder = dir.path().join(files.split('/').next().unwrap());
            let trash = Trash { command: None, folder: Some(folder.clone()), kind };
            for text in ["1", "2", "3"] {
                trash.take(&[file(dir.path(), "a.jsonl", text), dir.path().join("gone")], 0).unwrap();
            }
            for (name, text) in [("a.jsonl", "1"), ("a 2.jsonl", "2"), ("a 3.jsonl", "3")] {
                assert_eq!(fs::read_to_string(dir.path().join(files).join(name)).unwrap(), text);
                assert_eq!(folder.join("info").join(format!("{name}.trashinfo")).exists(), kind != TrashKind::Plain);
            }
            assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_note_tells_where_the_file_lay_in_plain_ascii() {
        let text = info_text(Path::new("/s/--p-é--/a b%.jsonl"), 1_767_323_045_678);
        assert_eq!(text, "[Trash Info]\nPath=/s/--p-%C3%A9--/a%20b%25.jsonl\nDeletionDate=2026-01-02T03:04:05\n");
    }

    #[test]
    fn the_command_is_asked_first_and_what_it_leaves_is_moved() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for (script, asked) in [("mkdir -p \"$T\" && mv \"$@\" \"$T\"", true), ("exit 1", false), ("exit 0", false)] {
            let script = script.replace("$T", &dir.path().join("taken").to_string_lossy());
            let command = file(&bin, "trash", &format!("#!/bin/sh\n{script}\n"));
            fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).unwrap();
            let trash = Trash::of_user(Some(dir.path()), Some(bin.as_os_str()), None);
            assert_eq!(trash.command.as_deref(), Some(&*command));
            let name = format!("{}.jsonl", script.len());
            trash.take(&[file(dir.path(), &name, "x")], 0).unwrap();
            assert!(!dir.path().join(&name).exists());
            assert_eq!(dir.path().join("taken").join(&name).exists(), asked, "{script}");
        }
    }

    #[test]
    fn without_a_trash_the_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = file(dir.path(), "a", "x");
        let error = Trash::default().take(std::slice::from_ref(&path), 0).unwrap_err().to_string();
        assert!(error.contains("cannot be put into the trash") && path.exists(), "{error}");
        let in_the_way = Trash { folder: Some(path.clone()), ..Trash::default() };
        assert!(in_the_way.take(&[file(dir.path(), "b", "x")], 0).is_err());
    }

    #[test]
    fn the_top_of_a_file_system_is_where_its_number_changes() {
        let dir = tempfile::tempdir().unwrap();
        let top = top_of(dir.path()).unwrap();
        assert!(dir.path().starts_with(&top));
        let own = trash_of(dir.path()).unwrap();
        let name = format!(".Trash-{}", rustix::process::getuid().as_raw());
        assert_eq!(own, dir.path().join(name));
        assert!(own.is_dir());
    }
}
