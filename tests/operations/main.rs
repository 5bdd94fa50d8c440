//! Files, searches and processes behave alike wherever they are: one table of behaviours for all implementations.

#![allow(clippy::unwrap_used)]

mod conformance;
mod session;
mod ssh;
#[path = "../support/sshd.rs"]
mod sshd;
mod stage;
#[path = "../support/mod.rs"]
mod support;

use conformance::conforms;
use sshd::{Sshd, Tools};
use stage::{Disk, InMemory};
use troupe::tools::{
    Local,
    operations::ssh::{Ssh, SshOptions},
};

/// A connection to the server.
async fn connect(server: &Sshd, target: &str) -> Ssh {
    let options = SshOptions { arguments: server.arguments(), ..SshOptions::default() };
    Ssh::connect(target.parse().unwrap(), options).await.unwrap()
}

#[tokio::test]
async fn this_machine_conforms() {
    let disk = Disk::new();
    conforms(&Local, &disk).await;
}

#[tokio::test]
async fn memory_conforms() {
    let stage = InMemory::new();
    conforms(&stage.memory(), &stage).await;
}

#[tokio::test]
async fn another_machine_conforms() {
    let Some(server) = Sshd::start(Tools::All) else { return };
    let ssh = connect(&server, "box").await;
    conforms(&ssh, &Disk::new()).await;
    ssh.close().await;
}

#[tokio::test]
async fn another_machine_without_search_programs_conforms() {
    let Some(server) = Sshd::start(Tools::Plain) else { return };
    let ssh = connect(&server, "box").await;
    assert_eq!((&ssh.facts().rg, &ssh.facts().fd), (&None, &None));
    conforms(&ssh, &Disk::new()).await;
    ssh.close().await;
}

#[tokio::test]
async fn another_machine_with_busybox_alone_conforms() {
    let Some(server) = Sshd::start(Tools::Busybox) else { return };
    let ssh = connect(&server, "box").await;
    conforms(&ssh, &Disk::new()).await;
    ssh.close().await;
}
