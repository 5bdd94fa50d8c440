//! Commands that try to talk to others: by TCP, UDP, and sockets of this machine.

use std::{
    io,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram, UnixListener},
    },
    process::Command,
};

use troupe::tools::operations::sandbox::{Grants, SandboxMode};

use crate::bench::{Bench, Bubblewrap, Landlock};

/// Whether somebody came.
fn came<T>(result: io::Result<T>) -> bool {
    match result {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
            false
        }
    }
}

fn with_network(network: bool, unix_sockets: bool) -> Vec<Bench> {
    let grants = Grants { network, unix_sockets, ..Grants::default() };
    let bench = |wall| Bench::new(wall, SandboxMode::Workspace, |_| grants.clone());
    [Bubblewrap, Landlock].into_iter().filter_map(bench).collect()
}

#[tokio::test]
async fn the_network_is_closed_unless_it_is_allowed() {
    for network in [false, true] {
        for bench in with_network(network, false) {
            let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
            let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
            tcp.set_nonblocking(true).unwrap();
            udp.set_nonblocking(true).unwrap();
            let (to_tcp, to_udp) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
            let script = format!(
                "exec 3<>/dev/tcp/127.0.0.1/{to_tcp} && echo x >&3; echo x > /dev/udp/127.0.0.1/{to_udp}; exit 1"
            );
            let (_, output) = bench.run(&script).await;
            let context = format!("{:?} network {network}: {output}", bench.wall);
            assert_eq!(came(tcp.accept()), network, "{context}");
            assert_eq!(came(udp.recv(&mut [0; 8])), network, "{context}");
            assert_eq!(output.contains("There is no network"), !network, "{context}");
        }
    }
}

/// Perl is on every Debian, and knows sockets.
fn perl() -> bool {
    let there = Command::new("perl").args(["-MSocket", "-e", "1"]).status().is_ok_and(|status| status.success());
    if !there {
        eprintln!("skipped: perl is not installed");
    }
    there
}

#[tokio::test]
async fn sockets_of_this_machine_are_closed_unless_they_are_allowed() {
    if !perl() {
        return;
    }
    for (network, unix) in [(false, false), (true, false), (true, true)] {
        for bench in with_network(network, unix) {
            let path = bench.work.join("socket");
            let named = UnixListener::bind(&path).unwrap();
            let datagrams = UnixDatagram::bind(bench.work.join("datagrams")).unwrap();
            let name = format!("troupe-test-{}", uuid::Uuid::new_v4());
            let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
            named.set_nonblocking(true).unwrap();
            hidden.set_nonblocking(true).unwrap();
            datagrams.set_nonblocking(true).unwrap();
            let script = format!(
                r#"perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un("WORK/socket"));'
                perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un("\0{name}"));'
                perl -MSocket -e 'socketpair(A, B, PF_UNIX, SOCK_DGRAM, 0); send(A, "x", 0, sockaddr_un("WORK/datagrams"));'
                perl -MSocket -e 'socketpair(A, B, PF_UNIX, SOCK_STREAM, 0) or die "no pairs"'"#
            );
            let (code, output) = bench.run(&script).await;
            let context = format!("{:?} network {network} unix {unix}: {output}", bench.wall);
            assert_eq!(code, 0, "pairs are made: {context}");
            assert_eq!(came(named.accept()), unix, "{context}");
            assert_eq!(came(hidden.accept()), unix && network, "{context}");
            assert_eq!(came(datagrams.recv(&mut [0; 8])), unix, "{context}");
        }
    }
}

#[tokio::test]
async fn io_uring_is_no_way_around() {
    if !perl() {
        return;
    }
    for bench in with_network(false, false) {
        // The number of io_uring_setup is the same everywhere.
        let (_, output) = bench.run(r#"perl -e '$p = "\0" x 120; $r = syscall(425, 1, $p); print "$r $!\n"'"#).await;
        assert!(output.starts_with("-1 Function not implemented"), "{:?}: {output}", bench.wall);
    }
}
