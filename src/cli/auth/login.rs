//! `auth login`: logging in at a provider, or storing its API key.

use std::io::{self, IsTerminal as _};

use serde_json::{Map, Value};

use super::{
    args::LoginArgs,
    block_on,
    terminal::{Terminal, read_hidden},
    unknown,
};
use crate::{
    cli::{env::Environment, exit::Exit, run::print, stdin},
    providers::{
        catalogue::Catalogue,
        credentials::{Login, key_text::quote},
        oauth::{self, Flow, Granted, LoginOptions, flow::FIELDS, loopback},
    },
    store::{
        auth_file::{AuthFile, AuthFileError},
        settings::Settings,
    },
};

pub(super) fn run(environment: &Environment, catalogue: &Catalogue, args: &LoginArgs) -> Result<Exit, String> {
    let provider = &args.provider;
    let flow = catalogue.credentials().flow(provider).transpose().map_err(|error| error.to_string())?;
    if catalogue.provider(provider).is_none() && flow.is_none() {
        return Err(unknown(catalogue, provider));
    }
    let file = AuthFile::in_folder(&environment.user_dir);
    // Before anything is asked: an answer that cannot be stored is lost.
    file.entries().map_err(|error| format!("{error}. Nothing was changed: mend the file first"))?;
    match flow.filter(|_| !args.api_key) {
        Some(flow) => with_browser(environment, &file, &flow, args),
        None => with_key(&file, catalogue, provider),
    }
}

fn with_key(file: &AuthFile, catalogue: &Catalogue, provider: &str) -> Result<Exit, String> {
    let name = catalogue.provider(provider).map_or(provider, |known| known.name.as_str());
    let text = if io::stdin().is_terminal() {
        let prompt = format!("API key of {name} (it is not shown): ");
        read_hidden(&prompt).map_err(|error| format!("the terminal cannot be read: {error}"))?
    } else {
        stdin::read(io::stdin().lock()).map_err(|error| format!("standard input cannot be read: {error}"))?
    };
    let key = checked(text.as_deref().unwrap_or_default())?;
    save(file, provider, |old| key_entry(old, &key))?;
    Ok(print(&format!("Stored the key of {provider} in {}.\n", file.path().display())))
}

/// The key as it may be stored: one line, in the key grammar.
fn checked(text: &str) -> Result<String, String> {
    let key = text.trim();
    match key.chars().position(|c| !(c.is_ascii_graphic() || c == ' ')) {
        _ if key.is_empty() => Err("no key was given; nothing was stored".to_owned()),
        Some(_) if key.lines().count() > 1 => Err("expected one line with the key; nothing was stored".to_owned()),
        Some(at) if !key.starts_with('!') => {
            Err(format!("the key has a character that no header can carry (the {}. one); nothing was stored", at + 1))
        }
        _ => Ok(key.to_owned()),
    }
}

/// A key's entry; variables and whatever else an older entry of a key has stay.
fn key_entry(old: Option<Value>, key: &str) -> Value {
    let old = old.and_then(|old| old.as_object().cloned()).filter(|old| old.get("type") == Some(&"api_key".into()));
    let mut entry = old.unwrap_or_else(|| Map::from_iter([("type".to_owned(), "api_key".into())]));
    entry.insert("key".to_owned(), key.into());
    Value::Object(entry)
}

fn with_browser(environment: &Environment, file: &AuthFile, flow: &Flow, args: &LoginArgs) -> Result<Exit, String> {
    let provider = &args.provider;
    if !flow.is_complete() {
        return Err(no_client(environment, provider));
    }
    if !io::stdin().is_terminal() {
        return Err(format!(
            "a login needs a terminal. Without one, store an API key: troupe auth login {provider} --api-key < FILE"
        ));
    }
    let options = LoginOptions {
        elsewhere: args.no_browser || environment.variable("SSH_CONNECTION").is_some(),
        callback_host: environment.variable(loopback::HOST_VARIABLE).map(str::to_owned),
    };
    let terminal = Terminal::new(!options.elsewhere);
    let granted = block_on(oauth::login(flow, &terminal, &options))?;
    match granted.map_err(|error| format!("{provider}: {error}"))? {
        Granted::Key(key) => save(file, provider, |old| key_entry(old, &quote(key.expose())))?,
        Granted::Tokens(tokens) => {
            let login = Login::new(tokens, flow.client.as_ref().map(|client| client.id.as_str()));
            save(file, provider, |_| login.to_entry())?;
        }
    }
    Ok(print(&format!("Logged in to {provider}; stored in {}.\n", file.path().display())))
}

fn no_client(environment: &Environment, provider: &str) -> String {
    let file = environment.user_dir.join("settings.json");
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

fn save(file: &AuthFile, provider: &str, entry: impl FnOnce(Option<Value>) -> Value) -> Result<(), String> {
    let write = || -> Result<(), AuthFileError> {
        let locked = file.lock()?;
        let old = locked.entry(provider)?;
        locked.set(provider, Some(entry(old)))?;
        Ok(())
    };
    write().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_one_line_that_a_header_can_carry_and_no_text_shows_it() {
        for (text, key) in [(" sk-1\n", "sk-1"), ("$GROQ", "$GROQ"), ("!pass show clé", "!pass show clé")] {
            assert_eq!(checked(text).as_deref(), Ok(key));
        }
        for text in ["", " \n", "hush-1\nhush-2", "hush-é"] {
            let error = checked(text).unwrap_err();
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
}
