//! Asking a server for credentials.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::{Client, Method, Url, header::HeaderMap};
use serde::Deserialize;
use tokio::time::timeout;

use super::{AwsCredentials, AwsError, Granted};
use crate::{
    protocol::time::{Millis, parse_iso},
    providers::{
        Secret,
        http::{client_for, shown},
        tls::install_crypto_provider,
    },
};

/// How long one question may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of an answer that are read.
const ANSWER_BYTES: usize = 256 * 1024;
/// Characters of a refusal that are shown.
const SHOWN: usize = 300;

/// A question.
pub(super) struct Question {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
    /// Past any proxy: the server is on this machine or beside it.
    pub(super) direct: bool,
}

impl Question {
    /// The answer to the question, when the server is willing.
    pub(super) async fn ask(self) -> Result<Vec<u8>, AwsError> {
        let url = shown(&self.url);
        let client = if self.direct {
            direct_client()
        } else {
            client_for(&self.url, Some(PATIENCE)).map_err(|failure| failure.message)
        };
        let client = client.map_err(AwsError)?;
        let asking = async {
            let request = client.request(self.method, self.url).headers(self.headers).body(self.body);
            let mut response = request.send().await?;
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await? {
                body.extend_from_slice(&chunk);
                if body.len() > ANSWER_BYTES {
                    break;
                }
            }
            Ok::<_, reqwest::Error>((response.status(), body))
        };
        match timeout(PATIENCE, asking).await {
            Ok(Ok((status, body))) if status.is_success() => Ok(body),
            Ok(Ok((status, body))) => {
                let said: String = String::from_utf8_lossy(&body).trim().chars().take(SHOWN).collect();
                Err(AwsError::new(format!("{url} refuses credentials: {status} {said}")))
            }
            Ok(Err(error)) => {
                Err(AwsError::new(format!("{url} cannot be asked for credentials: {}", error.without_url())))
            }
            Err(_) => Err(AwsError::new(format!("{url} did not give credentials within {} s", PATIENCE.as_secs()))),
        }
    }
}

/// A client that knows no proxy.
fn direct_client() -> Result<Client, String> {
    static CLIENT: Mutex<Option<Client>> = Mutex::new(None);
    let mut kept = CLIENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(client) = &*kept {
        return Ok(client.clone());
    }
    install_crypto_provider();
    let client = Client::builder().no_proxy().build().map_err(|error| error.to_string())?;
    *kept = Some(client.clone());
    Ok(client)
}

/// Credentials as containers and commands write them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct WrittenCredentials {
    access_key_id: String,
    secret_access_key: String,
    /// A container calls it `Token`.
    #[serde(alias = "Token")]
    session_token: Option<String>,
    expiration: Option<String>,
}

impl WrittenCredentials {
    /// Reads them; `from` says in the error where they come from. What was read is not shown.
    pub(super) fn read(json: &[u8], from: &str) -> Result<Granted, AwsError> {
        let wrong =
            || AwsError::new(format!("{from} gave something that is no JSON with AccessKeyId and SecretAccessKey"));
        let written: Self = serde_json::from_slice(json).map_err(|_| wrong())?;
        if written.access_key_id.is_empty() || written.secret_access_key.is_empty() {
            return Err(wrong());
        }
        let expires = written.expiration.as_deref().filter(|text| !text.is_empty());
        Ok(Granted {
            credentials: AwsCredentials {
                access_key_id: written.access_key_id,
                secret_access_key: Secret::new(&written.secret_access_key),
                session_token: written.session_token.filter(|token| !token.is_empty()).map(|token| Secret::new(&token)),
            },
            expires: expires.map(|text| read_time(text, from)).transpose()?,
        })
    }
}

/// A time of expiry.
pub(super) fn read_time(text: &str, from: &str) -> Result<Millis, AwsError> {
    parse_iso(text)
        .ok_or_else(|| AwsError::new(format!("{from} gave credentials with an expiry that is no time: {text}")))
}

/// An address that a variable or a file names.
pub(super) fn parse_url(text: &str) -> Result<Url, AwsError> {
    let url = Url::parse(text).ok().filter(Url::has_host);
    url.ok_or_else(|| AwsError::new(format!("\"{text}\" is no valid address of a server that gives AWS credentials")))
}
