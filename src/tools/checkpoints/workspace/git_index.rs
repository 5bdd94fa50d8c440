//! The index of a git repository: which files it tracks, and by what it knows that they hold what it has.
//!
//! The format is git's `gitformat-index`, versions 2 to 4. Only what a stamp can be compared with is read. An index that
//! is split, or of another version, is as none.

use std::{
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::stamp::{Kind, Stamp};
use crate::store::regular_file;

/// Where a repository keeps what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The folder of the files.
    pub root: PathBuf,
    /// The index file.
    pub index: PathBuf,
    /// Bytes of an object's id.
    id_len: usize,
}

impl Repository {
    /// The repository that `folder` is in.
    pub fn of(folder: &Path) -> Option<Self> {
        let root = folder.ancestors().find(|above| above.join(".git").exists())?;
        let dot_git = root.join(".git");
        let folder = match dot_git.is_dir() {
            true => dot_git,
            // A worktree or a submodule: a file that says where.
            false => {
                let text = regular_file::read_to_string(&dot_git).ok()?;
                root.join(text.trim_end().strip_prefix("gitdir:")?.trim_start())
            }
        };
        let common = regular_file::read_to_string(&folder.join("commondir"));
        let common = common.map_or_else(|_| folder.clone(), |text| folder.join(text.trim_end()));
        let config = regular_file::read_to_string(&common.join("config")).unwrap_or_default().to_ascii_lowercase();
        let is_long = config.lines().any(|line| line.contains("objectformat") && line.contains("sha256"));
        Some(Self { root: root.to_owned(), index: folder.join("index"), id_len: if is_long { 32 } else { 20 } })
    }
}

/// An index as it was read.
#[derive(Debug, Default)]
pub struct GitIndex {
    root: PathBuf,
    /// In the order of their paths.
    entries: Vec<Entry>,
    /// All paths, one after the other.
    paths: Vec<u8>,
    /// When the index was written: files that were written later are not compared.
    written: i64,
}

#[derive(Debug)]
struct Entry {
    path: std::ops::Range<u32>,
    modified: i64,
    len: u32,
    inode: u32,
    executable: bool,
    kind: Kind,
    id: Box<[u8]>,
}

impl GitIndex {
    /// Reads the bytes of an index that was written at `written`; none when they are not understood.
    pub fn parse(repository: &Repository, bytes: &[u8], written: i64) -> Option<Self> {
        let mut reader = Reader { bytes, at: 0 };
        if reader.take(4)? != b"DIRC" {
            return None;
        }
        let version = reader.number()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let count = reader.number()?;
        let mut index = Self { root: repository.root.clone(), written, ..Self::default() };
        let mut path = Vec::new();
        for _ in 0..count {
            let start = reader.at;
            let [_, _, seconds, rest, _, inode, mode, _, _, len] = reader.numbers()?;
            let id = reader.take(repository.id_len)?;
            let flags = reader.short()?;
            let extended = if flags & 0x4000 == 0 { 0 } else { reader.short()? };
            if version == 4 {
                let keep = path.len().checked_sub(reader.variable()?)?;
                path.truncate(keep);
                path.extend_from_slice(reader.until_nul()?);
            } else {
                path.clear();
                path.extend_from_slice(reader.until_nul()?);
                // Entries are padded to a multiple of eight with at least one NUL, which is taken already.
                reader.at = start + (reader.at - 1 - start + 8) / 8 * 8;
            }
            // Merges under way, files that are assumed unchanged, skipped, or to be added: git vouches for none.
            let vouches = flags & 0xb000 == 0 && extended == 0;
            let kind = match mode >> 12 {
                0o10 => Kind::File,
                0o12 => Kind::Link,
                _ => continue,
            };
            if vouches {
                let from = u32::try_from(index.paths.len()).ok()?;
                index.paths.extend_from_slice(&path);
                index.entries.push(Entry {
                    path: from..u32::try_from(index.paths.len()).ok()?,
                    modified: i64::from(seconds) * 1_000_000_000 + i64::from(rest),
                    len,
                    inode,
                    executable: mode & 0o100 != 0,
                    kind,
                    id: id.into(),
                });
            }
        }
        let is_split = reader.bytes[reader.at.min(bytes.len())..].starts_with(b"link");
        (!is_split).then_some(index)
    }

