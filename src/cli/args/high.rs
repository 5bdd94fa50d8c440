//! What a command line means.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{
    cassette::{self, CassetteChoice},
    error::ArgError,
    flags::{ApiKey, LowArgs, ModelFlags, ToolFlags},
    permissions::PermissionChoice,
    sandbox::{self, SandboxRequest},
    session::{self, SessionChoice},
    words::ExtensionFlag,
};
use crate::{
    cli::{
        mode::{Mode, OutputMode, Terminals, TuiMode},
        paths,
    },
    protocol::ThinkingLevel,
    tools::operations::ssh::{Target, TargetError},
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
    /// Models that agents below the first one use: the servers of this machine among them are looked for. No flag says so.
    pub below: Vec<String>,
}

/// What the command line says about tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRequest {
    /// `--tools`: names and patterns, or changes of the usual tools; an empty list: none.
    pub tools: Option<Vec<String>>,
    /// `--exclude-tools`: names and patterns.
    pub exclude: Vec<String>,
    /// `--no-tools`.
    pub no_tools: bool,
    /// `--no-builtin-tools`.
    pub no_builtin_tools: bool,
    /// `--siblings`.
    pub siblings: bool,
}

impl ToolRequest {
    /// Whether it says which tools are selected; if not, a resumed session keeps its own.
    #[must_use]
    pub fn selects(&self) -> bool {
        self.tools.is_some() || self.no_tools || self.no_builtin_tools
    }
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

impl fmt::Display for ExtensionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(text) | Self::Package(text) => f.write_str(text),
            Self::Path(path) => path.display().fmt(f),
        }
    }
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
    /// It is only read.
    pub read_only: bool,
    /// Where sessions are kept, when the command line says so.
    pub session_dir: Option<PathBuf>,
    /// The session may be from another machine: it goes on in the folder that the program runs in. No flag says so.
    pub moved: bool,
    /// The session's name; not empty.
    pub name: Option<String>,
    /// With which model.
    pub model: ModelChoice,
    /// With which tools.
    pub tools: ToolRequest,
    /// What the agent may do.
    pub permissions: PermissionChoice,
    /// `--system-prompt`: a text, or the name of a file.
    pub system_prompt: Option<String>,
    /// `--append-system-prompt`, in order.
    pub append_system_prompt: Vec<String>,
    /// `--ssh`: the machine that tools work on, when it is not this one.
    pub ssh: Option<Target>,
    /// With which resources.
    pub resources: Resources,
    /// With which confinement.
    pub sandbox: SandboxRequest,
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
    /// `--record` and `--replay`.
    pub cassette: CassetteChoice,
    /// `--trace-file`.
    pub trace_file: Option<PathBuf>,
    /// `--log-file`.
    pub log_file: Option<PathBuf>,
    /// `--control` or `--no-control`.
    pub control: Option<bool>,
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
        let conflicts = session::conflicts(&low.session);
        let session = session::choice(&low.session, &task, launch);
        if conflicts.is_empty() {
            errors.extend(session.as_ref().err().cloned());
        }
        errors.extend(conflicts);
        let name = low.session.name.as_deref().map(str::trim);
        if name == Some("") {
            errors.push(ArgError::MissingValue { flag: "--name".into(), needs: "a non-empty value".into() });
        }
        let model = model_choice(low.model, &mut errors, &mut warnings);
        let cassette = cassette::choice(&low.diagnosis, launch).unwrap_or_else(|error| {
            errors.push(error);
            CassetteChoice::None
        });
        // An empty one is an error, not this machine: it is what an unset variable of a script leaves.
        let ssh = machine(low.tools.ssh.clone(), &mut errors);
        let (true, Ok(session)) = (errors.is_empty(), session) else { return Err(errors) };
        let path = |text: Option<String>| given(text).map(|text| launch.path(&text));
        Ok(Self {
            task,
            session,
            read_only: low.session.read_only,
            session_dir: path(low.session.session_dir),
            moved: false,
            name: name.map(str::to_owned),
            model,
            ssh,
            tools: tool_request(low.tools),
            permissions: low.permissions.into(),
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
            sandbox: sandbox::request(&low.sandbox, launch),
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
            cassette,
            trace_file: path(low.diagnosis.trace_file),
            log_file: path(low.diagnosis.log_file),
            control: match (low.diagnosis.control, low.diagnosis.no_control) {
                (true, _) => Some(true),
                (false, true) => Some(false),
                (false, false) => None,
            },
            warnings,
        })
    }

    /// The error for the flags that no extension knows, `registered` being the names of those that some do.
    #[must_use]
    pub fn unknown_options(&self, registered: &[impl AsRef<str>]) -> Option<ArgError> {
        let unknown: Vec<_> = self
            .extension_flags
            .iter()
            .map(|flag| flag.name.as_str())
            .filter(|name| !registered.iter().any(|known| known.as_ref() == *name))
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
pub(super) fn given(value: Option<String>) -> Option<String> {
    value.filter(|text| !text.is_empty())
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
        below: Vec::new(),
    };
    if let (Some(provider), None) = (&choice.provider, &choice.pattern) {
        errors.push(ArgError::ProviderWithoutModel(provider.clone()));
    }
    choice
}

fn machine(text: Option<String>, errors: &mut Vec<ArgError>) -> Option<Target> {
    let refused = |error: TargetError| ArgError::RefusedValue { flag: "--ssh".into(), reason: error.to_string() };
    text?.parse().map_err(|error| errors.push(refused(error))).ok()
}

fn tool_request(flags: ToolFlags) -> ToolRequest {
    ToolRequest {
        tools: flags.tools.map(|list| list.0),
        exclude: flags.exclude_tools.unwrap_or_default().0,
        no_tools: flags.no_tools,
        no_builtin_tools: flags.no_builtin_tools,
        siblings: flags.siblings,
    }
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
