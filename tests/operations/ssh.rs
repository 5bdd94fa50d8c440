//! What only another machine does: it goes away, it does not let us in, it is shared with others.

use std::{fs, io, path::Path, time::Duration};

use tokio::time::timeout;
use troupe::tools::operations::{
    Input, Operations, ProcessEvent, ShellCommand,
    ssh::{Ssh, SshOptions},
};

use crate::{
    conformance::{command, follow},
    connect,
    sshd::{Sshd, Tools},
};

const DEADLINE: Duration = Duration::from_secs(30);

async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + DEADLINE;
    while !condition() {
        assert!(std::time::Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether some process has this argument.
fn runs(argument: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes()))
}

#[tokio::test]
async fn the_session_begins_in_the_folder_that_is_named_or_at_home() {
    let Some(server) = Sshd::start(Tools::All) else { return };
    fs::create_dir_all(server.home().join("src/it's")).unwrap();
    for (target, folder) in [("box", ""), ("box:src", "src"), ("box:~/src/it's", "src/it's")] {
        let ssh = connect(&server, target).await;
        assert_eq!(ssh.facts().cwd, server.home().join(folder), "{target}");
        assert_eq!(ssh.facts().home.canonicalize().unwrap(), server.home());
        ssh.close().await;
    }
    let options = SshOptions { arguments: server.arguments(), ..SshOptions::default() };
    let error = Ssh::connect("box:none".parse().unwrap(), options).await.err().unwrap().to_string();
    assert!(error.contains("folder none cannot be used: No such file"), "{error}");
}

#[tokio::test]
async fn who_does_not_get_in_hears_why_and_what_to_do() {
    let Some(server) = Sshd::start(Tools::All) else { return };
    let options = || SshOptions { arguments: server.arguments(), ..SshOptions::default() };
    server.forget_host_key();
    let error = Ssh::connect("box".parse().unwrap(), options()).await.err().unwrap().to_string();
    assert!(error.contains("Host key verification failed. Connect once by hand"), "{error}");
    let lax = SshOptions {
        arguments: [
            vec!["-o".into(), "StrictHostKeyChecking=no".into(), "-o".into(), "IdentityFile=none".into()],
            server.arguments(),
        ]
        .concat(),
        ..options()
    };
    fs::write(server.path("id"), "").unwrap();
    let error = Ssh::connect("box".parse().unwrap(), lax).await.err().unwrap().to_string();
    assert!(error.contains("Permission denied") && error.contains("ssh-add"), "{error}");
    let none = SshOptions { program: "/nowhere/ssh".into(), ..options() };
    let error = Ssh::connect("box".parse().unwrap(), none).await.err().unwrap().to_string();
    assert!(error.contains("/nowhere/ssh") && error.contains("Install"), "{error}");
}

#[tokio::test]
async fn keys_of_ours_stay_here() {
    let Some(server) = Sshd::start(Tools::All) else { return };
    let ssh = connect(&server, "box").await;
    let mut process = ssh.spawn(command("env; echo $$", Path::new("/"))).await.unwrap();
    let (output, _) = follow(process.as_mut()).await.unwrap();
    assert!(output.contains("REMOTE_ONLY=1"), "{output}");
    assert!(!output.contains("CARGO"), "{output}");
    ssh.close().await;
}

#[tokio::test]
async fn a_killed_command_takes_all_that_it_started_along() {
    let Some(server) = Sshd::start(Tools::All) else { return };
    let ssh = connect(&server, "box").await;
    let script = "sleep 4444.1 & setsid sleep 4444.2 & (trap '' TERM; sleep 4444.3) & echo ready; wait";
    for input in [Input::Empty, Input::Piped] {
        let mut process = ssh.spawn(ShellCommand { input, ..command(script, Path::new("/")) }).await.unwrap();
        let mut output = Vec::new();
        while !output.ends_with(b"ready\n") {
            process.next(&mut output).await.unwrap();
        }
        let sleeps = ["4444.1", "4444.2", "4444.3"];
        eventually("all run", || sleeps.iter().all(|sleep| runs(sleep))).await;
        process.kill();
        eventually("all are gone", || !sleeps.iter().any(|sleep| runs(sleep))).await;
    }
    let dropped = ssh.spawn(command("sleep 4445", Path::new("/"))).await.unwrap();
    eventually("it runs", || runs("4445")).await;
    drop(dropped);
    eventually("it is gone", || !runs("4445")).await;
    ssh.close().await;
}

