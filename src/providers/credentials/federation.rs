//! Anthropic's workload identity federation: the identity token of a machine is traded for a short-lived access token
//! (RFC 7523; `POST /v1/oauth/token` in Anthropic's API).

use std::{collections::HashMap, path::Path, sync::LazyLock, time::Duration};

use reqwest::Url;
use tokio::sync::Mutex;

use super::ambient::{AmbientError, Identity};
use crate::{
    protocol::time::{Millis, now_ms},
    providers::{
        Secret,
        environment::Environment,
        oauth::{Tokens, token_call::post_json},
    },
    store::regular_file,
};

/// The token endpoint.
const ENDPOINT: &str = "https://api.anthropic.com/v1/oauth/token";
/// What the endpoint must be asked with, in place of a grant of its other kind.
const BETAS: &str = "oauth-2025-04-20,oidc-federation-2026-04-01";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// A token with less life left is replaced.
const MARGIN: Duration = Duration::from_secs(5 * 60);
/// A token is used for this long, however early it ends.
const AT_LEAST: Duration = Duration::from_secs(30);

const RULE: &str = "ANTHROPIC_FEDERATION_RULE_ID";
const ORGANIZATION: &str = "ANTHROPIC_ORGANIZATION_ID";
const TOKEN_FILE: &str = "ANTHROPIC_IDENTITY_TOKEN_FILE";
/// The identity token itself, for platforms that hand it over without a file.
pub(super) const TOKEN: &str = "ANTHROPIC_IDENTITY_TOKEN";

/// Fields of the exchange and the variables that have them; the last two are optional.
const FIELDS: [(&str, &str); 4] = [
    ("federation_rule_id", RULE),
    ("organization_id", ORGANIZATION),
    ("service_account_id", "ANTHROPIC_SERVICE_ACCOUNT_ID"),
    ("workspace_id", "ANTHROPIC_WORKSPACE_ID"),
];

/// A token and until when it is used.
type Kept = (Secret, Millis);
/// Tokens by the fields that they were got with.
static KEPT: LazyLock<Mutex<HashMap<String, Kept>>> = LazyLock::new(Mutex::default);

/// Whether the variables name a rule, an organization and an identity.
pub(super) fn is_configured(environment: &Environment) -> bool {
    let set = |name: &str| environment.get(name).is_some();
    set(RULE) && set(ORGANIZATION) && (set(TOKEN_FILE) || set(TOKEN))
}

/// The access token of this moment.
pub(super) async fn resolve(environment: &Environment) -> Result<Identity, AmbientError> {
    let endpoint = Url::parse(ENDPOINT).map_err(|error| AmbientError(error.to_string()))?;
    token(&endpoint, environment).await.map(Identity::Bearer)
}

async fn token(endpoint: &Url, environment: &Environment) -> Result<Secret, AmbientError> {
    let fields: Vec<(&str, &str)> =
        FIELDS.iter().filter_map(|(field, name)| Some((*field, environment.get(name)?.trim()))).collect();
    let identity = format!("{endpoint} {fields:?} {:?}", environment.get(TOKEN_FILE));
    // Held during the exchange: who asks at the same time gets the same token.
    let mut kept = KEPT.lock().await;
    if let Some((token, until)) = kept.get(&identity)
        && now_ms() < *until
    {
        return Ok(token.clone());
    }
    // Read each time: the platform replaces the file before its token ends.
    let assertion = assertion(environment)?;
    let mut all = vec![("grant_type", GRANT), ("assertion", assertion.expose())];
    all.extend(fields);
    let failed = |error: String| AmbientError(format!("Anthropic's federation gave no token: {error}"));
    let answer =
        post_json(endpoint, &all, &[("anthropic-beta", BETAS)]).await.map_err(|error| failed(error.to_string()))?;
    let now = now_ms();
    let tokens = Tokens::read(&answer, now).map_err(|error| failed(error.to_string()))?;
    kept.insert(identity, (tokens.access.clone(), used_until(now, tokens.expires)));
    Ok(tokens.access)
}

fn used_until(now: Millis, expires: Option<Millis>) -> Millis {
    let ms = |duration: Duration| Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX);
    let early = expires.map_or(now, |expires| expires.saturating_sub(ms(MARGIN)));
    early.max(now.saturating_add(ms(AT_LEAST)))
}

