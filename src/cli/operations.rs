//! Which files and processes an agent works with.

use std::{path::Path, sync::Arc};

use super::{args::HiArgs, env::Environment, run::warn, sandbox, start::StartError};
use crate::{
    store::settings::{Scope, Settings},
    tools::{
        Local,
        operations::{
            Operations,
            sandbox::{Home, Policy, SandboxMode, confine},
        },
    },
};

/// What an agent works with.
pub struct AgentOperations {
    /// For tools.
    pub operations: Arc<dyn Operations>,
    /// For shell commands that the user runs: not confined, since the user is not.
    pub user_operations: Arc<dyn Operations>,
    /// What the model is told about them.
    pub prompt: Option<String>,
}

/// Chooses by the flags and the settings.
///
/// # Errors
/// What was asked for cannot be had here: nothing runs unconfined that was to be confined.
pub fn choose(
    environment: &Environment,
    args: &HiArgs,
    settings: &Settings,
    cwd: &Path,
) -> Result<AgentOperations, StartError> {
    let local: Arc<dyn Operations> = Arc::new(Local);
    let of = |scope| settings.sandbox(scope).map_err(StartError::Failed);
    let home = environment.home.as_deref();
    let decision = sandbox::decide(&args.sandbox, &of(Scope::Global)?, &of(Scope::Project)?, cwd, home);
    decision.ignored.iter().for_each(|text| warn(text));
    if decision.mode == SandboxMode::Off {
        return Ok(AgentOperations { operations: local.clone(), user_operations: local, prompt: None });
    }
    let home = Home { folder: home, user_dir: &environment.user_dir };
    let policy = Policy::new(decision.mode, cwd, &home, &decision.grants).map_err(StartError::of)?;
    let confined = confine(policy).map_err(StartError::of)?;
    for gap in &confined.gaps {
        warn(&format!("The sandbox is not complete on this system: {gap}."));
    }
    Ok(AgentOperations { operations: confined.operations, user_operations: local, prompt: Some(confined.prompt) })
}
