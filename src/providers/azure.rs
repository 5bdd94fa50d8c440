//! Azure OpenAI, for every API that is spoken there: the resource's URL, deployments, and the key's header.

use std::borrow::Cow;

use reqwest::Url;

use super::{Request, Secret, environment::Environment, headers::Headers};
use crate::protocol::{Failure, FailureClass};

/// Ends of the hosts of Azure's resources.
const HOSTS: [&str; 3] = [".openai.azure.com", ".cognitiveservices.azure.com", ".ai.azure.com"];
/// What stands in settings for the place of the API at such a host.
const ROOTS: [&str; 5] = ["", "/openai", "/openai/v1", "/openai/v1/responses", "/openai/v1/chat/completions"];
const API_ROOT: &str = "/openai/v1";
const DEFAULT_VERSION: &str = "v1";

/// Where requests of `request` go: the resource that the variables name, else the model's base URL.
pub(crate) fn url(request: &Request, path: &str) -> Result<String, Failure> {
    let variables = &request.environment;
    let named = |name: &str| variables.get(name).map(str::trim);
    let base = named("AZURE_OPENAI_BASE_URL")
        .map(Cow::Borrowed)
        .or_else(|| Some(format!("https://{}.openai.azure.com", named("AZURE_OPENAI_RESOURCE_NAME")?).into()))
        .unwrap_or_else(|| request.model.base_url.trim().into());
    if base.is_empty() {
        let text = format!(
            "Provider \"{}\" has no URL: set AZURE_OPENAI_RESOURCE_NAME or AZURE_OPENAI_BASE_URL, or a baseUrl in models.json",
            request.model.provider
        );
        return Err(Failure::new(FailureClass::InvalidRequest, text));
    }
    let version = named("AZURE_OPENAI_API_VERSION").unwrap_or(DEFAULT_VERSION);
    // A text that is no URL goes on as it is: whoever sends the request says so.
    let Ok(mut url) = Url::parse(&base) else { return Ok(base.into_owned()) };
    let at_azure = url.host_str().is_some_and(|host| HOSTS.iter().any(|end| host.ends_with(end)));
    let root = url.path().trim_end_matches('/').to_owned();
    if at_azure && ROOTS.contains(&root.as_str()) {
        url.set_query(None);
        url.set_path(&format!("{API_ROOT}{path}"));
    } else {
        url.set_path(&format!("{}{path}", root.strip_suffix(path).unwrap_or(&root)));
    }
    if !url.query_pairs().any(|(name, _)| name == "api-version") {
        url.query_pairs_mut().append_pair("api-version", version);
    }
    Ok(url.into())
}

/// The deployment that serves a model: as the variables map it, else named like the model.
pub(crate) fn deployment(request: &Request) -> Cow<'_, str> {
    mapped(&request.environment, &request.model.id).map_or(Cow::Borrowed(&request.model.id), Cow::Borrowed)
}

/// The entry for `model` in `AZURE_OPENAI_DEPLOYMENT_NAME_MAP`: `model=deployment,model2=deployment2`.
fn mapped<'e>(variables: &'e Environment, model: &str) -> Option<&'e str> {
    let map = variables.get("AZURE_OPENAI_DEPLOYMENT_NAME_MAP")?;
    let mut entries = map.split(',').filter_map(|entry| entry.split_once('='));
    let (_, deployment) = entries.find(|(name, _)| name.trim() == model)?;
    Some(deployment.trim()).filter(|deployment| !deployment.is_empty())
}

/// Adds the key. Tokens of Entra ID, which are JWTs, go out as bearer tokens.
pub(crate) fn authorize(key: &Secret, provider: &str, headers: &mut Headers) -> Result<(), Failure> {
    let is_token = key.expose().starts_with("eyJ") && key.expose().matches('.').count() == 2;
    match is_token {
        true => headers.set_key("authorization", "Bearer ", key, provider),
        false => headers.set_key("api-key", "", key, provider),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::testing::{plain_model, request};

    fn asked(base_url: &str, variables: &[(&str, &str)]) -> Request {
        let mut model = plain_model("azure-openai-responses");
        model.base_url = base_url.into();
        let mut request = request(model, vec![]);
        request.environment = variables.iter().copied().collect();
        request
    }

    #[test]
    fn every_way_to_name_a_resource_leads_to_the_api() {
        let at = "https://r.openai.azure.com/openai/v1/responses?api-version=v1";
        type Variables<'v> = &'v [(&'v str, &'v str)];
        let table: [(&str, Variables<'_>, &str); 15] = [
            ("", &[("AZURE_OPENAI_RESOURCE_NAME", "r")], at),
            ("https://other.test/v1", &[("AZURE_OPENAI_RESOURCE_NAME", " r ")], at),
            (
                "https://other.test/v1",
                &[("AZURE_OPENAI_BASE_URL", "https://r.openai.azure.com"), ("AZURE_OPENAI_RESOURCE_NAME", "x")],
                at,
            ),
            ("https://r.openai.azure.com", &[], at),
            ("https://r.openai.azure.com/", &[], at),
            ("https://r.openai.azure.com/openai", &[], at),
            ("https://r.openai.azure.com/openai/v1/", &[], at),
            ("https://r.openai.azure.com/openai/v1/responses?api-version=2025-04-01-preview", &[], at),
            (
                "https://r.cognitiveservices.azure.com",
                &[("AZURE_OPENAI_API_VERSION", "2025-04-01-preview")],
                "https://r.cognitiveservices.azure.com/openai/v1/responses?api-version=2025-04-01-preview",
            ),
            (
                "https://r.services.ai.azure.com",
                &[],
                "https://r.services.ai.azure.com/openai/v1/responses?api-version=v1",
            ),
            (
                "https://r.services.ai.azure.com/api/projects/p",
                &[],
                "https://r.services.ai.azure.com/api/projects/p/responses?api-version=v1",
            ),
            ("http://localhost:9/gate/", &[], "http://localhost:9/gate/responses?api-version=v1"),
            ("http://localhost:9/gate/responses", &[], "http://localhost:9/gate/responses?api-version=v1"),
            ("http://localhost:9?api-version=v2&a=b", &[], "http://localhost:9/responses?api-version=v2&a=b"),
            ("no url", &[], "no url"),
        ];
        for (base, variables, expected) in table {
            assert_eq!(url(&asked(base, variables), "/responses").as_deref(), Ok(expected), "{base} {variables:?}");
        }
        let failure = url(&asked(" ", &[("AZURE_OPENAI_BASE_URL", "")]), "/responses").unwrap_err();
        assert!(failure.message.contains("AZURE_OPENAI_RESOURCE_NAME"), "{failure}");
    }

    #[test]
    fn deployments_are_mapped_by_model() {
        let table = [
            ("test-model=mine", "mine"),
            ("a=b, test-model = mine ,c=d", "mine"),
            ("a=b", "test-model"),
            ("test-model=", "test-model"),
            ("test-model", "test-model"),
        ];
        for (map, name) in table {
            assert_eq!(deployment(&asked("", &[("AZURE_OPENAI_DEPLOYMENT_NAME_MAP", map)])), name, "{map}");
        }
    }

    #[test]
    fn keys_and_tokens_have_headers_of_their_own() {
        for (key, name) in [("0123456789abcdef", "api-key"), ("eyJhbGciOi.eyJhdWQi.c2ln", "authorization")] {
            let mut headers = Headers::default();
            authorize(&Secret::new(key), "azure", &mut headers).unwrap();
            let map = headers.into_map();
            assert!(map.len() == 1 && map[name].to_str().unwrap().ends_with(key), "{map:?}");
        }
    }
}
