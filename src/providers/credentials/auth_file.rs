//! `auth.json`: stored credentials by provider. Read only; logging in writes it.

use std::{collections::HashMap, io, path::Path};

use super::key_text::KeyText;
use crate::store::{
    document::{Document, DocumentError, Fault, Field, Syntax},
    regular_file,
};

/// What `auth.json` holds for a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// An API key.
    ApiKey {
        /// The key's text in the key grammar.
        key: KeyText,
        /// Variables that count for this provider's requests alone.
        env: HashMap<String, String>,
    },
    /// A login. It gives no key here; other sources of a key are asked.
    Login,
}

/// The file's entries by provider id.
pub(super) type Entries = HashMap<String, Stored>;

/// Reads the file. A missing one holds nothing; a broken one is an error, not an empty store: another key than the
/// stored one must not be used by accident.
pub(super) fn read(file: &Path) -> Result<Entries, DocumentError> {
    let unreadable =
        |message: String| DocumentError { file: file.to_owned(), line: 1, column: 1, field: String::new(), message };
    let text = match regular_file::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Entries::new()),
        Err(error) => return Err(unreadable(format!("cannot be read: {error}"))),
    };
    let document = Document::parse(file, text, Syntax::Strict)?;
    entries(&document.root()).map_err(|fault| document.locate(&fault))
}

// Faults here never show what they found: it may be a key.
fn entries(root: &Field<'_>) -> Result<Entries, Fault> {
    if root.value().is_null() {
        return Ok(Entries::new());
    }
    if !root.value().is_object() {
        return Err(root.fault("expected an object of credentials by provider"));
    }
    root.object()?.entries().map(|(provider, field)| Ok((provider.to_owned(), stored(&field)?))).collect()
}

fn stored(field: &Field<'_>) -> Result<Stored, Fault> {
    if !field.value().is_object() {
        return Err(field.fault("expected an object such as {\"type\": \"api_key\", \"key\": \"…\"}"));
    }
    let object = field.object()?;
    let kind = object.require("type", "\"api_key\" or \"oauth\"")?;
    match kind.value().as_str() {
        Some("api_key") => {
            let key = object.require("key", "the key")?;
            let text = key.value().as_str().ok_or_else(|| key.fault("expected a text"))?;
            let mut env = HashMap::new();
            if let Some(variables) = object.get("env") {
                let map = variables.value().as_object().ok_or_else(|| variables.fault("expected an object"))?;
                let texts = map.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
                env.extend(texts);
            }
            Ok(Stored::ApiKey { key: KeyText::parse(text), env })
        }
        Some("oauth") => Ok(Stored::Login),
        _ => Err(kind.fault("expected \"api_key\" or \"oauth\"")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_broken_store_is_an_error_that_shows_no_key() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("auth.json");
        assert_eq!(read(&file).unwrap(), Entries::new());
        let table = [
            (r#"{"groq": "sk-secret"}"#, "1:2: groq: expected an object such as"),
            (r#"{"groq": {"type": "sk-secret"}}"#, "1:11: groq.type: expected \"api_key\" or \"oauth\""),
            (r#"{"groq": {"type": "api_key", "key": ["sk-secret"]}}"#, "1:30: groq.key: expected a text"),
            (r#"{"groq": {"type": "api_key"}}"#, "1:2: groq.key: expected the key, found nothing"),
            (r#"["sk-secret"]"#, "1:1: expected an object of credentials"),
            (r#"{"groq": sk-secret}"#, "1:10: "),
        ];
        for (text, expected) in table {
            fs::write(&file, text).unwrap();
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains(&format!("auth.json:{expected}")), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn keys_their_variables_and_logins_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("auth.json");
        let text = "\u{feff}{\"a\":{\"type\":\"api_key\",\"key\":\"$K\",\"env\":{\"K\":\"v\"}},\"b\":{\"type\":\"oauth\",\"access\":\"t\"}}";
        fs::write(&file, text).unwrap();
        let entries = read(&file).unwrap();
        let env = HashMap::from([("K".to_owned(), "v".to_owned())]);
        assert_eq!(entries["a"], Stored::ApiKey { key: KeyText::parse("$K"), env });
        assert_eq!(entries["b"], Stored::Login);
    }
}
