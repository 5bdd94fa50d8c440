//! Which files and processes an agent works with.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{args::HiArgs, env::Environment, remote::Remote, run::warn, sandbox, start::StartError};
use crate::{
    actors::shared::PlanOperations,
    protocol::section::{FixedSection, SectionName, SectionSource},
    store::settings::{Scope, Settings},
    tools::{
        Local,
        operations::{
            Operations,
            sandbox::{Closing, Confined, Grants, Home, Policy, SandboxMode, confine},
        },
    },
};

/// What an agent works with.
pub struct AgentOperations {
    /// For tools.
    pub operations: Arc<dyn Operations>,
    /// For shell commands that the user runs: not confined, since the user is not.
    pub user_operations: Arc<dyn Operations>,
    /// For tools in plan mode.
    pub plan_operations: PlanOperations,
    /// The folder, on the machine that they are of.
    pub cwd: PathBuf,
    /// The other machine, if it is one.
    pub remote: Option<Arc<Remote>>,
    /// What the model is told about them.
    pub sections: Vec<Arc<dyn SectionSource>>,
    /// What ends them.
    pub closings: Closings,
}

/// What ends the sandboxes that were built, also those that are built later.
#[derive(Clone, Default)]
pub struct Closings(Arc<Mutex<Vec<Closing>>>);

impl Closings {
    fn add(&self, closing: Closing) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(closing);
    }

    /// Has those of others ended with these.
    pub fn adopt(&self, others: &Self) {
        let mut theirs = others.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).append(&mut theirs);
    }

    /// Ends them.
    pub fn close(&self) {
        for closing in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            closing.close();
        }
    }
}

/// Chooses by the flags and the settings.
///
/// # Errors
/// What was asked for cannot be had: nothing runs unconfined that was to be confined.
pub fn choose(
    environment: &Environment,
    args: &HiArgs,
    settings: &Settings,
    folder: &Path,
    remote: Option<Arc<Remote>>,
) -> Result<AgentOperations, StartError> {
    let confined = confinement(environment, args, settings, folder)?;
    let Some(remote) = remote else {
        let local: Arc<dyn Operations> = Arc::new(Local);
        let closings = Closings::default();
        let (operations, plan_operations, sections) = match confined {
            Some(Confined { operations, read_only, prompt, closing, .. }) => {
                closings.add(closing);
                (operations, PlanOperations::new(move || Some(read_only.clone())), told("sandbox", prompt))
            }
            None => (local.clone(), read_only(environment, folder, closings.clone()), Vec::new()),
        };
        return Ok(AgentOperations {
            operations,
            user_operations: local,
            plan_operations,
            cwd: folder.to_owned(),
            remote: None,
            sections,
            closings,
        });
    };
    if confined.is_some() {
        let text = "A sandbox is of this machine and confines nothing on another: with --ssh, use --sandbox off, and confine \
                    the user of that machine there.";
        return Err(StartError::Failed(text.to_owned()));
    }
    let operations = remote.operations();
    let sections = told("machine", remote.description());
    Ok(AgentOperations {
        user_operations: operations.clone(),
        operations,
        plan_operations: PlanOperations::none(),
        cwd: remote.cwd().to_owned(),
        remote: Some(remote),
        sections,
        closings: Closings::default(),
    })
}

/// A section of the prompt.
fn told(name: &'static str, text: String) -> Vec<Arc<dyn SectionSource>> {
    vec![Arc::new(FixedSection::new(SectionName::of(name), text))]
}

/// What an agent that is not confined has in plan mode.
fn read_only(environment: &Environment, cwd: &Path, closings: Closings) -> PlanOperations {
    let (cwd, home, user_dir) = (cwd.to_owned(), environment.home.clone(), environment.user_dir.clone());
    PlanOperations::new(move || {
        let home = Home { folder: home.as_deref(), user_dir: &user_dir };
        let policy = Policy::new(SandboxMode::ReadOnly, &cwd, &home, &Grants::default());
        let confined = policy.map_err(StartError::of);
        let confined = confined.and_then(|policy| confine(policy.for_planning()).map_err(StartError::of));
        let confined = confined.inspect_err(|error| tracing::info!(%error, "plan mode has no walls")).ok()?;
        closings.add(confined.closing);
        Some(confined.operations)
    })
}

/// None when nothing is to be confined.
fn confinement(
    environment: &Environment,
    args: &HiArgs,
    settings: &Settings,
    cwd: &Path,
) -> Result<Option<Confined>, StartError> {
    // Whoever turns it off for this run needs no settings, broken ones included.
    if args.sandbox.mode == Some(SandboxMode::Off) {
        return Ok(None);
    }
    let of = |scope| settings.sandbox(scope).map_err(StartError::Failed);
    let home = environment.home.as_deref();
    let decision = sandbox::decide(&args.sandbox, &of(Scope::Global)?, &of(Scope::Project)?, cwd, home);
    decision.ignored.iter().for_each(|text| warn(text));
    if decision.mode == SandboxMode::Off {
        return Ok(None);
    }
    for missing in decision.grants.writable.iter().filter(|path| !path.exists()) {
        warn(&format!("The sandbox cannot make {} writable: it does not exist.", missing.display()));
    }
    let home = Home { folder: home, user_dir: &environment.user_dir };
    let policy = Policy::new(decision.mode, cwd, &home, &decision.grants).map_err(StartError::of)?;
    let confined = confine(policy).map_err(StartError::of)?;
    for gap in &confined.gaps {
        warn(&format!("The sandbox is not complete on this system: {gap}."));
    }
    Ok(Some(confined))
}
