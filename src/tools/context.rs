//! What a call may know and use.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{
    Failure, FileMemory, Progress, jobs::JobHost, operations::Operations, paths, picture::PicturePolicy,
    siblings::Spawner,
};

/// All that a call may know and use.
#[derive(Clone)]
pub struct ToolContext {
    /// The model's id of the call.
    pub tool_call_id: String,
    /// Validated arguments.
    pub arguments: Map<String, Value>,
    /// The session's folder: relative paths start here.
    pub cwd: PathBuf,
    /// Ends the call; it should return what it has.
    pub cancel: CancellationToken,
    /// Where a running call shows what it has so far.
    pub progress: Arc<Progress>,
    /// Files and processes.
    pub operations: Arc<dyn Operations>,
    /// What the agent's session tells the call.
    pub session: Arc<SessionFacts>,
}

impl ToolContext {
    /// The path that the model means by `path`.
    #[must_use]
    pub fn resolve(&self, path: &str) -> PathBuf {
        paths::resolve(path, &self.cwd, self.operations.place().home.as_deref())
    }

    /// Where a file to be read may be: see [`paths::candidates`].
    #[must_use]
    pub fn candidates(&self, path: &str) -> Vec<PathBuf> {
        paths::candidates(path, &self.cwd, self.operations.place().home.as_deref())
    }

    /// The arguments as a type of the tool's own; strings may be borrowed from them.
    ///
    /// # Errors
    /// When they do not fit, which validation against the tool's schema rules out.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Failure> {
        T::deserialize(&self.arguments).map_err(|error| Failure::new(format!("Invalid arguments: {error}")))
    }
}

/// Facts of a session that tools pass on.
#[derive(Clone, Debug, Default)]
pub struct SessionFacts {
    /// `provider` and `id` of the model that made the call, for messages.
    pub model: Option<(String, String)>,
    /// Whether that model takes pictures.
    pub takes_images: bool,
    /// Variables that shell commands get (session id and file, model, provider, level).
    pub environment: HashMap<String, String>,
    /// Variables that shell commands must not get: our keys.
    pub secret_variables: Arc<[String]>,
    /// The shell (setting `shellPath`).
    pub shell_path: Option<String>,
    /// Put before each shell command, on a line of its own (setting `shellCommandPrefix`).
    pub shell_command_prefix: Option<String>,
    /// Pictures are not to be read at all (setting `images.blockImages`).
    pub block_images: bool,
    /// How pictures are made fit for that model.
    pub pictures: PicturePolicy,
    /// What the agent has read, so that it does not overwrite what it has not seen. One per agent; none: not checked.
    pub file_memory: Option<Arc<FileMemory>>,
    /// Who keeps background jobs; none: there cannot be any.
    pub jobs: Option<Arc<dyn JobHost>>,
    /// Who spawns siblings; none: there cannot be any.
    pub siblings: Option<Arc<dyn Spawner>>,
    /// Other agents work in the same folder: commands of git wait for each other.
    pub shares_folder: bool,
}
