//! Signatures of requests: "AWS Signature Version 4".
//!
//! The signature covers the method, the path, the query, the body, and of the headers those that make the request what
//! it is: `host`, `content-type` and `x-amz-*`. Others may be changed by proxies on the way.

use reqwest::Url;
use ring::{digest, hmac};

use super::AwsCredentials;
use crate::protocol::time::{Millis, iso};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What a signature is made for.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The region of the endpoint, such as `us-east-1`.
    pub region: &'a str,
    /// The service's name for signatures, such as `bedrock`.
    pub service: &'a str,
    /// The time of the request; the service takes a signature for a few minutes.
    pub time: Millis,
}

/// A request to be signed.
#[derive(Clone, Copy, Debug)]
pub struct Unsigned<'a> {
    /// The method, in capitals.
    pub method: &'a str,
    /// Where it goes; path and query as they are sent.
    pub url: &'a Url,
    /// Headers that are signed beside those that the signature adds, names in lower case.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub body: &'a [u8],
}

/// The headers that a signature adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// `authorization`.
    pub authorization: String,
    /// `x-amz-date`.
    pub date: String,
    /// `x-amz-security-token`, for temporary credentials.
    pub session_token: Option<super::Secret>,
}

/// Signs a request.
#[must_use]
pub fn sign(request: &Unsigned<'_>, credentials: &AwsCredentials, scope: &Scope<'_>) -> Signature {
    let date = basic_time(scope.time);
    let host = host(request.url);
    let mut headers = request.headers.to_vec();
    headers.extend([("host", host.as_str()), ("x-amz-date", date.as_str())]);
    headers.extend(credentials.session_token.as_ref().map(|token| ("x-amz-security-token", token.expose())));
    headers.sort_by_key(|(name, _)| *name);
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");

    let canonical = canonical_request(request, &headers, &names);
    let day = &date[..8];
    let scope_text = format!("{day}/{}/{}/aws4_request", scope.region, scope.service);
    let to_sign = format!("{ALGORITHM}\n{date}\n{scope_text}\n{}", sha256(canonical.as_bytes()));
    let key = signing_key(credentials, day, scope);
    let signature = hex(hmac::sign(&key, to_sign.as_bytes()).as_ref());
    let authorization = format!(
        "{ALGORITHM} Credential={}/{scope_text}, SignedHeaders={names}, Signature={signature}",
        credentials.access_key_id
    );
    Signature { authorization, date, session_token: credentials.session_token.clone() }
}

/// `text` as it stands in a path or a query: everything but letters, digits and `-._~` as percent and hexadecimal.
#[must_use]
pub fn percent_encode(text: &str) -> String {
    encode(text, |_| false)
}

