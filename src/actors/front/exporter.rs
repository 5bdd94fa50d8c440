//! The worker that writes the page of a session: that may take a while, and nobody mails it.

use std::path::PathBuf;

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::page;
use crate::{
    actors::reply::ReplyTo,
    protocol::{CommandError, Reply},
    store::{TreeView, paths},
};

/// What the worker needs.
pub struct ExportWork {
    /// The session.
    pub view: TreeView,
    /// Its file; none in memory.
    pub session: Option<PathBuf>,
    /// Where the page is to be, as the client says it: a relative path begins at the process's folder, `~` is the home.
    pub output: Option<String>,
    /// Who gets the path. When the worker dies, the answer is that the command was lost.
    pub reply: ReplyTo,
}

/// The worker.
pub struct Exporter;

impl Actor for Exporter {
    type Msg = ExportWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<ExportWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<ExportWork>,
        work: ExportWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let ExportWork { view, session, output, reply } = work;
        let written = tokio::task::spawn_blocking(move || export(&view, session, output)).await;
        let refused = |why: String| CommandError::Refused(why);
        reply.send(match written {
            Ok(path) => path.map(Reply::Path).map_err(refused),
            Err(error) => Err(refused(format!("the page was not written: {error}"))),
        });
        myself.stop(None);
        Ok(())
    }
}

/// Writes the page; its path.
///
/// # Errors
/// Why there is none, in words for people.
pub fn export(view: &TreeView, session: Option<PathBuf>, output: Option<String>) -> Result<PathBuf, String> {
    let cwd = std::env::current_dir().map_err(|error| format!("the folder of this process is gone: {error}"))?;
    let places = paths::Environment::of_process();
    let output = output.map(|output| paths::absolute(&places.expand(output.as_ref()), &cwd));
    page::export(view, session.as_deref(), output.as_deref(), &cwd).map_err(|error| error.to_string())
}
