//! Virtual models in the catalogue: listed like any other, available when somebody behind them is.

use std::sync::Arc;

use super::Catalogue;
use crate::{
    protocol::{Model, ModelRef, route::VIRTUAL_API},
    providers::{
        credentials::CredentialError,
        models_json::ProviderEntry,
        routing::{Physical, Router, VirtualModel},
    },
};

/// Puts virtual models behind the physical ones, which they hide where they have the same name. Those that stand first
/// win. Their providers become known, so that their names are found.
pub(super) fn add(
    providers: &mut Vec<ProviderEntry>,
    models: &mut Vec<Arc<Model>>,
    all: impl Iterator<Item = VirtualModel>,
) -> Vec<Arc<VirtualModel>> {
    let mut added: Vec<Arc<VirtualModel>> = Vec::new();
    for virtual_model in all {
        let name = virtual_model.model.reference();
        if added.iter().any(|known| known.model.reference() == name) {
            continue;
        }
        models.retain(|model| model.reference() != name);
        models.push(virtual_model.model.clone());
        if !providers.iter().any(|entry| entry.id == name.provider) {
            let id = name.provider;
            providers.push(ProviderEntry { name: id.clone(), id, ..ProviderEntry::default() });
        }
        added.push(Arc::new(virtual_model));
    }
    added
}

impl Catalogue {
    /// The virtual model of that name.
    #[must_use]
    pub fn virtual_model(&self, name: &ModelRef) -> Option<&Arc<VirtualModel>> {
        self.virtual_models.iter().find(|known| {
            let model = &known.model;
            model.provider == name.provider && model.id == name.model_id
        })
    }

    /// What is known of a model that a virtual one may choose.
    #[must_use]
    pub fn physical(&self, name: &ModelRef) -> Physical {
        match self.find(name) {
            None => Physical::Unusable("unknown model".to_owned()),
            Some(model) if model.api == VIRTUAL_API => Physical::Unusable("not a physical model".to_owned()),
            Some(model) => match self.missing_key(&model) {
                Some(missing) => Physical::Unusable(missing.to_string()),
                None => Physical::Usable(model),
            },
        }
    }

    /// Whether somebody behind a virtual model can answer: a candidate of its rules has a key, or, where an extension
    /// chooses, its provider has one or has no models of its own.
    pub(super) fn leads_somewhere(&self, virtual_model: &VirtualModel) -> bool {
        match &virtual_model.router {
            Router::Rules(rules) => {
                rules.candidates().any(|candidate| matches!(self.physical(&candidate.model), Physical::Usable(_)))
            }
            Router::Extension(_) => {
                let host = &virtual_model.model.provider;
                let has_models = self.provider(host).is_some_and(|entry| !entry.models.is_empty());
                !has_models || self.credentials.is_configured(host)
            }
        }
    }

    /// The provider whose credential a request to the model uses: behind a virtual model that of the first candidate
    /// that can answer now, or else of the first one that is known.
    #[must_use]
    pub fn paying_provider(&self, model: &Model) -> String {
        let candidates = match self.virtual_model(&model.reference()).map(|known| &known.router) {
            Some(Router::Rules(rules)) => rules.candidates().map(|candidate| &candidate.model).collect(),
            _ => Vec::new(),
        };
        let usable = candidates.iter().find(|name| matches!(self.physical(name), Physical::Usable(_)));
        let known = || candidates.iter().find(|name| self.find(name).is_some());
        usable.or_else(known).map_or(&model.provider, |name| &name.provider).clone()
    }

    /// Why nobody behind a virtual model can answer.
    pub(super) fn nobody_behind(&self, virtual_model: &VirtualModel) -> CredentialError {
        let hint = match &virtual_model.router {
            Router::Rules(rules) => {
                let names: Vec<_> = rules.candidates().map(|candidate| candidate.model.to_string()).collect();
                format!("none of the models behind {} can be used: {}", virtual_model.model.id, names.join(", "))
            }
            Router::Extension(owner) => format!("the extension {owner} needs one for {}", virtual_model.model.id),
        };
        CredentialError::Missing { provider: virtual_model.model.provider.clone(), hint }
    }
}
