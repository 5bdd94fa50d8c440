//! Where requests go, and what lets them in.

use crate::{
    protocol::{Failure, FailureClass, Model},
    providers::{
        Request, Secret,
        headers::{Headers, has_own_authorization},
        hosts::session_headers,
        wire_api::join_url,
    },
};

/// Streams the answer as server-sent events; without the query it would be one growing list.
const METHOD: &str = ":streamGenerateContent?alt=sse";
const PLACEHOLDER: &str = "{location}";
const VERTEX: &str = "https://{location}-aiplatform.googleapis.com";
const GLOBAL: &str = "global";
/// The variables that name the project; the first that is set counts.
pub(super) const PROJECT: [&str; 2] = ["GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"];
/// The variable that names the location.
pub(super) const LOCATION: &str = "GOOGLE_CLOUD_LOCATION";

/// The address at Google AI Studio. The base ends with the version.
pub(super) fn studio_url(model: &Model) -> String {
    let is_path = model.id.starts_with("models/") || model.id.starts_with("tunedModels/");
    let kind = if is_path { "" } else { "models/" };
    join_url(&model.base_url, &format!("/{kind}{}{METHOD}", model.id))
}

/// The address at Vertex AI. A key belongs to a project already: it takes the short path, at the place that serves all
/// locations. Everything else names project and location.
///
/// # Errors
/// A project or location is needed and not set, or no such name.
pub(super) fn vertex_url(request: &Request) -> Result<String, Failure> {
    let base = match request.model.base_url.trim() {
        "" => VERTEX,
        base => base,
    };
    let variable = |names: &[&str]| names.iter().find_map(|name| request.environment.get(name)).map(str::trim);
    let (project, location) = (variable(&PROJECT), variable(&[LOCATION]));
    if let Some(name) = [project, location].into_iter().flatten().find(|name| !is_name(name)) {
        return Err(refused(format!("\"{name}\" is no name of a Google Cloud project or location")));
    }
    let scope = match (sent_key(request), project, location) {
        (Some(_), ..) => String::new(),
        _ if base.contains("/projects/") => String::new(),
        (None, Some(project), Some(location)) => format!("/projects/{project}/locations/{location}"),
        // A server that only speaks the protocol may know the project by itself.
        (None, ..) if !base.contains(PLACEHOLDER) && !base.contains("googleapis.com") => String::new(),
        (None, ..) => {
            return Err(refused(format!(
                "Vertex AI needs a project and a location: set {} and {LOCATION} (for example \"{GLOBAL}\"), or use an API key",
                PROJECT[0]
            )));
        }
    };
    let location = location.filter(|_| !scope.is_empty()).unwrap_or(GLOBAL);
    let version = if is_versioned(base) { "" } else { "/v1" };
    let id = &request.model.id;
    let model = match id.split_once('/') {
        None => format!("publishers/google/models/{id}"),
        Some(("publishers" | "projects", _)) => id.clone(),
        Some(("models", name)) => format!("publishers/google/models/{name}"),
        Some((publisher, name)) => format!("publishers/{publisher}/models/{name}"),
    };
    Ok(join_url(&at(base, location), &format!("{version}{scope}/{model}{METHOD}")))
}

/// The base of a location. The place that serves all locations and those that serve a continent have other names.
fn at(base: &str, location: &str) -> String {
    const REGIONAL: &str = "{location}-aiplatform.googleapis.com";
    match location {
        GLOBAL => base.replace(REGIONAL, "aiplatform.googleapis.com"),
        "us" | "eu" => base.replace(REGIONAL, &format!("aiplatform.{location}.rep.googleapis.com")),
        _ => base.to_owned(),
    }
    .replace(PLACEHOLDER, location)
}

/// Whether a base has an API version in its path, such as `v1` or `v1beta1`.
fn is_versioned(base: &str) -> bool {
    let path = base.split_once("://").map_or(base, |(_, rest)| rest).split('/').skip(1);
    path.into_iter()
        .any(|segment| segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))
}

/// Names become parts of a host and of a path.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))
}

fn refused(text: String) -> Failure {
    Failure::new(FailureClass::InvalidRequest, text)
}

/// The key, unless the request is let in by a token of its own.
fn sent_key(request: &Request) -> Option<&Secret> {
    request.api_key.as_ref().filter(|_| !has_own_authorization(request))
}

