//! The control socket of this process: whether it is offered.

use std::{path::Path, sync::Arc};

use rustix::process::{Signal, getpid, kill_process};
use tokio::sync::watch;

use super::args::HiArgs;
use crate::actors::{
    address::Recipient,
    front::control::{
        Offered, service,
        socket::{SocketFile, listen},
    },
    runtime::RuntimeHandle,
    shared::AgentShared,
};

/// What is offered of a process whose agent in front stays the same, such as the worker of a run.
#[must_use]
pub fn offered_of(front: &'static str, run: Option<String>, agent: Arc<AgentShared>) -> Offered {
    // The receiver keeps the last value, also without its sender.
    Offered { front, run, agent: watch::channel(agent).1, end: None }
}

/// What is offered of a team: its agent in front is never asked anything, and a stop ends the team as a signal does.
#[must_use]
pub fn offered_of_team(agent: Arc<AgentShared>) -> Offered {
    let end = Recipient::from_fn(|()| kill_process(getpid(), Signal::TERM).is_ok());
    Offered { end: Some(end), ..offered_of("team", None, agent) }
}

/// What flags and settings say about the socket; `by_default` counts when they say nothing.
#[must_use]
pub fn is_wanted(args: &HiArgs, agent: &AgentShared, by_default: bool) -> bool {
    let setting = agent.config.settings.all()["controlSocket"].as_bool();
    args.control.unwrap_or(setting.unwrap_or(true) && by_default)
}

/// Has a runtime serve the socket of this process, as long as what is returned is held. That it cannot is no reason not to
/// work: it is logged.
#[must_use]
pub fn offer(runtime: &RuntimeHandle, user_dir: &Path, offered: Offered) -> Option<SocketFile> {
    match listen(user_dir) {
        Ok((file, listener)) => {
            runtime.serve(service(listener, offered));
            Some(file)
        }
        Err(error) => {
            tracing::warn!(%error, "there is no control socket");
            None
        }
    }
}
