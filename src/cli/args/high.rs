//! What a command line means.

use std::path::{Path, PathBuf};

use super::{
    error::ArgError,
    flags::{ApiKey, LowArgs, ModelFlags, SessionFlags, ToolFlags},
    words::ExtensionFlag,
};
use crate::{
    cli::{
        mode::{Mode, OutputMode, Terminals, TuiMode},
        paths,
        tool_choice::{ToolBase, ToolChoice},
    },
    protocol::ThinkingLevel,
};

/// Where the program was started.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The folder: relative paths start here, whatever folder the session runs in.
    pub cwd: &'a Path,
    /// The user's home folder.
    pub home: Option<&'a Path>,
    /// Which streams are terminals.
    pub terminals: Terminals,
}

impl Launch<'_> {
    pub(super) fn path(&self, text: &str) -> PathBuf {
        paths::absolute(text, self.cwd, self.home)
    }

    fn paths(&self, texts: &[String]) -> Vec<PathBuf> {
        texts.iter().map(|text| self.path(text)).collect()
    }
}

/// What a start does once settings and resources are loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Print the help, with the flags that extensions add.
    Help,
    /// Print the models that can be used.
    ListModels {
        /// Only those that match.
        search: Option<String>,
    },
    /// Run prompts.
    Run(Mode),
}

/// Which session a start uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChoice {
    /// A new one.
    New,
    /// One that is never written.
    InMemory,
    /// The folder's latest.
    Continue,
    /// The one that the user picks.
    Pick,
    /// This one.
    Open(SessionTarget),
    /// The folder's session with exactly this id, or a new one with it.
    OpenOrCreate {
        /// The id; its characters are checked.
        id: String,
    },
    /// A copy of another one.
    Fork {
        /// Which is copied.
        source: SessionTarget,
        /// The copy's id, if it is to have a certain one; its characters are checked.
        id: Option<String>,
    },
}

/// A session by file or by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionTarget {
    /// The file, absolute.
    Path(PathBuf),
    /// An id, or the beginning of one.
    Id(String),
}

/// The model that the command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// The only provider to look at.
    pub provider: Option<String>,
    /// The model's name or a part of it.
    pub pattern: Option<String>,
    /// A key for the model's provider.
    pub api_key: Option<ApiKey>,
    /// How much it thinks.
    pub thinking: Option<ThinkingLevel>,
    /// `--models`: patterns of the models to choose from.
    pub scope: Option<Vec<String>>,
}

/// Which resources of a kind are loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery<T> {
    /// Those that the command line names; always loaded.
    pub named: Vec<T>,
    /// Whether those in the usual places and the settings are loaded too.
    pub usual: bool,
}

/// An extension that the command line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExtensionSource {
    /// A built-in one.
    Builtin(String),
    /// A package: `npm:…` or `git:…`.
    Package(String),
    /// A file or folder, absolute.
    Path(PathBuf),
}

/// What is loaded beside the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Extensions.
    pub extensions: Discovery<ExtensionSource>,
    /// Skills.
    pub skills: Discovery<PathBuf>,
    /// Prompt templates.
    pub prompt_templates: Discovery<PathBuf>,
    /// Themes.
    pub themes: Discovery<PathBuf>,
    /// Whether MCP servers are connected.
    pub mcp: bool,
    /// Whether AGENTS.md and its relatives are read.
    pub context_files: bool,
}

/// A command line without contradictions.
#[derive(Clone, Debug)]
pub struct HiArgs {
    /// What to do.
    pub task: Task,
    /// With which session.
    pub session: SessionChoice,
    /// Where sessions are kept, when the command line says so.
    pub session_dir: Option<PathBuf>,
    /// The session's name; not empty.
    pub name: Option<String>,
    /// With which model.
    pub model: ModelChoice,
    /// With which tools.
    pub tools: ToolChoice,
    /// `--system-prompt`: a text, or the name of a file.
    pub system_prompt: Option<String>,
    /// `--append-system-prompt`, in order.
    pub append_system_prompt: Vec<String>,
    /// With which resources.
    pub resources: Resources,
    /// `--approve` or `--no-approve`.
    pub trust: Option<bool>,
    /// Prompts, in order.
    pub messages: Vec<String>,
    /// `@file` arguments, in order.
    pub files: Vec<String>,
    /// Flags that an extension has to answer for.
    pub extension_flags: Vec<ExtensionFlag>,
    /// `--tui-mode`.
    pub tui_mode: Option<TuiMode>,
    /// `--use-theme`.
    pub theme: Option<String>,
    /// `--verbose`.
    pub verbose: bool,
    /// `--script`.
    pub script: Option<PathBuf>,
    /// `--trace-file`.
    pub trace_file: Option<PathBuf>,
    /// `--log-file`.
    pub log_file: Option<PathBuf>,
    /// What is wrong without being a reason to stop.
    pub warnings: Vec<String>,
}

