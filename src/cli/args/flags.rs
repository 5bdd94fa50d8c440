//! The flags: one table of names, values and help texts. What is typed, nothing more.

use std::{convert::Infallible, fmt, str::FromStr};

use clap::{Args, Parser};

use super::{cassette::ReplaySpeed, permissions::PermissionArgs, words::ExtensionFlag};
use crate::{
    cli::mode::{OutputMode, TuiMode},
    tools::operations::sandbox::SandboxMode,
};

/// The command line as it was typed.
#[derive(Clone, Debug, Default, Parser)]
#[command(
    name = "troupe",
    no_binary_name = true,
    disable_help_flag = true,
    disable_version_flag = true,
    args_override_self = true
)]
pub struct LowArgs {
    /// Which model, and how much it thinks.
    #[command(flatten)]
    pub model: ModelFlags,
    /// Which session, and where.
    #[command(flatten)]
    pub session: SessionFlags,
    /// Which tools.
    #[command(flatten)]
    pub tools: ToolFlags,
    /// What the agent may do.
    #[command(flatten)]
    pub permissions: PermissionArgs,
    /// What the system prompt says.
    #[command(flatten)]
    pub prompt: PromptFlags,
    /// What is loaded beside the program.
    #[command(flatten)]
    pub resources: ResourceFlags,
    /// Whether the project may bring its own configuration.
    #[command(flatten)]
    pub trust: TrustFlags,
    /// How far the agent is confined.
    #[command(flatten)]
    pub sandbox: SandboxFlags,
    /// What comes out, and how.
    #[command(flatten)]
    pub output: OutputFlags,
    /// How to see what happens inside.
    #[command(flatten)]
    pub diagnosis: DiagnosisFlags,
    /// Messages, in order.
    #[arg(skip)]
    pub messages: Vec<String>,
    /// `@file` arguments without the `@`, in order.
    #[arg(skip)]
    pub files: Vec<String>,
    /// Flags that only an extension may know.
    #[arg(skip)]
    pub extension_flags: Vec<ExtensionFlag>,
}

/// Which model, and how much it thinks.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelFlags {
    /// Look for --model at this provider only
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// Use the model with this id, provider/id or part of a name; `:LEVEL` at its end sets how much it thinks
    #[arg(long, value_name = "PATTERN")]
    pub model: Option<String>,
    /// Use this key for the model's provider; it is never stored
    #[arg(long, value_name = "KEY")]
    pub api_key: Option<ApiKey>,
    /// How much the model thinks: off, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL")]
    pub thinking: Option<String>,
    /// Models to choose from and to cycle through: names, parts of names or globs, separated by commas
    #[arg(long, value_name = "PATTERNS")]
    pub models: Option<List>,
    /// Print the models that can be used, or those that match SEARCH, and exit
    #[arg(long, value_name = "SEARCH", num_args = 0..=1, require_equals = true)]
    #[allow(clippy::option_option, reason = "the flag may come without its value")]
    pub list_models: Option<Option<String>>,
}

/// Which session, and where.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Session")]
pub struct SessionFlags {
    /// Go on with the folder's latest session
    #[arg(short = 'c', long = "continue")]
    pub continue_latest: bool,
    /// Choose a session from a list
    #[arg(short, long)]
    pub resume: bool,
    /// Open the session in this file, or the one with this id or beginning of an id
    #[arg(long, value_name = "PATH|ID")]
    pub session: Option<String>,
    /// Open the folder's session with exactly this id, or begin one with it
    #[arg(long, value_name = "ID")]
    pub session_id: Option<String>,
    /// Copy a session into a new one in this folder
    #[arg(long, value_name = "PATH|ID")]
    pub fork: Option<String>,
    /// Keep sessions in this folder and look for them there
    #[arg(long, value_name = "DIR")]
    pub session_dir: Option<String>,
    /// Keep the session in memory only
    #[arg(long)]
    pub no_session: bool,
    /// Open the session for reading: nothing is added to it, whoever else has it open
    #[arg(long)]
    pub read_only: bool,
    /// Name the session
    #[arg(short, long, value_name = "TEXT")]
    pub name: Option<String>,
}

/// Which tools, and where they work.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Tools")]
pub struct ToolFlags {
    /// Work on another machine: all tools and the user's commands run there, in the folder or the home folder
    #[arg(long, value_name = "[USER@]HOST[:FOLDER]")]
    pub ssh: Option<String>,
    /// Allow only these tools: names or patterns with *, separated by commas; or change the usual ones with +NAME and
    /// -NAME
    #[arg(short, long, value_name = "NAMES")]
    pub tools: Option<List>,
    /// Take these tools away: names or patterns with *, separated by commas
    #[arg(long, value_name = "NAMES")]
    pub exclude_tools: Option<List>,
    /// Start without the built-in tools; those of extensions stay
    #[arg(long)]
    pub no_builtin_tools: bool,
    /// Start without any tool
    #[arg(long)]
    pub no_tools: bool,
    /// Give the model the tools to have other agents work for it
    #[arg(long)]
    pub siblings: bool,
}

