//! The models of the roles: whoever has one that does not exist is told so before others are paid.

use super::{away::Away, source::Source};
use crate::{
    actors::team::file::{Role, TeamFile},
    cli::{
        args::{CassetteChoice, HiArgs},
        env::Environment,
        local,
    },
    extensions::ExtensionRegistry,
    providers::{
        catalogue::{Catalogue, LiveCatalogue, SCRIPT, TROUPE},
        environment::Environment as Variables,
        local::Server,
        scripted::Scripted,
        selection::{CliModel, resolve_cli},
    },
};

/// The model that plays scripts.
pub(super) fn player() -> String {
    format!("{TROUPE}/{SCRIPT}")
}

/// The model of the command line that holds for all roles, whatever the file says. The player of scripts is none: each role
/// has its own script.
pub(super) fn for_all(flags: &HiArgs) -> Option<String> {
    flags.model.pattern.clone().filter(|model| *model != player())
}

/// What a look at the models is for.
#[derive(Clone, Copy)]
pub(super) enum Look<'a> {
    /// The file alone: keys and servers may be there when it is run.
    File,
    /// A run with these flags. Agents that work elsewhere have the models and keys of where they are.
    Run(&'a HiArgs, Option<&'a Away>),
}

/// Whether each role has a model that exists, and a script where it plays one.
pub(super) fn check(
    environment: &Environment,
    source: &Source,
    team: &TeamFile,
    look: Look<'_>,
    extensions: &ExtensionRegistry,
) -> Result<(), String> {
    let (flags, away) = match look {
        Look::File => (None, None),
        Look::Run(flags, away) => (Some(flags), away),
    };
    let is_replay = flags.is_some_and(|flags| matches!(flags.cassette, CassetteChoice::Replay { .. }));
    let is_here = |role: &&Role| away.is_none() || role.worktree;
    let for_all = flags.and_then(for_all);
    let mut catalogue = Catalogue::load(&environment.user_dir, Variables::of_process());
    if let Some(flags) = flags.filter(|_| !is_replay) {
        let of_roles = team.roles.iter().filter(is_here).filter_map(|role| role.model.clone());
        let names = for_all.as_ref().map_or_else(|| of_roles.collect(), |name| vec![name.clone()]);
        for name in names {
            catalogue = local::with_asked(catalogue, flags.model.provider.as_deref(), Some(&name));
        }
    }
    let live = LiveCatalogue::new(catalogue);
    // What is wrong with them is told at the start.
    drop(extensions.register_models(&live));
    let catalogue = live.now();
    if let Some(name) = &for_all {
        let skip = is_replay || away.is_some();
        return if skip { Ok(()) } else { of_all(&catalogue, name, flags) };
    }
    let has_script = flags.is_some_and(|flags| flags.script.is_some());
    let with_own_key = flags.is_some_and(|flags| flags.model.api_key.is_some());
    for role in team.roles.iter().filter(is_here) {
        let fault = |key: &str, problem: &str| source.fault(team, &role.name, key, problem);
        if let Some(script) = &role.script {
            Scripted::from_file(script).map_err(|error| fault("script", &error.to_string()))?;
        }
        let Some(name) = &role.model else { continue };
        if *name == player() {
            match role.script.is_some() || has_script {
                true => continue,
                false => return Err(fault("model", "plays a script, and there is none: say script = \"FILE\"")),
            }
        }
        // What a cassette has is known to it alone, and what this machine serves may be served later.
        if is_replay || (flags.is_none() && Server::named_by(name).is_some()) {
            continue;
        }
        let wanted = CliModel { model: Some(name), thinking: role.thinking, ..CliModel::default() };
        let chosen = resolve_cli(&catalogue, &wanted).map_err(|error| fault("model", &error.to_string()))?;
        let needs_key = flags.is_some() && !(with_own_key && is_first(team, role));
        if let Some(error) = chosen.filter(|_| needs_key).and_then(|chosen| catalogue.missing_key(&chosen.model)) {
            return Err(fault("model", &error.to_string()));
        }
    }
    Ok(())
}

/// Whether the model of the command line exists.
fn of_all(catalogue: &Catalogue, name: &str, flags: Option<&HiArgs>) -> Result<(), String> {
    let provider = flags.and_then(|flags| flags.model.provider.as_deref());
    let has_api_key = flags.is_some_and(|flags| flags.model.api_key.is_some());
    let wanted = CliModel { provider, model: Some(name), has_api_key, ..CliModel::default() };
    let chosen = resolve_cli(catalogue, &wanted).map_err(|error| error.to_string())?;
    match chosen.filter(|_| !has_api_key).and_then(|chosen| catalogue.missing_key(&chosen.model)) {
        Some(error) => Err(error.to_string()),
        None => Ok(()),
    }
}

/// Whether `--api-key` is for the model of this role: it is the first that the file names.
fn is_first(team: &TeamFile, role: &Role) -> bool {
    team.roles.iter().find_map(|role| role.model.as_ref()) == role.model.as_ref()
}
