//! The supervisor below the node. It ends when the pipe to it closes, so also when the node is killed.

use std::{io, path::Path, process::Stdio};

use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
};

use super::actor::NodeShared;
use crate::{
    actors::front::unattended::words::line,
    cli::runs::{args, folder::RunFolder, node::NodeOrder, worker_process::program},
    store::paths::USER_DIR_VARIABLE,
};

/// A running supervisor.
pub struct Supervisor {
    /// Its process.
    pub process: Child,
    orders: ChildStdin,
}

/// What a supervisor writes.
pub struct Outputs {
    /// The run's events.
    pub events: ChildStdout,
    /// What it says to people.
    pub words: ChildStderr,
}

impl Supervisor {
    /// Starts the supervisor of the run in `folder` with its first order.
    ///
    /// # Errors
    /// The system refuses.
    pub async fn start(
        shared: &NodeShared,
        folder: &RunFolder,
        place: &Path,
        order: &NodeOrder,
    ) -> io::Result<(Self, Outputs)> {
        let mut command = Command::from(program()?);
        command
            .args(["run", args::SUPERVISOR])
            .arg(&folder.path)
            .current_dir(place)
            .env(USER_DIR_VARIABLE, &shared.user_dir)
            // A signal of the terminal is for the node, which hands its runs on.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // They may hold passwords, and commands that a model runs see the environment.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TROUPE_NATS_")) {
            command.env_remove(name);
        }
        let mut process = command.spawn()?;
        let (Some(orders), Some(events), Some(words)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(io::Error::other("the supervisor has no pipes"));
        };
        let mut supervisor = Self { process, orders };
        supervisor.order(order).await;
        Ok((supervisor, Outputs { events, words }))
    }

    /// Tells it something. One that does not listen any more is ending.
    pub async fn order(&mut self, order: &NodeOrder) {
        if let Err(error) = self.orders.write_all(&line(order)).await {
            tracing::debug!(%error, "the supervisor does not listen");
        }
    }
}
