//! The files that a log describes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, ErrorKind},
    path::{Component, Path, PathBuf},
};

use bytes::BytesMut;

use super::frame::Frame;
use crate::store::{paths::create_private_dir, regular_file, replace};

/// How the name of a journal ends. It goes with the session of the same name.
pub(super) const JOURNAL: &str = "state";

/// Files by name, with their contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    there: BTreeMap<String, BytesMut>,
    removed: BTreeSet<String>,
}

impl Files {
    /// Makes a change.
    ///
    /// # Errors
    /// It does not fit to what is there.
    pub(super) fn apply(&mut self, frame: Frame) -> Result<(), String> {
        match frame {
            Frame::Append { file, at, bytes } => {
                let there = self.there.get_mut(&file).ok_or_else(|| format!("{file} is not there and goes on"))?;
                if there.len() as u64 != at {
                    return Err(format!("{file} has {} bytes and goes on at {at}", there.len()));
                }
                there.extend_from_slice(&bytes);
            }
            Frame::Whole { file, bytes } => {
                self.removed.remove(&file);
                self.there.insert(file, BytesMut::from(bytes.as_ref()));
            }
            Frame::Removed { file } => {
                self.there.remove(&file);
                self.removed.insert(file);
            }
        }
        Ok(())
    }

    /// The files, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.there.iter().map(|(file, bytes)| (file.as_str(), bytes.as_ref()))
    }

    /// Makes the files below `folder` these. Files that the log never knew stay, but for journals of sessions that have
    /// none.
    ///
    /// # Errors
    /// A name leads out of the folder, or the system refuses.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        for (file, bytes) in self.iter() {
            let path = inside(folder, file)?;
            if !regular_file::read(&path).is_ok_and(|there| there == bytes) {
                if let Some(parent) = path.parent() {
                    create_private_dir(parent).map_err(io::Error::other)?;
                }
                replace::with(&path, |out| out.write_all(bytes))?;
            }
            let journal = Path::new(file).with_extension(JOURNAL);
            let journal = journal.to_string_lossy();
            if !self.there.contains_key(journal.as_ref()) {
                remove(&inside(folder, &journal)?)?;
            }
        }
        self.removed.iter().try_for_each(|file| remove(&inside(folder, file)?))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The path of a file of the log. Whoever wrote into the log has no say about other places.
fn inside(folder: &Path, file: &str) -> io::Result<PathBuf> {
    let path = Path::new(file);
    let inside = !file.is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)));
    match inside {
        true => Ok(folder.join(path)),
        false => {
            Err(io::Error::new(ErrorKind::InvalidData, format!("the log names a file outside of its folder: {file}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn append(file: &str, at: u64, bytes: &'static str) -> Frame {
        Frame::Append { file: file.into(), at, bytes: Bytes::from_static(bytes.as_bytes()) }
    }

    fn whole(file: &str, bytes: &'static str) -> Frame {
        Frame::Whole { file: file.into(), bytes: Bytes::from_static(bytes.as_bytes()) }
    }

    #[test]
    fn changes_that_do_not_fit_are_refused() {
        let mut files = Files::default();
        files.apply(whole("a", "12")).unwrap();
        files.apply(append("a", 2, "3")).unwrap();
        assert!(files.apply(append("a", 2, "x")).unwrap_err().contains("has 3 bytes"));
        assert!(files.apply(append("b", 0, "x")).unwrap_err().contains("not there"));
        assert_eq!(files.iter().collect::<Vec<_>>(), [("a", &b"123"[..])]);
    }

    #[test]
    fn a_folder_becomes_what_the_log_says() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for (file, text) in
            [("s.jsonl", "12 and a tail that nobody saw"), ("s.state", "old"), ("other", "mine"), ("gone", "")]
        {
            fs::write(path(file), text).unwrap();
        }
        let mut files = Files::default();
        for frame in [whole("s.jsonl", "12"), whole("s.agents/k.jsonl", "k"), Frame::Removed { file: "gone".into() }] {
            files.apply(frame).unwrap();
        }
        files.write(dir.path()).unwrap();
        assert_eq!(fs::read_to_string(path("s.jsonl")).unwrap(), "12");
        assert_eq!(fs::read_to_string(path("s.agents/k.jsonl")).unwrap(), "k");
        assert_eq!(fs::read_to_string(path("other")).unwrap(), "mine");
        assert!(!path("s.state").exists() && !path("gone").exists());
    }

    #[test]
    fn a_log_cannot_write_outside_of_its_folder() {
        for name in ["../x", "/x", "a/../../x", "", "./x"] {
            let mut files = Files::default();
            files.apply(whole(name, "x")).unwrap();
            let dir = tempfile::tempdir().unwrap();
            assert!(files.write(dir.path()).is_err(), "{name}");
        }
    }
}
