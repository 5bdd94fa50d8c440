//! `auth logout`: forgetting what is stored for a provider.

use super::args::LogoutArgs;
use crate::{
    cli::{
        env::Environment,
        exit::Exit,
        run::{print, warn},
    },
    providers::{catalogue::Catalogue, credentials::storing::forget},
    store::auth_file::AuthFile,
};

pub(super) fn run(environment: &Environment, catalogue: &Catalogue, args: &LogoutArgs) -> Result<Exit, String> {
    let provider = &args.provider;
    let file = AuthFile::in_folder(&environment.user_dir);
    let removed = forget(&file, provider).map_err(|error| error.to_string())?;
    let text = if removed { "Logged out of" } else { "Nothing was stored for" };
    let exit = print(&format!("{text} {provider}.\n"));
    let left = Catalogue::reload(catalogue).credentials().source(provider);
    if let Some(source) = left.filter(|source| source.place != "auth.json") {
        warn(&format!("{provider} can still be used: {}", source.place));
    }
    Ok(exit)
}
