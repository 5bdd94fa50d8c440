//! All models that a run can use: built-in providers, `models.json` on top, and the two models inside this program.

pub mod builtin;
pub mod table;

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use super::{
    credentials::{CredentialError, Credentials, KeySources},
    environment::Environment,
    models_json::{self, ProviderEntry},
};
use crate::{
    protocol::{Model, ModelRef},
    store::{
        document::{Document, DocumentError, Fault, Field, Syntax},
        regular_file,
    },
};

pub use builtin::{OFFLINE, SCRIPT, TROUPE};
pub use table::list_models_table;

/// What to do when there is no model at all.
pub const NO_MODEL: &str = "\
No model is available. Three ways to get one:
  1. Set the key of a provider in the environment, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY.
  2. Describe a server (a local one needs no key) in models.json:
     {\"providers\": {\"local\": {\"baseUrl\": \"http://127.0.0.1:11434/v1\", \"api\": \"openai-completions\",
       \"models\": [{\"id\": \"NAME\"}]}}}
  3. Try the built-in example, a small deterministic program that needs neither key nor network:
     troupe --model troupe/offline";

/// The models and who may use them.
#[derive(Clone)]
pub struct Catalogue {
    dir: PathBuf,
    providers: Vec<ProviderEntry>,
    models: Vec<Arc<Model>>,
    inside: Vec<Arc<Model>>,
    credentials: Credentials,
    problem: Option<DocumentError>,
}

impl Catalogue {
    /// Reads `models.json` and `auth.json` in `dir`, the user's folder. A broken `models.json` counts for nothing, and
    /// [`Self::problems`] says what is wrong with it.
    #[must_use]
    pub fn load(dir: &Path, environment: Environment) -> Self {
        let (providers, problem) = providers(dir);
        let credentials = Credentials::load(dir, environment, sources(&providers));
        Self::of(dir, providers, problem, builtin::inside(), credentials)
    }

    /// The same with the files read again; the run's own keys, results of key commands and overrides of the script
    /// model stay.
    #[must_use]
    pub fn reload(&self) -> Self {
        let (providers, problem) = providers(&self.dir);
        let credentials = self.credentials.reload(&self.dir, sources(&providers));
        Self::of(&self.dir, providers, problem, self.inside.clone(), credentials)
    }

    fn of(
        dir: &Path,
        providers: Vec<ProviderEntry>,
        problem: Option<DocumentError>,
        inside: Vec<Arc<Model>>,
        credentials: Credentials,
    ) -> Self {
        let models = providers.iter().flat_map(|provider| provider.models.iter().cloned().map(Arc::new)).collect();
        Self { dir: dir.to_owned(), providers, models, inside, credentials, problem }
    }

    /// All models but those inside the program.
    #[must_use]
    pub fn models(&self) -> &[Arc<Model>] {
        &self.models
    }

    /// The models whose provider has a key or needs none: what lists show and cycles go through.
    #[must_use]
    pub fn available(&self) -> Vec<Arc<Model>> {
        self.models.iter().filter(|model| self.is_available(model)).cloned().collect()
    }

    /// Whether a request to the model would find a key.
    #[must_use]
    pub fn is_available(&self, model: &Model) -> bool {
        self.credentials.is_configured(&model.provider)
    }

    /// Why a request to the model would find no key; none when it would find one, or needs none.
    #[must_use]
    pub fn missing_key(&self, model: &Model) -> Option<CredentialError> {
        let inside = self.inside.iter().any(|known| known.provider == model.provider);
        if inside { None } else { self.credentials.missing_key(&model.provider) }
    }

    /// The model of that name, those inside the program included.
    #[must_use]
    pub fn find(&self, name: &ModelRef) -> Option<Arc<Model>> {
        let mut all = self.inside.iter().chain(&self.models);
        all.find(|model| model.provider == name.provider && model.id == name.model_id).cloned()
    }

    /// The models inside the program: chosen by their full name alone, and never listed.
    #[must_use]
    pub fn inside(&self) -> &[Arc<Model>] {
        &self.inside
    }

    /// All providers in order of preference, built-in ones first.
    #[must_use]
    pub fn providers(&self) -> &[ProviderEntry] {
        &self.providers
    }

    /// The provider of that id.
    #[must_use]
    pub fn provider(&self, id: &str) -> Option<&ProviderEntry> {
        self.providers.iter().find(|provider| provider.id == id)
    }

    /// The model to begin with when nothing else chooses one: the default model of the first provider that has a key,
    /// else the first available model.
    #[must_use]
    pub fn default_model(&self) -> Option<Arc<Model>> {
        let defaults = self.providers.iter().filter_map(|provider| {
            Some(ModelRef { provider: provider.id.clone(), model_id: provider.default_model.clone()? })
        });
        let mut known = defaults.filter_map(|name| self.find(&name));
        known.find(|model| self.is_available(model)).or_else(|| self.available().into_iter().next())
    }

    /// The keys of the providers.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// What is wrong with `models.json` and `auth.json`.
    #[must_use]
    pub fn problems(&self) -> Vec<&DocumentError> {
        self.problem.iter().chain(self.credentials.problem()).collect()
    }

    /// Changes the script model as `fields` say (those of a `modelOverrides` entry), so that a script can play a model
    /// with another window, price or kind of thinking.
    ///
    /// # Errors
    /// A field is of the wrong type.
    pub fn override_script_model(&mut self, fields: &Value) -> Result<(), Fault> {
        for model in self.inside.iter_mut().filter(|model| model.id == SCRIPT) {
            *model = Arc::new(models_json::override_with(model, &Field::of(fields).object()?)?);
        }
        Ok(())
    }
}

fn providers(dir: &Path) -> (Vec<ProviderEntry>, Option<DocumentError>) {
    let builtin = builtin::providers();
    match read(&dir.join("models.json"), builtin.clone()) {
        Ok(providers) => (providers, None),
        Err(problem) => (builtin, Some(problem)),
    }
}

fn read(file: &Path, builtin: Vec<ProviderEntry>) -> Result<Vec<ProviderEntry>, DocumentError> {
    let text = match regular_file::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(builtin),
        Err(error) => {
            let message = format!("cannot be read: {error}");
            return Err(DocumentError { file: file.to_owned(), line: 1, column: 1, field: String::new(), message });
        }
    };
    let document = Document::parse(file, text, Syntax::Comments)?;
    models_json::compose(builtin, &document.root()).map_err(|fault| document.locate(&fault))
}

fn sources(providers: &[ProviderEntry]) -> HashMap<String, KeySources> {
    let configured = providers.iter().map(|provider| (provider.id.clone(), provider.keys.clone()));
    let inside = (TROUPE.to_owned(), KeySources { keyless: true, ..KeySources::default() });
    // Last, so that no file can send the inside models' requests anywhere.
    configured.chain([inside]).collect()
}

#[cfg(test)]
pub(in crate::providers) mod tests;
