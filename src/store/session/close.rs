//! The end of a session that the program goes on without.

use super::{Home, SessionStore};
use crate::store::StoreError;

impl SessionStore {
    /// Gives the file up, so that others may write it. What is there can still be read; nothing can be added any more.
    ///
    /// # Errors
    /// When entries that the disk had refused are refused again: they are in memory only, and the file stays ours.
    pub fn close(&self) -> Result<(), StoreError> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let path = match &inner.home {
            Home::Memory | Home::ReadOnly { .. } => return Ok(()),
            Home::Unborn { path, .. } => path.clone(),
            Home::File { file, unsaved, .. } => {
                let path = file.path().to_owned();
                if !unsaved.is_empty() {
                    inner.home.store(&mut inner.tree, &[], true, false)?;
                }
                path
            }
        };
        inner.home = Home::ReadOnly { path, newer: None };
        Ok(())
    }
}
