//! Logging in at providers, storing and forgetting keys, and models that become usable by it.

use std::{
    fmt,
    future::{Future, pending},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    runtime::Handle,
    sync::{Mutex as AsyncMutex, mpsc},
};
use tokio_util::sync::CancellationToken;

use crate::{
    protocol::{ModelRef, event::NoticeLevel},
    providers::{
        Secret,
        catalogue::Catalogue,
        credentials::{
            Kind, Source,
            storing::{forget, no_client, store_granted, store_key},
        },
        oauth::{self, LoginOptions, LoginUi, Notice, loopback, web_page},
    },
    store::auth_file::AuthFile,
    tui::{work::WorkDone, working::WorkContext},
};

/// A provider, and how it can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderState {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What there is: a key, a login; none when nothing is.
    pub has: Option<String>,
    /// Something of it is in `auth.json`.
    pub stored: bool,
    /// It takes keys.
    pub takes_key: bool,
    /// One can log in at it.
    pub takes_login: bool,
}

/// How far a login is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// Something is to be done.
    Tell {
        /// What.
        notice: Notice,
        /// A browser was opened.
        opened: bool,
    },
    /// It is done.
    Done {
        /// What is said of it.
        text: String,
        /// The model that becomes the selected one, where there was none that could be used.
        model: Option<ModelRef>,
    },
    /// It failed.
    Failed(String),
}

/// The line between a login's dialog and its worker: what is pasted, and that it is given up.
#[derive(Clone)]
pub struct LoginLine(Arc<Line>);

struct Line {
    pasted: mpsc::UnboundedSender<String>,
    receiver: Mutex<Option<mpsc::UnboundedReceiver<String>>>,
    cancelled: CancellationToken,
}

impl Default for LoginLine {
    fn default() -> Self {
        let (pasted, receiver) = mpsc::unbounded_channel();
        let cancelled = CancellationToken::new();
        Self(Arc::new(Line { pasted, receiver: Mutex::new(Some(receiver)), cancelled }))
    }
}

impl LoginLine {
    /// What the user pasted: an address or a code.
    pub fn paste(&self, text: String) {
        // A login that is over wants nothing.
        let _ = self.0.pasted.send(text);
    }

    /// The login is given up.
    pub fn cancel(&self) {
        self.0.cancelled.cancel();
    }
}

impl PartialEq for LoginLine {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What was pasted is a secret.
impl fmt::Debug for LoginLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoginLine")
    }
}

/// Lists the providers that take keys or logins.
pub(super) fn providers(context: &WorkContext) {
    let catalogue = context.shared.config.catalogue.now();
    context.send(WorkDone::Providers(states(&catalogue).into()));
}

fn states(catalogue: &Catalogue) -> Vec<ProviderState> {
    let credentials = catalogue.credentials();
    let stored = credentials.stored_providers();
    let state = |id: &str, name: &str, takes_key: bool| ProviderState {
        id: id.to_owned(),
        name: name.to_owned(),
        has: credentials.source(id).as_ref().and_then(has),
        stored: stored.iter().any(|known| known == id),
        takes_key,
        takes_login: credentials.flow(id).is_some_and(|flow| flow.is_ok_and(|flow| flow.is_complete())),
    };
    let known = catalogue.providers().iter().filter(|provider| !provider.keys.keyless);
    let known = known.map(|provider| {
        let takes_key = !provider.keys.env.is_empty() || provider.keys.ambient.is_none();
        state(&provider.id, &provider.name, takes_key)
    });
    // Entries of providers that models.json no longer has can be forgotten too.
    let others = stored.iter().filter(|id| catalogue.provider(id).is_none()).map(|id| state(id, id, true));
    let mut all: Vec<_> = known.chain(others).filter(|of| of.takes_key || of.takes_login || of.stored).collect();
    all.sort_by_key(|of| of.has.is_none());
    all
}

