//! Which environment variables hold keys: programs that a model starts do not get them.

use std::collections::BTreeSet;

use super::{Credentials, auth_file::Stored, key_text::KeyText};

/// Variables that every program needs. A key text may name them (in a path, say); they stay.
const NEVER_SECRET: [&str; 10] =
    ["HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "USER", "XDG_CONFIG_HOME"];

impl Credentials {
    /// The names of all variables that hold keys, sorted: those of every known provider (set or not) and every one
    /// that `models.json` or `auth.json` names (FC-105).
    #[must_use]
    pub fn secret_variables(&self) -> Vec<String> {
        let mut names: BTreeSet<String> =
            crate::providers::catalogue::builtin::other_key_variables().into_iter().collect();
        for sources in self.sources.values() {
            names.extend(sources.env.iter().cloned());
            names.extend(sources.api_key.iter().flat_map(KeyText::variables).map(str::to_owned));
            let headers = sources.headers.values().chain(sources.model_headers.values().flat_map(|map| map.values()));
            for text in headers.filter_map(|value| value.as_str()) {
                names.extend(KeyText::parse(text).variables().map(str::to_owned));
            }
        }
        names.insert(super::federation::TOKEN.to_owned());
        let secrets = self.sources.values().filter_map(|sources| sources.oauth.as_ref()?.get("clientSecret")?.as_str());
        names.extend(secrets.flat_map(|text| KeyText::parse(text).variables().map(str::to_owned).collect::<Vec<_>>()));
        for stored in self.stored.iter().flat_map(|entries| entries.values()) {
            if let Stored::ApiKey { key, .. } = stored {
                names.extend(key.variables().map(str::to_owned));
            }
        }
        names.retain(|name| !NEVER_SECRET.contains(&name.as_str()));
        names.into_iter().collect()
    }
}
