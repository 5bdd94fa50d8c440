//! What workers do for the screen: everything that reads files or takes time.
//!
//! | file | what |
//! |---|---|
//! | [`agents`] | the agents below this one |
//! | [`clipboard`] | what the clipboard holds |
//! | [`cost`] | what the session has cost |
//! | [`transfer`] | export, import, share |
//! | [`mod@diff`] | differences of files |
//! | [`doctor`] | whether everything is there that the agent needs |
//! | [`login`], [`servers`] | logins, keys, model servers on this machine |
//! | [`mcp`] | MCP servers that are configured |
//! | [`report`] | reports of faults |
//! | [`trust`] | what is known of the trust in the project |

pub mod agents;
pub mod clipboard;
pub mod cost;
pub mod diff;
pub mod doctor;
pub mod login;
mod mcp;
pub mod report;
pub mod servers;
mod transfer;
pub mod trust;

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;

use self::{
    agents::{AgentsDone, AgentsWork},
    clipboard::Pasted,
    diff::DiffOf,
    doctor::{Finding, Patient},
    login::{LoginLine, LoginStep, ProviderState},
    report::Report,
    servers::LocalServer,
    trust::TrustFacts,
};
use super::{
    complete::{FileIndex, MAX_FILES, Menu, PathCompletion, Place, Trigger, complete_path, file_menu},
    gauges::Gauges,
    overlay::{
        fork,
        models::ScopeWork,
        saving::{Save, Saved},
        session::{SessionsDone, SessionsWork},
        settings,
        tools::{self, ToolState},
        tree::{TextsFound, TextsWork},
    },
    search::entries_with,
    start_page::StartPage,
    working::WorkContext,
};
use crate::{
    actors::extension_commands,
    protocol::{EntryId, ModelRef, event::NoticeLevel, permission::RuleInfo, wire::CommandInfo},
    providers::Secret,
    store::settings::Settings,
};

/// Something for a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Read the git branch of a folder.
    Branch(PathBuf),
    /// Sum tokens and cost of the session, and look how full the context is.
    Gauges,
    /// Look what was loaded for the session.
    StartPage,
    /// List the slash commands of skills, templates and extensions.
    Commands,
    /// Read the clipboard.
    Clipboard,
    /// Find the entries of the conversation that hold a text in small letters.
    Search(String),
    /// List the files of a folder, for completion.
    ListFiles(PathBuf),
    /// Find files that fit what is written.
    MatchFiles(Box<MatchFiles>),
    /// Complete a path that is written, in the text of that revision.
    CompletePath(Trigger, Place, u64),
    /// Tell what the session has cost.
    Cost,
    /// Write the session as a page or a session file; the name says which.
    Export(Option<String>),
    /// Copy a session file into the folder of sessions.
    Import(String),
    /// Share the session.
    Share,
    /// Compare files.
    Diff(DiffOf),
    /// Look for what is wrong.
    Doctor(Box<Patient>),
    /// List providers.
    Providers,
    /// Store a provider's key.
    StoreKey(String, Secret),
    /// Log in at a provider.
    LogIn(String, LoginLine),
    /// Forget what is stored for a provider.
    LogOut(String),
    /// Look for model servers on this machine.
    Servers,
    /// Use a model of such a server from now on.
    UseServer(ModelRef),
    /// Tell which MCP servers are configured.
    McpServers,
    /// Write a report of a fault.
    Report(Box<Report>),
    /// Write what is drawn into a file.
    Debug(String),
    /// Save settings.
    Save(Save),
    /// Choose the models to cycle through.
    Scope(ScopeWork),
    /// Read what entries of the session say.
    TreeTexts(TextsWork),
    /// List, search, rename, delete or copy sessions.
    Sessions(SessionsWork),
    /// List the messages that the session can be forked before.
    Forks,
    /// List the tools.
    Tools,
    /// List the rules about calls.
    Rules,
    /// Read the files of settings.
    ReadSettings,
    /// Look what needs trust in the project, and whether it has it.
    TrustFacts,
    /// Look at the agents below this one, or do something to one.
    Agents(AgentsWork),
}

/// Files that are looked for.
#[derive(Clone, Debug)]
pub struct MatchFiles {
    /// What is written.
    pub trigger: Trigger,
    /// All files.
    pub index: Arc<FileIndex>,
    /// Where paths begin.
    pub place: Place,
    /// The revision of the text.
    pub revision: u64,
}

