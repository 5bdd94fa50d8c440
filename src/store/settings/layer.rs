//! One settings file as read.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::migrate::migrate;
use crate::store::{
    document::{Document, DocumentError, Syntax},
    regular_file,
};

/// Whose file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The user's.
    Global,
    /// The project's; counts when the project is trusted.
    Project,
}

/// The values of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    /// The file; none for values that are saved nowhere.
    pub file: Option<PathBuf>,
    /// What it holds, old names replaced.
    pub values: Map<String, Value>,
    /// Why it cannot be used; then it is not written either.
    pub problem: Option<DocumentError>,
}

impl Layer {
    /// Reads a file; whatever is wrong with it becomes [`Self::problem`].
    pub fn read(file: &Path) -> Self {
        let (values, problem) = match read_object(file) {
            Ok(values) => (migrate(values), None),
            Err(problem) => (Map::new(), Some(problem)),
        };
        Self { file: Some(file.to_owned()), values, problem }
    }
}

/// The object in a settings file as it stands there. A missing file, an empty one and null are an empty object.
pub(super) fn read_object(file: &Path) -> Result<Map<String, Value>, DocumentError> {
    let unreadable =
        |message: String| DocumentError { file: file.to_owned(), line: 1, column: 1, field: String::new(), message };
    let bytes = match regular_file::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(unreadable(format!("cannot be read: {error}"))),
    };
    let text = String::from_utf8(bytes).map_err(|_| unreadable("expected UTF-8 text".to_owned()))?;
    match Document::parse(file, text, Syntax::Strict)?.into_value() {
        Value::Object(values) => Ok(values),
        Value::Null => Ok(Map::new()),
        _ => Err(unreadable("expected an object of settings".to_owned())),
    }
}
