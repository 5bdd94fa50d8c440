//! What a confined agent is refused, in words for people and for models.

use std::{io, path::Path, path::PathBuf};

use super::{Access, Policy, SandboxMode};

/// Why there is no sandbox, which means no start: nothing ever runs unconfined that was to be confined.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Neither wall can be built here.
    #[error(
        "the sandbox cannot be enforced on this system: {bubblewrap}; {landlock}. Install bubblewrap (the command bwrap; \
         on Debian and Ubuntu: apt-get install bubblewrap) and allow user namespaces, or use Linux 6.2 or later with \
         Landlock. To run unconfined: --sandbox off"
    )]
    NoWall {
        /// Why not with bubblewrap.
        bubblewrap: String,
        /// Why not with Landlock.
        landlock: String,
    },
    /// This system has none of them.
    #[error("the sandbox is not available on this system: it needs Linux. To run unconfined: --sandbox off")]
    Unsupported,
    /// Everything that the user owns would be writable.
    #[error(
        "the sandbox mode workspace makes the session's folder writable, and {} holds the home folder. Start in the \
         folder of a project, or use --sandbox read-only", .0.display()
    )]
    WorkspaceHoldsHome(PathBuf),
    /// What decides about the sandbox would be writable.
    #[error(
        "the sandbox mode workspace makes the session's folder writable, and {} holds the settings that decide about the \
         sandbox. Start in the folder of a project, or use --sandbox read-only", .0.display()
    )]
    WorkspaceIsUserFolder(PathBuf),
    /// The private temporary folder.
    #[error("the sandbox has no temporary folder: {0}")]
    NoTemp(#[source] io::Error),
    /// A rule cannot be made.
    #[error("the sandbox cannot be set up: {0}")]
    Setup(String),
}

/// The error of a refused access. It names the mode and what can be done instead.
pub fn denied(policy: &Policy, temp: &Path, wanted: Access, real: &Path) -> io::Error {
    let path = real.display();
    let text = match (policy.access(real), wanted) {
        (Access::Hidden, _) => format!(
            "the sandbox hides {path}: it may hold secrets. Do without it; the user can allow it with the setting \
             sandbox.readable"
        ),
        (Access::Read, Access::Write) if is_protected(policy, real) => format!(
            "the sandbox (mode {}) protects {path}, since it is run or obeyed outside of the sandbox. Leave it as it is, \
             or ask the user to change it",
            policy.mode()
        ),
        _ if policy.is_for_planning() => format!(
            "plan mode is on, and {path} cannot be written. {}; present your plan, the user ends plan mode",
            writable_places(policy, temp)
        ),
        _ => format!(
            "the sandbox (mode {}) does not let {path} be written. {}; the user can allow more with {}",
            policy.mode(),
            writable_places(policy, temp),
            how_to_allow(policy.mode()),
        ),
    };
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

/// A link to nothing: what would be created, and where, is not for the sandbox to guess.
pub fn dangling(path: &Path) -> io::Error {
    let text = format!(
        "the sandbox refuses to write through {}: it is a link to something that does not exist",
        path.display()
    );
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

fn is_protected(policy: &Policy, real: &Path) -> bool {
    policy.roots().iter().any(|root| real.starts_with(root))
}

fn how_to_allow(mode: SandboxMode) -> &'static str {
    match mode {
        SandboxMode::ReadOnly => "--sandbox workspace",
        SandboxMode::Workspace | SandboxMode::Off => "--sandbox-writable or the setting sandbox.writable",
    }
}

/// One sentence without its full stop.
fn writable_places(policy: &Policy, temp: &Path) -> String {
    only(policy, &format!("the temporary folder {} ($TMPDIR)", temp.display()))
}

fn only(policy: &Policy, temp: &str) -> String {
    let roots: Vec<_> = policy.roots().iter().map(|root| root.display().to_string()).collect();
    let and = if roots.is_empty() { "" } else { " and " };
    format!("Only {}{and}{temp} can be written", roots.join(", "))
}

/// What a model is told of its sandbox, for the system prompt: the same in every run, as caches want it.
pub fn prompt(policy: &Policy) -> String {
    let mut text = format!(
        "All tools run in a sandbox (mode {}). {}. Use $TMPDIR instead of /tmp.",
        policy.mode(),
        only(policy, "a temporary folder ($TMPDIR)")
    );
    if policy.mode() == SandboxMode::Workspace {
        text.push_str(" Git hooks, git's configuration, .troupe and .pi are read-only even there.");
    }
    text.push_str(match policy.network() {
        true => " Commands can use the network.",
        false => " Commands have no network.",
    });
    text.push_str(
        " Places with secrets (keys, credentials) cannot be read. Don't try to get around the sandbox: when a task needs \
         more, say so and let the user decide.",
    );
    text
}

/// What is added to the output of a failed command whose failure looks like the sandbox.
pub fn note(policy: &Policy, temp: &Path) -> String {
    if policy.is_for_planning() {
        let network = if policy.network() { "" } else { " There is no network." };
        return format!(
            "[Plan mode is on: commands can look at everything and change nothing, which may be why it failed. \
             {}.{network} Present your plan; the user ends plan mode.]",
            writable_places(policy, temp)
        );
    }
    let network = match policy.network() {
        true => "",
        false => " There is no network (--sandbox-network allows it).",
    };
    format!(
        "[The command ran in a sandbox (mode {}), which may be why it failed. {}.{network} The user can allow more with \
         {}.]",
        policy.mode(),
        writable_places(policy, temp),
        how_to_allow(policy.mode()),
    )
}