impl HiArgs {
    /// Works out what `low` means.
    ///
    /// # Errors
    /// Contradictions and values that make no sense, all of them.
    pub fn new(low: LowArgs, launch: Launch<'_>) -> Result<Self, Vec<ArgError>> {
        let mut errors = Vec::new();
        let mut warnings = Vec::new();
        let mode = Mode::resolve(low.output.mode, low.output.print, launch.terminals);
        if low.output.mode == Some(OutputMode::Rpc) && !low.files.is_empty() {
            errors.push(ArgError::FilesInRpc);
        }
        let task = match low.model.list_models.clone() {
            _ if low.output.help => Task::Help,
            Some(search) => Task::ListModels { search: given(search) },
            None => Task::Run(mode),
        };
        let conflicts = session_conflicts(&low.session);
        let session = session_choice(&low.session, &task, launch);
        if conflicts.is_empty() {
            errors.extend(session.as_ref().err().cloned());
        }
        errors.extend(conflicts);
        let name = low.session.name.as_deref().map(str::trim);
        if name == Some("") {
            errors.push(ArgError::MissingValue { flag: "--name".into(), needs: "a non-empty value".into() });
        }
        let model = model_choice(low.model, &mut errors, &mut warnings);
        let (true, Ok(session)) = (errors.is_empty(), session) else { return Err(errors) };
        let path = |text: Option<String>| given(text).map(|text| launch.path(&text));
        Ok(Self {
            task,
            session,
            session_dir: path(low.session.session_dir),
            name: name.map(str::to_owned),
            model,
            tools: tool_choice(low.tools),
            system_prompt: given(low.prompt.system_prompt),
            append_system_prompt: low.prompt.append_system_prompt,
            resources: Resources {
                extensions: Discovery {
                    named: low.resources.extensions.iter().map(|text| extension_source(text, launch)).collect(),
                    usual: !low.resources.no_extensions,
                },
                skills: Discovery { named: launch.paths(&low.resources.skills), usual: !low.resources.no_skills },
                prompt_templates: Discovery {
                    named: launch.paths(&low.resources.prompt_templates),
                    usual: !low.resources.no_prompt_templates,
                },
                themes: Discovery { named: launch.paths(&low.resources.themes), usual: !low.resources.no_themes },
                mcp: !low.resources.no_mcp,
                context_files: !low.prompt.no_context_files,
            },
            trust: match (low.trust.approve, low.trust.no_approve) {
                (true, _) => Some(true),
                (false, true) => Some(false),
                (false, false) => None,
            },
            messages: low.messages,
            files: low.files,
            extension_flags: low.extension_flags,
            tui_mode: low.output.tui_mode,
            theme: given(low.resources.use_theme),
            verbose: low.output.verbose,
            script: path(low.diagnosis.script),
            trace_file: path(low.diagnosis.trace_file),
            log_file: path(low.diagnosis.log_file),
            warnings,
        })
    }

    /// The error for the flags that no extension knows, `registered` being the names of those that some do.
    #[must_use]
    pub fn unknown_options(&self, registered: &[&str]) -> Option<ArgError> {
        let unknown: Vec<_> = self
            .extension_flags
            .iter()
            .map(|flag| flag.name.as_str())
            .filter(|name| !registered.contains(name))
            .collect();
        let first = *unknown.first()?;
        let similar = <LowArgs as clap::CommandFactory>::command()
            .get_arguments()
            .filter_map(clap::Arg::get_long)
            .map(|long| (strsim::damerau_levenshtein(first, long), long))
            // Farther away the hint is more often wrong than right.
            .filter(|(distance, long)| *distance <= 2 && distance * 3 <= long.len())
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, long)| format!("--{long}"));
        Some(ArgError::UnknownOption { names: unknown.iter().map(|name| format!("--{name}")).collect(), similar })
    }
}

