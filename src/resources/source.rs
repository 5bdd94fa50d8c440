//! Where a resource comes from, as clients are told.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Serialize, Serializer};

/// Whose a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The user's: found in every project.
    User,
    /// The project's.
    Project,
    /// Named on the command line: for this run.
    Temporary,
}

/// How a resource was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// In one of the usual folders.
    Auto,
    /// By a path that somebody wrote.
    Local,
    /// In a package from this source.
    Package(Arc<str>),
}

impl Found {
    /// The word that clients are told.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::Local => "local",
            Self::Package(source) => source,
        }
    }
}

impl Serialize for Found {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.as_str())
    }
}

/// Where a resource was installed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// It stands by itself.
    #[default]
    TopLevel,
    /// It is part of a package.
    Package,
}

/// The description of a resource's origin that `get_commands` sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceInfo {
    /// The resource's file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// How it was found.
    pub source: Found,
    /// Whose it is.
    pub scope: Scope,
    /// What it was installed with.
    pub origin: Origin,
    /// The folder that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "lossy_option")]
    pub base_dir: Option<PathBuf>,
}

// A name that is no UTF-8 must not make the whole answer fail.
fn lossy<S: Serializer>(path: &Path, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&path.to_string_lossy())
}

#[allow(clippy::ref_option, reason = "serde asks for this form")]
fn lossy_option<S: Serializer>(path: &Option<PathBuf>, out: S) -> Result<S::Ok, S::Error> {
    path.as_deref().map(Path::to_string_lossy).serialize(out)
}

impl SourceInfo {
    /// The origin of the file `path`, found at `root`.
    #[must_use]
    pub fn new(path: &Path, root: &super::roots::Root) -> Self {
        Self {
            path: path.to_path_buf(),
            source: root.found(),
            scope: root.scope,
            origin: if root.package.is_some() { Origin::Package } else { Origin::TopLevel },
            base_dir: root.base_dir().map(Path::to_path_buf),
        }
    }
}
