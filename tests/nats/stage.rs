//! What the tests of runs on any machine share: a server, machines with workers, clients.

use std::{fs, path::PathBuf, process::Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::Child,
    task::JoinHandle,
};

use crate::{server::Nats, support::*};

/// The id of the run of a test.
pub const ID: &str = "r1";

/// A server, a model, and the machine of whoever gives runs to the server.
pub struct Stage {
    pub nats: Nats,
    pub sandbox: Sandbox,
}

/// A worker on a machine of its own.
pub struct Machine {
    pub user_dir: PathBuf,
    pub process: Child,
    said: JoinHandle<String>,
}

impl Stage {
    /// None where there is no server to be had.
    pub async fn new(script: impl FnMut(&Request) -> Reply + Send + 'static) -> Option<Self> {
        Self::with("", script).await
    }

    /// The same with these lines of configuration of the server.
    pub async fn with(config: &str, script: impl FnMut(&Request) -> Reply + Send + 'static) -> Option<Self> {
        Some(Self { nats: Nats::with(config).await?, sandbox: Sandbox::new(script).await })
    }

    /// A client of the server itself.
    pub async fn jetstream(&self) -> async_nats::jetstream::Context {
        async_nats::jetstream::new(async_nats::connect(&self.nats.url).await.unwrap())
    }

    /// A worker whose leases last two seconds.
    pub async fn worker(&self, name: &str) -> Machine {
        self.worker_with(name, &["--lease", "2s"]).await
    }

    /// A worker with these flags, when it takes runs.
    pub async fn worker_with(&self, name: &str, more: &[&str]) -> Machine {
        self.worker_at(&self.nats.url, name, more).await
    }

    /// The same with another way to the server.
    pub async fn worker_at(&self, url: &str, name: &str, more: &[&str]) -> Machine {
        let user_dir = self.sandbox.user_dir.with_file_name(format!("machine-{name}"));
        fs::create_dir_all(&user_dir).unwrap();
        fs::copy(self.sandbox.user_dir.join("models.json"), user_dir.join("models.json")).unwrap();
        let words = [&["worker", "--on", url, "--name", name], more].concat();
        let mut command = self.sandbox.command(&words);
        command.env("TROUPE_DIR", &user_dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let first = within("first words of a worker", lines.next_line()).await.unwrap().unwrap();
        assert!(first.contains("takes runs of the pool default"), "{first}");
        eprintln!("{first}");
        let said = tokio::spawn(async move {
            let mut said = first + "\n";
            while let Ok(Some(line)) = lines.next_line().await {
                // Seen when a test fails.
                eprintln!("{line}");
                said.push_str(&line);
                said.push('\n');
            }
            said
        });
        Machine { user_dir, process, said }
    }

    /// `troupe run --on` for the run of the test.
    pub fn words<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        [&["run", "--model", "mock/m1", "--on", &self.nats.url, "--run-id", ID], more].concat()
    }

    /// Starts a client.
    pub fn start(&self, more: &[&str]) -> Child {
        let mut command = self.sandbox.command(&self.words(more));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A client to its end.
    pub async fn run(&self, more: &[&str]) -> Finished {
        end(self.start(more)).await
    }

    /// `troupe runs … --on`.
    pub async fn runs(&self, words: &[&str]) -> Finished {
        self.sandbox.run(&[&["runs"], words, &["--on", &self.nats.url]].concat()).await
    }

    /// Everything about the run of the test.
    pub async fn shown(&self) -> Value {
        let shown = self.runs(&["show", ID, "--json"]).await;
        serde_json::from_str(&shown.stdout).unwrap_or_else(|error| panic!("{error}: {}", shown.stderr))
    }

    /// The process whose number a command wrote into a file of the project.
    pub async fn pid_in(&self, name: &str) -> Pid {
        until("process", || {
            let text = fs::read_to_string(self.sandbox.project.join(name)).ok()?;
            Pid::from_raw(text.strip_suffix('\n')?.parse().ok()?)
        })
        .await
    }
}

impl Machine {
    /// The process and all below it.
    pub fn tree(&self) -> Vec<Pid> {
        let mut tree = vec![i32::try_from(self.process.id().unwrap()).unwrap()];
        let all = parents();
        let mut at = 0;
        while at < tree.len() {
            let parent = tree[at];
            tree.extend(all.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
            at += 1;
        }
        tree.into_iter().map(|pid| Pid::from_raw(pid).unwrap()).collect()
    }

    /// Sends a signal to the worker alone.
    pub fn signal(&self, signal: Signal) {
        kill_process(pid_of(&self.process), signal).unwrap();
    }

    /// The machine stands still: all of its processes.
    pub fn pause(&self) -> Vec<Pid> {
        loop {
            let tree = self.tree();
            for pid in &tree {
                let _ = kill_process(*pid, Signal::STOP);
            }
            // Nobody has started another one meanwhile.
            if self.tree().len() == tree.len() {
                return tree;
            }
        }
    }

    /// Power is gone.
    pub async fn kill(mut self) {
        for pid in self.pause() {
            let _ = kill_process(pid, Signal::KILL);
        }
        within("end of a worker", self.process.wait()).await.unwrap();
    }

    /// The worker ends by itself: its exit code, and what it said.
    pub async fn end(mut self) -> (Option<i32>, String) {
        let status = within("end of a worker", self.process.wait()).await.unwrap();
        (status.code(), within("last words", self.said).await.unwrap())
    }

    /// Ends the worker in order: what it said.
    pub async fn stop(self) -> String {
        self.signal(Signal::TERM);
        self.end().await.1
    }
}

/// All processes with their parents.
fn parents() -> Vec<(i32, i32)> {
    let stat = |pid: i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Some((pid, parent))
    };
    let names = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
    names.filter_map(|name| stat(name.to_str()?.parse().ok()?)).collect()
}

/// What the model was told of its calls, by the last request: each call has one result.
pub fn results(sandbox: &Sandbox) -> Vec<String> {
    let last = sandbox.server.last();
    last.assert_strict();
    last.texts("tool")
}
