//! From the words of `troupe worker` to a node that works.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{sync::oneshot, time::sleep};
use uuid::Uuid;

use super::{
    actor::{Node, NodeArgs, NodeMsg, NodeShared},
    desk,
};
use crate::{
    actors::{
        front::complain,
        nats::{Hub, Limits, NatsAddress, Owner},
        spawn::spawn_root,
    },
    cli::{
        env::Environment,
        exit::Exit,
        logging,
        nats::{address::address, args::WorkerArgs, error::OnError},
        paths,
        run::fail,
        signals,
        start::async_runtime,
    },
    store::{
        lock::{Lock, lock},
        paths::create_private_dir,
        regular_file,
        session::check_session_id,
    },
};

/// The folder in the user's folder with those of nodes.
const NODES: &str = "workers";
/// Between two attempts to reach the server: the first one, and the longest.
const AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Works on runs until a signal comes.
pub fn run(environment: &Environment, args: WorkerArgs) -> Exit {
    work(environment, args).unwrap_or_else(|error| {
        fail(&error.to_string());
        error.exit()
    })
}

fn work(environment: &Environment, args: WorkerArgs) -> Result<Exit, OnError> {
    let system = |error: &dyn std::fmt::Display| OnError::System(error.to_string());
    logging::start(environment, None, None).map_err(|error| system(&error))?;
    let address = address(environment, &args.nats)?;
    let dir = args.dir.as_ref().map(|dir| paths::absolute(dir, &environment.cwd, environment.home.as_deref()));
    if let Some(dir) = dir.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(OnError::Usage(format!("--dir {}: there is no such folder", dir.display())));
    }
    let name = args.name.clone().unwrap_or_else(machine);
    check_session_id(&name).map_err(|_| OnError::Usage(format!("--name {name}: letters, digits, '-', '_' and '.'")))?;
    let folder = environment.user_dir.join(NODES).join(&name);
    create_private_dir(&folder).map_err(|error| system(&error))?;
    let _only = only_one(&folder, &name)?;
    desk::sweep(&folder);
    let runtime = async_runtime().map_err(|error| system(&error))?;
    let exit = runtime.block_on(async {
        let mut signals = signals::Watch::begin();
        let limits = Limits { lease: args.lease, replicas: args.replicas, ..Limits::default() };
        let hub = tokio::select! {
            hub = connect(&address, &name, limits) => hub?,
            signal = signals.next() => return Ok(signal),
        };
        let owner = Owner { name, node: Uuid::new_v4().simple().to_string() };
        let shared =
            NodeShared { hub, owner, pool: args.pool, dir, folder, address, user_dir: environment.user_dir.clone() };
        serve(shared, args.slots, signals).await
    });
    runtime.shutdown_background();
    exit
}

/// What the machine is called, as far as it can be a name.
fn machine() -> String {
    let uname = rustix::system::uname();
    let name: String = uname
        .nodename()
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .collect();
    match check_session_id(&name) {
        Ok(()) => name,
        Err(_) => "worker".to_owned(),
    }
}

/// Sees to it that no other node of this name works in the same folder.
fn only_one(folder: &Path, name: &str) -> Result<File, OnError> {
    let path: PathBuf = folder.join("lock");
    let failed = |error: &dyn std::fmt::Display| OnError::System(format!("cannot lock {}: {error}", path.display()));
    let mut options = OpenOptions::new();
    let file =
        regular_file::open(&path, options.write(true).create(true).mode(0o600)).map_err(|error| failed(&error))?;
    match lock(&file, &path) {
        Ok(Lock::Held | Lock::Unsupported(_)) => Ok(file),
        Err(crate::store::StoreError::Locked { .. }) => {
            Err(OnError::Usage(format!("a worker {name} of this user runs already; give this one another --name")))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Connects, however long it takes: a server that is away comes back.
async fn connect(address: &NatsAddress, name: &str, limits: Limits) -> Result<Hub, OnError> {
    let mut wait = AGAIN.0;
    let mut told = None;
    loop {
        match Hub::connect(address, &format!("troupe worker {name}"), limits).await {
            Ok(hub) => return Ok(hub),
            Err(error) if error.may_pass() => {
                let text = error.to_string();
                if told.as_ref() != Some(&text) {
                    complain(&format!("Warning: {text} Trying again."));
                }
                told = Some(text);
            }
            Err(error) => return Err(error.into()),
        }
        sleep(wait).await;
        wait = (wait * 2).min(AGAIN.1);
    }
}

/// Works until a signal comes: the first one hands all runs on, the second one at once.
async fn serve(shared: NodeShared, slots: usize, mut signals: signals::Watch) -> Result<Exit, OnError> {
    complain(&format!(
        "Worker {} takes runs of the pool {} on {}, {slots} at once.",
        shared.owner.name,
        shared.pool,
        shared.address.shown()
    ));
    let (done, mut ended) = oneshot::channel();
    let node = spawn_root("Node", Node, NodeArgs { shared, slots, done })
        .await
        .map_err(|exit| OnError::System(format!("the worker did not start: {}", exit.cause())))?;
    loop {
        tokio::select! {
            _ = &mut ended => return Ok(Exit::Done),
            _ = signals.next() => node.tell(NodeMsg::Stop),
        }
    }
}
