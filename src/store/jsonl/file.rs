//! A session file that is being written.

use std::{
    fs::{File, OpenOptions},
    io::{self, ErrorKind, Read, Seek, SeekFrom, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use tempfile::NamedTempFile;

use super::read::{self, Loaded, ReadError, Span, Tail};
use crate::store::{
    StoreError, Syncer,
    lock::{Lock, lock},
    paths, regular_file,
    replace::follow_link,
};

/// Where the text of stored lines is read again.
pub trait LineSource: Send + Sync {
    /// The text at `span`.
    ///
    /// # Errors
    /// When it cannot be read, or is not there any more.
    fn line(&self, span: Span) -> io::Result<String>;
}

impl LineSource for Vec<u8> {
    fn line(&self, span: Span) -> io::Result<String> {
        let start = usize::try_from(span.offset).unwrap_or(usize::MAX);
        let bytes = self.get(start..).and_then(|rest| rest.get(..span.length as usize));
        let bytes = bytes.ok_or(ErrorKind::UnexpectedEof)?;
        String::from_utf8(bytes.to_owned()).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }
}

impl LineSource for File {
    fn line(&self, span: Span) -> io::Result<String> {
        let mut bytes = vec![0; span.length as usize];
        self.read_exact_at(&mut bytes, span.offset)?;
        String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }
}

/// What another program did to the file since the last look.
#[derive(Debug)]
pub enum Change {
    /// It appended this.
    Grew(Tail),
    /// It removed the file.
    Removed,
}

/// A session file, open and locked.
#[derive(Debug)]
pub struct SessionFile {
    file: Arc<File>,
    path: PathBuf,
    /// So many bytes were read or written by us.
    known: u64,
    ends_with_newline: bool,
    lock: Lock,
    /// The folder does not know of the file for certain before it is synced, too.
    new: Arc<AtomicBool>,
}

/// The length and the number of names of a file; a file that was removed has no name.
///
/// Only these two are asked for: Linux gives a file whose times were asked for a new, exact time with the next write,
/// which makes appending half as fast again.
#[cfg(target_os = "linux")]
fn look(file: &File) -> io::Result<(u64, u64)> {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    let facts = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::SIZE | StatxFlags::NLINK)?;
    Ok((facts.stx_size, facts.stx_nlink.into()))
}

/// The length and the number of names of a file; a file that was removed has no name.
#[cfg(not(target_os = "linux"))]
fn look(file: &File) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok((metadata.len(), metadata.nlink()))
}

