//! What the entries of `auth.json` mean.

use std::{collections::HashMap, sync::Arc};

use super::{key_text::KeyText, login::Login};
use crate::store::{
    auth_file::AuthFile,
    document::{DocumentError, Fault, Field},
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
    /// A login.
    Login(Arc<Login>),
    /// Something of a later version. It owns its provider all the same: no other key is used by accident.
    Unknown,
}

/// The file's entries by provider id.
pub(super) type Entries = HashMap<String, Stored>;

/// Reads the file. A missing one holds nothing; a broken one is an error, not an empty store: another key than the
/// stored one must not be used by accident.
pub(super) fn read(file: &AuthFile) -> Result<Entries, DocumentError> {
    match file.document()? {
        Some(document) => entries(&document.root()).map_err(|fault| document.locate(&fault)),
        None => Ok(Entries::new()),
    }
}

// Faults here never show what they found: it may be a key.
fn entries(root: &Field<'_>) -> Result<Entries, Fault> {
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
        Some("oauth") => Ok(Stored::Login(Arc::new(Login::read(&object)?))),
        Some(_) => Ok(Stored::Unknown),
        None => Err(kind.fault("expected \"api_key\" or \"oauth\"")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_broken_store_is_an_error_that_shows_no_key() {
        let dir = tempfile::tempdir().unwrap();
        let file = AuthFile::in_folder(dir.path());
        assert_eq!(read(&file).unwrap(), Entries::new());
        let table = [
            (r#"{"groq": "sk-secret"}"#, "1:2: groq: expected an object such as"),
            (r#"{"groq": {"type": ["sk-secret"]}}"#, "1:11: groq.type: expected \"api_key\" or \"oauth\""),
            (r#"{"groq": {"type": "oauth"}}"#, "1:2: groq: expected an access token"),
            (r#"{"groq": {"type": "api_key", "key": ["sk-secret"]}}"#, "1:30: groq.key: expected a text"),
            (r#"{"groq": {"type": "api_key"}}"#, "1:2: groq.key: expected the key, found nothing"),
            (r#"["sk-secret"]"#, "1:1: expected an object of credentials"),
            (r#"{"groq": sk-secret}"#, "1:10: "),
        ];
        for (text, expected) in table {
            fs::write(file.path(), text).unwrap();
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains(&format!("auth.json:{expected}")), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn keys_their_variables_and_logins_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = AuthFile::in_folder(dir.path());
        let text = "\u{feff}{\"a\":{\"type\":\"api_key\",\"key\":\"$K\",\"env\":{\"K\":\"v\"}},\"b\":{\"type\":\"oauth\",\"access\":\"t\"},\"c\":{\"type\":\"later\"}}";
        fs::write(file.path(), text).unwrap();
        let entries = read(&file).unwrap();
        let env = HashMap::from([("K".to_owned(), "v".to_owned())]);
        assert_eq!(entries["a"], Stored::ApiKey { key: KeyText::parse("$K"), env });
        assert!(matches!(&entries["b"], Stored::Login(login) if login.tokens.access.expose() == "t"));
        assert_eq!(entries["c"], Stored::Unknown);
    }
}