    /// The id of the blob that a file with this stamp holds, when git vouches for it.
    #[allow(clippy::cast_possible_truncation, reason = "the index keeps the low half")]
    pub fn blob(&self, path: &Path, stamp: &Stamp) -> Option<String> {
        let name = path.strip_prefix(&self.root).ok()?.as_os_str();
        let at = self.entries.binary_search_by(|entry| self.name(entry).cmp(name.as_bytes())).ok()?;
        let entry = &self.entries[at];
        let is_same = entry.kind == stamp.kind
            && entry.len == stamp.len as u32
            && entry.modified == stamp.modified
            && entry.inode == stamp.inode as u32
            && (stamp.kind == Kind::Link || entry.executable == (stamp.mode & 0o100 != 0))
            // A file that was written while the index was may have changed since without a trace.
            && entry.modified < self.written;
        is_same.then(|| entry.id.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn name(&self, entry: &Entry) -> &[u8] {
        &self.paths[entry.path.start as usize..entry.path.end as usize]
    }

    /// The files that it vouches for.
    #[cfg(test)]
    pub fn files(&self) -> Vec<PathBuf> {
        let path = |entry| self.root.join(std::ffi::OsStr::from_bytes(self.name(entry)));
        self.entries.iter().map(path).collect()
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn numbers<const N: usize>(&mut self) -> Option<[u32; N]> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Some(numbers)
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// A number of git's pack format: seven bits a byte, and one is added for each further byte.
    fn variable(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)? | usize::from(byte & 0x7f);
        }
        Some(value)
    }

    /// The bytes before the next NUL, which is taken, too.
    fn until_nul(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let end = memchr::memchr(0, rest)?;
        self.at += end + 1;
        Some(&rest[..end])
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    fn git(folder: &Path, args: &[&str]) -> bool {
        let mut git = Command::new("git");
        git.current_dir(folder).args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        git.args(args).output().is_ok_and(|output| output.status.success())
    }

    #[test]
    fn an_index_vouches_for_clean_files_in_every_version() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        if !git(&root, &["init"]) {
            eprintln!("skipped: there is no git");
            return;
        }
        let names = ["a.txt", "deep/er/file.rs", "deep/er/file2.rs", "odd \u{e9}\"\n name", "run.sh"];
        for name in names {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, name).unwrap();
            fs::File::options().write(true).open(&path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        }
        std::os::unix::fs::symlink("a.txt", root.join("link")).unwrap();
        assert!(git(&root, &["add", "-A"]));
        let repository = Repository::of(&root.join("deep")).unwrap();
        assert_eq!((&repository.root, &repository.index), (&root, &root.join(".git/index")));
        for version in ["2", "3", "4"] {
            assert!(git(&root, &["update-index", "--index-version", version]));
            let bytes = fs::read(&repository.index).unwrap();
            let index = GitIndex::parse(&repository, &bytes, i64::MAX).unwrap();
            let mut expected: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
            expected.insert(3, root.join("link"));
            assert_eq!(index.files(), expected, "version {version}");
            for name in names {
                let path = root.join(name);
                let stamp = Stamp::of(&fs::symlink_metadata(&path).unwrap());
                let blob = index.blob(&path, &stamp).unwrap();
                assert_eq!(blob.len(), 40);
                assert_eq!(index.blob(&path, &Stamp { len: 99, ..stamp }), None);
                assert_eq!(index.blob(&path, &Stamp { modified: 5, ..stamp }), None);
                assert_eq!(index.blob(&path, &Stamp { mode: stamp.mode ^ 0o100, ..stamp }), None);
            }
            for cut in 0..bytes.len().min(300) {
                drop(GitIndex::parse(&repository, &bytes[..cut], 0));
            }
        }
    }

    #[test]
    fn fc_054_a_pipe_in_the_place_of_git_or_its_files_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let dot_git = crate::store::testing::pipe_in(root, ".git");
        assert_eq!(Repository::of(root), None);
        fs::remove_file(dot_git).unwrap();
        let folder = root.join(".git");
        fs::create_dir(&folder).unwrap();
        crate::store::testing::pipe_in(&folder, "commondir");
        crate::store::testing::pipe_in(&folder, "config");
        assert_eq!(Repository::of(root).map(|found| (found.index, found.id_len)), Some((folder.join("index"), 20)));
    }

    #[test]
    fn what_is_no_index_is_none() {
        let repository = Repository { root: "/r".into(), index: "/r/.git/index".into(), id_len: 20 };
        for bytes in
            [&b""[..], b"DIRC", b"DIRC\0\0\0\x05\0\0\0\0", b"DIRC\0\0\0\x02\0\0\0\x07", b"XXXX\0\0\0\x02\0\0\0\0"]
        {
            assert!(GitIndex::parse(&repository, bytes, 0).is_none());
        }
    }
}
