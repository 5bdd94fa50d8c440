//! A provider's way to log in, put together from what is built in, `models.json` and `settings.json`.

use serde_json::{Map, Value};

use super::{
    CredentialError, Credentials,
    key_text::{KeyText, expand},
};
use crate::{
    providers::{
        Secret,
        oauth::{Flow, builtin},
    },
    store::settings::Settings,
};

impl Credentials {
    /// The provider's flow; none when it has none. `settings.json` is read anew each time, so that a client id counts
    /// as soon as it stands there.
    #[must_use]
    pub fn flow(&self, provider: &str) -> Option<Result<Flow, CredentialError>> {
        let settings = Settings::load(&self.settings_file, None);
        let own = settings.get(&["oauth", provider]).and_then(Value::as_object);
        let configured = self.sources.get(provider).and_then(|sources| sources.oauth.as_ref());
        let layers = [builtin::flow(provider), configured, own];
        let has_endpoint = layers.iter().flatten().any(|layer| layer.contains_key("tokenUrl"));
        has_endpoint.then(|| self.build(provider, layers.into_iter().flatten()))
    }

    fn build<'a>(
        &self,
        provider: &str,
        layers: impl Iterator<Item = &'a Map<String, Value>>,
    ) -> Result<Flow, CredentialError> {
        let mut flow = Flow::of_layers(layers)
            .map_err(|fault| CredentialError::Flow { provider: provider.to_owned(), fault: fault.describe() })?;
        let environment = self.environment_of(provider);
        let secret = flow.client.as_mut().and_then(|client| client.secret.as_mut());
        if let Some(secret) = secret {
            let text = KeyText::parse(secret.expose());
            let value = match &text {
                KeyText::Template(parts) => expand(parts, &environment),
                KeyText::Command(_) => None,
            };
            *secret = value.map(|value| Secret::new(&value)).ok_or_else(|| CredentialError::Variable {
                place: format!("oauth.clientSecret of {provider}"),
                variable: text.missing_variable(&environment).unwrap_or("(a command cannot stand there)").to_owned(),
            })?;
        }
        Ok(flow)
    }
}
