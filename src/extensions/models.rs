//! What an extension registers with the catalogue: providers, and virtual models that it chooses for.

use std::sync::Arc;

use serde_json::Value;

use super::contract::ExtensionError;
use crate::{
    protocol::{ModelRef, route::VirtualDescription},
    providers::{
        Provider,
        catalogue::{LiveCatalogue, ProviderRegistration},
    },
};

/// An extension's way into the catalogue. It may be kept and used at any time: agents see the change with their next
/// request.
#[derive(Clone)]
pub struct ModelRegistrar {
    owner: Arc<str>,
    catalogue: LiveCatalogue,
}

impl ModelRegistrar {
    /// The way of the extension of that name.
    #[must_use]
    pub fn new(owner: &str, catalogue: LiveCatalogue) -> Self {
        Self { owner: owner.into(), catalogue }
    }

    /// Registers a provider, or changes one. `config` is what an entry of `providers` in `models.json` may say: with
    /// `models`, they are all models of the provider; without, only what else is said changes. The user's
    /// `models.json` has the last word.
    ///
    /// # Errors
    /// The id or a field cannot be used. The same holds for the other functions that register.
    pub fn register_provider(&self, id: &str, config: Value) -> Result<(), ExtensionError> {
        self.provider(id, config, None)
    }

    /// Registers a provider that is code: `wire` answers those of its models whose `api` it speaks, which is the
    /// default. Without `apiKey` it needs no key.
    ///
    /// # Errors
    /// See [`Self::register_provider`].
    pub fn register_native_provider(
        &self,
        id: &str,
        config: Value,
        wire: Arc<dyn Provider>,
    ) -> Result<(), ExtensionError> {
        self.provider(id, config, Some(wire))
    }

    fn provider(&self, id: &str, config: Value, wire: Option<Arc<dyn Provider>>) -> Result<(), ExtensionError> {
        let registration = ProviderRegistration { id: id.to_owned(), config, wire };
        self.catalogue.register_provider(registration).map_err(|error| ExtensionError(error.to_string()))
    }

    /// Takes a registered provider away; what was built in under its id comes back.
    pub fn unregister_provider(&self, id: &str) {
        self.catalogue.unregister_provider(id);
    }

    /// Registers a virtual model, or changes one. Before each of its requests, the extension's `route` is asked.
    ///
    /// # Errors
    /// A physical model has its name.
    pub fn register_virtual_model(&self, model: VirtualDescription) -> Result<(), ExtensionError> {
        let registered = self.catalogue.register_virtual_model(&self.owner, model);
        registered.map_err(|error| ExtensionError(error.to_string()))
    }

    /// Takes a registered virtual model away.
    pub fn unregister_virtual_model(&self, name: &ModelRef) {
        self.catalogue.unregister_virtual_model(name);
    }
}
