//! A server of its own for a test, and a way to it that loses what the test says.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
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

use super::{Hub, Limits, NatsAddress};
use crate::actors::testing::within;

/// A running server. It ends with the value.
pub(super) struct Server {
    pub(super) dir: TempDir,
    process: Child,
    /// Where it listens.
    pub(super) url: String,
}

/// The program; none where there is none, which is said.
fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = folders.map(|folder| folder.join("nats-server")).find(|file| file.is_file());
    if found.is_none() {
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

/// Waits until `look` sees something.
pub(super) async fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    within(what, async {
        loop {
            match look() {
                Some(seen) => return seen,
                None => sleep(Duration::from_millis(5)).await,
            }
        }
    })
    .await
}

impl Server {
    /// One with a store; none where there is no program for it.
    pub(super) async fn start() -> Option<Self> {
        Self::with("").await
    }

    /// The same with these lines of configuration.
    pub(super) async fn with(config: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let jetstream = format!("jetstream {{ store_dir: \"{}\" }}\n{config}\n", dir.path().join("store").display());
        Self::configured(dir, &jetstream).await
    }

    /// One with exactly this configuration.
    pub(super) async fn configured(dir: TempDir, config: &str) -> Option<Self> {
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
    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again at the same place, with what it had stored.
    pub(super) async fn start_again(&mut self) {
        let port = self.port().to_owned();
        self.process = start(self.dir.path(), &port);
        self.listens().await;
    }

    pub(super) fn port(&self) -> &str {
        self.url.rsplit(':').next().unwrap()
    }

    /// A connection.
    pub(super) async fn hub(&self) -> Hub {
        self.hub_with(Limits::default()).await
    }

    /// The same with other limits.
    pub(super) async fn hub_with(&self, limits: Limits) -> Hub {
        Hub::connect(&NatsAddress::parse(&self.url).unwrap(), "test", limits).await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A way to a server that can lose answers.
pub(super) struct Proxy {
    /// Where it listens.
    pub(super) url: String,
    lossy: Arc<Lossy>,
}

#[derive(Default)]
struct Lossy {
    /// The next answer is lost, and the connection with it.
    armed: AtomicBool,
    lost: AtomicBool,
    /// No connection is let through.
    closed: AtomicBool,
    cut: Notify,
}

impl Proxy {
    /// A way to `server`.
    pub(super) async fn to(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("nats://{}", listener.local_addr().unwrap());
        let target = format!("127.0.0.1:{}", server.port());
        let lossy = Arc::new(Lossy::default());
        let shared = lossy.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if !shared.closed.load(Ordering::SeqCst) {
                    tokio::spawn(carry(client, target.clone(), shared.clone()));
                }
            }
        });
        Self { url, lossy }
    }

    /// Loses the next answer to something that is published, and the connection with it.
    pub(super) fn lose_next_answer(&self) {
        self.lossy.lost.store(false, Ordering::SeqCst);
        self.lossy.armed.store(true, Ordering::SeqCst);
    }

    /// Whether one was lost since then.
    pub(super) fn has_lost(&self) -> bool {
        self.lossy.lost.load(Ordering::SeqCst)
    }

    /// Cuts all connections, and lets nobody through.
    pub(super) fn close(&self) {
        self.lossy.closed.store(true, Ordering::SeqCst);
        self.lossy.cut.notify_waiters();
    }

    /// Lets connections through again.
    pub(super) fn open(&self) {
        self.lossy.closed.store(false, Ordering::SeqCst);
    }

    pub(super) async fn hub_with(&self, limits: Limits) -> Hub {
        Hub::connect(&NatsAddress::parse(&self.url).unwrap(), "test", limits).await.unwrap()
    }
}

async fn carry(client: TcpStream, target: String, lossy: Arc<Lossy>) {
    let Ok(server) = TcpStream::connect(target).await else { return };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let up = async { drop(tokio::io::copy(&mut from_client, &mut to_server).await) };
    let down = async {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from_server.read(&mut buffer).await {
            // Only what acknowledges something stored: it names the stream and the sequence.
            let is_answer = memchr::memmem::find(&buffer[..count], b"\"seq\":").is_some();
            if is_answer && lossy.armed.swap(false, Ordering::SeqCst) {
                lossy.lost.store(true, Ordering::SeqCst);
                return;
            }
            if to_client.write_all(&buffer[..count]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
        () = lossy.cut.notified() => {}
    }
}

impl Server {
    /// How many messages a stream has.
    pub(super) async fn messages(&self, hub: &Hub, stream: &str) -> u64 {
        hub.0.jetstream.get_stream(stream).await.unwrap().cached_info().state.messages
    }

    /// How many snapshots there are.
    pub(super) async fn objects(&self, hub: &Hub) -> usize {
        use futures_util::StreamExt as _;
        let listed: Vec<_> = hub.snapshots().await.unwrap().list().await.unwrap().collect().await;
        listed.len()
    }
}