fn has(source: &Source) -> Option<String> {
    let missing = source.missing.as_ref().map(|name| format!(" ({name} is not set)")).unwrap_or_default();
    match (source.kind, source.place.as_str()) {
        (Kind::Keyless, _) => None,
        (Kind::Login, _) => Some("logged in".to_owned()),
        (Kind::ApiKey, "auth.json") => Some(format!("key stored{missing}")),
        (Kind::ApiKey, place) => Some(format!("key from {place}{missing}")),
        (Kind::Ambient, _) => Some("from the surroundings".to_owned()),
        (Kind::Unknown, _) => Some("stored by a newer version".to_owned()),
    }
}

/// Stores a key.
pub(super) fn key(context: &WorkContext, provider: &str, key: &Secret) {
    let file = file(context);
    let stored = store_key(&file, provider, key.expose()).map_err(|error| error.to_string());
    finish(context, provider, stored.map(|()| format!("Stored the key of {provider} in {}.", file.path().display())));
}

/// Logs in, until it is done or given up.
pub(super) fn log_in(context: &WorkContext, provider: &str, line: &LoginLine) {
    let done = log_in_with(context, provider, line);
    if !line.0.cancelled.is_cancelled() {
        finish(context, provider, done);
    }
}

fn log_in_with(context: &WorkContext, provider: &str, line: &LoginLine) -> Result<String, String> {
    let catalogue = context.shared.config.catalogue.now();
    let flow = catalogue.credentials().flow(provider).ok_or_else(|| format!("one cannot log in at {provider}"))?;
    let flow = flow.map_err(|error| error.to_string())?;
    if !flow.is_complete() {
        return Err(no_client(&context.surroundings.user_dir, provider));
    }
    let file = file(context);
    // Before anything is asked: an answer that cannot be stored is lost.
    file.entries().map_err(|error| format!("{error}. Nothing was changed: mend the file first"))?;
    let variables = catalogue.credentials().environment_of(provider);
    let options = LoginOptions {
        elsewhere: variables.get("SSH_CONNECTION").is_some(),
        callback_host: variables.get(loopback::HOST_VARIABLE).map(str::to_owned),
    };
    let receiver = line.0.receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
    let ui = Dialog { context, opens_pages: !options.elsewhere, pasted: AsyncMutex::new(receiver) };
    let granted = Handle::current().block_on(async {
        tokio::select! {
            granted = oauth::login(&flow, &ui, &options) => Some(granted),
            () = line.0.cancelled.cancelled() => None,
            () = context.cancelled.cancelled() => None,
        }
    });
    let Some(granted) = granted else { return Err("the login was given up".to_owned()) };
    let granted = granted.map_err(|error| format!("{provider}: {error}"))?;
    store_granted(&file, provider, &flow, granted).map_err(|error| error.to_string())?;
    Ok(format!("Logged in to {provider}; stored in {}.", file.path().display()))
}

/// The screen as what a login talks with.
struct Dialog<'c> {
    context: &'c WorkContext,
    opens_pages: bool,
    pasted: AsyncMutex<Option<mpsc::UnboundedReceiver<String>>>,
}

impl LoginUi for Dialog<'_> {
    fn tell(&self, notice: Notice) {
        let page = match &notice {
            Notice::OpenPage { url, .. } => Some(url),
            Notice::EnterCode { page, page_with_code, .. } => Some(page_with_code.as_ref().unwrap_or(page)),
            Notice::NotUnderstood { .. } => None,
        };
        let opened = self.opens_pages && page.is_some_and(web_page::open);
        self.context.send(WorkDone::Login(LoginStep::Tell { notice, opened }));
    }

    fn pasted(&self) -> Pin<Box<dyn Future<Output = String> + Send + '_>> {
        Box::pin(async {
            let mut receiver = self.pasted.lock().await;
            let text = match receiver.as_mut() {
                Some(receiver) => receiver.recv().await,
                None => None,
            };
            match text {
                Some(text) => text,
                // Nothing will be pasted any more.
                None => pending().await,
            }
        })
    }
}

