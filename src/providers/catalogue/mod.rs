//! All models that a run can use: built-in providers, `models.json` on top, and the two models inside this program.

pub mod builtin;
pub mod live;
pub mod registered;
pub mod table;
mod virtual_models;

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use super::{
    Provider, base_url,
    credentials::{CredentialError, Credentials, KeySources},
    environment::Environment,
    models_json::{self, ProviderEntry, virtual_models::Declared},
    routing::VirtualModel,
};
use crate::{
    protocol::{Model, ModelRef},
    store::{
        document::{Document, DocumentError, Fault, Field, Syntax},
        regular_file,
    },
};

pub use builtin::{OFFLINE, SCRIPT, TROUPE};
pub use live::LiveCatalogue;
pub use registered::{ProviderRegistration, Registered, RegistrationError};
pub use table::list_models_table;

/// What to do when there is no model at all.
pub const NO_MODEL: &str = "\
No model is available. Three ways to get one:
  1. Set the key of a provider in the environment, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY.
  2. Start a model server on this machine (Ollama, LM Studio, llama.cpp, vLLM, SGLang) and look at --list-models, or
     describe a server in models.json:
     {\"providers\": {\"local\": {\"baseUrl\": \"http://127.0.0.1:11434/v1\", \"api\": \"openai-completions\",
       \"models\": [{\"id\": \"NAME\"}]}}}
  3. Try the built-in example, a small deterministic program that needs neither key nor network:
     troupe --model troupe/offline";

/// Odd places of `models.json` that are shown; more say nothing new.
const MAX_ODDITIES: usize = 12;

/// The models and who may use them.
#[derive(Clone)]
pub struct Catalogue {
    dir: PathBuf,
    providers: Vec<ProviderEntry>,
    models: Vec<Arc<Model>>,
    virtual_models: Vec<Arc<VirtualModel>>,
    inside: Vec<Arc<Model>>,
    credentials: Credentials,
    registered: Arc<Registered>,
    found: Arc<[ProviderEntry]>,
    problems: Vec<DocumentError>,
    file_counts: bool,
}

impl Catalogue {
    /// Reads `models.json` and `auth.json` in `dir`, the user's folder. A broken `models.json` counts for nothing, and
    /// [`Self::problems`] says what is wrong with it.
    #[must_use]
    pub fn load(dir: &Path, environment: Environment) -> Self {
        let contents = Contents::read(dir, &Registered::default(), &[], &builtin::inside());
        let credentials = Credentials::load(dir, environment, sources(&contents.providers));
        Self::of(dir, contents, builtin::inside(), credentials, Arc::default(), Arc::new([]))
    }

    /// The same with the files read again; the run's own keys, results of key commands, overrides of the script model,
    /// servers that were found and what was registered stay.
    #[must_use]
    pub fn reload(&self) -> Self {
        self.with(self.registered.clone(), self.found.clone())
    }

    /// The same with the files read again and other registrations.
    #[must_use]
    pub fn with_registered(&self, registered: Registered) -> Self {
        self.with(Arc::new(registered), self.found.clone())
    }

    /// The same with the files read again and with providers that were found on the way, such as servers on this machine.
    /// One that has the id of a configured provider is left out.
    #[must_use]
    pub fn with_found(&self, found: Vec<ProviderEntry>) -> Self {
        self.with(self.registered.clone(), found.into())
    }

    fn with(&self, registered: Arc<Registered>, found: Arc<[ProviderEntry]>) -> Self {
        let contents = Contents::read(&self.dir, &registered, &found, &self.inside);
        let credentials = self.credentials.reload(&self.dir, sources(&contents.providers));
        Self::of(&self.dir, contents, self.inside.clone(), credentials, registered, found)
    }

    fn of(
        dir: &Path,
        contents: Contents,
        inside: Vec<Arc<Model>>,
        credentials: Credentials,
        registered: Arc<Registered>,
        found: Arc<[ProviderEntry]>,
    ) -> Self {
        let Contents { mut providers, mut models, declared, problems, file_counts } = contents;
        let all = declared.into_iter().chain(registered.virtual_models());
        let virtual_models = virtual_models::add(&mut providers, &mut models, all);
        Self {
            dir: dir.to_owned(),
            providers,
            models,
            virtual_models,
            inside,
            credentials,
            registered,
            found,
            problems,
            file_counts,
        }
    }

    /// Providers that were found on the way.
    #[must_use]
    pub fn found(&self) -> &[ProviderEntry] {
        &self.found
    }

    /// What was registered.
    #[must_use]
    pub fn registered(&self) -> &Registered {
        &self.registered
    }

    /// The code that answers a model, when it was registered with its provider.
    #[must_use]
    pub fn registered_wire(&self, model: &Model) -> Option<Arc<dyn Provider>> {
        self.registered.wire(&model.provider, &model.api)
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

    /// Whether a request to the model would find a key and an address.
    #[must_use]
    pub fn is_available(&self, model: &Model) -> bool {
        if let Some(virtual_model) = self.virtual_model(&model.reference()) {
            return self.leads_somewhere(virtual_model);
        }
        let environment = || self.credentials.environment_of(&model.provider);
        self.credentials.is_configured(&model.provider) && base_url::expand(&model.base_url, environment).is_ok()
    }

    /// Why a request to the model would find no key; none when it would find one, or needs none.
    #[must_use]
    pub fn missing_key(&self, model: &Model) -> Option<CredentialError> {
        if let Some(virtual_model) = self.virtual_model(&model.reference()) {
            return (!self.leads_somewhere(virtual_model)).then(|| self.nobody_behind(virtual_model));
        }
        let inside = self.inside.iter().any(|known| known.provider == model.provider);
        if inside {
            return None;
        }
        let address = || {
            let environment = || self.credentials.environment_of(&model.provider);
            base_url::expand(&model.base_url, environment).err().map(CredentialError::from)
        };
        self.credentials.missing_key(&model.provider).or_else(address)
    }

    /// The model of that name, those inside the program included.
    #[must_use]
    pub fn find(&self, name: &ModelRef) -> Option<Arc<Model>> {
        let provider = builtin::current_id(&name.provider);
        let mut all = self.inside.iter().chain(&self.models);
        all.find(|model| model.provider == provider && model.id == name.model_id).cloned()
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
        let id = builtin::current_id(id);
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

    /// What is wrong with `models.json` and `auth.json`: what makes a file useless, and what is only odd.
    #[must_use]
    pub fn problems(&self) -> Vec<&DocumentError> {
        self.problems.iter().chain(self.credentials.problem()).collect()
    }

    /// Why nothing of `models.json` or of `auth.json` counts; none when both can be used, oddities or not.
    #[must_use]
    pub fn unusable(&self) -> Option<&DocumentError> {
        self.problems.first().filter(|_| !self.file_counts).or_else(|| self.credentials.problem())
    }

    /// Adds models that a cassette describes. Like those inside the program they need no key and are in no list; a
    /// description in the user's files does not count beside them.
    pub fn add_recorded(&mut self, models: &[Arc<Model>]) {
        self.inside.extend(models.iter().cloned());
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

/// What the files and the registrations say, built-in providers below them.
struct Contents {
    providers: Vec<ProviderEntry>,
    models: Vec<Arc<Model>>,
    declared: Vec<VirtualModel>,
    problems: Vec<DocumentError>,
    /// False when `models.json` is so broken that nothing of it counts; the first problem says why.
    file_counts: bool,
}

impl Contents {
    fn read(dir: &Path, registered: &Registered, found: &[ProviderEntry], inside: &[Arc<Model>]) -> Self {
        let base = registered.lay_over(builtin::providers());
        let mut contents = match read(&dir.join("models.json")) {
            Ok(None) => Self::of(base),
            Ok(Some(document)) => Self::of_document(&document, base.clone(), inside)
                .unwrap_or_else(|fault| Self::without_file(base, document.locate(&fault))),
            Err(problem) => Self::without_file(base, problem),
        };
        for entry in found {
            if !contents.providers.iter().any(|known| known.id == entry.id) {
                contents.models.extend(entry.models.iter().cloned());
                contents.providers.push(entry.clone());
            }
        }
        registered.mark_keyless(&mut contents.providers);
        contents
    }

    fn of(providers: Vec<ProviderEntry>) -> Self {
        let models = providers.iter().flat_map(|provider| provider.models.iter().cloned()).collect();
        Self { providers, models, declared: Vec::new(), problems: Vec::new(), file_counts: true }
    }

    fn without_file(base: Vec<ProviderEntry>, mut problem: DocumentError) -> Self {
        problem.message.push_str("; nothing of this file counts until that is mended");
        Self { problems: vec![problem], file_counts: false, ..Self::of(base) }
    }

    fn of_document(document: &Document, base: Vec<ProviderEntry>, inside: &[Arc<Model>]) -> Result<Self, Fault> {
        let root = document.root();
        let mut contents = Self::of(models_json::compose(base, &root)?);
        let find = |name: &ModelRef| {
            let mut all = inside.iter().chain(&contents.models);
            all.find(|model| model.reference() == *name).cloned()
        };
        let Declared { models, warnings } = models_json::virtual_models::virtual_models(&root, &find)?;
        contents.declared = models;
        let odd = models_json::review(&root, &contents.providers);
        let odd = odd.iter().chain(&warnings).take(MAX_ODDITIES);
        contents.problems = odd.map(|fault| document.locate(fault)).collect();
        Ok(contents)
    }
}

fn read(file: &Path) -> Result<Option<Document>, DocumentError> {
    let text = match regular_file::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let message = format!("cannot be read: {error}");
            return Err(DocumentError { file: file.to_owned(), line: 1, column: 1, field: String::new(), message });
        }
    };
    Document::parse(file, text, Syntax::Comments).map(Some)
}

fn sources(providers: &[ProviderEntry]) -> HashMap<String, KeySources> {
    let configured = providers.iter().map(|provider| (provider.id.clone(), provider.keys.clone()));
    let inside = (TROUPE.to_owned(), KeySources { keyless: true, ..KeySources::default() });
    // Last, so that no file can send the inside models' requests anywhere.
    configured.chain([inside]).collect()
}

#[cfg(test)]
pub(in crate::providers) mod tests;
