//! Bringing what was written from the system's memory to the disk.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::StoreError;

/// Makes a file durable, in any thread: whoever writes it need not wait.
#[derive(Debug)]
pub struct Syncer {
    file: Arc<File>,
    path: PathBuf,
    /// The folder does not know of the file for certain yet.
    new: Arc<AtomicBool>,
}

impl Syncer {
    /// Of a file that has been there for a while, or need not be found after a power cut.
    #[must_use]
    pub fn new(file: Arc<File>, path: &Path) -> Self {
        Self::of_new(file, path, Arc::default())
    }

    /// Of a file that was made a while ago; `new` is true until its folder was synced, too.
    #[must_use]
    pub fn of_new(file: Arc<File>, path: &Path, new: Arc<AtomicBool>) -> Self {
        Self { file, path: path.to_owned(), new }
    }

    /// Whether the file was never brought to the disk by this process, which made it.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.new.load(Ordering::Relaxed)
    }

    /// Returns when what was written before is on the disk.
    ///
    /// # Errors
    /// When the system cannot promise that.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(StoreError::io("sync", &self.path))?;
        if self.is_new() {
            // Without this, a power cut may leave a file that no folder knows of.
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(StoreError::io("sync", folder))?;
            self.new.store(false, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_has_its_folder_synced_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let new = Arc::new(AtomicBool::new(true));
        let syncer = Syncer::of_new(Arc::new(File::create(&path).unwrap()), &path, new);
        assert!(syncer.is_new());
        syncer.sync().unwrap();
        assert!(!syncer.is_new());
        syncer.sync().unwrap();
        let lost = Syncer::of_new(syncer.file.clone(), Path::new("/nowhere/f"), Arc::new(AtomicBool::new(true)));
        assert!(lost.sync().unwrap_err().to_string().contains("/nowhere"));
    }
}
