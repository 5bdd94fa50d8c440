//! `auth login`: logging in at a provider, or storing its API key.

use std::io::{self, IsTerminal as _};

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
        credentials::storing::{checked_key, no_client, store_granted, store_key},
        oauth::{self, Flow, LoginOptions, loopback},
    },
    store::auth_file::AuthFile,
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
    let key = checked_key(text.as_deref().unwrap_or_default()).map_err(|fault| fault.to_string())?;
    store_key(file, provider, key).map_err(|error| error.to_string())?;
    Ok(print(&format!("Stored the key of {provider} in {}.\n", file.path().display())))
}

fn with_browser(environment: &Environment, file: &AuthFile, flow: &Flow, args: &LoginArgs) -> Result<Exit, String> {
    let provider = &args.provider;
    if !flow.is_complete() {
        return Err(no_client(&environment.user_dir, provider));
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
    let granted = granted.map_err(|error| format!("{provider}: {error}"))?;
    store_granted(file, provider, flow, granted).map_err(|error| error.to_string())?;
    Ok(print(&format!("Logged in to {provider}; stored in {}.\n", file.path().display())))
}
