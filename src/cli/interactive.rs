//! The interactive terminal: what the screen needs, and its start.

use std::sync::Arc;

use super::{args::HiArgs, base::Base, env::Environment, mode::TuiMode, sessions::change::trash_of, start};
use crate::{
    actors::{
        address::Recipient,
        restart::RestartKind,
        runtime::{FrontFactory, FrontStart, Parts},
        shared::AgentShared,
    },
    store::{sessions::SessionDir, settings::Settings},
    tui::{
        facts::AgentFacts,
        keys::Keymap,
        model::Model,
        screen::{self, FirstWords, ScreenArgs, ScreenMemory},
        settings::ScreenSettings,
        surroundings::Surroundings,
        terminal::{Images, Preferences, TerminalOptions},
    },
};

/// Starts the screen, and starts it again when it dies: the agent goes on meanwhile.
pub struct ScreenFactory {
    base: Arc<Base>,
    memory: Arc<ScreenMemory>,
}

impl ScreenFactory {
    /// A factory of screens that look at this agent first, and begin with `first`.
    #[must_use]
    pub fn new(base: Arc<Base>, shared: Arc<AgentShared>, first: FirstWords) -> Self {
        Self { base, memory: Arc::new(ScreenMemory::new(shared, first)) }
    }

    /// What its screens know.
    #[must_use]
    pub fn memory(&self) -> Arc<ScreenMemory> {
        self.memory.clone()
    }
}

impl FrontFactory for ScreenFactory {
    fn restart(&self) -> RestartKind {
        RestartKind::Permanent
    }

    fn start(&self, parts: Parts, done: Recipient<i32>, supervisor: ractor::ActorCell) -> FrontStart<'_> {
        Box::pin(async move {
            let shared = self.memory.agent();
            let settings = ScreenSettings::from_value(&shared.config.settings.all());
            let surroundings = Arc::new(surroundings(&self.base.environment, &self.base.args, &shared, &settings));
            let options = terminal_options(&surroundings, &settings);
            let (keymap, problems) = Keymap::load(&surroundings.keybindings());
            let facts = AgentFacts::of(&shared, Arc::default());
            let mut model = Box::new(Model::new(surroundings, facts, settings, keymap));
            problems.iter().for_each(|problem| model.said(&format!("Warning: {problem}")));
            let args = ScreenArgs {
                memory: self.memory.clone(),
                parts,
                factory: self.base.clone(),
                done,
                model,
                open: Box::new(move |claim, to| screen::open(claim, options, to)),
            };
            screen::start(args, supervisor).await
        })
    }
}

/// What does not change while the screen runs.
fn surroundings(
    environment: &Environment,
    args: &HiArgs,
    shared: &AgentShared,
    settings: &ScreenSettings,
) -> Surroundings {
    let user = Settings::load(&environment.user_dir.join("settings.json"), None);
    let cwd = &shared.config.cwd;
    let sessions = match start::session_dir(environment, args, &user) {
        Some(path) => SessionDir::custom(path, cwd),
        None => SessionDir::of_project(&environment.user_dir, cwd),
    };
    let regular = match args.tui_mode {
        Some(mode) => mode == TuiMode::Regular,
        None => settings.all["tuiMode"].as_str() == Some("regular"),
    };
    Surroundings {
        version: super::VERSION,
        user_dir: environment.user_dir.clone(),
        home: environment.home.clone(),
        sessions,
        trash: trash_of(environment),
        fullscreen: !regular,
        offline: environment.offline,
        notices: Vec::new(),
    }
}

/// How the terminal is used.
fn terminal_options(surroundings: &Surroundings, settings: &ScreenSettings) -> TerminalOptions {
    let terminal = &settings.all["terminal"];
    let images = match &terminal["images"] {
        serde_json::Value::Bool(false) => Some(None),
        serde_json::Value::String(name) if name == "kitty" => Some(Some(Images::Kitty)),
        serde_json::Value::String(name) if name == "iterm2" => Some(Some(Images::Iterm2)),
        _ => None,
    };
    TerminalOptions {
        fullscreen: surroundings.fullscreen,
        mouse: surroundings.fullscreen,
        palette: settings.theme == "system",
        preferences: Preferences {
            true_color: terminal["trueColor"].as_bool(),
            hyperlinks: terminal["hyperlinks"].as_bool(),
            images,
        },
    }
}