/// What the system prompt says.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Prompt")]
pub struct PromptFlags {
    /// Use this text, or the text of this file, as the system prompt
    #[arg(long, value_name = "TEXT|FILE")]
    pub system_prompt: Option<String>,
    /// Add this text, or the text of this file, to the system prompt; may be given several times
    #[arg(long, value_name = "TEXT|FILE")]
    pub append_system_prompt: Vec<String>,
    /// Don't read AGENTS.md and CLAUDE.md
    #[arg(long)]
    pub no_context_files: bool,
}

/// What is loaded beside the program.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Resources")]
pub struct ResourceFlags {
    /// Load an extension, by path or as builtin:NAME; may be given several times
    #[arg(short, long = "extension", value_name = "PATH")]
    pub extensions: Vec<String>,
    /// Load no extension but those named with -e
    #[arg(long)]
    pub no_extensions: bool,
    /// Connect to no MCP server
    #[arg(long)]
    pub no_mcp: bool,
    /// Load a skill from this file or the skills of this folder; may be given several times
    #[arg(long = "skill", value_name = "PATH")]
    pub skills: Vec<String>,
    /// Load no skill but those named with --skill
    #[arg(long)]
    pub no_skills: bool,
    /// Load a prompt template, or those of a folder; may be given several times
    #[arg(long = "prompt-template", value_name = "PATH")]
    pub prompt_templates: Vec<String>,
    /// Load no prompt template but those named with --prompt-template
    #[arg(long)]
    pub no_prompt_templates: bool,
    /// Load a theme, or those of a folder; may be given several times
    #[arg(long = "theme", value_name = "PATH")]
    pub themes: Vec<String>,
    /// Load no theme but those named with --theme
    #[arg(long)]
    pub no_themes: bool,
    /// Begin with this theme, or with the pair LIGHT/DARK
    #[arg(long, value_name = "NAME")]
    pub use_theme: Option<String>,
}

/// Whether the project may bring its own configuration.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Trust and network")]
pub struct TrustFlags {
    /// Trust the project's configuration for this run
    #[arg(short, long, overrides_with = "no_approve")]
    pub approve: bool,
    /// Ignore the project's configuration for this run
    #[arg(long, overrides_with = "approve")]
    pub no_approve: bool,
    /// Use the network for model calls only; the same as TROUPE_OFFLINE=1
    #[arg(long)]
    pub offline: bool,
}

/// How far the agent is confined.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Sandbox")]
pub struct SandboxFlags {
    /// Confine all tools: off (the default), workspace (only the session's folder can be written) or read-only
    #[arg(long, value_name = "MODE")]
    pub sandbox: Option<SandboxMode>,
    /// Let confined commands use the network
    #[arg(long)]
    pub sandbox_network: bool,
    /// Let the agent write this folder too, in the mode workspace; may be given several times
    #[arg(long, value_name = "DIR")]
    pub sandbox_writable: Vec<String>,
}

/// What comes out, and how.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputFlags {
    /// What programs read: text, json (one event a line) or rpc (commands on stdin, events on stdout)
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    pub mode: Option<OutputMode>,
    /// Run the prompts, print the last answer and exit; the next word is a message
    #[arg(short, long)]
    pub print: bool,
    /// Write a session as HTML, into the file named after it if there is one, and exit
    #[arg(long, value_name = "FILE")]
    pub export: Option<String>,
    /// How the screen is drawn: regular (lines scroll into the terminal's history) or fullscreen
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    pub tui_mode: Option<TuiMode>,
    /// Show all that is loaded at the start, whatever the settings say
    #[arg(long)]
    pub verbose: bool,
    /// Print this help and exit
    #[arg(short, long)]
    pub help: bool,
    /// Print the version and exit
    #[arg(short, long)]
    pub version: bool,
}

/// How to see what happens inside.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Testing and diagnosis")]
pub struct DiagnosisFlags {
    /// Let the model troupe/script play the answers in this file: no network, no key
    #[arg(long, value_name = "FILE")]
    pub script: Option<String>,
    /// Keep the raw exchanges with model providers in this file, without keys; the file must be new
    #[arg(long, value_name = "FILE")]
    pub record: Option<String>,
    /// Let a recorded file answer instead of the providers: no network, no key; tools run as always
    #[arg(long, value_name = "FILE")]
    pub replay: Option<String>,
    /// How fast it answers: full (without waiting) or recorded (as it came)
    #[arg(long, value_name = "SPEED", hide_possible_values = true)]
    pub replay_speed: Option<ReplaySpeed>,
    /// Fail when a request differs from the recorded one, instead of saying so and going on
    #[arg(long)]
    pub replay_strict: bool,
    /// Write what every actor does into this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub trace_file: Option<String>,
    /// Write the program's log into this file
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<String>,
    /// Offer a control socket, for troupe top and troupe attach, also when there is no terminal
    #[arg(long, overrides_with = "no_control")]
    pub control: bool,
    /// Offer no control socket
    #[arg(long, overrides_with = "control")]
    pub no_control: bool,
}

/// A key that no log and no error may show.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// The key itself, for the request that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

impl FromStr for ApiKey {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

/// Names separated by commas; empty ones are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List(pub Vec<String>);

impl FromStr for List {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()))
    }
}
