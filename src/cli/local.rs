//! Servers on this machine, as far as a command line asks for them.

use super::{args::HiArgs, env::Environment, run::warn, start::StartError};
use crate::{
    protocol::{Model, ModelRef},
    providers::{
        catalogue::{Catalogue, NO_MODEL},
        environment::Environment as Variables,
        local::{self, Found, Server},
    },
    store::settings::Settings,
};

/// The catalogue with all servers that answer now, for a list. A server is asked even offline: this machine is no
/// network.
pub fn with_all(catalogue: Catalogue, environment: &Environment) -> Catalogue {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return catalogue };
    let found = runtime.block_on(local::find_all(&Variables::of_process(), environment.offline));
    with(catalogue, &found)
}

/// The catalogue with the server that a provider's or a model's name asks for, and that server alone. One that does not
/// answer is warned of.
pub fn with_asked(catalogue: Catalogue, provider: Option<&str>, model: Option<&str>) -> Catalogue {
    let free = |server: &Server| catalogue.provider(server.id()).is_none();
    let Some(server) = named(provider, model).filter(free) else { return catalogue };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return catalogue };
    match runtime.block_on(local::find(server, &Variables::of_process())) {
        Ok(found) => with(catalogue, &[found]),
        Err(error) => {
            warn(&error.to_string());
            catalogue
        }
    }
}

fn with(catalogue: Catalogue, found: &[Found]) -> Catalogue {
    if found.is_empty() {
        return catalogue;
    }
    catalogue.with_found(found.iter().map(|found| found.provider.clone()).collect())
}

/// The catalogue with the servers whose models the start names, and those servers. A start that names none asks none.
///
/// # Errors
/// The server of the command line's model is not there. Others that are not there are warned of.
pub async fn with_named(
    catalogue: Catalogue,
    args: &HiArgs,
    settings: &Settings,
    session_model: Option<&ModelRef>,
) -> Result<(Catalogue, Vec<Found>), StartError> {
    let free = |server: &Server| catalogue.provider(server.id()).is_none();
    let wanted = args.model.pattern.as_deref().and_then(|pattern| named(args.model.provider.as_deref(), Some(pattern)));
    let wanted = wanted.filter(free);
    let mut others: Vec<Server> = Vec::new();
    for name in named_elsewhere(args, settings, session_model) {
        if let Some(server) = Server::named_by(&name).filter(free)
            && Some(server) != wanted
            && !others.contains(&server)
        {
            others.push(server);
        }
    }
    let variables = Variables::of_process();
    let mut found = Vec::new();
    if let Some(server) = wanted {
        found.push(local::find(server, &variables).await.map_err(StartError::of)?);
    }
    for server in others {
        match local::find(server, &variables).await {
            Ok(one) => found.push(one),
            Err(error) => warn(&error.to_string()),
        }
    }
    Ok((with(catalogue, &found), found))
}

/// The server that the two flags mean; a model's name means one by its provider's part.
fn named(provider: Option<&str>, model: Option<&str>) -> Option<Server> {
    match provider {
        Some(provider) => Server::named_by(provider),
        None => model.filter(|name| name.contains('/')).and_then(Server::named_by),
    }
}

/// The models that count when the command line names none, the scope, and those of agents below the first one.
fn named_elsewhere(args: &HiArgs, settings: &Settings, session_model: Option<&ModelRef>) -> Vec<String> {
    let mut names = args.model.scope.clone().or_else(|| settings.enabled_models()).unwrap_or_default();
    if args.model.pattern.is_none() {
        let models = [session_model.cloned(), settings.default_model()];
        names.extend(models.into_iter().flatten().map(|model| model.to_string()));
    }
    names.extend(args.model.below.iter().cloned());
    names
}

/// Says it when the window of the model is a guess.
pub fn note_guess(found: &[Found], model: &Model) {
    if let Some(note) = local::guess_note(found, model) {
        warn(&note);
    }
}

/// Why there is no model, with what this machine could offer. A server is never taken unasked: what runs on a port may
/// be anybody's, and a prompt goes only where its author sends it.
pub async fn no_model(environment: &Environment) -> String {
    let found = local::find_all(&Variables::of_process(), environment.offline).await;
    match local::how_to_use(&found) {
        Some(how) => format!("{NO_MODEL}\n{how}"),
        None => NO_MODEL.to_owned(),
    }
}
