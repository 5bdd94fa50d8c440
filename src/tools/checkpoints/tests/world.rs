//! A folder, a session whose conversation is made by hand, and tools that work for it.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::{
    protocol::{
        EntryBody, EntryId, ToolCall, ToolOutput,
        checkpoint::{CheckpointCause, FileOutcome, Undo, UndoReport, UndoTarget},
    },
    store::{NewSession, SessionStore},
    tools::{
        CheckpointConfig, Checkpoints, Local, Operations, Progress, SessionFacts, ToolContext, ToolSet,
        checkpoints::{Checkpointing, UndoError, Undone, undo, workspace::Patience},
        validate,
    },
};

pub struct World {
    _folder: TempDir,
    pub root: PathBuf,
    pub session: SessionStore,
    pub checkpoints: Checkpoints,
    notices: Arc<std::sync::Mutex<Vec<String>>>,
    tools: ToolSet,
}

impl World {
    pub fn new() -> Self {
        Self::with(|config| config)
    }

    pub fn with(change: impl FnOnce(CheckpointConfig) -> CheckpointConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let root = top.join("work");
        fs::create_dir(&root).unwrap();
        let session = SessionStore::create_in(&top.join("sessions"), NewSession::in_folder(&root)).unwrap();
        // A busy machine must not decide what can be restored.
        let patience = Patience { look: Duration::from_secs(60), keep: Duration::from_secs(60) };
        let config = CheckpointConfig::new(session.path().unwrap(), session.view().header());
        let config = change(CheckpointConfig { patience, ..config });
        let checkpoints = Checkpoints::new(config);
        let notices = Arc::new(std::sync::Mutex::new(Vec::new()));
        let told = notices.clone();
        checkpoints.on_notice(move |text| told.lock().unwrap().push(text));
        Self { _folder: folder, root, session, checkpoints, notices, tools: ToolSet::builtin() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn get(&self, name: &str) -> Option<String> {
        fs::read(self.path(name)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// How many records the session's log has.
    pub fn records(&self) -> usize {
        crate::store::checkpoints::log::read(&self.session.path().unwrap()).unwrap().len()
    }

    pub fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap().clone()
    }

    /// An entry of the conversation: what the next changes follow.
    pub fn entry(&self, text: &str) -> EntryId {
        let message = json!({"role": "user", "content": text, "timestamp": 1});
        let body = EntryBody::Message { message: serde_json::from_value(message).unwrap() };
        self.session.append(None, vec![body.into()]).unwrap().entries[0].id.clone()
    }

    /// A turn with one entry of its own.
    pub fn turn(&self) -> (EntryId, Arc<dyn Operations>) {
        let entry = self.entry("a turn");
        let turn = self.checkpoints.turn(Some(entry.clone()), CheckpointCause::Tools);
        (entry, Arc::new(Checkpointing::new(Arc::new(Local), turn)))
    }

    pub async fn call(&self, operations: &Arc<dyn Operations>, tool: &str, arguments: serde_json::Value) -> ToolOutput {
        let tool = self.tools.get(tool).unwrap();
        let arguments = arguments.as_object().unwrap().clone();
        let call = ToolCall { name: tool.declaration().name.clone(), arguments, ..ToolCall::default() };
        let context = ToolContext {
            tool_call_id: "call".into(),
            arguments: validate(tool.as_ref(), &call).unwrap(),
            cwd: self.root.clone(),
            cancel: CancellationToken::new(),
            progress: Arc::new(Progress::default()),
            operations: operations.clone(),
            session: Arc::new(SessionFacts::default()),
        };
        tool.execute(context).await
    }

    /// A turn that writes one file.
    pub async fn write(&self, name: &str, content: &str) -> EntryId {
        let (entry, operations) = self.turn();
        let output = self.call(&operations, "write", json!({"path": name, "content": content})).await;
        assert!(!output.is_error, "{output:?}");
        entry
    }

    /// A turn that runs one command.
    pub async fn bash(&self, command: &str) -> EntryId {
        let (entry, operations) = self.turn();
        let output = self.call(&operations, "bash", json!({"command": command})).await;
        assert!(!output.is_error, "{output:?}");
        entry
    }

    pub async fn ask(&self, ask: Undo) -> Result<Undone, UndoError> {
        let operations: Arc<dyn Operations> = Arc::new(Local);
        undo(&self.checkpoints, &operations, &self.session.view(), &ask).await
    }

    pub async fn undo(&self, target: UndoTarget) -> UndoReport {
        self.ask(Undo { target, ..Undo::default() }).await.unwrap().report
    }

    /// `outcome path` of each file.
    pub fn outcomes(&self, report: &UndoReport) -> Vec<String> {
        let prefix = format!("{}/", self.root.display());
        let word = |outcome| match outcome {
            FileOutcome::Restored => "restored",
            FileOutcome::Recreated => "recreated",
            FileOutcome::Removed => "removed",
            FileOutcome::Unchanged => "unchanged",
            FileOutcome::Conflict => "conflict",
            FileOutcome::Skipped => "skipped",
        };
        let told = |path: &str| path.strip_prefix(&prefix).unwrap_or(path).to_owned();
        report.files.iter().map(|file| format!("{} {}", word(file.outcome), told(&file.path))).collect()
    }
}

/// All that a folder holds: kind, permissions and content by path.
pub fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let what = if metadata.is_symlink() {
                format!("link {:?}", fs::read_link(&path).unwrap())
            } else if metadata.is_dir() {
                folders.push(path.clone());
                "folder".to_owned()
            } else {
                format!("{:o} {:?}", metadata.permissions().mode() & 0o7777, fs::read(&path).unwrap())
            };
            found.insert(path.strip_prefix(root).unwrap().to_owned(), what);
        }
    }
    found
}
