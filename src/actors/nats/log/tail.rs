//! What files have that was not shipped yet. Sessions only grow, so that their tails are shipped; whatever else happened
//! to them shows, and they are shipped anew. Journals are small, and compared byte by byte.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, ErrorKind, Read as _},
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::Path,
};

use bytes::Bytes;

use super::{
    files::{Files, JOURNAL},
    frame::Frame,
};
use crate::store::{checkpoints, regular_file};

/// How many of the last bytes that were shipped are compared before a tail is.
const COMPARED: usize = 256;

/// What was shipped of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shipped {
    /// The beginning of a session.
    Session {
        /// How much.
        len: u64,
        /// Which file it was: device and inode.
        file: (u64, u64),
        /// Its last bytes.
        end: Vec<u8>,
    },
    /// A journal, all of it.
    Journal(Bytes),
}

/// What was shipped, by the names of files. Names are relative to the folder of the log.
pub(super) type ShippedFiles = BTreeMap<String, Shipped>;

/// What has to be shipped, and what was shipped when it is.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// The changes.
    pub(super) frames: Vec<Frame>,
    /// What was shipped with them; none for a file that is gone.
    pub(super) then: Vec<(String, Option<Shipped>)>,
}

impl Difference {
    /// Adds what has changed of the session file `session` (a name), of its journal, and of the log of its checkpoints:
    /// which files a run changed is told at its end, whoever began it. What the files held stays where it is.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) fn add(&mut self, folder: &Path, session: &str, shipped: &ShippedFiles) -> io::Result<()> {
        let journal = Path::new(session).with_extension(JOURNAL).to_string_lossy().into_owned();
        // The journal last: what it says is about what the session has.
        let checkpoints = checkpoints::log::path_of(Path::new(session)).to_string_lossy().into_owned();
        self.session(folder, session, shipped.get(session))?;
        self.session(folder, &checkpoints, shipped.get(&checkpoints))?;
        self.journal(folder, &journal, shipped.get(&journal))
    }

    /// A file that only grows.
    fn session(&mut self, folder: &Path, name: &str, before: Option<&Shipped>) -> io::Result<()> {
        let Some(file) = open(&folder.join(name))? else {
            self.removed(name, before);
            return Ok(());
        };
        let meta = file.metadata()?;
        let (len, id, name) = (meta.len(), (meta.dev(), meta.ino()), name.to_owned());
        match before {
            Some(Shipped::Session { len: before, file: known, end })
                if *known == id && *before <= len && ends_with(&file, *before, end)? =>
            {
                if *before == len {
                    return Ok(());
                }
                let bytes = read_from(&file, *before)?;
                let end = end_of(end, &bytes);
                let len = before + bytes.len() as u64;
                self.frames.push(Frame::Append { file: name.clone(), at: *before, bytes });
                self.then.push((name, Some(Shipped::Session { len, file: id, end })));
            }
            _ => {
                let bytes = read_from(&file, 0)?;
                let (len, end) = (bytes.len() as u64, end_of(&[], &bytes));
                self.frames.push(Frame::Whole { file: name.clone(), bytes });
                self.then.push((name, Some(Shipped::Session { len, file: id, end })));
            }
        }
        Ok(())
    }

    fn journal(&mut self, folder: &Path, name: &str, before: Option<&Shipped>) -> io::Result<()> {
        let bytes: Bytes = match regular_file::read(&folder.join(name)) {
            Ok(bytes) => bytes.into(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.removed(name, before);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let file = name.to_owned();
        let frame = match before {
            Some(Shipped::Journal(before)) if *before == bytes => return Ok(()),
            Some(Shipped::Journal(before)) if bytes.starts_with(before) => {
                Frame::Append { file, at: before.len() as u64, bytes: bytes.slice(before.len()..) }
            }
            _ => Frame::Whole { file, bytes: bytes.clone() },
        };
        self.frames.push(frame);
        self.then.push((name.to_owned(), Some(Shipped::Journal(bytes))));
        Ok(())
    }

    fn removed(&mut self, name: &str, before: Option<&Shipped>) {
        if before.is_some() {
            self.frames.push(Frame::Removed { file: name.to_owned() });
            self.then.push((name.to_owned(), None));
        }
    }

    /// Notes in `shipped` that it was shipped.
    pub(super) fn note(self, shipped: &mut ShippedFiles) {
        for (name, then) in self.then {
            match then {
                Some(then) => drop(shipped.insert(name, then)),
                None => drop(shipped.remove(&name)),
            }
        }
    }
}

/// What was shipped when the files below `folder` are `files`.
///
/// # Errors
/// When they cannot be read.
pub(super) fn of_files(folder: &Path, files: &Files) -> io::Result<ShippedFiles> {
    let one = |(name, bytes): (&str, &[u8])| {
        let shipped = match Path::new(name).extension().is_some_and(|extension| extension == JOURNAL) {
            true => Shipped::Journal(Bytes::copy_from_slice(bytes)),
            false => {
                let meta = folder.join(name).metadata()?;
                let (file, end) = ((meta.dev(), meta.ino()), end_of(&[], bytes));
                Shipped::Session { len: bytes.len() as u64, file, end }
            }
        };
        Ok((name.to_owned(), shipped))
    };
    files.iter().map(one).collect()
}

/// What was shipped of a file, read again.
///
/// # Errors
/// It cannot be read, or is not what it was.
pub(super) fn read_shipped(folder: &Path, name: &str, shipped: &Shipped) -> io::Result<Bytes> {
    let (len, id, end) = match shipped {
        Shipped::Journal(bytes) => return Ok(bytes.clone()),
        Shipped::Session { len, file, end } => (*len, *file, end),
    };
    let changed = || io::Error::new(ErrorKind::InvalidData, format!("{name} was replaced meanwhile"));
    let file = open(&folder.join(name))?.ok_or_else(changed)?;
    let meta = file.metadata()?;
    if (meta.dev(), meta.ino()) != id {
        return Err(changed());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or_default());
    (&file).take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len && bytes.ends_with(end) { Ok(bytes.into()) } else { Err(changed()) }
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match regular_file::open(path, OpenOptions::new().read(true)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the bytes before `at` are `end`.
fn ends_with(file: &File, at: u64, end: &[u8]) -> io::Result<bool> {
    let mut bytes = vec![0; end.len()];
    match file.read_exact_at(&mut bytes, at - end.len() as u64) {
        Ok(()) => Ok(bytes == end),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn read_from(file: &File, at: u64) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    let mut file = file;
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

/// The last bytes of what ended with `before` and goes on with `bytes`.
fn end_of(before: &[u8], bytes: &[u8]) -> Vec<u8> {
    match bytes.len().checked_sub(COMPARED) {
        Some(start) => bytes[start..].to_vec(),
        None => {
            let kept = before.len().min(COMPARED - bytes.len());
            [&before[before.len() - kept..], bytes].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Ships what has changed; what it was, in short.
    fn ship(folder: &Path, shipped: &mut ShippedFiles) -> Vec<String> {
        let mut difference = Difference::default();
        difference.add(folder, "s.jsonl", shipped).unwrap();
        let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
        let told = difference.frames.iter().map(|frame| match frame {
            Frame::Append { file, at, bytes } => format!("{file} at {at}: {}", text(bytes)),
            Frame::Whole { file, bytes } => format!("{file}: {}", text(bytes)),
            Frame::Removed { file } => format!("{file} removed"),
        });
        let told = told.collect();
        difference.note(shipped);
        told
    }

    #[test]
    fn only_what_has_changed_is_shipped() {
        let dir = tempfile::tempdir().unwrap();
        let (session, journal) = (dir.path().join("s.jsonl"), dir.path().join("s.state"));
        let mut shipped = ShippedFiles::new();
        let mut check = |step: &str, expected: &[&str]| {
            assert_eq!(ship(dir.path(), &mut shipped), expected, "{step}");
            assert!(ship(dir.path(), &mut shipped).is_empty(), "{step}: once is enough");
        };
        check("nothing is there", &[]);
        fs::write(&session, "12").unwrap();
        check("made", &["s.jsonl: 12"]);
        fs::write(&session, "1234").unwrap();
        fs::write(&journal, "a").unwrap();
        check("grown", &["s.jsonl at 2: 34", "s.state: a"]);
        fs::write(&journal, "ab").unwrap();
        check("the journal grew", &["s.state at 1: b"]);
        fs::write(&journal, "xy").unwrap();
        check("the journal is another", &["s.state: xy"]);
        fs::write(&session, "12").unwrap();
        check("cut off", &["s.jsonl: 12"]);
        fs::write(&session, "98765").unwrap();
        check("written anew", &["s.jsonl: 98765"]);
        fs::write(dir.path().join("new"), "98765 6").unwrap();
        fs::rename(dir.path().join("new"), &session).unwrap();
        check("replaced", &["s.jsonl: 98765 6"]);
        fs::remove_file(&journal).unwrap();
        check("settled", &["s.state removed"]);
        fs::remove_file(&session).unwrap();
        check("deleted", &["s.jsonl removed"]);
    }

    #[test]
    fn what_was_shipped_can_be_read_again_until_the_file_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s.jsonl");
        fs::write(&session, "1".repeat(700)).unwrap();
        let mut shipped = ShippedFiles::new();
        ship(dir.path(), &mut shipped);
        let known = shipped["s.jsonl"].clone();
        fs::write(&session, "1".repeat(900)).unwrap();
        assert_eq!(read_shipped(dir.path(), "s.jsonl", &known).unwrap().len(), 700);
        fs::write(&session, "2".repeat(900)).unwrap();
        assert!(read_shipped(dir.path(), "s.jsonl", &known).is_err());
        fs::remove_file(&session).unwrap();
        assert!(read_shipped(dir.path(), "s.jsonl", &known).is_err());
    }

    #[test]
    fn the_end_of_what_was_shipped_goes_on() {
        let long = [b'x'; COMPARED];
        assert_eq!(end_of(b"ab", b"c"), b"abc");
        assert_eq!(end_of(b"ab", &long), long);
        assert_eq!(end_of(&long, b"yz"), [&long[2..], b"yz"].concat());
    }
}
