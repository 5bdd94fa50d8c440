//! The backend of ChatGPT plans: its URL, and whose plan it is.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::Value;

use crate::{
    protocol::{Failure, FailureClass},
    providers::{Request, headers::Headers, wire_api::join_url},
};

/// The host that refuses requests without an account.
const HOST: &str = "chatgpt.com";
const ACCOUNT_HEADER: &str = "chatgpt-account-id";
/// What OpenAI calls the object of its own claims in a token.
const CLAIMS: &str = "https://api.openai.com/auth";

/// Where requests go; a base that names a part of the path already is understood too.
pub(super) fn url(base: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    let root = base.strip_suffix("/responses").unwrap_or(base);
    let root = root.strip_suffix("/codex").unwrap_or(root);
    join_url(root, "/codex/responses")
}

/// Adds the headers that say who asks.
pub(super) fn identify(request: &Request, headers: &mut Headers) -> Result<(), Failure> {
    headers.set("accept", "text/event-stream");
    headers.set("openai-beta", "responses=experimental");
    headers.set("originator", "troupe");
    let account = request.api_key.as_ref().and_then(|token| account_id(token.expose()));
    match account {
        Some(account) => headers.set(ACCOUNT_HEADER, &account),
        None if !says_account(request) && request.model.base_url.contains(HOST) => {
            let text = format!(
                "Provider \"{}\" needs the login of a ChatGPT plan, whose token names the account: log in with `/login {0}`",
                request.model.provider
            );
            return Err(Failure::new(FailureClass::Auth, text));
        }
        None => {}
    }
    Ok(())
}

/// Whether one of the request's own header layers names the account.
fn says_account(request: &Request) -> bool {
    let layers = [request.model.headers.as_ref(), Some(&request.headers)];
    layers
        .into_iter()
        .flatten()
        .flatten()
        .any(|(name, value)| name.eq_ignore_ascii_case(ACCOUNT_HEADER) && !value.is_null())
}

/// The account in an access token. The token is only read: whether it is genuine is for the server to say.
fn account_id(token: &str) -> Option<String> {
    let payload = token.split('.').nth(1)?;
    let json = BASE64_URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    let claims: Value = serde_json::from_slice(&json).ok()?;
    let account = claims[CLAIMS]["chatgpt_account_id"].as_str()?;
    (!account.is_empty()).then(|| account.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::providers::{
        Secret,
        testing::{object, plain_model, request},
    };

    /// A token with such claims.
    fn token(claims: &Value) -> String {
        let part = |json: &Value| BASE64_URL_SAFE_NO_PAD.encode(json.to_string());
        format!("{}.{}.c2ln", part(&json!({"alg": "RS256"})), part(claims))
    }

    #[test]
    fn bases_with_and_without_the_path_lead_to_the_same_place() {
        for base in ["", "/", "/codex", "/codex/", "/codex/responses"] {
            let base = format!("https://chatgpt.com/backend-api{base}");
            assert_eq!(url(&base), "https://chatgpt.com/backend-api/codex/responses", "{base}");
        }
    }

    #[test]
    fn the_account_is_read_from_the_token() {
        // `?` and `~` give the characters in which base64url differs.
        let good = token(&json!({"sub": "a?~b>>>", CLAIMS: {"chatgpt_account_id": "acc-1"}}));
        assert!(good.contains('_') || good.contains('-'));
        assert_eq!(account_id(&good).as_deref(), Some("acc-1"));
        let padded = good.replace(".c2ln", "==.c2ln");
        assert_eq!(account_id(&padded).as_deref(), Some("acc-1"));
        for claims in [json!({}), json!({CLAIMS: {"chatgpt_account_id": ""}}), json!({CLAIMS: 3})] {
            assert_eq!(account_id(&token(&claims)), None, "{claims}");
        }
        for text in ["", "sk-123", "a.b.c", "..."] {
            assert_eq!(account_id(text), None, "{text}");
        }
    }

    #[test]
    fn plans_need_an_account_and_other_hosts_do_not() {
        let identified = |base: &str, key: &str, own: Value| {
            let mut model = plain_model("openai-codex-responses");
            model.base_url = base.into();
            let mut request = request(model, vec![]);
            request.api_key = Some(Secret::new(key));
            request.headers = object(own);
            let mut headers = Headers::base();
            identify(&request, &mut headers).map(|()| headers.into_map())
        };
        let plan = "https://chatgpt.com/backend-api";
        let good = token(&json!({CLAIMS: {"chatgpt_account_id": "acc-1"}}));
        let headers = identified(plan, &good, json!({})).unwrap();
        assert_eq!(
            (&headers["chatgpt-account-id"], &headers["originator"]),
            (&"acc-1".parse().unwrap(), &"troupe".parse().unwrap())
        );
        assert_eq!(
            (headers["openai-beta"].as_bytes(), headers["accept"].as_bytes()),
            (&b"responses=experimental"[..], &b"text/event-stream"[..])
        );
        let failure = identified(plan, "not-a-token-0123", json!({})).unwrap_err();
        assert_eq!(failure.class, FailureClass::Auth);
        assert!(failure.message.contains("/login custom") && !failure.message.contains("0123"), "{failure}");
        assert!(identified(plan, "key", json!({"ChatGPT-Account-Id": "acc-2"})).is_ok());
        assert!(!identified("http://localhost/v1", "key", json!({})).unwrap().contains_key("chatgpt-account-id"));
    }
}
