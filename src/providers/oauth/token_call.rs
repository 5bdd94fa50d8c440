//! One request to a token endpoint.

use std::time::Duration;

use reqwest::{
    Method, RequestBuilder, Response, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, USER_AGENT},
};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::flow::Encoding;
use crate::providers::{
    Secret,
    headers::redact,
    http::{self, client_for, read_failure, send_failure},
};

/// How long a request may take.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of an answer that are read.
const MAX_BYTES: usize = 256 * 1024;

/// Why there is no token. No text here holds one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The server says no, in the words of RFC 6749.
    #[error("the server refuses: {code}{}", described(description))]
    Refused {
        /// Such as `invalid_grant`.
        code: String,
        /// The server's explanation.
        description: String,
        /// The wait between two questions that the server asks for, in seconds.
        interval: Option<u64>,
    },
    /// The server fails, or speaks another language.
    #[error("{host} answers with status {status} and no reason")]
    Status {
        /// Who.
        host: String,
        /// The status.
        status: u16,
    },
    /// There was no answer.
    #[error("{0}")]
    Network(String),
    /// The answer lacks a field.
    #[error("the server's answer has no {0}")]
    Lacks(&'static str),
    /// The answer is no JSON object.
    #[error("{0} answers with something that is no JSON object")]
    Malformed(String),
}

fn described(description: &str) -> String {
    if description.is_empty() { String::new() } else { format!(" ({description})") }
}

impl TokenError {
    /// The error's name in the standard, when the server gave one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            _ => None,
        }
    }
}

/// Sends fields by POST and reads the answer.
///
/// # Errors
/// See [`TokenError`].
pub async fn post(url: &Url, fields: &[(&str, &str)], encoding: Encoding) -> Result<Value, TokenError> {
    let (kind, body) = match encoding {
        Encoding::Form => ("application/x-www-form-urlencoded", form(fields)),
        Encoding::Json => ("application/json", json(fields)),
    };
    let hidden: Vec<String> = fields.iter().filter(|(name, _)| is_secret(name)).map(|(_, v)| (*v).to_owned()).collect();
    send(url, &hidden, |client| client.request(Method::POST, url.clone()).header(CONTENT_TYPE, kind).body(body)).await
}

/// Asks with a bearer token: by POST with an empty object, or by GET.
///
/// # Errors
/// See [`TokenError`].
pub async fn with_bearer(url: &Url, token: &Secret, is_post: bool) -> Result<Value, TokenError> {
    let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
        .map_err(|_| TokenError::Network("the stored token has a character that no header can carry".to_owned()))?;
    bearer.set_sensitive(true);
    send(url, &[token.expose().to_owned()], |client| {
        let method = if is_post { Method::POST } else { Method::GET };
        let request = client.request(method, url.clone()).header(AUTHORIZATION, bearer);
        if is_post { request.header(CONTENT_TYPE, "application/json").body("{}") } else { request }
    })
    .await
}

/// Sends JSON with headers of its own.
///
/// # Errors
/// See [`TokenError`].
pub async fn post_json(
    url: &Url,
    fields: &[(&str, &str)],
    headers: &[(&'static str, &'static str)],
) -> Result<Value, TokenError> {
    let hidden: Vec<String> = fields.iter().filter(|(name, _)| is_secret(name)).map(|(_, v)| (*v).to_owned()).collect();
    send(url, &hidden, |client| {
        let request = client.request(Method::POST, url.clone()).header(CONTENT_TYPE, "application/json");
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).body(json(fields))
    })
    .await
}

async fn send(
    url: &Url,
    hidden: &[String],
    request: impl FnOnce(&reqwest::Client) -> RequestBuilder,
) -> Result<Value, TokenError> {
    let network = |failure: crate::protocol::Failure| TokenError::Network(failure.message);
    let client = client_for(url, Some(TIMEOUT)).map_err(network)?;
    let request = request(&client).header(ACCEPT, "application/json").header(USER_AGENT, http::USER_AGENT);
    let call = async {
        let response = request.send().await.map_err(|error| network(send_failure(&error, url, Some(TIMEOUT))))?;
        let status = response.status().as_u16();
        Ok((status, body(response).await?))
    };
    let (status, body) = match timeout(TIMEOUT, call).await {
        Ok(answered) => answered?,
        Err(_) => {
            let text = format!("{} did not answer within {}", http::shown(url), http::seconds(TIMEOUT));
            return Err(TokenError::Network(text));
        }
    };
    read(url, status, &body, hidden)
}

