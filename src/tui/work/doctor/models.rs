//! The model, its key, and its server. No token is spent.

use tokio::runtime::Handle;

use super::Finding;
use crate::{
    protocol::{Model, route::VIRTUAL_API},
    providers::{
        base_url,
        catalogue::{Catalogue, TROUPE},
        credentials::{Kind, Source},
        reach::reach,
    },
    tui::working::WorkContext,
};

pub(super) fn look(context: &WorkContext) -> Vec<Finding> {
    let catalogue = context.shared.config.catalogue.now();
    let mut findings = vec![usable(&catalogue)];
    let Some(model) = context.shared.selection().model.clone() else {
        findings.push(Finding::problem("model: none is selected", "/login gets one, /model chooses one."));
        return findings;
    };
    let name = model.reference();
    match catalogue.missing_key(&model) {
        Some(error) => findings.push(Finding::problem(format!("model: {name}: {error}"), "/login stores a key.")),
        None => findings.push(Finding::good(format!("model: {name}{}", key(&catalogue, &model)))),
    }
    findings.push(server(context, &catalogue, &model));
    findings
}

/// Which providers can be used, and where their keys are.
fn usable(catalogue: &Catalogue) -> Finding {
    let mut names: Vec<String> = Vec::new();
    for model in catalogue.available() {
        if !names.contains(&model.provider) {
            names.push(model.provider.clone());
        }
    }
    if names.is_empty() {
        return Finding::problem(
            "providers: none can be used",
            "/login logs in or stores a key; docs/models.md says more.",
        );
    }
    Finding::good(format!("providers that can be used: {}", names.join(", ")))
}

fn key(catalogue: &Catalogue, model: &Model) -> String {
    match catalogue.credentials().source(&model.provider) {
        Some(Source { kind: Kind::Keyless, .. }) | None => ", no key needed".to_owned(),
        Some(Source { kind: Kind::Login, .. }) => ", logged in".to_owned(),
        Some(Source { place, .. }) => format!(", key from {place}"),
    }
}

/// Whether the model's server answers.
fn server(context: &WorkContext, catalogue: &Catalogue, model: &Model) -> Finding {
    if model.provider == TROUPE || model.api == VIRTUAL_API || model.base_url.is_empty() {
        return Finding::good("server: the model needs none of its own");
    }
    if context.surroundings.offline {
        return Finding::good("server: not asked, as --offline says");
    }
    let credentials = catalogue.credentials();
    let address = match base_url::expand(&model.base_url, || credentials.environment_of(&model.provider)) {
        Ok(address) => address.unwrap_or_else(|| model.base_url.clone()),
        Err(error) => return Finding::problem(format!("server: {error}"), "Set the variable."),
    };
    let answer = Handle::current().block_on(reach(&address));
    match answer {
        Ok(status) if status.is_server_error() => {
            Finding::warning(format!("server: {} answers with status {status}", model.base_url), "Try again later.")
        }
        Ok(_) => Finding::good(format!("server: {} answers", model.base_url)),
        Err(error) => Finding::problem(
            format!("server: {error}"),
            "Check the network, the proxy (httpProxy, HTTPS_PROXY) and the address in models.json.",
        ),
    }
}