fn encode(text: &str, kept: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            byte if kept(byte) => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn canonical_request(request: &Unsigned<'_>, headers: &[(&str, &str)], names: &str) -> String {
    // What is sent is encoded already; the signature wants the path encoded once more.
    let path = encode(request.url.path(), |byte| byte == b'/');
    let headers = headers.iter().fold(String::new(), |lines, (name, value)| {
        let words: Vec<&str> = value.split_ascii_whitespace().collect();
        lines + name + ":" + &words.join(" ") + "\n"
    });
    let query = canonical_query(request.url.query().unwrap_or_default());
    format!("{}\n{path}\n{query}\n{headers}\n{names}\n{}", request.method, sha256(request.body))
}

/// The parameters in order; one without a value gets an empty one.
fn canonical_query(query: &str) -> String {
    let parameters = query.split('&').filter(|parameter| !parameter.is_empty());
    let mut pairs: Vec<(&str, &str)> =
        parameters.map(|parameter| parameter.split_once('=').unwrap_or((parameter, ""))).collect();
    pairs.sort_unstable();
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// The host as the `host` header names it: with the port, unless it is the scheme's own.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn signing_key(credentials: &AwsCredentials, day: &str, scope: &Scope<'_>) -> hmac::Key {
    let first = format!("AWS4{}", credentials.secret_access_key.expose());
    let start = hmac::Key::new(hmac::HMAC_SHA256, first.as_bytes());
    [day, scope.region, scope.service, "aws4_request"]
        .iter()
        .fold(start, |key, part| hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&key, part.as_bytes()).as_ref()))
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A time as signatures write it: `20150830T123600Z`.
fn basic_time(time: Millis) -> String {
    let seconds = iso(time).chars().take(19).filter(|c| !matches!(c, '-' | ':')).collect::<String>();
    seconds + "Z"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{protocol::time::parse_iso, providers::Secret};

    fn example(session_token: Option<&str>) -> AwsCredentials {
        AwsCredentials {
            access_key_id: "AKIDEXAMPLE".into(),
            secret_access_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: session_token.map(Secret::new),
        }
    }

    fn scope(service: &str) -> Scope<'_> {
        Scope { region: "us-east-1", service, time: parse_iso("2015-08-30T12:36:00Z").unwrap() }
    }

    /// The cases of the published algorithm's examples.
    #[test]
    fn the_published_examples_come_out_as_published() {
        let form = "application/x-www-form-urlencoded; charset=utf-8";
        let list = "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08";
        let plain = "https://example.amazonaws.com/";
        let table = [
            (
                "GET",
                plain,
                None,
                "service",
                "host;x-amz-date",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            (
                "POST",
                plain,
                None,
                "service",
                "host;x-amz-date",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                "GET",
                "https://example.amazonaws.com/?Param2=value2&Param1=value1",
                None,
                "service",
                "host;x-amz-date",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                "GET",
                list,
                Some(form),
                "iam",
                "content-type;host;x-amz-date",
                "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
            ),
        ];
        for (method, url, content_type, service, names, signature) in table {
            let url = Url::parse(url).unwrap();
            let headers: Vec<_> = content_type.into_iter().map(|value| ("content-type", value)).collect();
            let unsigned = Unsigned { method, url: &url, headers: &headers, body: b"" };
            let signed = sign(&unsigned, &example(None), &scope(service));
            assert_eq!(
                signed.authorization,
                format!(
                    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/{service}/aws4_request, SignedHeaders={names}, Signature={signature}"
                ),
                "{method} {url}"
            );
            assert_eq!((signed.date.as_str(), signed.session_token), ("20150830T123600Z", None));
        }
    }

    #[test]
    fn a_path_is_encoded_once_more_and_headers_are_trimmed_and_sorted() {
        let url = Url::parse("http://127.0.0.1:8080/base/model/us.anthropic.claude-v1%3A0/converse-stream?b&a=2&a=1")
            .unwrap();
        let headers = [("x-amz-meta", "  one   two "), ("content-type", "application/json")];
        let unsigned = Unsigned { method: "POST", url: &url, headers: &headers, body: b"{}" };
        let canonical = canonical_request(
            &unsigned,
            &[("content-type", "application/json"), ("x-amz-meta", "  one   two ")],
            "content-type;x-amz-meta",
        );
        let expected = "POST\n/base/model/us.anthropic.claude-v1%253A0/converse-stream\na=1&a=2&b=\ncontent-type:application/json\nx-amz-meta:one two\n\ncontent-type;x-amz-meta\n44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(canonical, expected);
        assert_eq!(host(&url), "127.0.0.1:8080");
        assert_eq!(host(&Url::parse("https://[::1]:443/").unwrap()), "[::1]");
        let signed = sign(&unsigned, &example(Some("token")), &scope("bedrock"));
        assert!(
            signed
                .authorization
                .contains("SignedHeaders=content-type;host;x-amz-date;x-amz-meta;x-amz-security-token,"),
            "{}",
            signed.authorization
        );
        assert_eq!(signed.session_token, Some(Secret::new("token")));
    }

    #[test]
    fn the_key_is_derived_as_published() {
        let message = hmac::sign(&signing_key(&example(None), "20150830", &scope("iam")), b"");
        // The published key's bytes, tried by what they sign.
        let published = [
            0xc4, 0xaf, 0xb1, 0xcc, 0x57, 0x71, 0xd8, 0x71, 0x76, 0x3a, 0x39, 0x3e, 0x44, 0xb7, 0x03, 0x57, 0x1b, 0x55,
            0xcc, 0x28, 0x42, 0x4d, 0x1a, 0x5e, 0x86, 0xda, 0x6e, 0xd3, 0xc1, 0x54, 0xa4, 0xb9,
        ];
        let expected = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &published), b"");
        assert_eq!(message.as_ref(), expected.as_ref());
    }

    #[test]
    fn model_ids_fit_into_paths() {
        assert_eq!(percent_encode("us.anthropic.claude-v1:0"), "us.anthropic.claude-v1%3A0");
        assert_eq!(percent_encode("arn:aws:x/é~_'"), "arn%3Aaws%3Ax%2F%C3%A9~_%27");
    }
}
