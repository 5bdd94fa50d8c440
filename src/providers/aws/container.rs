//! Credentials of a container's role (ECS, EKS).

use reqwest::{
    Method, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
};

use super::{
    AwsError, Granted,
    ask::{Question, WrittenCredentials, parse_url},
    source::ContainerToken,
};
use crate::providers::{Secret, http};

/// Addresses beside 127.0.0.0/8 that are asked without encryption: those of the services themselves.
const SERVICES: [&str; 3] = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];

/// Asks the container's service.
pub(super) async fn ask(url: &str, token: Option<&ContainerToken>) -> Result<Granted, AwsError> {
    let url = parse_url(url)?;
    let direct = is_beside(&url);
    if url.scheme() != "https" && !direct {
        let host = url.host_str().unwrap_or_default();
        return Err(AwsError::new(format!(
            "AWS_CONTAINER_CREDENTIALS_FULL_URI names {host}, which is not on this machine: credentials are asked for there by https only"
        )));
    }
    let mut headers = HeaderMap::new();
    if let Some(token) = token {
        headers.insert(AUTHORIZATION, authorization(token).await?);
    }
    let body = Question { method: Method::GET, url, headers, body: String::new(), direct }.ask().await?;
    WrittenCredentials::read(&body, "the container's credentials service")
}

/// Whether the address is on this machine or that of a container's service.
fn is_beside(url: &Url) -> bool {
    let host = http::host(url);
    http::is_loopback(host) || SERVICES.contains(&host)
}

async fn authorization(token: &ContainerToken) -> Result<HeaderValue, AwsError> {
    let token = match token {
        ContainerToken::Text(token) => token.clone(),
        ContainerToken::File(path) => Secret::new(&tokio::fs::read_to_string(path).await.map_err(|error| {
            AwsError::new(format!("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE {} cannot be read: {error}", path.display()))
        })?),
    };
    let mut value = HeaderValue::from_str(token.expose())
        .map_err(|_| AwsError::new("the container's authorization token has a character that no header can carry"))?;
    value.set_sensitive(true);
    Ok(value)
}
