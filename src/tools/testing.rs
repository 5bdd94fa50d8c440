//! What tests of the tools share: a folder, and calls in it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Failure, FileMemory, Local, Operations, Progress, SessionFacts, Tool, ToolContext, ToolSet, validate};
use crate::protocol::{ToolCall, ToolOutput};

/// A folder of its own, and what calls in it know.
pub struct Bench {
    folder: TempDir,
    root: PathBuf,
    pub facts: SessionFacts,
    pub cancel: CancellationToken,
    pub progress: Arc<Progress>,
    pub operations: Arc<dyn Operations>,
    tools: ToolSet,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            root: folder.path().canonicalize().unwrap(),
            folder,
            facts: SessionFacts { file_memory: Some(Arc::new(FileMemory::default())), ..SessionFacts::default() },
            cancel: CancellationToken::new(),
            progress: Arc::default(),
            operations: Arc::new(Local),
            tools: ToolSet::builtin(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        assert!(self.folder.path().exists());
        self.root.join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn context(&self, tool: &dyn Tool, arguments: &Value) -> Result<ToolContext, Failure> {
        let name = tool.declaration().name.clone();
        let call = ToolCall { name, arguments: arguments.as_object().unwrap().clone(), ..ToolCall::default() };
        Ok(ToolContext {
            tool_call_id: "call".into(),
            arguments: validate(tool, &call)?,
            cwd: self.root.clone(),
            cancel: self.cancel.clone(),
            progress: Arc::clone(&self.progress),
            operations: Arc::clone(&self.operations),
            session: Arc::new(self.facts.clone()),
        })
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> ToolOutput {
        let tool = self.tools.get(tool).unwrap();
        match self.context(tool.as_ref(), &arguments) {
            Ok(context) => tool.execute(context).await,
            Err(failure) => failure.into(),
        }
    }

    /// The text of a call that works.
    pub async fn ok(&self, tool: &str, arguments: Value) -> String {
        let output = self.call(tool, arguments).await;
        assert!(!output.is_error, "{output:?}");
        text(&output)
    }

    /// The text of a call that fails.
    pub async fn fails(&self, tool: &str, arguments: Value) -> String {
        let output = self.call(tool, arguments).await;
        assert!(output.is_error, "{output:?}");
        text(&output)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }
}

pub fn text(output: &ToolOutput) -> String {
    crate::protocol::message::text_of(&output.content, "\n")
}

/// Waits until `condition` holds, for a time that no healthy machine needs.
pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !condition() {
        assert!(std::time::Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
