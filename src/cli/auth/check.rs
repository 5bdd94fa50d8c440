//! `auth check`: whether a provider can be used, for people and scripts.

use serde_json::{Map, Value, json};

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
    let text = if args.json { json_of(status, provider, &answer, args.credentials) } else { status.to_owned() };
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
                object.insert("credentials".to_owned(), credentials(access));
            }
        }
        Err((reason, _)) => {
            object.insert("reason".to_owned(), reason.as_str().into());
        }
    }
    Value::Object(object).to_string()
}

fn credentials(access: &Access) -> Value {
    let mut object = Map::new();
    if let Some(secret) = &access.secret {
        if access.bearer {
            object.insert("headers".to_owned(), json!({"Authorization": format!("Bearer {}", secret.expose())}));
        } else {
            object.insert("apiKey".to_owned(), secret.expose().into());
        }
    }
    if let Some(aws) = &access.aws {
        object.insert("accessKeyId".to_owned(), aws.access_key_id.as_str().into());
        object.insert("secretAccessKey".to_owned(), aws.secret_access_key.expose().into());
        if let Some(token) = &aws.session_token {
            object.insert("sessionToken".to_owned(), token.expose().into());
        }
    }
    if let Some(url) = &access.base_url {
        object.insert("baseUrl".to_owned(), url.as_str().into());
    }
    if let Some(expires) = access.expires {
        object.insert("expires".to_owned(), expires.into());
    }
    Value::Object(object)
}