fn assertion(environment: &Environment) -> Result<Secret, AmbientError> {
    let Some(file) = environment.get(TOKEN_FILE) else {
        let token = environment.get(TOKEN).map(Secret::new);
        return token.ok_or_else(|| AmbientError(format!("set {TOKEN_FILE} or {TOKEN}")));
    };
    let text = regular_file::read_to_string(Path::new(file))
        .map_err(|error| AmbientError(format!("{TOKEN_FILE} names {file}, which cannot be read: {error}")))?;
    if text.trim().is_empty() {
        return Err(AmbientError(format!("{TOKEN_FILE} names {file}, which is empty")));
    }
    Ok(Secret::new(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::providers::oauth::testing::TokenServer;

    fn environment(file: &str, more: &[(&str, &str)]) -> Environment {
        [(RULE, "fdrl_1"), (ORGANIZATION, "org"), (TOKEN_FILE, file)].iter().chain(more).copied().collect()
    }

    #[test]
    fn rule_organization_and_identity_are_needed() {
        let all = [(RULE, "r"), (ORGANIZATION, "o"), (TOKEN_FILE, "/f"), (TOKEN, "t")];
        for (left_out, configured) in
            [("", true), (TOKEN, true), (TOKEN_FILE, true), (RULE, false), (ORGANIZATION, false)]
        {
            let environment = all.into_iter().filter(|(name, _)| *name != left_out).collect();
            assert_eq!(is_configured(&environment), configured, "without {left_out}");
        }
        assert!(!is_configured(&[(RULE, "r"), (ORGANIZATION, "o")].into_iter().collect()));
    }

    #[tokio::test]
    async fn an_identity_token_is_traded_once_and_read_again_for_the_next_trade() {
        let server = TokenServer::start(|number, _| {
            let life = if number == 0 { 3600 } else { 60 };
            (200, json!({"access_token": format!("sk-ant-oat01-{number}"), "expires_in": life, "token_type": "Bearer"}))
        })
        .await;
        let endpoint = Url::parse(&server.url).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "jwt-1\n").unwrap();
        let first = environment(file.path().to_str().unwrap(), &[("ANTHROPIC_SERVICE_ACCOUNT_ID", "svac_1")]);
        let (one, same) = tokio::join!(token(&endpoint, &first), token(&endpoint, &first));
        assert_eq!((one.unwrap().expose(), same.unwrap().expose()), ("sk-ant-oat01-0", "sk-ant-oat01-0"));
        std::fs::write(file.path(), "jwt-2").unwrap();
        let other = environment(file.path().to_str().unwrap(), &[("ANTHROPIC_WORKSPACE_ID", "wrkspc_1")]);
        assert_eq!(token(&endpoint, &other).await.unwrap().expose(), "sk-ant-oat01-1");
        let asked = server.asked();
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0].headers["anthropic-beta"], BETAS);
        let fields =
            |at: usize, names: [&str; 5]| names.map(|name| asked[at].fields.get(name).cloned().unwrap_or_default());
        let names = ["assertion", "federation_rule_id", "organization_id", "service_account_id", "workspace_id"];
        assert_eq!(fields(0, names), ["jwt-1", "fdrl_1", "org", "svac_1", ""]);
        assert_eq!(fields(1, names), ["jwt-2", "fdrl_1", "org", "", "wrkspc_1"]);
    }

    #[tokio::test]
    async fn a_failed_trade_says_why_without_the_identity() {
        let server = TokenServer::start(|_, _| {
            (400, json!({"error": "invalid_grant", "error_description": "no rule for jwt-hush"}))
        })
        .await;
        let file = tempfile::NamedTempFile::new().unwrap();
        let environment = environment(file.path().to_str().unwrap(), &[]);
        let endpoint = Url::parse(&server.url).unwrap();
        let empty = token(&endpoint, &environment).await.unwrap_err().to_string();
        assert!(empty.contains(TOKEN_FILE) && empty.contains("empty"), "{empty}");
        std::fs::write(file.path(), "jwt-hush").unwrap();
        let text = token(&endpoint, &environment).await.unwrap_err().to_string();
        assert!(text.contains("invalid_grant") && !text.contains("hush"), "{text}");
    }

    #[test]
    fn short_lived_tokens_are_used_all_the_same() {
        for (expires, until) in [(Some(1_000_000), 700_000), (Some(60_000), 30_000), (None, 30_000)] {
            assert_eq!(used_until(0, expires), until);
        }
    }
}
