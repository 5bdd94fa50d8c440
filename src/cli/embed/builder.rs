//! What a session is made of.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use super::{
    own::Own,
    session::{EmbedError, Session},
};
use crate::{
    cli::{
        args::{self, HiArgs, SessionChoice, SessionTarget},
        base::{self, Base},
        env::Environment,
        mode::{Mode, Terminals},
        notices, session,
        start::StartError,
    },
    extensions::{Extension, ExtensionRegistry},
    protocol::ThinkingLevel,
    providers::Provider,
    store::{paths::create_private_dir, settings::Settings},
    tools::Tool,
};

/// The way in.
pub struct Troupe;

impl Troupe {
    /// A session with the defaults of the command line: in the process's folder, with the user's settings, keys, models
    /// and resources, kept where sessions are kept.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }
}

/// A change of what the command line would say.
type Change = Box<dyn FnOnce(&mut HiArgs) + Send>;

/// What a session is made of.
#[derive(Default)]
pub struct Builder {
    folder: Option<PathBuf>,
    user_dir: Option<PathBuf>,
    extensions: Vec<Arc<dyn Extension>>,
    own: Own,
    attended: bool,
    changes: Vec<Change>,
}

impl Builder {
    /// The folder that the agent works in.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// The user's folder, with settings, keys, models and sessions, in the place of `TROUPE_DIR` or `~/.troupe`.
    #[must_use]
    pub fn user_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.user_dir = Some(folder.into());
        self
    }

    /// The model, as `--model` names it: `provider/id`, an id, or a part of one.
    #[must_use]
    pub fn model(self, pattern: impl Into<String>) -> Self {
        let pattern = pattern.into();
        self.configure(move |args| args.model.pattern = Some(pattern))
    }

    /// How much the model thinks.
    #[must_use]
    pub fn thinking(self, level: ThinkingLevel) -> Self {
        self.configure(move |args| args.model.thinking = Some(level))
    }

    /// The session leaves no file.
    #[must_use]
    pub fn in_memory(self) -> Self {
        self.configure(|args| args.session = SessionChoice::InMemory)
    }

    /// The session in this file; a new one when there is none.
    #[must_use]
    pub fn session_file(self, file: impl AsRef<Path>) -> Self {
        // Like every path of a program, it begins at the process's folder.
        let file = std::path::absolute(&file).unwrap_or_else(|_| file.as_ref().to_owned());
        self.configure(move |args| args.session = SessionChoice::Open(SessionTarget::Path(file)))
    }

    /// The latest session of the folder; a new one when there is none.
    #[must_use]
    pub fn continue_latest(self) -> Self {
        self.configure(|args| args.session = SessionChoice::Continue)
    }

    /// The system prompt, in the place of the usual one.
    #[must_use]
    pub fn system_prompt(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.configure(move |args| args.system_prompt = Some(text))
    }

    /// The active tools, by name; without this, those of the settings and the program's own.
    #[must_use]
    pub fn tools<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().map(str::to_owned).collect();
        self.configure(move |args| args.tools.tools = Some(names))
    }

    /// Nothing is read but settings, keys and models: no context files, skills and templates.
    #[must_use]
    pub fn without_resources(self) -> Self {
        self.configure(|args| {
            args.resources.context_files = false;
            args.resources.skills.usual = false;
            args.resources.prompt_templates.usual = false;
        })
    }

    /// Whether settings and resources of the project are used; without this, as the user decided before.
    #[must_use]
    pub fn trust_project(self, trusted: bool) -> Self {
        self.configure(move |args| args.trust = Some(trusted))
    }

    /// Adds a tool of the program. It takes the place of a built-in one of its name.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.own.tools.push(Arc::new(tool));
        self
    }

    /// Adds a provider that is code. `config` is what an entry of `providers` in `models.json` may say: its models at
    /// least.
    #[must_use]
    pub fn provider(mut self, id: impl Into<String>, config: Value, provider: impl Provider + 'static) -> Self {
        self.own.providers.push((id.into(), config, Arc::new(provider)));
        self
    }

    /// Adds an extension: it watches and intervenes. They are asked in the order in which they are added.
    #[must_use]
    pub fn extension(mut self, extension: impl Extension) -> Self {
        self.extensions.push(Arc::new(extension));
        self
    }

    /// The program answers questions to people: it watches for [`crate::protocol::Event::QuestionAsked`] and sends
    /// [`crate::protocol::Command::Answer`]. Without this, what would have to be asked is denied at once.
    #[must_use]
    pub fn answers_questions(mut self) -> Self {
        self.attended = true;
        self
    }

    /// Changes what the command line would say: everything that has a flag can be said here.
    #[must_use]
    pub fn configure(mut self, change: impl FnOnce(&mut HiArgs) + Send + 'static) -> Self {
        self.changes.push(Box::new(change));
        self
    }

    /// Starts the session. Must be called inside a tokio runtime with several threads.
    ///
    /// # Errors
    /// What prevents the start, in words for people.
    pub async fn start(self) -> Result<Session, EmbedError> {
        let attended = self.attended;
        let (begun, told) = notices::collected(self.begin()).await;
        let (base, agent) = begun.map_err(|error| EmbedError::Start(error.to_string()))?;
        if attended {
            agent.shared.config.questions.attend();
        }
        Session::open(base, agent, told).await
    }

    async fn begin(self) -> Result<(Arc<Base>, crate::actors::agent_factory::MadeAgent), StartError> {
        let mut environment = Environment::of_process().map_err(StartError::of)?;
        // The words of the process are the program's own.
        environment.argv.clear();
        if let Some(folder) = self.folder {
            environment.cwd = std::path::absolute(folder).map_err(StartError::of)?;
            if !environment.cwd.is_dir() {
                let text = format!("There is no folder {} to work in.", environment.cwd.display());
                return Err(StartError::Failed(text));
            }
        }
        if let Some(user_dir) = self.user_dir {
            environment.user_dir = std::path::absolute(user_dir).map_err(StartError::of)?;
        }
        let launch = environment.launch(Terminals { stdin: false, stdout: false });
        let all = |errors: Vec<args::ArgError>| {
            StartError::of(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        };
        let mut args = HiArgs::new(args::parse(&[]).map_err(all)?, launch).map_err(all)?;
        self.changes.into_iter().for_each(|change| change(&mut args));
        let mut registry = ExtensionRegistry::default();
        for extension in self.extensions.into_iter().chain([Arc::new(self.own) as Arc<dyn Extension>]) {
            registry.register(extension).map_err(StartError::of)?;
        }
        if let Err(error) = create_private_dir(&environment.user_dir) {
            tracing::warn!(%error, "the folder for settings and sessions cannot be made");
        }
        let user = Settings::load(&environment.user_dir.join("settings.json"), None);
        let chosen = session::choose(&environment, &args, &user)?;
        let (settings, project) = base::project_of(&environment, Mode::Rpc, args.trust, &chosen.cwd, &registry)?;
        let base = Base::open(&environment, args, &registry, &settings, Some(&chosen), Mode::Rpc).await?;
        let base = Arc::new(base);
        let agent = base.agent(chosen, (settings, project)).await?;
        Ok((base, agent))
    }
}
