//! `troupe auth …`: keys and logins from the command line.
//!
//! | module | what |
//! |---|---|
//! | [`args`] | the commands and their arguments |
//! | [`login`], [`logout`] | storing and forgetting |
//! | [`check`], [`list`], [`secret`] | saying what there is, and handing it out |
//! | [`terminal`] | talking with the user during a login |

pub mod args;
mod check;
mod list;
mod login;
mod logout;
mod secret;
mod terminal;

use std::future::Future;

use args::AuthCommand;

use super::{
    env::Environment,
    exit::Exit,
    local,
    run::{fail, warn},
};
use crate::{
    providers::{
        catalogue::{Catalogue, TROUPE},
        credentials::settle,
        environment::Environment as Variables,
        http,
        selection::{self, CliModel},
    },
    store::settings::Settings,
};

/// Carries out a command.
#[must_use]
pub fn run(environment: &Environment, command: &AuthCommand) -> Exit {
    let settings = Settings::load(&environment.user_dir.join("settings.json"), None);
    for problem in settings.problems() {
        warn(&problem.to_string());
    }
    http::set_proxy(settings.http_proxy().map(str::to_owned));
    let mut catalogue = Catalogue::load(&environment.user_dir, Variables::of_process());
    for problem in catalogue.problems() {
        warn(&problem.to_string());
    }
    if let Some((provider, model)) = command.names() {
        catalogue = local::with_asked(catalogue, provider, model);
    }
    let done = match command {
        AuthCommand::Login(args) => login::run(environment, &catalogue, args),
        AuthCommand::Logout(args) => logout::run(environment, &catalogue, args),
        AuthCommand::Check(args) => check::run(&catalogue, args),
        AuthCommand::List(args) => list::run(&catalogue, args),
        AuthCommand::PrintApiKey(args) => secret::api_key(&catalogue, args),
        AuthCommand::PrintBearerToken(args) => secret::bearer_token(&catalogue, args),
    };
    done.unwrap_or_else(|text| fail(&text))
}

/// Runs asynchronous work to its end; renewals that it began are saved.
fn block_on<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("the async runtime did not start: {error}"))?;
    let done = runtime.block_on(async {
        let done = work.await;
        settle().await;
        done
    });
    // A thread that waits for a line of standard input may wait for ever.
    runtime.shutdown_background();
    Ok(done)
}

/// The provider that `--provider` or `--model` mean; of a virtual model the one that would answer.
fn provider_of(catalogue: &Catalogue, provider: Option<&str>, model: Option<&str>) -> Result<String, String> {
    match (provider, model) {
        (Some(name), None) => {
            let known = catalogue.provider(name).map(|known| known.id.as_str()).or((name == TROUPE).then_some(TROUPE));
            known.map(str::to_owned).ok_or_else(|| unknown(catalogue, name))
        }
        _ => {
            let cli = CliModel { provider, model, ..CliModel::default() };
            let chosen = selection::resolve_cli(catalogue, &cli).map_err(|error| error.to_string())?;
            chosen
                .map(|chosen| catalogue.paying_provider(&chosen.model))
                .ok_or_else(|| "name a provider or a model".to_owned())
        }
    }
}

/// What to say about a provider that does not exist.
fn unknown(catalogue: &Catalogue, name: &str) -> String {
    let ids = catalogue.providers().iter().map(|provider| provider.id.as_str());
    let near = ids.map(|id| (strsim::jaro_winkler(id, name), id)).max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = near.filter(|(score, _)| *score > 0.75).map_or(String::new(), |(_, id)| format!(" Did you mean {id}?"));
    format!("Provider \"{name}\" not found.{hint} Providers are built in or come from models.json.")
}
