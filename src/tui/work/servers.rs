//! Model servers on this machine: which there are, and using one. None is used unasked: what listens there may be
//! anybody's.

use tokio::runtime::Handle;

use super::login::LoginStep;
use crate::{
    protocol::ModelRef,
    providers::{
        environment::Environment,
        local::{self, Server},
    },
    tui::{work::WorkDone, working::WorkContext},
};

/// A server that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub address: String,
    /// Its models.
    pub models: Vec<ModelRef>,
}

/// Looks for servers.
pub(super) fn find(context: &WorkContext) {
    let offline = context.surroundings.offline;
    let found = Handle::current().block_on(local::find_all(&Environment::of_process(), offline));
    let server = |found: local::Found| LocalServer {
        name: found.provider.name.clone(),
        address: found.address,
        models: found.provider.models.iter().map(|model| model.reference()).collect(),
    };
    let servers: Vec<_> = found.into_iter().map(server).filter(|server| !server.models.is_empty()).collect();
    context.send(WorkDone::Servers(servers.into()));
}

/// Takes a server's models into the catalogue, and makes one of them the model to begin with from now on.
pub(super) fn take(context: &WorkContext, model: &ModelRef) {
    context.send(WorkDone::Login(match take_up(context, model) {
        Ok(text) => LoginStep::Done { text, model: Some(model.clone()) },
        Err(why) => LoginStep::Failed(why),
    }));
}

fn take_up(context: &WorkContext, model: &ModelRef) -> Result<String, String> {
    let server = Server::named_by(&model.provider).ok_or_else(|| format!("{model} is on no server of this machine"))?;
    let found = Handle::current().block_on(local::find(server, &Environment::of_process()));
    let found = found.map_err(|error| error.to_string())?;
    let note = local::guess_note(std::slice::from_ref(&found), model_of(&found, model).ok_or("the model is gone")?);
    context.shared.config.catalogue.add_found(vec![found.provider]);
    let settings = &context.shared.config.settings;
    settings.set(&["defaultProvider"], model.provider.clone().into())?;
    settings.set(&["defaultModel"], model.model_id.clone().into())?;
    let note = note.map(|note| format!(" {note}")).unwrap_or_default();
    Ok(format!("{} on this machine answers from now on.{note}", server.name()))
}

fn model_of<'f>(found: &'f local::Found, model: &ModelRef) -> Option<&'f crate::protocol::Model> {
    found.provider.models.iter().find(|known| known.reference() == *model).map(|known| &**known)
}
