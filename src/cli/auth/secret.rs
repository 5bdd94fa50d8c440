//! `auth print-api-key` and `auth print-bearer-token`: the secret on standard output, for scripts.

use std::time::Duration;

use super::{
    args::{KeyArgs, TokenArgs},
    block_on, provider_of,
};
use crate::{
    cli::{
        exit::Exit,
        run::{print, warn},
    },
    protocol::time::{Millis, now_ms},
    providers::{
        catalogue::Catalogue,
        credentials::{Access, Freshness, Kind, REQUEST_MARGIN},
    },
};

pub(super) fn api_key(catalogue: &Catalogue, args: &KeyArgs) -> Result<Exit, String> {
    let provider = provider_of(catalogue, args.provider.as_deref(), args.model.as_deref())?;
    let access = access(catalogue, &provider, REQUEST_MARGIN)?;
    match (access.kind, &access.secret) {
        (Kind::ApiKey, Some(key)) => Ok(print(&format!("{}\n", key.expose()))),
        (Kind::Login | Kind::Ambient, Some(_)) => Err(format!(
            "provider {provider} is used with a token and not with a key: troupe auth print-bearer-token --provider {provider}"
        )),
        _ => Err(format!("provider {provider} is used without a key")),
    }
}

pub(super) fn bearer_token(catalogue: &Catalogue, args: &TokenArgs) -> Result<Exit, String> {
    let provider = provider_of(catalogue, args.provider.as_deref(), args.model.as_deref())?;
    let access = access(catalogue, &provider, args.min_expiry)?;
    let is_token = access.kind != Kind::ApiKey || access.bearer;
    match &access.secret {
        Some(token) if is_token => {
            if ends_before(&access, args.min_expiry, now_ms()) {
                warn(&format!("provider {provider} gives no token that lasts that long"));
            }
            Ok(print(&format!("{}\n", token.expose())))
        }
        Some(_) => Err(format!(
            "provider {provider} is used with a key and not with a token: troupe auth print-api-key --provider {provider}"
        )),
        None => Err(format!("provider {provider} is used without a token")),
    }
}

fn access(catalogue: &Catalogue, provider: &str, least: Duration) -> Result<Access, String> {
    let access = block_on(catalogue.credentials().access(provider, Freshness::Longer(least)))?;
    access.map_err(|error| error.to_string())
}

fn ends_before(access: &Access, least: Duration, now: Millis) -> bool {
    let least = Millis::try_from(least.as_millis()).unwrap_or(Millis::MAX);
    access.expires.is_some_and(|expires| expires < now.saturating_add(least))
}