impl PartialEq for MatchFiles {
    fn eq(&self, other: &Self) -> bool {
        (&self.trigger, &self.place, self.revision) == (&other.trigger, &other.place, other.revision)
            && Arc::ptr_eq(&self.index, &other.index)
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum WorkDone {
    /// The branch; none outside of a repository.
    Branch(Option<String>),
    /// Tokens, cost, context.
    Gauges(Box<Gauges>),
    /// What was loaded for the session.
    StartPage(Box<StartPage>),
    /// Slash commands.
    Commands(Arc<[CommandInfo]>),
    /// What the clipboard holds.
    Pasted(Pasted),
    /// Entries that hold a text, by their places in the file.
    Searched(String, Arc<[usize]>),
    /// The files of the folder.
    Files(Arc<FileIndex>),
    /// Files that fit the text of that revision.
    FileMenu(Option<Menu>, u64),
    /// What a path could go on with, in the text of that revision.
    Path(PathCompletion, u64),
    /// Something to be told.
    Told(NoticeLevel, String),
    /// A session was imported into this file.
    Imported(PathBuf),
    /// A difference; empty when nothing differs.
    Diff(DiffOf, Arc<str>),
    /// Something was looked at; none: everything was.
    Found(Option<Finding>),
    /// Providers.
    Providers(Arc<[ProviderState]>),
    /// A step of a login.
    Login(LoginStep),
    /// Model servers on this machine.
    Servers(Arc<[LocalServer]>),
    /// Settings were saved, or not.
    Saved(Box<Saved>),
    /// What some entries say.
    TreeTexts(TextsFound),
    /// What came of work with sessions.
    Sessions(SessionsDone),
    /// Messages that the session can be forked before, with their texts.
    Forks(Arc<[(EntryId, String)]>),
    /// The tools.
    Tools(Arc<[ToolState]>),
    /// The rules about calls.
    Rules(Arc<[RuleInfo]>),
    /// What needs trust in the project.
    TrustFacts(TrustFacts),
    /// What the files of settings say, and what is in force.
    SettingsRead(Box<Settings>, Value),
    /// What there is about agents.
    Agents(AgentsDone),
}

impl Work {
    /// What it is, for logs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Branch(_) => "branch",
            Self::Gauges => "gauges",
            Self::StartPage => "start page",
            Self::Commands => "commands",
            Self::Clipboard => "clipboard",
            Self::Search(_) => "search",
            Self::ListFiles(_) | Self::MatchFiles(_) | Self::CompletePath(..) => "completion",
            Self::Cost => "cost",
            Self::Export(_) => "export",
            Self::Import(_) => "import",
            Self::Share => "share",
            Self::Diff(_) => "diff",
            Self::Doctor(_) => "doctor",
            Self::Providers => "providers",
            Self::StoreKey(..) => "key",
            Self::LogIn(..) => "login",
            Self::LogOut(_) => "logout",
            Self::Servers | Self::UseServer(_) => "servers",
            Self::McpServers => "mcp",
            Self::Report(_) => "report",
            Self::Debug(_) => "debug",
            Self::Save(_) => "save",
            Self::Scope(_) => "scope",
            Self::TreeTexts(_) => "tree texts",
            Self::Sessions(_) => "sessions",
            Self::Forks => "forks",
            Self::Tools => "tools",
            Self::Rules => "rules",
            Self::ReadSettings => "settings",
            Self::TrustFacts => "trust",
            Self::Agents(_) => "agents",
        }
    }

    /// Does it. May block.
    pub fn run(self, context: &WorkContext) {
        match self {
            Self::Branch(folder) => context.send(WorkDone::Branch(super::git::branch(&folder))),
            Self::Gauges => context.send(WorkDone::Gauges(Box::new(Gauges::of(&context.shared)))),
            Self::Clipboard => context.send(WorkDone::Pasted(clipboard::read())),
            Self::Search(query) => {
                let found = context.shared.tree().map(|tree| entries_with(&tree, &query)).unwrap_or_default();
                context.send(WorkDone::Searched(query, found.into()));
            }
            Self::ListFiles(folder) => {
                let index = FileIndex::build(&folder, MAX_FILES, &context.cancelled);
                context.send(WorkDone::Files(Arc::new(index)));
            }
            Self::MatchFiles(wanted) => {
                let menu = file_menu(&wanted.trigger, &wanted.index, &wanted.place);
                context.send(WorkDone::FileMenu(menu, wanted.revision));
            }
            Self::CompletePath(trigger, place, revision) => {
                context.send(WorkDone::Path(complete_path(&trigger, &place), revision));
            }
            Self::StartPage => {
                let page = StartPage::of(&context.shared, &context.surroundings.user_dir);
                context.send(WorkDone::StartPage(Box::new(page)));
            }
            Self::Cost => {
                if let Some(tree) = context.shared.tree() {
                    context.send(WorkDone::Told(NoticeLevel::Info, cost::text(&tree)));
                }
            }
            Self::Export(path) => transfer::export(context, path),
            Self::Import(path) => transfer::import(context, &path),
            Self::Share => transfer::share(context),
            Self::Diff(of) => diff::compare(context, of),
            Self::Doctor(patient) => doctor::examine(context, &patient),
            Self::Providers => login::providers(context),
            Self::StoreKey(provider, key) => login::key(context, &provider, &key),
            Self::LogIn(provider, line) => login::log_in(context, &provider, &line),
            Self::LogOut(provider) => login::log_out(context, &provider),
            Self::Servers => servers::find(context),
            Self::UseServer(model) => servers::take(context, &model),
            Self::McpServers => mcp::list(context),
            Self::Report(report) => report::write(context, &report),
            Self::Debug(drawn) => report::debug(context, &drawn),
            Self::Commands => {
                context.send(WorkDone::Commands(extension_commands::all(&context.shared).into()));
            }
            Self::Save(save) => save.run(context),
            Self::Scope(scope) => scope.run(context),
            Self::TreeTexts(texts) => texts.run(context),
            Self::Sessions(sessions) => sessions.run(context),
            Self::Forks => {
                if let Some(tree) = context.shared.tree() {
                    context.send(WorkDone::Forks(fork::messages(&tree)));
                }
            }
            Self::Agents(agents) => agents.run(context),
            Self::Tools => context.send(WorkDone::Tools(tools::tools_of(&context.shared))),
            Self::Rules => context.send(WorkDone::Rules(context.shared.config.permissions.rules().into())),
            Self::ReadSettings => {
                let files = settings::read(context);
                context.send(WorkDone::SettingsRead(files, context.shared.config.settings.all()));
            }
            Self::TrustFacts => {
                let facts = TrustFacts::of(&context.surroundings, &context.shared.config.cwd);
                context.send(WorkDone::TrustFacts(facts));
            }
        }
    }
}
