//! A sandbox for tests that type and look: they wait in their own thread, while the scripted model answers in others.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;
use tokio::runtime::Runtime;

use super::{Builder, Terminal, builder::PROMPT};
use crate::support::{Reply, Request, Sandbox, lines};

/// See the module.
pub struct Stage {
    /// Home, project and model.
    pub sandbox: Sandbox,
    runtime: Runtime,
}

impl Stage {
    /// A stage whose model answers as `script` says.
    pub fn new(script: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { sandbox: runtime.block_on(Sandbox::new(script)), runtime }
    }

    /// A terminal for the program.
    pub fn terminal(&self) -> Builder<'_> {
        Builder::new(self)
    }

    /// A terminal with the program in it, whose screen is there.
    pub fn open(&self) -> Terminal {
        self.terminal().open()
    }

    /// What the model was asked in request `n`, counted from 0; waits until it is.
    pub fn request(&self, n: usize) -> Arc<Request> {
        self.runtime.block_on(self.sandbox.server.request(n))
    }

    /// What the user said last in request `n`; waits until the model is asked.
    pub fn sent(&self, n: usize) -> String {
        self.request(n).last_user()
    }

    /// How often the model was asked.
    pub fn requests(&self) -> usize {
        self.sandbox.server.count()
    }

    /// The entries of the only session, its header first.
    pub fn entries(&self) -> Vec<Value> {
        lines(&self.sandbox.session_file())
    }

    /// The id of the only session.
    pub fn session_id(&self) -> String {
        self.entries()[0]["id"].as_str().unwrap().to_owned()
    }

    /// A file of the user's folder.
    pub fn user_file(&self, name: &str) -> PathBuf {
        self.sandbox.user_dir.join(name)
    }
}

impl Terminal {
    /// Waits until the screen is there: the line below the editor names the model, and the window, which is known when
    /// the agent was looked at.
    pub fn wait_ready(&self) {
        self.wait_for("the first screen", |screen| screen.row_of("m1").is_some() && screen.row_of("200k").is_some());
    }

    /// Runs a line in the shell of [`Builder::in_a_shell`]; `$PROGRAM` is the program.
    pub fn run(&self, line: &str) {
        self.send(format!("{line}\n"));
    }

    /// Waits until the shell asks for a line, on a screen that is its own.
    pub fn wait_prompt(&self) {
        self.wait_for("the shell's prompt", |screen| {
            let row = screen.cursor.and_then(|(row, _)| screen.rows.get(usize::from(row)));
            !screen.alternate && row.is_some_and(|row| row.ends_with(PROMPT))
        });
    }
}
