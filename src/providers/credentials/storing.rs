//! Storing keys and logins in `auth.json`, and forgetting them.

use std::path::Path;

use serde_json::{Map, Value};

use super::{Login, key_text::quote};
use crate::{
    providers::oauth::{Flow, Granted, flow::FIELDS},
    store::{
        auth_file::{AuthFile, AuthFileError},
        settings::Settings,
    },
};

/// Why a text is no key. No text here ever holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// There is none.
    #[error("no key was given; nothing was stored")]
    Empty,
    /// It has several lines.
    #[error("expected one line with the key; nothing was stored")]
    SeveralLines,
    /// It could not go out.
    #[error("the key has a character that no header can carry (the {position}. one); nothing was stored")]
    Character {
        /// The character's place, from 1.
        position: usize,
    },
}

/// The key as it may be stored: one line, in the key grammar.
///
/// # Errors
/// It is none; see [`KeyFault`].
pub fn checked_key(text: &str) -> Result<&str, KeyFault> {
    let key = text.trim();
    match key.chars().position(|c| !(c.is_ascii_graphic() || c == ' ')) {
        _ if key.is_empty() => Err(KeyFault::Empty),
        Some(_) if key.lines().count() > 1 => Err(KeyFault::SeveralLines),
        Some(at) if !key.starts_with('!') => Err(KeyFault::Character { position: at + 1 }),
        _ => Ok(key),
    }
}

/// Stores a key, in the key grammar, in the place of what was stored for the provider.
///
/// # Errors
/// The file cannot be read or written; nothing was changed then.
pub fn store_key(file: &AuthFile, provider: &str, key: &str) -> Result<(), AuthFileError> {
    save(file, provider, |old| key_entry(old, key))
}

/// Stores what a login with `flow` gave.
///
/// # Errors
/// The file cannot be read or written; nothing was changed then.
pub fn store_granted(file: &AuthFile, provider: &str, flow: &Flow, granted: Granted) -> Result<(), AuthFileError> {
    match granted {
        Granted::Key(key) => store_key(file, provider, &quote(key.expose())),
        Granted::Tokens(tokens) => {
            let login = Login::new(tokens, flow.client.as_ref().map(|client| client.id.as_str()));
            save(file, provider, |_| login.to_entry())
        }
    }
}

/// Forgets what is stored for a provider; false when nothing was.
///
/// # Errors
/// The file cannot be read or written.
pub fn forget(file: &AuthFile, provider: &str) -> Result<bool, AuthFileError> {
    // Without the file there is nothing to lock.
    let stored = file.entries().map_err(AuthFileError::Broken)?.contains_key(provider);
    Ok(stored && file.lock()?.set(provider, None)?)
}

/// What to say when a login needs the id of a client and there is none. `user_dir` is the folder with `settings.json`.
#[must_use]
pub fn no_client(user_dir: &Path, provider: &str) -> String {
    let file = user_dir.join("settings.json");
    let settings = Settings::load(&file, None);
    let own = settings.get(&["oauth", provider]).and_then(Value::as_object);
    let stranger = own.and_then(|own| own.keys().find(|name| !FIELDS.contains(&name.as_str())));
    let stranger =
        stranger.map_or(String::new(), |name| format!("\nThe field \"{name}\" that stands there is not known."));
    format!(
        "logging in to {provider} needs a client id: the provider knows registered programs only, and Troupe does not \
         pass for another one. Put the id that the provider gave you into {}:\n  \
         {{\"oauth\": {{\"{provider}\": {{\"clientId\": \"…\"}}}}}}\n\
         Or use an API key: troupe auth login {provider} --api-key{stranger}",
        file.display()
    )
}

/// A key's entry; variables and whatever else an older entry of a key has stay.
fn key_entry(old: Option<Value>, key: &str) -> Value {
    let old = old.and_then(|old| old.as_object().cloned()).filter(|old| old.get("type") == Some(&"api_key".into()));
    let mut entry = old.unwrap_or_else(|| Map::from_iter([("type".to_owned(), "api_key".into())]));
    entry.insert("key".to_owned(), key.into());
    Value::Object(entry)
}

fn save(file: &AuthFile, provider: &str, entry: impl FnOnce(Option<Value>) -> Value) -> Result<(), AuthFileError> {
    let locked = file.lock()?;
    let old = locked.entry(provider)?;
    locked.set(provider, Some(entry(old)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_one_line_that_a_header_can_carry_and_no_text_shows_it() {
        for (text, key) in [(" sk-1\n", "sk-1"), ("$GROQ", "$GROQ"), ("!pass show clé", "!pass show clé")] {
            assert_eq!(checked_key(text), Ok(key));
        }
        for text in ["", " \n", "hush-1\nhush-2", "hush-é"] {
            let error = checked_key(text).unwrap_err().to_string();
            assert!(error.ends_with("nothing was stored") && !error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn a_new_key_keeps_the_variables_of_the_old_one_and_nothing_of_a_login() {
        let old = json!({"type": "api_key", "key": "a", "env": {"X": "1"}});
        assert_eq!(key_entry(Some(old), "b"), json!({"type": "api_key", "key": "b", "env": {"X": "1"}}));
        let login = json!({"type": "oauth", "access": "t"});
        assert_eq!(key_entry(Some(login), "b"), json!({"type": "api_key", "key": "b"}));
    }

    #[test]
    fn what_was_stored_can_be_forgotten_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = AuthFile::in_folder(dir.path());
        assert!(!forget(&file, "groq").unwrap());
        assert!(!dir.path().join("auth.json").exists());
        store_key(&file, "groq", "sk-1").unwrap();
        assert_eq!(file.entries().unwrap()["groq"], json!({"type": "api_key", "key": "sk-1"}));
        assert!(forget(&file, "groq").unwrap());
        assert!(!forget(&file, "groq").unwrap());
    }
}
