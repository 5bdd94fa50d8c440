//! Which files a search sees, and in which order they count.
//!
//! Hidden files are seen, what `.gitignore`, `.ignore` and the like name is not, and `.git` folders are not. Links are
//! not followed, so a walk always ends.
//!
//! Several threads walk, in no order. The order of results is that of names, folder by folder, and a result is the
//! first of them: as soon as enough are found, a [`Bound`] leaves out all that comes later, so that the result is the
//! same each time and little is done for nothing.

use std::{
    cmp::Ordering,
    fs::File,
    io,
    num::NonZeroUsize,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};

use ignore::{DirEntry, WalkBuilder, WalkParallel, WalkState};
use tokio_util::sync::CancellationToken;

/// More threads than this only wait for the disk.
const THREADS_AT_MOST: usize = 8;

/// What a search may look at.
pub trait See: Send + Sync {
    /// Whether this path is walked into or found at all.
    fn sees(&self, path: &Path) -> bool;

    /// Opens whatever is there for reading, without waiting for it.
    fn open(&self, path: &Path) -> io::Result<File>;
}

/// What a search may look at, for its threads.
pub type Sight = Arc<dyn See>;

/// All that this process may read.
pub fn everything() -> Sight {
    Arc::new(Everything)
}

struct Everything;

impl See for Everything {
    fn sees(&self, _path: &Path) -> bool {
        true
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        super::files::open(path)
    }
}

/// A walk through what `sight` sees of `root`. `require_git`: `.gitignore` files count only inside a repository.
pub fn builder(root: &Path, require_git: bool, sight: &Sight) -> WalkBuilder {
    let sight = Arc::clone(sight);
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false)
        .follow_links(false)
        .require_git(require_git)
        .current_dir(root)
        .threads(thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS_AT_MOST))
        .filter_entry(move |entry| {
            let is_git = entry.file_name() == ".git" && is_folder(entry);
            !is_git && sight.sees(entry.path())
        });
    walk
}

/// Calls a visitor, one a thread, for everything below the root that is not behind the bound.
pub fn visit<'a, V>(walk: WalkParallel, bound: &'a Bound, cancel: &'a CancellationToken, visitor: impl Fn() -> V)
where
    V: FnMut(&DirEntry) + Send + 'a,
{
    walk.run(|| {
        let mut visitor = visitor();
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            // What cannot be read is left out, as it is for the person who runs this.
            let Ok(entry) = entry else { return WalkState::Continue };
            if bound.excludes(entry.path()) {
                return WalkState::Skip;
            }
            if entry.depth() > 0 {
                visitor(&entry);
            }
            WalkState::Continue
        })
    });
}

/// The last place that can matter for a result.
#[derive(Debug, Default)]
pub struct Bound {
    is_set: AtomicBool,
    last: RwLock<PathBuf>,
}

impl Bound {
    /// Whether a file, and all that is in a folder, comes later.
    fn excludes(&self, path: &Path) -> bool {
        self.is_set.load(Relaxed)
            && order(path, &self.last.read().unwrap_or_else(PoisonError::into_inner)) == Ordering::Greater
    }

    /// Sets the last place; it only ever moves to the front.
    pub fn set(&self, last: &Path) {
        let mut bound = self.last.write().unwrap_or_else(PoisonError::into_inner);
        if !self.is_set.load(Relaxed) || order(last, &bound) == Ordering::Less {
            bound.clone_from(&last.to_owned());
            self.is_set.store(true, Relaxed);
        }
    }
}

/// A path as a key of results, in the order of names, folder by folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(pub PathBuf);

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        order(&self.0, &other.0)
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of paths by their names' bytes: the slash comes before all that a name holds, so that what is in a folder
/// follows it at once.
fn order(a: &Path, b: &Path) -> Ordering {
    let (a, b) = (a.as_os_str().as_bytes(), b.as_os_str().as_bytes());
    let rank = |byte: u8| if byte == b'/' { 0 } else { byte };
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((a, b)) => rank(*a).cmp(&rank(*b)),
        None => a.len().cmp(&b.len()),
    }
}

/// Whether `folder` is in a git repository.
pub fn in_repository(folder: &Path) -> bool {
    folder.ancestors().any(|ancestor| ancestor.join(".git").exists())
}

pub fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

pub fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// The path of an entry below the root, with slashes.
pub fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_ordered_by_names_folder_by_folder() {
        let ordered = ["/a", "/a/b", "/a/b/c", "/a/c", "/a-b", "/a-b/x", "/a.txt", "/ab", "/b"];
        for (at, a) in ordered.iter().enumerate() {
            for (other, b) in ordered.iter().enumerate() {
                assert_eq!(order(Path::new(a), Path::new(b)), at.cmp(&other), "{a} {b}");
                assert_eq!(order(Path::new(a), Path::new(b)), Path::new(a).cmp(Path::new(b)), "{a} {b}");
            }
        }
    }

    #[test]
    fn a_bound_leaves_out_what_comes_later_and_keeps_the_folders_that_lead_to_it() {
        let bound = Bound::default();
        assert!(!bound.excludes(Path::new("/r/z")));
        bound.set(Path::new("/r/m/file"));
        bound.set(Path::new("/r/x"));
        for (path, excluded) in [
            ("/r", false),
            ("/r/m", false),
            ("/r/m/file", false),
            ("/r/m/a/b", false),
            ("/r/m/g", true),
            ("/r/n", true),
        ] {
            assert_eq!(bound.excludes(Path::new(path)), excluded, "{path}");
        }
    }
}