impl SessionFile {
    /// Makes a file that must not exist yet and fills it. Readable for nobody else. It appears whole and locked: whoever
    /// looks for it meanwhile, and whoever comes after a crash, finds all of it or nothing.
    ///
    /// # Errors
    /// When it exists, or cannot be made and filled; then there is no file.
    pub fn create(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            paths::create_private_dir(folder)?;
        }
        let (new, target, file, lock) = beside(path, fill)?;
        new.persist_noclobber(target).map_err(|error| match error.error.kind() {
            ErrorKind::AlreadyExists => StoreError::MadeByAnother(path.to_owned()),
            _ => StoreError::io("create", path)(error.error),
        })?;
        let (known, _) = look(&file).map_err(StoreError::io("look at", path))?;
        Ok(Self::of(file, path, known, true, lock, true))
    }

    fn of(file: File, path: &Path, known: u64, ends_with_newline: bool, lock: Lock, new: bool) -> Self {
        let new = Arc::new(AtomicBool::new(new));
        Self { file: Arc::new(file), path: path.to_owned(), known, ends_with_newline, lock, new }
    }

    /// Opens a file to be continued, and reads it. An empty one gives no lines.
    ///
    /// # Errors
    /// When it cannot be opened or read, is in use, or holds something else than a session.
    pub fn open(path: &Path) -> Result<(Self, Option<Loaded>), StoreError> {
        let mut options = OpenOptions::new();
        let file = regular_file::open(path, options.read(true).append(true)).map_err(StoreError::io("open", path))?;
        let lock = lock(&file, path)?;
        let loaded = load(&file, path)?;
        let known = loaded.as_ref().map_or(0, |loaded| loaded.length);
        let ends_with_newline = loaded.as_ref().is_none_or(|loaded| loaded.ends_with_newline);
        Ok((Self::of(file, path, known, ends_with_newline, lock, false), loaded))
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where stored lines can be read again.
    #[must_use]
    pub fn source(&self) -> Arc<dyn LineSource> {
        self.file.clone()
    }

    /// Looks whether another program changed the file. What was appended is taken into account from then on.
    ///
    /// # Errors
    /// When the file cannot be read, or lost what was known of it.
    pub fn check(&mut self) -> Result<Option<Change>, StoreError> {
        let (length, names) = look(&self.file).map_err(StoreError::io("look at", &self.path))?;
        if names == 0 {
            return Ok(Some(Change::Removed));
        }
        if length < self.known {
            return Err(StoreError::Rewritten(self.path.clone()));
        }
        if length == self.known {
            // Other bytes of the same number are found out when a line is read again: it has another id.
            return Ok(None);
        }
        let mut tail = &*self.file;
        let tail = tail
            .seek(SeekFrom::Start(self.known))
            .and_then(|start| read::read_tail(tail.take(length - start), start))
            .map_err(StoreError::io("read", &self.path))?;
        self.ends_with_newline = tail.ends_with_newline;
        self.known = length;
        Ok(Some(Change::Grew(tail)))
    }

    /// Appends whole lines with one write. Returns the offset of the first of them.
    ///
    /// # Errors
    /// When not all could be written; then the part that was is taken back.
    pub fn append(&mut self, lines: &[u8]) -> Result<u64, StoreError> {
        let separated;
        let (bytes, lead) = if self.ends_with_newline {
            (lines, 0)
        } else {
            // The last line is a fragment: it gets its end, and keeps its bytes.
            separated = [b"\n", lines].concat();
            (&*separated, 1)
        };
        // One `write`, so that lines of two programs never mix; a second one only when the system took a part.
        let mut file = &*self.file;
        // An append leaves the position behind what it wrote.
        let end = match file.write_all(bytes).and_then(|()| file.stream_position()) {
            Ok(end) => end,
            Err(error) => {
                self.take_back(bytes);
                return Err(StoreError::io("write", &self.path)(error));
            }
        };
        self.ends_with_newline = true;
        let start = end - bytes.len() as u64;
        if start == self.known {
            self.known = end;
        }
        // Else another program appended since the last look: the next one reads what came in between, and steps over
        // what is ours.
        Ok(start + lead)
    }

    /// What people should know of the file's lock; none when it is held.
    #[must_use]
    pub fn lock_notice(&self) -> Option<String> {
        self.lock.notice(&self.path)
    }

    /// Gives the lock up: others may write the file now, however long something here still reads it.
    pub fn unlock(&self) {
        // Where there are no locks there is none to give up. Any other lock ends with the file at the latest.
        let _ = self.file.unlock();
    }

    /// What makes durable all that was written so far.
    #[must_use]
    pub fn syncer(&self) -> Syncer {
        Syncer::of_new(self.file.clone(), &self.path, self.new.clone())
    }

    /// Removes what a failed write of `bytes` left at the end, unless somebody else's bytes are there too.
    fn take_back(&mut self, bytes: &[u8]) {
        let mut tail = Vec::new();
        let mut file = &*self.file;
        let read = file.seek(SeekFrom::Start(self.known)).and_then(|_| file.read_to_end(&mut tail));
        if read.is_ok() && bytes.starts_with(&tail) {
            // When this fails too, the next check finds the rest and steps over it.
            let _ = self.file.set_len(self.known);
        }
    }

    /// Puts other contents in this file's place, all at once. The old file stays under the name `kept`.
    ///
    /// # Errors
    /// When the new file cannot be made; then the old one is still in place.
    pub fn replace(
        &mut self,
        contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        kept: &Path,
    ) -> Result<(), StoreError> {
        let (new, target, file, lock) = beside(&self.path, contents)?;
        new.as_file().sync_data().map_err(StoreError::io("write", &self.path))?;
        keep(&self.file, &self.path, kept)?;
        new.persist(target).map_err(|error| StoreError::io("replace", &self.path)(error.error))?;
        self.take(file, lock)
    }

    /// Makes the file again, with the same bytes, after it was removed.
    ///
    /// # Errors
    /// When it cannot be made, or another file has taken its place.
    pub fn restore(&mut self) -> Result<(), StoreError> {
        let removed = self.file.clone();
        let (new, target, file, lock) = beside(&self.path, |writer| {
            let mut removed = &*removed;
            removed.seek(SeekFrom::Start(0))?;
            io::copy(&mut removed, writer).map(drop)
        })?;
        new.persist_noclobber(target).map_err(|_| StoreError::Rewritten(self.path.clone()))?;
        let ends_with_newline = self.ends_with_newline;
        self.take(file, lock)?;
        self.ends_with_newline = ends_with_newline;
        Ok(())
    }

    fn take(&mut self, file: File, lock: Lock) -> Result<(), StoreError> {
        let known = look(&file).map_err(StoreError::io("look at", &self.path))?.0;
        let path = self.path.clone();
        *self = Self::of(file, &path, known, true, lock, true);
        Ok(())
    }
}

