//! Credentials by `aws sso login`: its token is read, and the portal is asked with it. The token is not renewed here.

use std::borrow::Cow;

use reqwest::{
    Method,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde::Deserialize;

use super::{
    AwsCredentials, AwsError, Granted,
    ask::{Question, parse_url, read_time},
    sigv4::percent_encode,
    source::SingleSignOn,
};
use crate::{
    protocol::time::{Millis, now_ms},
    providers::Secret,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Login {
    access_token: String,
    expires_at: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    role_credentials: RoleCredentials,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RoleCredentials {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    /// Milliseconds since the epoch.
    expiration: Millis,
}

/// Asks the portal for the role's credentials.
pub(super) async fn ask(login: &SingleSignOn) -> Result<Granted, AwsError> {
    let again = |what: &str| {
        AwsError::new(format!(
            "the single sign-on of the AWS profile \"{0}\" {what}: run `aws sso login --profile {0}`",
            login.profile
        ))
    };
    let file = tokio::fs::read(&login.token_file).await.map_err(|_| again("has no login"))?;
    let stored: Login = serde_json::from_slice(&file).map_err(|_| again("has a login that cannot be read"))?;
    // Some versions write the zone as a word.
    let expires = match stored.expires_at.strip_suffix("UTC") {
        Some(time) => Cow::Owned(format!("{time}Z")),
        None => Cow::Borrowed(stored.expires_at.as_str()),
    };
    if read_time(&expires, "aws sso login")? <= now_ms() {
        return Err(again("has a login that is over (it is not renewed here)"));
    }
    let query = format!("role_name={}&account_id={}", percent_encode(&login.role), percent_encode(&login.account));
    let mut token =
        HeaderValue::from_str(stored.access_token.trim()).map_err(|_| again("has a login that cannot be sent"))?;
    token.set_sensitive(true);
    let question = Question {
        method: Method::GET,
        url: parse_url(&format!("{}/federation/credentials?{query}", login.endpoint))?,
        headers: HeaderMap::from_iter([(HeaderName::from_static("x-amz-sso_bearer_token"), token)]),
        body: String::new(),
        direct: false,
    };
    let answer: Answer = serde_json::from_slice(&question.ask().await?)
        .map_err(|_| AwsError::new("the single sign-on portal gave something that is no JSON with roleCredentials"))?;
    let given = answer.role_credentials;
    Ok(Granted {
        credentials: AwsCredentials {
            access_key_id: given.access_key_id,
            secret_access_key: Secret::new(&given.secret_access_key),
            session_token: Some(Secret::new(&given.session_token)),
        },
        expires: Some(given.expiration),
    })
}
