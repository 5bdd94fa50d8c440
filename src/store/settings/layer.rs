//! One settings file as read.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{migrate::migrate, schema};
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
    /// What is wrong with single values, see [`schema::check`].
    pub odd: Vec<DocumentError>,
}

impl Layer {
    /// Reads a file; whatever is wrong with it becomes [`Self::problem`].
    pub fn read(file: &Path, scope: Scope) -> Self {
        let empty = Self { file: Some(file.to_owned()), ..Self::default() };
        match read_document(file) {
            Ok(None) => empty,
            Ok(Some(document)) => {
                let faults = schema::check(&document.root(), scope);
                let mut odd: Vec<_> = faults.iter().map(|fault| document.locate(fault)).collect();
                odd.sort_by_key(|fault| (fault.line, fault.column));
                Self { values: migrate(object(document)), odd, ..empty }
            }
            Err(problem) => Self { problem: Some(problem), ..empty },
        }
    }
}

/// The object in a settings file as it stands there. A missing file, an empty one and null are an empty object.
pub(super) fn read_object(file: &Path) -> Result<Map<String, Value>, DocumentError> {
    Ok(read_document(file)?.map(object).unwrap_or_default())
}

fn object(document: Document) -> Map<String, Value> {
    match document.into_value() {
        Value::Object(values) => values,
        _ => Map::new(),
    }
}

/// A settings file; none when there is no such file. What it holds is an object or nothing.
fn read_document(file: &Path) -> Result<Option<Document>, DocumentError> {
    let unreadable =
        |message: String| DocumentError { file: file.to_owned(), line: 1, column: 1, field: String::new(), message };
    let bytes = match regular_file::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(format!("cannot be read: {error}"))),
    };
    let text = String::from_utf8(bytes).map_err(|_| unreadable("expected UTF-8 text".to_owned()))?;
    let document = Document::parse(file, text, Syntax::Strict)?;
    match document.root().value() {
        Value::Object(_) | Value::Null => Ok(Some(document)),
        _ => Err(unreadable("expected an object of settings".to_owned())),
    }
}
