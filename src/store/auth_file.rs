//! `auth.json` in the user's folder: an object of credentials by provider, read and written as a whole.
//!
//! What an entry means is for the providers to say; here it is a value, so that fields and kinds of entries that this
//! version does not know survive every write. A change is made under pi's lock on the real file (a symbolic link and
//! its target share it): read again, change one entry, replace the file at once. A file that is not an object is
//! never written over.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{
    document::{Document, DocumentError, Syntax},
    lock_folder::{LockFolder, Patience},
    regular_file, replace,
};

/// Why credentials were not saved. No text here ever holds one.
#[derive(Debug, thiserror::Error)]
pub enum AuthFileError {
    /// The file is broken; writing would lose what is in it.
    #[error("{0}. Nothing was written: mend the file first")]
    Broken(DocumentError),
    /// The file cannot be locked or written.
    #[error("{}: cannot be written: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The lock was held for so long that another program took it over.
    #[error("{}: another program took the lock over; nothing was written. Try again", .0.display())]
    LockLost(PathBuf),
}

/// The file, unlocked: to be read at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthFile(PathBuf);

impl AuthFile {
    /// The file in the user's folder.
    #[must_use]
    pub fn in_folder(user_dir: &Path) -> Self {
        Self(user_dir.join("auth.json"))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The parsed file; none when there is none.
    ///
    /// # Errors
    /// It cannot be read, or is not JSON with an object at its root.
    pub fn document(&self) -> Result<Option<Document>, DocumentError> {
        let unreadable =
            |message: String| DocumentError { file: self.0.clone(), line: 1, column: 1, field: String::new(), message };
        let text = match regular_file::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(format!("cannot be read: {error}"))),
        };
        let document = Document::parse(&self.0, text, Syntax::Strict)?;
        let value = document.root();
        if value.value().is_null() {
            return Ok(None);
        }
        if !value.value().is_object() {
            // What was found is not shown: it may be a key.
            return Err(document.locate(&value.fault("expected an object of credentials by provider")));
        }
        Ok(Some(document))
    }

    /// All entries by provider.
    ///
    /// # Errors
    /// See [`Self::document`].
    pub fn entries(&self) -> Result<Map<String, Value>, DocumentError> {
        match self.document()?.map(Document::into_value) {
            Some(Value::Object(entries)) => Ok(entries),
            _ => Ok(Map::new()),
        }
    }

    /// Takes the lock. Blocks for half a minute at most: another program may be renewing a token.
    ///
    /// # Errors
    /// The lock cannot be had.
    pub fn lock(&self) -> Result<LockedAuthFile, AuthFileError> {
        let lock =
            self.lock_with(Patience::LONG).map_err(|source| AuthFileError::Io { file: self.0.clone(), source })?;
        Ok(LockedAuthFile { file: self.clone(), lock })
    }

    fn lock_with(&self, patience: Patience) -> io::Result<LockFolder> {
        if let Some(folder) = self.0.parent() {
            replace::create_private_folder(folder)?;
        }
        LockFolder::acquire(&replace::follow_link(&self.0)?, patience)
    }
}

/// The locked file.
#[derive(Debug)]
pub struct LockedAuthFile {
    file: AuthFile,
    lock: LockFolder,
}

impl LockedAuthFile {
    /// The entry of a provider as it stands now.
    ///
    /// # Errors
    /// The file is broken.
    pub fn entry(&self, provider: &str) -> Result<Option<Value>, AuthFileError> {
        Ok(self.entries()?.get(provider).cloned())
    }

    fn entries(&self) -> Result<Map<String, Value>, AuthFileError> {
        self.file.entries().map_err(AuthFileError::Broken)
    }

    /// Sets the entry of a provider, or removes it. True when the file changed.
    ///
    /// # Errors
    /// The file is broken, cannot be written, or the lock is no longer ours.
    pub fn set(&self, provider: &str, entry: Option<Value>) -> Result<bool, AuthFileError> {
        let mut entries = self.entries()?;
        let before = match entry.clone() {
            Some(entry) => entries.insert(provider.to_owned(), entry),
            None => entries.shift_remove(provider),
        };
        if before == entry {
            return Ok(false);
        }
        if !self.lock.is_held() {
            return Err(AuthFileError::LockLost(self.file.0.clone()));
        }
        replace::with_json(&self.file.0, &entries)
            .map_err(|source| AuthFileError::Io { file: self.file.0.clone(), source })?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use serde_json::json;

    use super::*;

    #[test]
    fn fc_011_a_new_file_is_private_and_its_folder_too() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("new");
        let file = AuthFile::in_folder(&folder);
        assert!(file.entries().unwrap().is_empty());
        let locked = file.lock().unwrap();
        assert!(locked.set("groq", Some(json!({"type": "api_key", "key": "k"}))).unwrap());
        assert!(folder.join("auth.json.lock").is_dir());
        drop(locked);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(file.path())), (0o700, 0o600));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no lock and no temporary file is left");
    }

    #[test]
    fn what_this_version_does_not_know_survives_a_write() {
        let dir = tempfile::tempdir().unwrap();
        let file = AuthFile::in_folder(dir.path());
        let text = "\u{feff}{\"b\": {\"type\": \"later\", \"x\": [1, 2.5]}, \"a\": 7, \"c\": {\"type\": \"oauth\"}}";
        fs::write(file.path(), text).unwrap();
        let locked = file.lock().unwrap();
        assert_eq!(locked.entry("c").unwrap(), Some(json!({"type": "oauth"})));
        assert!(locked.set("c", None).unwrap());
        assert!(!locked.set("c", None).unwrap(), "nothing to remove, nothing written");
        locked.set("d", Some(json!({"type": "api_key", "key": "k"}))).unwrap();
        let after: Value = serde_json::from_str(&fs::read_to_string(file.path()).unwrap()).unwrap();
        let expected = json!({"b": {"type": "later", "x": [1, 2.5]}, "a": 7, "d": {"type": "api_key", "key": "k"}});
        assert_eq!(after.to_string(), expected.to_string(), "order is kept too");
    }

    #[test]
    fn a_file_of_the_wrong_shape_is_an_error_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = AuthFile::in_folder(dir.path());
        for text in ["[\"sk-secret\"]", "{\"groq\": sk-secret}", "\"sk-secret\"", "{\"groq\": "] {
            fs::write(file.path(), text).unwrap();
            let error = file.lock().unwrap().set("x", Some(json!({}))).unwrap_err().to_string();
            assert!(error.contains("auth.json:1:") && !error.contains("secret"), "{error}");
            assert_eq!(fs::read_to_string(file.path()).unwrap(), text);
        }
    }

    #[test]
    fn a_link_and_its_target_share_the_lock_and_the_link_stays() {
        let dir = tempfile::tempdir().unwrap();
        let [real, alias] = ["real", "alias"].map(|name| dir.path().join(name));
        fs::create_dir(&real).unwrap();
        fs::create_dir(&alias).unwrap();
        fs::write(real.join("auth.json"), "{}").unwrap();
        std::os::unix::fs::symlink(real.join("auth.json"), alias.join("auth.json")).unwrap();
        let locked = AuthFile::in_folder(&alias).lock().unwrap();
        let refused = AuthFile::in_folder(&real).lock_with(Patience::SHORT).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        locked.set("p", Some(json!({"type": "oauth"}))).unwrap();
        assert!(fs::symlink_metadata(alias.join("auth.json")).unwrap().is_symlink());
        assert_eq!(AuthFile::in_folder(&real).entries().unwrap()["p"], json!({"type": "oauth"}));
    }
}
