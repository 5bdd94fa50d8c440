//! A NATS server on this machine, with a store that goes with it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use crate::support::*;

/// A running server.
pub struct Nats {
    store: TempDir,
    process: Child,
    /// Where it is.
    pub url: String,
}

/// The program; none where there is none, which is said.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = folders.map(|folder| folder.join("nats-server")).find(|file| file.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: there is no nats-server");
    }
    found
}

fn start(store: &Path, port: &str) -> Child {
    let ports = store.join("ports");
    let _ = fs::remove_dir_all(&ports);
    fs::create_dir(&ports).unwrap();
    Command::new(program().unwrap())
        .args(["-js", "-a", "127.0.0.1", "-p", port, "-sd"])
        .arg(store)
        .arg("--ports_file_dir")
        .arg(&ports)
        .args(["-l"])
        .arg(store.join("log"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The address that the server wrote down, when it listens.
async fn url(store: &Path) -> String {
    until("address of the server", || {
        let file = fs::read_dir(store.join("ports")).ok()?.next()?.ok()?.path();
        let ports: serde_json::Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        ports["nats"][0].as_str().map(str::to_owned)
    })
    .await
}

impl Nats {
    /// Starts one; none where there is no program for it.
    pub async fn start() -> Option<Self> {
        program()?;
        let store = tempfile::tempdir().unwrap();
        let process = start(store.path(), "-1");
        let url = url(store.path()).await;
        Some(Self { store, process, url })
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again at the same place, with what it had stored.
    pub async fn start_again(&mut self) {
        let port = self.url.rsplit(':').next().unwrap();
        self.process = start(self.store.path(), port);
        within("server", url(self.store.path())).await;
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