/// A value that is empty says nothing: `--session "$UNSET"`.
fn given(value: Option<String>) -> Option<String> {
    value.filter(|text| !text.is_empty())
}

/// The contradictions among the session flags, one for each pair.
fn session_conflicts(flags: &SessionFlags) -> Vec<ArgError> {
    let is_given = |value: &Option<String>| value.as_ref().is_some_and(|text| !text.is_empty());
    let selectors = [
        ("--session", is_given(&flags.session)),
        ("--continue", flags.continue_latest),
        ("--resume", flags.resume),
        ("--no-session", flags.no_session),
    ];
    let clashes = |flag: &'static str, others: &[(&'static str, bool)]| -> Vec<_> {
        others.iter().filter(|(_, set)| *set).map(|(other, _)| ArgError::Conflict(flag, other)).collect()
    };
    let mut conflicts = Vec::new();
    if is_given(&flags.fork) {
        conflicts = clashes("--fork", &selectors);
    }
    if flags.session_id.is_some() {
        // With --no-session the id is simply not used.
        conflicts.append(&mut clashes("--session-id", &selectors[..3]));
    }
    conflicts
}

fn session_choice(flags: &SessionFlags, task: &Task, launch: Launch<'_>) -> Result<SessionChoice, ArgError> {
    let id = flags.session_id.clone().map(checked_id).transpose()?;
    let target = |text: &str| {
        if text.contains(['/', '\\']) || text.ends_with(".jsonl") {
            SessionTarget::Path(launch.path(text))
        } else {
            SessionTarget::Id(text.to_owned())
        }
    };
    Ok(if flags.no_session || !matches!(task, Task::Run(_)) {
        SessionChoice::InMemory
    } else if let Some(source) = given(flags.fork.clone()) {
        SessionChoice::Fork { source: target(&source), id }
    } else if let Some(session) = given(flags.session.clone()) {
        SessionChoice::Open(target(&session))
    } else if flags.resume {
        SessionChoice::Pick
    } else if flags.continue_latest {
        SessionChoice::Continue
    } else if let Some(id) = id {
        SessionChoice::OpenOrCreate { id }
    } else {
        SessionChoice::New
    })
}

/// Ids become parts of file names, so nothing that could lead out of the folder passes.
fn checked_id(id: String) -> Result<String, ArgError> {
    let ends_well = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if ends_well(id.chars().next()) && ends_well(id.chars().next_back()) && id.chars().all(allowed) {
        return Ok(id);
    }
    Err(ArgError::RefusedValue {
        flag: "--session-id".into(),
        reason: format!("\"{id}\" is no session id: letters, digits, '-', '_' and '.', a letter or digit at both ends"),
    })
}

fn model_choice(flags: ModelFlags, errors: &mut Vec<ArgError>, warnings: &mut Vec<String>) -> ModelChoice {
    let thinking = flags.thinking.and_then(|level| {
        let known = ThinkingLevel::parse(&level);
        if known.is_none() {
            let valid = ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ");
            warnings.push(format!("Invalid thinking level \"{level}\". Valid values: {valid}"));
        }
        known
    });
    let choice = ModelChoice {
        provider: given(flags.provider),
        pattern: given(flags.model),
        api_key: flags.api_key.filter(|key| !key.expose().is_empty()),
        thinking,
        scope: flags.models.map(|list| list.0),
    };
    if let (Some(provider), None) = (&choice.provider, &choice.pattern) {
        errors.push(ArgError::ProviderWithoutModel(provider.clone()));
    }
    choice
}

fn tool_choice(flags: ToolFlags) -> ToolChoice {
    let base = match (flags.no_tools, flags.no_builtin_tools) {
        (true, _) => ToolBase::Nothing,
        (false, true) => ToolBase::NoBuiltin,
        (false, false) => ToolBase::Usual,
    };
    ToolChoice { base, list: flags.tools, exclude: flags.exclude_tools.unwrap_or_default().0 }
}

fn extension_source(text: &str, launch: Launch<'_>) -> ExtensionSource {
    if let Some(name) = text.strip_prefix("builtin:") {
        ExtensionSource::Builtin(name.to_owned())
    } else if text.starts_with("npm:") || text.starts_with("git:") {
        ExtensionSource::Package(text.to_owned())
    } else {
        ExtensionSource::Path(launch.path(text))
    }
}
