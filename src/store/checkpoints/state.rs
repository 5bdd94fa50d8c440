//! What a path holds at one moment.

use std::{
    ffi::OsString,
    fmt,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::object::ObjectId;

/// A path as a record holds it: text, or its bytes in base 64 where it is none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredPath(pub PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathForm {
    Text(String),
    Bytes { base64: String },
}

impl Serialize for StoredPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = match self.0.to_str() {
            Some(text) => PathForm::Text(text.to_owned()),
            None => PathForm::Bytes { base64: STANDARD.encode(self.0.as_os_str().as_bytes()) },
        };
        form.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match PathForm::deserialize(deserializer)? {
            PathForm::Text(text) => text.into(),
            PathForm::Bytes { base64 } => OsString::from_vec(STANDARD.decode(base64).map_err(D::Error::custom)?).into(),
        }))
    }
}

impl From<&Path> for StoredPath {
    fn from(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

/// Why a content is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "camelCase")]
pub enum Unkept {
    /// It is larger than what is kept of one file.
    TooLarge,
    /// Nobody had seen it before a command changed it.
    NotSeen,
    /// It could not be read.
    Unreadable {
        /// Why.
        cause: String,
    },
    /// It could not be stored.
    NotStored {
        /// Why.
        cause: String,
    },
    /// A later version wrote something that this one does not know.
    #[serde(other)]
    Unknown,
}

impl fmt::Display for Unkept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("it is too large to be kept"),
            Self::NotSeen => f.write_str("its content before the command was not known"),
            Self::Unreadable { cause } => write!(f, "it could not be read before: {cause}"),
            Self::NotStored { cause } => write!(f, "its content could not be kept: {cause}"),
            Self::Unknown => f.write_str("a newer version of Troupe recorded it"),
        }
    }
}

/// Where the content of a file is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// In the object store, when it was put there; the name identifies it in any case.
    Object(ObjectId),
    /// In the git repository of the file: the id of the blob.
    Git(String),
    /// Nowhere.
    Unkept(Unkept),
}

/// Facts of a regular file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileFacts {
    /// What it holds.
    pub content: Content,
    /// Its size in bytes.
    pub len: u64,
    /// Its permissions, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// When it was last written, in nanoseconds of Unix time, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<i64>,
}

/// What a path holds at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum FileState {
    /// Nothing.
    Missing,
    /// A regular file.
    File(FileFacts),
    /// A symbolic link.
    Link {
        /// Where it leads.
        target: StoredPath,
    },
    /// A folder.
    Folder,
    /// A pipe, a socket or a device.
    Special,
    /// Something that could not be looked at, or that a later version knows.
    #[serde(other)]
    Unknown,
}

impl FileState {
    /// Whether nobody can tell this state from `other`: the same kind, content and permissions. Contents are compared
    /// by their names where both have one, else by size and time.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) => a.has_same_content(b) && !a.has_other_mode(b),
            (Self::Link { target: a }, Self::Link { target: b }) => a == b,
            (Self::Missing, Self::Missing) | (Self::Folder, Self::Folder) => true,
            _ => false,
        }
    }

    /// Why this state cannot be brought about.
    #[must_use]
    pub fn not_restorable(&self) -> Option<String> {
        match self {
            Self::File(FileFacts { content: Content::Unkept(why), .. }) => Some(why.to_string()),
            Self::Special => Some("it was a pipe, a socket or a device".to_owned()),
            Self::Unknown => Some("it is not known what it was".to_owned()),
            _ => None,
        }
    }
}

impl FileFacts {
    /// Whether both hold the same.
    #[must_use]
    pub fn has_same_content(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (Content::Object(a), Content::Object(b)) => a == b,
            (Content::Git(a), Content::Git(b)) if a == b => true,
            _ => self.len == other.len && self.modified.is_some() && self.modified == other.modified,
        }
    }

    /// Whether the permissions are known and differ.
    #[must_use]
    pub fn has_other_mode(&self, other: &Self) -> bool {
        matches!((self.mode, other.mode), (Some(a), Some(b)) if a != b)
    }
}