/// A new file in the folder of `path`, filled and locked, under a name of its own until it is put in place.
fn beside(
    path: &Path,
    contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(NamedTempFile, PathBuf, File, Lock), StoreError> {
    // A link stays a link.
    let target = follow_link(path).map_err(StoreError::io("look at", path))?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Such files are readable for nobody else.
    let mut new = NamedTempFile::new_in(folder).map_err(StoreError::io("create a file in", folder))?;
    let mut writer = io::BufWriter::new(new.as_file_mut());
    contents(&mut writer).and_then(|()| writer.flush()).map_err(StoreError::io("write", path))?;
    drop(writer);
    let mut options = OpenOptions::new();
    let file = options.read(true).append(true).open(new.path()).map_err(StoreError::io("open", new.path()))?;
    let lock = lock(&file, path)?;
    Ok((new, target, file, lock))
}

/// Keeps the bytes of `file` under the name `kept`, or the first free one of its kind: as another name of the same file,
/// or as a copy where files have one name only.
fn keep(file: &File, path: &Path, kept: &Path) -> Result<(), StoreError> {
    let names = std::iter::once(kept.to_owned()).chain((2..).map(|n| PathBuf::from(format!("{}-{n}", kept.display()))));
    for name in names {
        match std::fs::hard_link(path, &name) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(_) => return copy(file, &name).map_err(StoreError::io("keep a copy at", &name)),
        }
    }
    Ok(())
}

fn copy(file: &File, to: &Path) -> io::Result<()> {
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    let mut file = file;
    file.seek(SeekFrom::Start(0))?;
    io::copy(&mut file, &mut copy)?;
    copy.sync_data()
}

impl Drop for SessionFile {
    fn drop(&mut self) {
        // Views go on reading from the open file: the lock must not last as long as they do.
        let _ = self.file.unlock();
    }
}

/// Reads a session that is not going to be written; `None` when the file is empty.
///
/// # Errors
/// When it cannot be read or holds something else than a session.
pub fn load(file: &File, path: &Path) -> Result<Option<Loaded>, StoreError> {
    match read::read(file, Some(path)) {
        Ok(loaded) => Ok(Some(loaded)),
        Err(ReadError::Empty) => Ok(None),
        Err(ReadError::NotASession) => Err(StoreError::NotASession(path.to_owned())),
        Err(ReadError::Io(error)) => Err(StoreError::io("read", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{file, header, user};

    fn made(dir: &tempfile::TempDir) -> SessionFile {
        SessionFile::create(&dir.path().join("s.jsonl"), |out| out.write_all(&file(&[header()]))).unwrap()
    }

    fn by_another(path: &Path, bytes: &[u8]) {
        OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
    }

    #[test]
    fn fc_010_what_a_failed_write_left_is_removed_unless_others_wrote_behind_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = made(&dir);
        let path = session.path().to_owned();
        let before = std::fs::read(&path).unwrap();
        let lines = file(&[user("a", "", "x")]);
        by_another(&path, &lines[..20]);
        session.take_back(&lines);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert!(session.check().unwrap().is_none());

        by_another(&path, &[&lines[..20], b"\nforeign"].concat());
        session.take_back(&lines);
        assert_eq!(std::fs::read(&path).unwrap().len(), before.len() + 28);
    }

    #[test]
    fn fc_007_a_line_knows_its_place_when_another_program_wrote_in_the_same_moment() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = made(&dir);
        // Between the check and the write.
        by_another(session.path(), &file(&[user("foreign", "", "x")]));
        let own = user("own", "", "y");
        let offset = session.append(&file(std::slice::from_ref(&own))).unwrap();
        let span = Span { offset, length: own.len() as u32 };
        assert_eq!(session.source().line(span).unwrap(), own);
        let Some(Change::Grew(tail)) = session.check().unwrap() else { panic!("not noticed") };
        assert_eq!(tail.lines.iter().map(|line| line.id.as_str()).collect::<Vec<_>>(), ["foreign", "own"]);
        assert!(session.check().unwrap().is_none());
    }
}
