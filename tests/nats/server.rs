//! A NATS server on this machine, with a store that goes with it, and a way to it that loses and holds what it says.
//! Tests of the crate and those of its binary share this file: whoever has it as a module gives it `until`.

// Each of them uses its own part.
#![allow(dead_code, clippy::unwrap_used)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
    time::sleep,
};

use super::until;

/// With this word in it, a test without a server fails.
const REQUIRED: (&str, &str) = ("TROUPE_TEST_NATS", "required");

/// A running server. It ends with the value.
pub struct Nats {
    /// Its folder.
    pub dir: TempDir,
    process: Child,
    /// Where it listens.
    pub url: String,
}

/// The program; none where there is none, which is said.
fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = folders.map(|folder| folder.join("nats-server")).find(|file| file.is_file());
    if found.is_none() {
        let (name, word) = REQUIRED;
        assert_ne!(env::var(name).as_deref(), Ok(word), "there is no nats-server, and {name} says that there is one");
        eprintln!("SKIPPED: there is no nats-server");
    }
    found
}

fn start(dir: &Path, port: &str) -> Child {
    let ports = dir.join("ports");
    let _ = fs::remove_dir_all(&ports);
    fs::create_dir(&ports).unwrap();
    let mut command = Command::new(program().unwrap());
    command.args(["-a", "127.0.0.1", "-p", port, "--ports_file_dir"]).arg(&ports).arg("-l").arg(dir.join("log"));
    command.arg("-c").arg(dir.join("config"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

impl Nats {
    /// One with a store; none where there is no program for it.
    pub async fn start() -> Option<Self> {
        Self::with("").await
    }

    /// The same with these lines of configuration.
    pub async fn with(config: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let jetstream = format!("jetstream {{ store_dir: \"{}\" }}\n{config}\n", dir.path().join("store").display());
        Self::configured(dir, &jetstream).await
    }

    /// One with exactly this configuration.
    pub async fn configured(dir: TempDir, config: &str) -> Option<Self> {
        program()?;
        fs::write(dir.path().join("config"), config).unwrap();
        let process = start(dir.path(), "-1");
        let mut server = Self { dir, process, url: String::new() };
        server.url = server.listens().await;
        Some(server)
    }

    async fn listens(&self) -> String {
        until("address of the server", || {
            let file = fs::read_dir(self.dir.path().join("ports")).ok()?.next()?.ok()?.path();
            let ports: Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
            ports["nats"][0].as_str().map(str::to_owned)
        })
        .await
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again at the same place, with what it had stored.
    pub async fn start_again(&mut self) {
        let port = self.port().to_owned();
        self.process = start(self.dir.path(), &port);
        self.listens().await;
    }

    /// What it had stored is lost, while it does not run.
    pub fn lose_store(&self) {
        fs::remove_dir_all(self.dir.path().join("store")).unwrap();
    }

    /// Its port.
    pub fn port(&self) -> &str {
        self.url.rsplit(':').next().unwrap()
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What happens to an answer that says that something was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is lost, and the connection with it.
    Lost,
    /// The same, and nobody is let through any more.
    LastOfAll,
    /// It waits, and with it all that comes behind it on its connection.
    Held,
}

/// What is to happen to the next answer.
struct Plan {
    fate: Fate,
    /// It is of a stream whose name begins like this.
    stream: String,
    /// Once this was sent to the server; empty when it was.
    sent: String,
}

/// A way to a server that can lose answers.
pub struct Proxy {
    /// Where it listens.
    pub url: String,
    way: Arc<Way>,
}

#[derive(Default)]
struct Way {
    plan: Mutex<Option<Plan>>,
    /// It has happened.
    happened: AtomicBool,
    held: AtomicBool,
    /// What was held has come through.
    passed: AtomicBool,
    /// No connection is let through.
    closed: AtomicBool,
    cut: Notify,
}

impl Proxy {
    /// A way to `server`.
    pub async fn to(server: &Nats) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("nats://{}", listener.local_addr().unwrap());
        let target = format!("127.0.0.1:{}", server.port());
        let way = Arc::new(Way::default());
        let shared = way.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if !shared.closed.load(Ordering::SeqCst) {
                    tokio::spawn(carry(client, target.clone(), shared.clone()));
                }
            }
        });
        Self { url, way }
    }

    fn plan(&self, fate: Fate, stream: &str, sent: &str) {
        self.way.happened.store(false, Ordering::SeqCst);
        *self.way.plan.lock().unwrap() = Some(Plan { fate, stream: stream.to_owned(), sent: sent.to_owned() });
    }

    /// Loses the next answer to something that is published, and the connection with it.
    pub fn lose_next_answer(&self) {
        self.plan(Fate::Lost, "", "");
    }

    /// The same, and lets nobody through then.
    pub fn close_at_next_answer(&self) {
        self.plan(Fate::LastOfAll, "", "");
    }

    /// Holds the next answer of a stream, once these words were sent to the server. [`Self::release`] lets it through.
    pub fn hold_answer(&self, stream: &str, sent: &str) {
        self.way.held.store(true, Ordering::SeqCst);
        self.plan(Fate::Held, stream, sent);
    }

    /// Lets through what was held; returns when it is on its way.
    pub async fn release(&self) {
        self.way.held.store(false, Ordering::SeqCst);
        until("answer that was held", || self.way.passed.load(Ordering::SeqCst).then_some(())).await;
    }

    /// Whether what was planned last has happened.
    pub fn has_happened(&self) -> bool {
        self.way.happened.load(Ordering::SeqCst)
    }

    /// Cuts all connections, and lets nobody through.
    pub fn close(&self) {
        self.way.close();
    }

    /// Lets connections through again.
    pub fn open(&self) {
        self.way.closed.store(false, Ordering::SeqCst);
    }
}

impl Way {
    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.cut.notify_waiters();
    }

    /// Notes what is sent to the server.
    fn note(&self, sent: &[u8]) {
        if let Some(plan) = self.plan.lock().unwrap().as_mut().filter(|plan| has(sent, &plan.sent)) {
            plan.sent.clear();
        }
    }

    /// What happens to what the server says.
    fn fate_of(&self, said: &[u8]) -> Option<Fate> {
        let mut plan = self.plan.lock().unwrap();
        // Only what acknowledges something stored: it names the stream and the sequence.
        let meant = plan.take_if(|plan| {
            plan.sent.is_empty() && has(said, "\"seq\":") && has(said, &format!("\"stream\":\"{}", plan.stream))
        })?;
        self.happened.store(true, Ordering::SeqCst);
        Some(meant.fate)
    }
}

fn has(bytes: &[u8], text: &str) -> bool {
    !text.is_empty() && bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

async fn carry(client: TcpStream, target: String, way: Arc<Way>) {
    let Ok(server) = TcpStream::connect(target).await else { return };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let up = async {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from_client.read(&mut buffer).await {
            // What is looked for is short, and sent at once.
            way.note(&buffer[..count]);
            if to_server.write_all(&buffer[..count]).await.is_err() {
                return;
            }
        }
    };
    let down = async {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from_server.read(&mut buffer).await {
            let fate = way.fate_of(&buffer[..count]);
            match fate {
                Some(Fate::Lost) => return,
                Some(Fate::LastOfAll) => return way.close(),
                Some(Fate::Held) => {
                    while way.held.load(Ordering::SeqCst) {
                        sleep(Duration::from_millis(5)).await;
                    }
                }
                None => {}
            }
            if to_client.write_all(&buffer[..count]).await.is_err() {
                return;
            }
            if fate == Some(Fate::Held) {
                way.passed.store(true, Ordering::SeqCst);
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
        () = way.cut.notified() => {}
    }
}
