//! Providers and virtual models that code brings along: they stand between the built-in ones and `models.json`.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::builtin::TROUPE;
use crate::{
    protocol::{ModelRef, route::VirtualDescription},
    providers::{
        Provider,
        models_json::{self, ProviderEntry},
        routing::{Router, VirtualModel},
    },
    store::document::{Fault, Field},
};

/// A provider that code brings along.
#[derive(Clone)]
pub struct ProviderRegistration {
    /// Its id. That of a built-in provider redirects or replaces it.
    pub id: String,
    /// What an entry of `providers` in `models.json` may say: `name`, `baseUrl`, `apiKey`, `api`, `headers`,
    /// `authHeader`, `models` and the rest. With `models`, they are all models of the provider; without, only what
    /// else is said changes.
    pub config: Value,
    /// Answers the models whose `api` it speaks; without, they speak one of the wire APIs of this program. A model
    /// without an `api` speaks this one, and without `apiKey` it needs no key.
    pub wire: Option<Arc<dyn Provider>>,
}

/// Why something was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationError {
    /// The id is empty, or that of the models inside the program.
    #[error("the provider id \"{0}\" cannot be used; choose another one")]
    ProviderId(String),
    /// The configuration is not as it should be.
    #[error("the provider {id} cannot be registered: {fault}")]
    Config {
        /// The provider.
        id: String,
        /// The field and what was expected.
        fault: String,
    },
    /// A physical model has the name.
    #[error("the virtual model {0} cannot be registered: a physical model has that name. Choose another id")]
    Taken(ModelRef),
}

/// All that was registered, in order.
#[derive(Clone, Default)]
pub struct Registered {
    providers: Vec<ProviderRegistration>,
    virtual_models: Vec<(Arc<str>, VirtualDescription)>,
}

impl Registered {
    /// With one more provider; one of the same id goes.
    ///
    /// # Errors
    /// Its id or its configuration cannot be used.
    pub fn with_provider(&self, registration: ProviderRegistration) -> Result<Self, RegistrationError> {
        let id = registration.id.clone();
        if id.is_empty() || id == TROUPE {
            return Err(RegistrationError::ProviderId(id));
        }
        lay_one_over(super::builtin::providers(), &registration)
            .map_err(|fault| RegistrationError::Config { id: id.clone(), fault: fault.describe() })?;
        let mut more = self.without_provider(&id);
        more.providers.push(registration);
        Ok(more)
    }

    /// Without a provider: what was built in under that id comes back.
    #[must_use]
    pub fn without_provider(&self, id: &str) -> Self {
        let mut less = self.clone();
        less.providers.retain(|known| known.id != id);
        less
    }

    /// With one more virtual model, for which the extension `owner` chooses; one of the same name goes.
    #[must_use]
    pub fn with_virtual(&self, owner: &str, description: VirtualDescription) -> Self {
        let mut more = self.without_virtual(&description.reference());
        more.virtual_models.push((owner.into(), description));
        more
    }

    /// Without a virtual model.
    #[must_use]
    pub fn without_virtual(&self, name: &ModelRef) -> Self {
        let mut less = self.clone();
        less.virtual_models.retain(|(_, known)| known.reference() != *name);
        less
    }

    /// The providers with those that were registered.
    pub(super) fn lay_over(&self, base: Vec<ProviderEntry>) -> Vec<ProviderEntry> {
        self.providers.iter().fold(base, |base, registration| {
            // What could not be used was refused when it was registered.
            lay_one_over(base.clone(), registration).unwrap_or(base)
        })
    }

    /// Marks providers that need no key: code that answers by itself. After `models.json`, which may name one.
    pub(super) fn mark_keyless(&self, providers: &mut [ProviderEntry]) {
        let answers = |id: &str| self.providers.iter().any(|known| known.id == id && known.wire.is_some());
        for entry in providers.iter_mut().filter(|entry| answers(&entry.id)) {
            entry.keys.keyless |= entry.keys.api_key.is_none() && entry.keys.env.is_empty();
        }
    }

    /// The code that answers a model of this provider and API.
    pub(super) fn wire(&self, provider: &str, api: &str) -> Option<Arc<dyn Provider>> {
        let known = self.providers.iter().find(|known| known.id == provider)?;
        known.wire.clone().filter(|wire| wire.api() == api)
    }

    pub(super) fn virtual_models(&self) -> impl Iterator<Item = VirtualModel> {
        self.virtual_models.iter().map(|(owner, description)| VirtualModel {
            model: Arc::new(description.to_model()),
            router: Router::Extension(owner.clone()),
        })
    }
}

fn lay_one_over(
    mut base: Vec<ProviderEntry>,
    registration: &ProviderRegistration,
) -> Result<Vec<ProviderEntry>, Fault> {
    let ProviderRegistration { id, config, wire } = registration;
    let mut config = config.clone();
    let known = base.iter_mut().find(|entry| entry.id == *id);
    let replaces = config.get("models").is_some_and(|models| !models.is_null());
    if let (Some(wire), Value::Object(fields)) = (wire, &mut config) {
        default_field(fields, "api", wire.api());
        // Code has no address.
        if replaces && known.as_ref().is_none_or(|entry| entry.base_url.is_none()) {
            default_field(fields, "baseUrl", "");
        }
    }
    if let Some(entry) = known.filter(|_| replaces) {
        entry.models.clear();
        entry.default_model = None;
    }
    models_json::compose(base, &Field::of(&json!({"providers": {id: config}})))
}

fn default_field(fields: &mut Map<String, Value>, key: &str, value: &str) {
    let field = fields.entry(key).or_insert(Value::Null);
    if field.is_null() {
        *field = value.into();
    }
}