/// The headers. The key never stands in the URL, which ends up in logs.
///
/// # Errors
/// A key or a header that cannot be sent.
pub(super) fn headers(request: &Request) -> Result<Headers, Failure> {
    let mut headers = Headers::base();
    if let Some(key) = sent_key(request) {
        headers.set_key("x-goog-api-key", "", key, &request.model.provider)?;
    }
    session_headers(&mut headers, request);
    headers.overlay(request)?;
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::providers::testing::{object, plain_model, request};

    const FULL: [(&str, &str); 2] = [("GOOGLE_CLOUD_PROJECT", "p-1"), ("GOOGLE_CLOUD_LOCATION", "europe-west4")];

    fn vertex(base: &str, id: &str, environment: &[(&str, &str)], auth: Auth) -> Result<String, Failure> {
        let mut model = plain_model("google-vertex");
        (model.base_url, model.id) = (base.into(), id.into());
        let mut request = request(model, vec![]);
        request.environment = environment.iter().copied().collect();
        match auth {
            Auth::Key => request.api_key = Some(Secret::new("key-0123456789")),
            Auth::Token => {
                request.api_key = Some(Secret::new("token-0123456789"));
                request.headers = object(json!({"Authorization": "Bearer token-0123456789"}));
            }
            Auth::Nothing => {}
        }
        vertex_url(&request)
    }

    #[derive(Clone, Copy, Debug)]
    enum Auth {
        Key,
        Token,
        Nothing,
    }

    #[test]
    fn studio_has_one_path() {
        let mut model = plain_model("google-generative-ai");
        let table = [
            ("https://g.com/v1beta", "gemini-3", "https://g.com/v1beta/models/gemini-3:streamGenerateContent?alt=sse"),
            ("http://l:1/v1beta/", "models/x", "http://l:1/v1beta/models/x:streamGenerateContent?alt=sse"),
            ("http://l:1", "tunedModels/x", "http://l:1/tunedModels/x:streamGenerateContent?alt=sse"),
        ];
        for (base, id, url) in table {
            (model.base_url, model.id) = (base.into(), id.into());
            assert_eq!(studio_url(&model), url);
        }
    }

    #[test]
    fn vertex_has_a_short_path_for_keys_and_a_full_one_for_tokens() {
        let own = "https://{location}-aiplatform.googleapis.com";
        let global = [("GCLOUD_PROJECT", "p-2"), ("GOOGLE_CLOUD_LOCATION", "global")];
        let continent = [("GOOGLE_CLOUD_PROJECT", "p-1"), ("GOOGLE_CLOUD_LOCATION", "eu")];
        let table = [
            (
                own,
                "g",
                &FULL[..],
                Auth::Token,
                "https://europe-west4-aiplatform.googleapis.com/v1/projects/p-1/locations/europe-west4/publishers/google/models/g",
            ),
            (
                "",
                "g",
                &FULL[..],
                Auth::Token,
                "https://europe-west4-aiplatform.googleapis.com/v1/projects/p-1/locations/europe-west4/publishers/google/models/g",
            ),
            (
                own,
                "g",
                &global[..],
                Auth::Token,
                "https://aiplatform.googleapis.com/v1/projects/p-2/locations/global/publishers/google/models/g",
            ),
            (
                own,
                "g",
                &continent[..],
                Auth::Token,
                "https://aiplatform.eu.rep.googleapis.com/v1/projects/p-1/locations/eu/publishers/google/models/g",
            ),
            (
                own,
                "meta/llama",
                &global[..],
                Auth::Token,
                "https://aiplatform.googleapis.com/v1/projects/p-2/locations/global/publishers/meta/models/llama",
            ),
            (own, "g", &FULL[..], Auth::Key, "https://aiplatform.googleapis.com/v1/publishers/google/models/g"),
            (own, "models/g", &[][..], Auth::Key, "https://aiplatform.googleapis.com/v1/publishers/google/models/g"),
            ("http://l:1/x/v1", "g", &[][..], Auth::Key, "http://l:1/x/v1/publishers/google/models/g"),
            ("http://l:1/", "g", &[][..], Auth::Key, "http://l:1/v1/publishers/google/models/g"),
            (
                "http://l:1/v1beta1",
                "g",
                &FULL[..],
                Auth::Token,
                "http://l:1/v1beta1/projects/p-1/locations/europe-west4/publishers/google/models/g",
            ),
            (
                "http://l:1/v1/projects/q/locations/r",
                "g",
                &FULL[..],
                Auth::Token,
                "http://l:1/v1/projects/q/locations/r/publishers/google/models/g",
            ),
            (
                "http://l:1/v1",
                "publishers/google/models/g",
                &[][..],
                Auth::Nothing,
                "http://l:1/v1/publishers/google/models/g",
            ),
        ];
        for (base, id, environment, auth, url) in table {
            let expected = format!("{url}:streamGenerateContent?alt=sse");
            assert_eq!(vertex(base, id, environment, auth), Ok(expected), "{base} {id} {auth:?}");
        }
    }

    #[test]
    fn vertex_says_which_variable_is_missing_or_wrong() {
        let wrong = [("GOOGLE_CLOUD_PROJECT", "p"), ("GOOGLE_CLOUD_LOCATION", "evil.com/x")];
        let table = [
            (&FULL[..1], Auth::Token, "GOOGLE_CLOUD_LOCATION"),
            (&FULL[1..], Auth::Nothing, "GOOGLE_CLOUD_PROJECT"),
            (&wrong[..], Auth::Token, "\"evil.com/x\""),
        ];
        for (environment, auth, text) in table {
            let failure = vertex(VERTEX, "g", environment, auth).unwrap_err();
            assert!(failure.message.contains(text) && !failure.retryable, "{failure}");
        }
    }

    #[test]
    fn the_key_is_a_header_unless_a_token_is_sent() {
        let mut request = request(plain_model("google-generative-ai"), vec![]);
        request.api_key = Some(Secret::new("key-0123456789"));
        let map = headers(&request).unwrap().into_map();
        assert_eq!(map["x-goog-api-key"], "key-0123456789");
        assert!(map["x-goog-api-key"].is_sensitive() && !map.contains_key("authorization"));
        request.headers = object(json!({"authorization": "Bearer t"}));
        let map = headers(&request).unwrap().into_map();
        assert!(!map.contains_key("x-goog-api-key") && map["authorization"] == "Bearer t");
    }
}