async fn body(mut response: Response) -> Result<Vec<u8>, TokenError> {
    let mut body = Vec::new();
    let url = response.url().clone();
    loop {
        let chunk = response.chunk().await.map_err(|error| TokenError::Network(read_failure(&error, &url).message))?;
        match chunk {
            Some(chunk) if body.len() + chunk.len() <= MAX_BYTES => body.extend_from_slice(&chunk),
            Some(_) => return Err(TokenError::Malformed(http::shown(&url))),
            None => return Ok(body),
        }
    }
}

/// Reads an answer. Some servers send errors with status 200, so that the body decides.
fn read(url: &Url, status: u16, body: &[u8], hidden: &[String]) -> Result<Value, TokenError> {
    let host = url.host_str().unwrap_or_default().to_owned();
    let ok = (200..300).contains(&status);
    let answer = match serde_json::from_slice::<Value>(body) {
        Ok(answer) if answer.is_object() => answer,
        _ if ok => return Err(TokenError::Malformed(host)),
        _ => return Err(TokenError::Status { host, status }),
    };
    if let Some((code, description)) = error_in(&answer) {
        let shown = |text: &str| redact(&text.chars().take(300).collect::<String>(), hidden);
        return Err(TokenError::Refused {
            code: shown(code),
            description: shown(description),
            interval: super::tokens::seconds(&answer["interval"]),
        });
    }
    if ok { Ok(answer) } else { Err(TokenError::Status { host, status }) }
}

/// The error in an answer: by the standard a text, at some vendors an object.
fn error_in(answer: &Value) -> Option<(&str, &str)> {
    match &answer["error"] {
        Value::String(code) => {
            let description = answer["error_description"].as_str().or(answer["message"].as_str());
            Some((code, description.unwrap_or_default()))
        }
        Value::Object(error) => {
            let field = |name: &str| error.get(name).and_then(Value::as_str);
            let code = field("code").or(field("type")).unwrap_or("error");
            Some((code, field("message").unwrap_or_default()))
        }
        _ => None,
    }
}

/// Fields of a request that no text may show.
fn is_secret(name: &str) -> bool {
    ["code", "code_verifier", "device_code", "refresh_token", "client_secret", "assertion"].contains(&name)
}

/// The fields as a form.
pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    // The URL type writes forms; it is part of the HTTP client.
    let Ok(mut url) = Url::parse("http://localhost/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

fn json(fields: &[(&str, &str)]) -> String {
    let map: Map<String, Value> = fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
    Value::Object(map).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_decides_what_an_answer_means_and_no_text_shows_a_token() {
        let url = Url::parse("https://auth.example/token?x=secret-refresh").unwrap();
        let hidden = ["secret-refresh".to_owned()];
        let table = [
            (200, r#"{"access_token":"t"}"#, None),
            (200, r#"{"error":"authorization_pending"}"#, Some("the server refuses: authorization_pending")),
            (
                400,
                r#"{"error":"invalid_grant","error_description":"secret-refresh is used"}"#,
                Some("the server refuses: invalid_grant ([secret] is used)"),
            ),
            (
                401,
                r#"{"error":{"type":"authentication_error","message":"no"}}"#,
                Some("the server refuses: authentication_error (no)"),
            ),
            (502, "<html>secret-refresh</html>", Some("auth.example answers with status 502 and no reason")),
            (500, "{}", Some("auth.example answers with status 500 and no reason")),
            (200, "<html>", Some("auth.example answers with something that is no JSON object")),
        ];
        for (status, body, expected) in table {
            let read = read(&url, status, body.as_bytes(), &hidden);
            assert_eq!(read.err().map(|error| error.to_string()).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn fields_are_written_as_forms_and_as_json() {
        let fields = [("grant_type", "a b"), ("scope", "x:y&z=é")];
        assert_eq!(form(&fields), "grant_type=a+b&scope=x%3Ay%26z%3D%C3%A9");
        assert_eq!(json(&fields), r#"{"grant_type":"a b","scope":"x:y&z=é"}"#);
    }
}
