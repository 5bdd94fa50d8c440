//! Credentials of roles, from the security token service.

use reqwest::{
    Method,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};

use super::{
    AwsCredentials, AwsError, Granted,
    ask::{Question, parse_url, read_time},
    sigv4::{Scope, Unsigned, percent_encode, sign},
    source::Role,
};
use crate::{
    protocol::time::{Millis, now_ms},
    providers::Secret,
};

const FORM: &str = "application/x-www-form-urlencoded";
/// What a session is called when nothing else is set.
const SESSION_NAME: &str = "troupe";

/// Takes a role with other credentials.
pub(super) async fn assume(role: &Role, base: &AwsCredentials) -> Result<Granted, AwsError> {
    let body = form(role, "AssumeRole", &[("ExternalId", role.external_id.as_deref())]);
    let mut question = question(role, body)?;
    let unsigned = Unsigned {
        method: "POST",
        url: &question.url,
        headers: &[("content-type", FORM)],
        body: question.body.as_bytes(),
    };
    let scope = Scope { region: &role.region, service: "sts", time: now_ms() };
    let signature = sign(&unsigned, base, &scope);
    let token = signature.session_token.as_ref().map(Secret::expose);
    let headers = [
        (AUTHORIZATION, Some(signature.authorization.as_str())),
        (HeaderName::from_static("x-amz-date"), Some(signature.date.as_str())),
        (HeaderName::from_static("x-amz-security-token"), token),
    ];
    for (name, value) in headers {
        let Some(value) = value else { continue };
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            AwsError::new("the AWS credentials have a character that no header can carry: copy them again")
        })?;
        value.set_sensitive(true);
        question.headers.insert(name, value);
    }
    read(&question.ask().await?)
}

/// Takes a role with a token that says who this is.
pub(super) async fn assume_by_token(role: &Role, token: &Secret) -> Result<Granted, AwsError> {
    let body = form(role, "AssumeRoleWithWebIdentity", &[("WebIdentityToken", Some(token.expose()))]);
    read(&question(role, body)?.ask().await?)
}

fn question(role: &Role, body: String) -> Result<Question, AwsError> {
    let headers = HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static(FORM)),
        (ACCEPT, HeaderValue::from_static("text/xml")),
    ]);
    Ok(Question { method: Method::POST, url: parse_url(&format!("{}/", role.endpoint))?, headers, body, direct: false })
}

fn form(role: &Role, action: &str, more: &[(&str, Option<&str>)]) -> String {
    let fields = [
        ("Action", Some(action)),
        ("Version", Some("2011-06-15")),
        ("RoleArn", Some(role.arn.as_str())),
        ("RoleSessionName", Some(role.session_name.as_deref().unwrap_or(SESSION_NAME))),
        ("DurationSeconds", role.duration.as_deref()),
    ];
    let fields =
        fields.iter().chain(more).filter_map(|(name, value)| Some(format!("{name}={}", percent_encode((*value)?))));
    fields.collect::<Vec<_>>().join("&")
}

/// The answer is XML with one element for each part.
fn read(xml: &[u8]) -> Result<Granted, AwsError> {
    let xml = String::from_utf8_lossy(xml);
    let part = |name: &str| {
        element(&xml, name)
            .filter(|text| !text.is_empty())
            .ok_or_else(|| AwsError::new(format!("the security token service gave credentials without {name}")))
    };
    let expires: Millis = read_time(part("Expiration")?, "the security token service")?;
    Ok(Granted {
        credentials: AwsCredentials {
            access_key_id: part("AccessKeyId")?.to_owned(),
            secret_access_key: Secret::new(part("SecretAccessKey")?),
            session_token: Some(Secret::new(part("SessionToken")?)),
        },
        expires: Some(expires),
    })
}

/// The text of the first element of that name. Keys, tokens and times have no characters that XML would escape.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text.trim())
}