/// Forgets what is stored for a provider.
pub(super) fn log_out(context: &WorkContext, provider: &str) {
    let (level, text) = match forget(&file(context), provider) {
        Err(error) => (NoticeLevel::Error, error.to_string()),
        Ok(false) => (NoticeLevel::Info, format!("Nothing was stored for {provider}.")),
        Ok(true) => {
            context.shared.config.catalogue.reload();
            let left = context.shared.config.catalogue.now().credentials().source(provider);
            let left = left.filter(|left| left.place != "auth.json");
            let left = left.map(|left| format!(" It can still be used: {}", left.place)).unwrap_or_default();
            (NoticeLevel::Info, format!("Logged out of {provider}.{left}"))
        }
    };
    context.send(WorkDone::Told(level, text));
}

/// Reads the catalogue again and says what came of a login.
fn finish(context: &WorkContext, provider: &str, done: Result<String, String>) {
    let step = match done {
        Err(why) => LoginStep::Failed(why),
        Ok(text) => {
            let live = &context.shared.config.catalogue;
            let selected = context.shared.selection().model.clone();
            // Asked before the files are read again: a key that has just come is no reason to leave the model.
            let usable = selected.is_some_and(|model| live.now().missing_key(&model).is_none());
            live.reload();
            let model = (!usable).then(|| model_of(&live.now(), provider)).flatten();
            LoginStep::Done { text, model }
        }
    };
    context.send(WorkDone::Login(step));
}

/// The model to begin with at a provider.
fn model_of(catalogue: &Catalogue, provider: &str) -> Option<ModelRef> {
    let entry = catalogue.provider(provider)?;
    let default = entry.default_model.as_ref().map(|id| ModelRef { provider: entry.id.clone(), model_id: id.clone() });
    let default = default.filter(|name| catalogue.find(name).is_some());
    default.or_else(|| entry.models.first().map(|model| model.reference()))
}

fn file(context: &WorkContext) -> AuthFile {
    AuthFile::in_folder(&context.surroundings.user_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue(dir: &std::path::Path, environment: &[(&str, &str)]) -> Catalogue {
        Catalogue::load(dir, environment.iter().copied().collect())
    }

    #[test]
    fn providers_are_listed_with_what_there_is_those_with_something_first() {
        let dir = tempfile::tempdir().unwrap();
        let entries = r#"{"groq": {"type": "api_key", "key": "sk"}, "gone": {"type": "api_key", "key": "x"},
            "anthropic": {"type": "oauth", "access": "t"}}"#;
        std::fs::write(dir.path().join("auth.json"), entries).unwrap();
        let states = states(&catalogue(dir.path(), &[("XAI_API_KEY", "k")]));
        let has = |id: &str| {
            let state = states.iter().find(|state| state.id == id).unwrap();
            (state.has.as_deref(), state.stored)
        };
        assert_eq!(has("groq"), (Some("key stored"), true));
        assert_eq!(has("anthropic"), (Some("logged in"), true));
        assert_eq!(has("xai"), (Some("key from XAI_API_KEY"), false));
        assert_eq!(has("gone"), (Some("key stored"), true));
        assert_eq!(has("openai"), (None, false));
        let first = states.iter().position(|state| state.has.is_none()).unwrap();
        assert!(states[first..].iter().all(|state| state.has.is_none()));
        let of = |id: &str| states.iter().find(|state| state.id == id).unwrap();
        assert!(of("openrouter").takes_login && of("openrouter").takes_key);
        assert!(!of("anthropic").takes_login, "the user has no client id");
    }

    #[test]
    fn the_model_to_begin_with_is_the_providers_default() {
        let dir = tempfile::tempdir().unwrap();
        let models = r#"{"providers": {"own": {"baseUrl": "http://x/v1", "api": "openai-completions", "apiKey": "k",
            "models": [{"id": "a"}, {"id": "b"}]}, "empty": {"baseUrl": "http://y"}}}"#;
        std::fs::write(dir.path().join("models.json"), models).unwrap();
        let catalogue = catalogue(dir.path(), &[]);
        assert_eq!(model_of(&catalogue, "own").unwrap().to_string(), "own/a");
        assert_eq!(model_of(&catalogue, "empty"), None);
        let anthropic = model_of(&catalogue, "anthropic").unwrap();
        assert_eq!(Some(anthropic.model_id), catalogue.provider("anthropic").unwrap().default_model.clone());
    }
}
