//! The end of a session that the program goes on without.

use super::{Home, SessionStore, Unsaved};

impl SessionStore {
    /// Gives the file up, so that others may write it. What is there can still be read; nothing can be added any more.
    ///
    /// # Errors
    /// The disk still refuses entries: they are in memory only, and the file stays ours.
    pub fn close(&self) -> Result<(), Unsaved> {
        self.save_again();
        let mut inner = self.lock();
        if let Some(unsaved) = &inner.unsaved {
            return Err(unsaved.clone());
        }
        let path = match &inner.home {
            Home::Memory | Home::ReadOnly { .. } => return Ok(()),
            home => home.path().map(std::path::Path::to_owned).unwrap_or_default(),
        };
        if let Home::File { file, .. } = &inner.home {
            // Views of the session hold the file, too, and nobody knows how long.
            file.unlock();
        }
        inner.home = Home::ReadOnly { path, newer: None };
        Ok(())
    }
}
