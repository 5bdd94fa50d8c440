//! `auth check`: whether a provider can be used, for people and scripts.

use serde_json::{Map, Value};

use super::{args::CheckArgs, block_on, provider_of};
use crate::{
    cli::{
        exit::Exit,
        run::{print, warn},
    },
    providers::{
        catalogue::Catalogue,
        credentials::{Access, CredentialError, Freshness, Kind, REQUEST_MARGIN},
    },
};

/// Why a provider cannot be used; the words are part of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    ProviderNotFound,
    NotConfigured,
    NotAvailable,
    InvalidState,
}

impl Reason {
    fn as_str(self) -> &'static str {
        match self {
            Self::ProviderNotFound => "provider_not_found",
            Self::NotConfigured => "credentials_not_configured",
            Self::NotAvailable => "credential_not_available",
            Self::InvalidState => "invalid_state",
        }
    }

    fn of(error: &CredentialError) -> Self {
        match error {
            CredentialError::Missing { .. } => Self::NotConfigured,
            CredentialError::Store(_) => Self::InvalidState,
            _ => Self::NotAvailable,
        }
    }
}

/// The answer; `Err` with what people should know.
type Answer = Result<Access, (Reason, String)>;

pub(super) fn run(catalogue: &Catalogue, args: &CheckArgs) -> Result<Exit, String> {
    let (provider, answer) = block_on(judge(catalogue, args))?;
    match &answer {
        // What is wrong with the files was said when they were read.
        Ok(_) | Err((Reason::InvalidState, _)) => {}
        Err((_, text)) => warn(text),
    }
    let (status, exit) = match &answer {
        Ok(_) => ("ready", Exit::Done),
        Err((Reason::InvalidState, _)) => ("invalid", Exit::InvalidState),
        Err(_) => ("not_ready", Exit::Failed),
    };
    // Without JSON the secret stands alone, for `$(…)`.
    let secret = answer.as_ref().ok().filter(|_| args.credentials).and_then(|access| access.secret.as_ref());
    let text = match secret {
        _ if args.json => json_of(status, provider, &answer, args.credentials),
        Some(secret) => secret.expose().to_owned(),
        None => status.to_owned(),
    };
    match print(&format!("{text}\n")) {
        Exit::Done => Ok(exit),
        unwritable => Ok(unwritable),
    }
}

async fn judge(catalogue: &Catalogue, args: &CheckArgs) -> (Option<String>, Answer) {
    let found = provider_of(catalogue, args.provider.as_deref(), args.model.as_deref());
    let named = found.as_ref().ok().or(args.provider.as_ref()).cloned();
    // What the file would say about the provider is not known.
    if let Some(problem) = catalogue.unusable() {
        return (named, Err((Reason::InvalidState, problem.to_string())));
    }
    let answer = match found {
        Err(text) => Err((Reason::ProviderNotFound, text)),
        Ok(provider) => {
            let freshness = if args.no_refresh { Freshness::Stored } else { Freshness::Longer(REQUEST_MARGIN) };
            let access = catalogue.credentials().access(&provider, freshness).await;
            access.map_err(|error| (Reason::of(&error), error.to_string()))
        }
    };
    (named, answer)
}

fn json_of(status: &str, provider: Option<String>, answer: &Answer, with_credentials: bool) -> String {
    let mut object = Map::from_iter([("status".to_owned(), Value::from(status))]);
    if let Some(provider) = provider {
        object.insert("provider".to_owned(), provider.into());
    }
    match answer {
        Ok(access) => {
            if access.kind != Kind::Keyless {
                object.insert("authType".to_owned(), access.kind.as_str().into());
            }
            if with_credentials {
                object.extend(credentials(access).map(|secret| ("credentials".to_owned(), secret)));
                object.extend(circumstances(access));
            }
        }
        Err((reason, _)) => {
            object.insert("reason".to_owned(), reason.as_str().into());
        }
    }
    Value::Object(object).to_string()
}

/// The secret as pi prints it, a text; what signs requests has several parts. None where there is nothing to hand out.
fn credentials(access: &Access) -> Option<Value> {
    if let Some(aws) = &access.aws {
        let mut object = Map::new();
        object.insert("accessKeyId".to_owned(), aws.access_key_id.as_str().into());
        object.insert("secretAccessKey".to_owned(), aws.secret_access_key.expose().into());
        if let Some(token) = &aws.session_token {
            object.insert("sessionToken".to_owned(), token.expose().into());
        }
        return Some(Value::Object(object));
    }
    access.secret.as_ref().map(|secret| secret.expose().into())
}

/// What a program needs beside the secret: where requests go, and how long the secret lasts.
fn circumstances(access: &Access) -> impl Iterator<Item = (String, Value)> {
    let base_url = access.base_url.as_deref().map(|url| ("baseUrl".to_owned(), url.into()));
    let expires = access.expires.map(|expires| ("expires".to_owned(), expires.into()));
    base_url.into_iter().chain(expires)
}
