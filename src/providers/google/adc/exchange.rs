//! From credentials to a token.

use std::time::Duration;

use reqwest::{
    RequestBuilder, StatusCode, Url,
    header::{CONTENT_TYPE, USER_AGENT},
};
use serde_json::Value;
use tokio::time::timeout;

use super::{assertion::Signer, source::Source};
use crate::{
    protocol::time::{Millis, now_ms},
    providers::{
        Secret,
        credentials::ambient::AmbientError,
        http::{self, client_for, seconds, send_failure},
        oauth::token_call::form,
    },
};

/// How long a server may take.
const LIMIT: Duration = Duration::from_secs(30);
/// The same for the machine, which is near.
const MACHINE_LIMIT: Duration = Duration::from_secs(3);
const MACHINE_PATH: &str = "/computeMetadata/v1/instance/service-accounts/default/token";
/// Characters of a server's words that are shown.
const SHOWN: usize = 300;

/// A token and how long it is good, in milliseconds.
pub(super) struct Grant {
    pub(super) token: Secret,
    pub(super) lifetime_ms: Millis,
}

/// Asks for a token.
///
/// # Errors
/// The server cannot be reached, or refuses. The text never holds a key.
pub(super) async fn grant(source: &Source) -> Result<Grant, AmbientError> {
    let asked = match source {
        Source::User { client_id, client_secret, refresh_token, token_uri } => {
            let form = [
                ("grant_type", "refresh_token"),
                ("client_id", client_id),
                ("client_secret", client_secret),
                ("refresh_token", refresh_token),
            ];
            post(token_uri, &form).await
        }
        Source::Service { email, private_key, key_id, token_uri } => {
            let signer = Signer { email, private_key, key_id: key_id.as_deref() };
            match signer.sign(token_uri, now_ms() / 1000) {
                Ok(assertion) => {
                    let form =
                        [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", &*assertion)];
                    post(token_uri, &form).await
                }
                Err(problem) => Err(problem),
            }
        }
        Source::Machine { host } => ask_machine(host).await,
    };
    asked.map_err(|problem| {
        AmbientError(format!("Google gave no token for the application default credentials: {problem}"))
    })
}

async fn post(address: &str, fields: &[(&str, &str)]) -> Result<Grant, String> {
    let url = Url::parse(address).ok().filter(Url::has_host);
    let url = url.ok_or_else(|| format!("the field \"token_uri\" (\"{address}\") is no valid URL"))?;
    let client = client_for(&url, Some(LIMIT)).map_err(|failure| failure.message)?;
    let request = client.post(url.clone()).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form(fields));
    send(request, &url, LIMIT).await
}

async fn ask_machine(host: &str) -> Result<Grant, String> {
    let url = Url::parse(&format!("http://{host}{MACHINE_PATH}")).map_err(|_| format!("\"{host}\" is no host"))?;
    let client = client_for(&url, Some(MACHINE_LIMIT)).map_err(|failure| failure.message)?;
    // Without this header the machine tells nothing, so that no web page can ask it.
    send(client.get(url.clone()).header("metadata-flavor", "Google"), &url, MACHINE_LIMIT).await
}

async fn send(request: RequestBuilder, url: &Url, limit: Duration) -> Result<Grant, String> {
    let exchange = async {
        let response = request.header(USER_AGENT, http::USER_AGENT).send().await?;
        let status = response.status();
        Ok::<_, reqwest::Error>((status, response.bytes().await?))
    };
    match timeout(limit, exchange).await {
        Err(_) => Err(format!("{} did not answer within {}", http::shown(url), seconds(limit))),
        Ok(Err(error)) => Err(send_failure(&error, url, Some(limit)).message),
        Ok(Ok((status, body))) => read(status, &body),
    }
}

/// Reads a server's answer.
fn read(status: StatusCode, body: &[u8]) -> Result<Grant, String> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let token = body["access_token"].as_str().filter(|token| status.is_success() && !token.is_empty());
    if let Some(token) = token {
        let seconds = body["expires_in"].as_i64().unwrap_or(0).max(0);
        return Ok(Grant { token: Secret::new(token), lifetime_ms: seconds.saturating_mul(1000) });
    }
    let said = ["error", "error_description"].map(|key| body[key].as_str().unwrap_or_default());
    let mut text = format!("{} {}", status.as_u16(), said.join(" ").trim().chars().take(SHOWN).collect::<String>());
    if said[0] == "invalid_grant" {
        text.push_str(
            "; the login or the key is no longer good: run `gcloud auth application-default login`, or make a new key",
        );
    }
    Err(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_tokens_or_reasons() {
        let grant =
            read(StatusCode::OK, br#"{"access_token":"t-1","expires_in":3599,"token_type":"Bearer"}"#).ok().unwrap();
        assert_eq!((grant.token.expose(), grant.lifetime_ms), ("t-1", 3_599_000));
        assert_eq!(read(StatusCode::OK, br#"{"access_token":"t"}"#).ok().unwrap().lifetime_ms, 0);
        let table = [
            (
                StatusCode::BAD_REQUEST,
                r#"{"error":"invalid_grant","error_description":"Token has been revoked."}"#,
                "400 invalid_grant Token has been revoked.; the login",
            ),
            (StatusCode::FORBIDDEN, "<html>", "403 "),
            (StatusCode::OK, "{}", "200 "),
            (StatusCode::NOT_FOUND, r#"{"access_token":"t","error":{"code":404}}"#, "404 "),
        ];
        for (status, body, text) in table {
            let Err(problem) = read(status, body.as_bytes()) else { panic!("{body}") };
            assert!(problem.starts_with(text), "{problem}");
        }
    }
}