#[tokio::test]
async fn what_a_command_leaves_in_the_background_lives_on() {
    let Some(server) = Sshd::start(Tools::All) else { return };
    let ssh = connect(&server, "box").await;
    let mut process = ssh.spawn(command("sleep 4446 & exit 3", Path::new("/"))).await.unwrap();
    let mut output = Vec::new();
    assert_eq!(process.next(&mut output).await.unwrap(), ProcessEvent::Exited { code: 3 });
    process.leave();
    drop(process);
    let mut detached = ssh.spawn(command("sleep 4447 >/dev/null 2>&1 &", Path::new("/"))).await.unwrap();
    assert_eq!(follow(detached.as_mut()).await.unwrap(), (String::new(), Some(0)));
    drop(detached);
    // Another command, so that the connection has heard of the ends.
    let mut process = ssh.spawn(command("true", Path::new("/"))).await.unwrap();
    follow(process.as_mut()).await.unwrap();
    assert!(runs("4446") && runs("4447"));
    let mut process = ssh.spawn(command("kill $(pgrep -f 'sleep 444[67]')", Path::new("/"))).await.unwrap();
    follow(process.as_mut()).await.unwrap();
    ssh.close().await;
}

#[tokio::test]
async fn a_command_can_be_given_input() {
    let Some(server) = Sshd::start(Tools::All) else { return };
    let ssh = connect(&server, "box").await;
    let piped = ShellCommand { input: Input::Piped, ..command("read a; echo got $a; cat; echo end", Path::new("/")) };
    let mut process = ssh.spawn(piped).await.unwrap();
    let mut input = process.take_input().unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut input, b"one\ntwo\0\n").await.unwrap();
    drop(input);
    assert_eq!(follow(process.as_mut()).await.unwrap(), ("got one\ntwo\0\nend\n".into(), Some(0)));
    let mut empty = ssh.spawn(command("cat; echo end", Path::new("/"))).await.unwrap();
    assert!(empty.take_input().is_none());
    assert_eq!(follow(empty.as_mut()).await.unwrap(), ("end\n".into(), Some(0)));
    ssh.close().await;
}

#[tokio::test]
async fn a_lost_connection_is_no_exit_code_and_the_next_call_connects_again() {
    let Some(mut server) = Sshd::start(Tools::All) else { return };
    let ssh = connect(&server, "box").await;
    // 255 is what ssh says when it fails itself.
    let mut process = ssh.spawn(command("echo x; exit 255", Path::new("/"))).await.unwrap();
    assert_eq!(follow(process.as_mut()).await.unwrap(), ("x\n".into(), Some(255)));
    let mut process = ssh.spawn(command("sleep 4448", Path::new("/"))).await.unwrap();
    let writing = ssh.stat(Path::new("/")).await;
    assert!(writing.is_ok());
    ssh.close().await;
    let error = timeout(DEADLINE, follow(process.as_mut())).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionAborted);
    assert!(error.to_string().starts_with("The connection to box was lost"), "{error}");
    assert!(error.to_string().ends_with("check before repeating it."), "{error}");
    eventually("the command is killed there", || !runs("4448")).await;
    assert!(ssh.stat(Path::new("/")).await.is_ok(), "connected again");
    ssh.close().await;
    server.kill();
    let error = ssh.stat(Path::new("/")).await.unwrap_err();
    assert!(error.to_string().contains("Connection refused"), "{error}");
}

#[tokio::test]
async fn more_sessions_than_a_connection_allows_share_several() {
    let Some(server) = Sshd::start(Tools::All) else { return };
    let ssh = connect(&server, "box").await;
    let mut running = Vec::new();
    for _ in 0..20 {
        running.push(ssh.spawn(command("read x", Path::new("/"))).await.unwrap());
    }
    assert!(ssh.stat(Path::new("/")).await.is_ok());
    for mut process in running {
        assert_eq!(follow(process.as_mut()).await.unwrap().1, Some(1));
    }
    ssh.close().await;
}
