//! What the agent may do.

use clap::{Args, ValueEnum};

use crate::{protocol::permission::PermissionMode, tools::permissions::gather::PermissionFlags};

/// What the agent may do.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Permissions")]
pub struct PermissionArgs {
    /// What becomes of calls that no rule is about: allow, ask or deny; off turns rules off too
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    pub permissions: Option<ModeName>,
    /// Let these calls run, such as 'bash(git status *)' or 'write(src/**)'; may be given several times
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Deny these calls, whatever else is allowed; may be given several times
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// What a run becomes in which calls were denied: continue (nothing) or fail (exit code 5)
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    pub on_denied: Option<OnDenied>,
    /// Only plan: read, and change nothing until the user ends it
    #[arg(long, overrides_with = "no_plan")]
    pub plan: bool,
    /// End the plan mode of the session
    #[arg(long, overrides_with = "plan")]
    pub no_plan: bool,
}

/// The value of `--permissions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeName {
    /// Neither the mode nor rules count.
    Off,
    /// They run.
    Allow,
    /// A person is asked.
    Ask,
    /// They are denied.
    Deny,
}

impl From<ModeName> for PermissionMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Off => Self::Off,
            ModeName::Allow => Self::Allow,
            ModeName::Ask => Self::Ask,
            ModeName::Deny => Self::Deny,
        }
    }
}

/// The value of `--on-denied`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OnDenied {
    /// The exit code stays; what was denied is told on standard error.
    #[default]
    Continue,
    /// The run has failed.
    Fail,
}

/// What the command line says about permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionChoice {
    /// The mode and rules.
    pub flags: PermissionFlags,
    /// What becomes of a run in which calls were denied.
    pub on_denied: OnDenied,
    /// `--plan` or `--no-plan`.
    pub plan: Option<bool>,
}

impl From<PermissionArgs> for PermissionChoice {
    fn from(args: PermissionArgs) -> Self {
        let PermissionArgs { permissions, allow, deny, on_denied, plan, no_plan } = args;
        let flags = PermissionFlags { mode: permissions.map(PermissionMode::from), allow, deny };
        let plan = match (plan, no_plan) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        };
        Self { flags, on_denied: on_denied.unwrap_or_default(), plan }
    }
}
