//! Which credentials there are.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::providers::{credentials::ambient::AmbientError, environment::Environment};

const FILE: &str = "GOOGLE_APPLICATION_CREDENTIALS";
/// Where a machine is asked for its own credentials, when it is not the usual address.
const MACHINE_HOST: &str = "GCE_METADATA_HOST";
const USUAL_HOST: &str = "metadata.google.internal";
const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";

/// Where credentials may be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a file.
    File(PathBuf),
    /// From the machine, which is one of Google's; asked at this host.
    Machine(String),
}

/// Credentials. They hold keys: no `Debug`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// A person's, from a login with gcloud.
    User { client_id: String, client_secret: String, refresh_token: String, token_uri: String },
    /// A program's, from a key file.
    Service {
        email: String,
        /// PEM.
        private_key: String,
        key_id: Option<String>,
        token_uri: String,
    },
    /// The machine's own.
    Machine { host: String },
}

impl Place {
    /// The first place that seems to have credentials: the file that the user names, gcloud's own, the machine, which
    /// is known by the name of its product in the file `product`.
    pub(super) fn find(environment: &Environment, product: &Path) -> Option<Self> {
        if let Some(named) = environment.get(FILE) {
            return Some(Self::File(named.trim().into()));
        }
        let folder = match environment.get("CLOUDSDK_CONFIG") {
            Some(folder) => Some(PathBuf::from(folder)),
            None => environment.get("HOME").map(|home| Path::new(home).join(".config/gcloud")),
        };
        let file = folder.map(|folder| folder.join("application_default_credentials.json"));
        if let Some(file) = file.filter(|file| file.is_file()) {
            return Some(Self::File(file));
        }
        if let Some(host) = environment.get(MACHINE_HOST) {
            return Some(Self::Machine(host.trim().to_owned()));
        }
        let is_google = std::fs::read_to_string(product).is_ok_and(|name| name.trim().starts_with("Google"));
        is_google.then(|| Self::Machine(USUAL_HOST.to_owned()))
    }

    /// The credentials.
    ///
    /// # Errors
    /// The file cannot be read or is no file of credentials that are spoken here.
    pub(super) async fn read(self) -> Result<Source, AmbientError> {
        let path = match self {
            Self::Machine(host) => return Ok(Source::Machine { host }),
            Self::File(path) => path,
        };
        let text = tokio::fs::read_to_string(&path).await;
        text.map_err(|error| error.to_string())
            .and_then(|text| parse(&text))
            .map_err(|problem| AmbientError(format!("Google's credentials in {}: {problem}", path.display())))
    }
}

/// Reads a file of credentials. No text shows what is in it.
fn parse(text: &str) -> Result<Source, String> {
    let json: Value = serde_json::from_str(text.trim_start_matches('\u{FEFF}'))
        .map_err(|error| format!("no JSON (line {}, column {})", error.line(), error.column()))?;
    let kind = json["type"].as_str().unwrap_or_default();
    let maybe = |name: &str| json[name].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let field = |name: &str| maybe(name).ok_or_else(|| format!("credentials of type {kind} need the field \"{name}\""));
    let token_uri = maybe("token_uri").unwrap_or_else(|| TOKEN_URI.to_owned());
    match kind {
        "authorized_user" => Ok(Source::User {
            client_id: field("client_id")?,
            client_secret: field("client_secret")?,
            refresh_token: field("refresh_token")?,
            token_uri,
        }),
        "service_account" => Ok(Source::Service {
            email: field("client_email")?,
            private_key: field("private_key")?,
            key_id: maybe("private_key_id"),
            token_uri,
        }),
        "" => Err("the field \"type\" is missing".to_owned()),
        kind => Err(format!(
            "the type \"{kind}\" is not supported; use the key of a service account, or run `gcloud auth application-default login`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().copied().collect()
    }

    #[test]
    fn places_are_looked_at_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let text = |name: &str| path(name).to_str().unwrap().to_owned();
        std::fs::create_dir_all(path("home/.config/gcloud")).unwrap();
        std::fs::create_dir_all(path("sdk")).unwrap();
        let (in_home, in_sdk) = (
            path("home/.config/gcloud/application_default_credentials.json"),
            path("sdk/application_default_credentials.json"),
        );
        std::fs::write(&in_home, "{}").unwrap();
        std::fs::write(&in_sdk, "{}").unwrap();
        std::fs::write(path("product"), "Google Compute Engine\n").unwrap();
        std::fs::write(path("other"), "Virtual Machine\n").unwrap();
        let (home, sdk) = (text("home"), text("sdk"));
        let table = [
            (vec![(FILE, "/named.json"), ("HOME", &home)], "product", Some(Place::File("/named.json".into()))),
            (vec![("CLOUDSDK_CONFIG", sdk.as_str()), ("HOME", &home)], "product", Some(Place::File(in_sdk))),
            (vec![("HOME", home.as_str()), (MACHINE_HOST, "h:1")], "product", Some(Place::File(in_home))),
            (vec![("CLOUDSDK_CONFIG", "/none"), ("HOME", &home)], "other", None),
            (vec![(MACHINE_HOST, "h:1")], "other", Some(Place::Machine("h:1".into()))),
            (vec![], "product", Some(Place::Machine(USUAL_HOST.into()))),
            (vec![("HOME", sdk.as_str())], "other", None),
            (vec![], "missing", None),
        ];
        for (variables, product, place) in table {
            assert_eq!(Place::find(&environment(&variables), &path(product)), place, "{variables:?} {product}");
        }
    }

    #[test]
    fn files_that_cannot_be_used_say_why_and_show_nothing() {
        let table = [
            (json!({"type": "authorized_user", "client_id": "a", "client_secret": "hidden-1"}), "\"refresh_token\""),
            (json!({"type": "service_account", "private_key": "hidden-2"}), "\"client_email\""),
            (json!({"type": "service_account", "client_email": "e", "private_key": " "}), "\"private_key\""),
            (json!({"type": "external_account", "audience": "hidden-3"}), "\"external_account\" is not supported"),
            (json!({"type": "impersonated_service_account"}), "gcloud auth application-default login"),
            (json!({"hidden-4": 1}), "\"type\" is missing"),
            (json!(["hidden-5"]), "\"type\" is missing"),
        ];
        for (file, problem) in table {
            let Err(text) = parse(&file.to_string()) else { panic!("{file}") };
            assert!(text.contains(problem) && !text.contains("hidden"), "{text}");
        }
        let Err(text) = parse("{\"a\": hidden") else { panic!() };
        assert_eq!(text, "no JSON (line 1, column 7)");
    }

    #[test]
    fn the_address_for_tokens_may_be_left_out() {
        let file = json!({"type": "authorized_user", "client_id": "a", "client_secret": "b", "refresh_token": "c"});
        let source = parse(&file.to_string()).ok().unwrap();
        assert!(matches!(source, Source::User { token_uri, .. } if token_uri == TOKEN_URI));
    }
}
