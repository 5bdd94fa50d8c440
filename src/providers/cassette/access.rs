//! What a request depends on that a cassette does not hold: keys and variables.
//!
//! How a request is written may depend on the kind of its credentials and on variables that say where it goes. The kind
//! and those variables are recorded; a replayed request gets something of the same kind that opens nothing.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

use super::format::Access;
use crate::providers::{Request, Secret, aws::AwsCredentials, environment::Environment};

/// Variables that requests are addressed by. None of them holds a key.
const VARIABLES: [&str; 16] = [
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "AWS_BEDROCK_FORCE_CACHE",
    "AWS_BEDROCK_SKIP_AUTH",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    "AWS_REGION",
    "AZURE_OPENAI_API_VERSION",
    "AZURE_OPENAI_BASE_URL",
    "AZURE_OPENAI_DEPLOYMENT_NAME_MAP",
    "AZURE_OPENAI_RESOURCE_NAME",
    "CLOUDFLARE_ACCOUNT_ID",
    "CLOUDFLARE_GATEWAY_ID",
    "CLOUD_ML_REGION",
    "GCLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
];

/// The kind of a request's credentials.
pub(super) fn kind(request: &Request) -> Access {
    match (&request.api_key, &request.aws) {
        (Some(key), _) if is_jwt(key.expose()) => Access::Jwt,
        (Some(key), _) if key.expose().starts_with("sk-") => Access::Key,
        (Some(_), _) => Access::Token,
        (None, Some(_)) => Access::Aws,
        (None, None) => Access::None,
    }
}

/// The variables that say where a request goes.
pub(super) fn variables(environment: &Environment) -> BTreeMap<String, String> {
    let set = VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), environment.get(name)?.to_owned())));
    set.collect()
}

/// Gives a request credentials of a kind, and variables, in place of its own.
pub(super) fn pretend(request: &mut Request, kind: Access, variables: &BTreeMap<String, String>) {
    // OpenAI's keys are told from its tokens by how they begin.
    const STAND_IN: &str = "sk-replayed";
    const TOKEN: &str = "replayed";
    (request.api_key, request.aws) = match kind {
        Access::None => (None, None),
        Access::Key => (Some(Secret::new(STAND_IN)), None),
        Access::Token => (Some(Secret::new(TOKEN)), None),
        Access::Jwt => (Some(Secret::new(&jwt())), None),
        Access::Aws => {
            let secret_access_key = Secret::new(STAND_IN);
            let credentials =
                AwsCredentials { access_key_id: STAND_IN.to_owned(), secret_access_key, session_token: None };
            (None, Some(credentials))
        }
    };
    request.environment = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
}

/// Whether a key is a signed token: three parts, the second of which is a JSON object in base64.
fn is_jwt(key: &str) -> bool {
    let mut parts = key.split('.');
    let (Some(_), Some(claims), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('='));
    claims.is_ok_and(|claims| serde_json::from_slice::<Map<String, Value>>(&claims).is_ok())
}

/// A token without a signature that names an account, as the tokens of ChatGPT's plans do.
fn jwt() -> String {
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let claims = r#"{"https://api.openai.com/auth":{"chatgpt_account_id":"replayed"}}"#;
    format!("{}.{}.{}", part(r#"{"alg":"none"}"#), part(claims), part("replayed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::testing::{plain_model, request};

    #[test]
    fn a_replayed_request_proves_itself_in_the_recorded_way_and_with_nothing_real() {
        for kind_of in [Access::None, Access::Key, Access::Token, Access::Jwt, Access::Aws] {
            let mut replayed = request(plain_model("openai-completions"), vec![]);
            replayed.api_key = Some(Secret::new("sk-real-key"));
            replayed.environment = [("AWS_REGION", "mine"), ("OPENAI_API_KEY", "sk-real-key")].into_iter().collect();
            let recorded = [("AWS_REGION".to_owned(), "eu-west-1".to_owned())].into();
            pretend(&mut replayed, kind_of, &recorded);
            assert_eq!(kind(&replayed), kind_of);
            assert_ne!(replayed.api_key, Some(Secret::new("sk-real-key")));
            assert_eq!(variables(&replayed.environment), recorded);
            assert_eq!(replayed.environment.get("OPENAI_API_KEY"), None);
        }
    }
}
