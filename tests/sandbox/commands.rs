//! Shell commands that try to change what is outside, to read what is hidden, and to outlive their end.

use std::{
    fs,
    os::fd::AsRawFd as _,
    process::{Command, Stdio},
};

use troupe::tools::operations::{ProcessEvent, sandbox::SandboxMode};

use crate::bench::{Bench, Bubblewrap, ORIGINAL, SECRET};

const BOTH: [SandboxMode; 2] = [SandboxMode::Workspace, SandboxMode::ReadOnly];

/// Each tries to change something in the folder OUT.
const ATTEMPTS: &[&str] = &[
    "echo x > OUT/new",
    "echo x >> OUT/file",
    ": > OUT/file",
    "truncate -s 0 OUT/file",
    "rm -f OUT/file; rm -rf OUT/folder",
    "mkdir OUT/new; mkfifo OUT/pipe; ln -s x OUT/link",
    "echo x > WORK/../outside/new",
    "cd OUT && echo x > new",
    // Links.
    "d=${D:-$TMPDIR}; ln -s OUT $d/l && echo x > $d/l/new",
    "d=$TMPDIR; ln -s OUT/new $d/dangling && echo x > $d/dangling",
    "ln OUT/file $TMPDIR/hard && echo x >> $TMPDIR/hard",
    "ln OUT/file WORK/hard && echo x >> WORK/hard",
    "ln WORK/inside OUT/new",
    // Moving in and out.
    "mv OUT/file WORK/; mv OUT/folder $TMPDIR/",
    "echo x > $TMPDIR/x; mv $TMPDIR/x OUT/new; cp $TMPDIR/x OUT/new",
    "mv WORK OUT/new",
    // Other ways to the same place.
    "echo x > /proc/self/root/OUT/new",
    "echo x > /proc/1/root/OUT/new",
    "echo x > /proc/SELF/root/OUT/new; echo x > /proc/SELF/cwd/OUT/new",
    "for p in /proc/[0-9]*; do echo x > $p/root/OUT/new; done",
    // Mounts and namespaces.
    "mount --bind WORK OUT; mount -o remount,rw /; mount -o remount,rw OUT; umount -l OUT; echo x > OUT/new",
    "unshare -Urm sh -c 'mount -o remount,rw /; mount -o remount,rw,bind /; umount -l /; echo x > OUT/new'",
    "unshare -Ur sh -c 'echo x > OUT/new'",
    "nsenter -t 1 -m -p sh -c 'echo x > OUT/new'; nsenter -t SELF -m sh -c 'echo x > OUT/new'",
    "chroot /proc/1/root sh -c 'echo x > OUT/new'",
    // Powers.
    "cp /bin/bash $TMPDIR/b; chmod u+s $TMPDIR/b; $TMPDIR/b -p -c 'echo x > OUT/new'",
    "sudo -n sh -c 'echo x > OUT/new'; su -c 'echo x > OUT/new' </dev/null",
    "mknod $TMPDIR/disk b 254 0 && echo x > $TMPDIR/disk && echo x > OUT/new",
    "echo x > /proc/sys/kernel/domainname && echo x > OUT/new",
    "echo x > /dev/mem && echo x > OUT/new",
    "for t in /dev/pts/[0-9]*; do echo x > $t && touch OUT/new; done",
];

#[tokio::test]
async fn nothing_outside_can_be_changed() {
    for mode in BOTH {
        for bench in Bench::all(mode) {
            let output = bench.run_all(ATTEMPTS).await;
            assert!(output.matches("== ").count() >= ATTEMPTS.len(), "all were tried: {output}");
            bench.assert_untouched(&format!("{mode}: {output}"));
        }
    }
}

#[tokio::test]
async fn the_machine_cannot_be_set_up_by_root_either() {
    // What is there is written back, so that a fault of the wall does no harm.
    let write = "for f in panic core_pattern modprobe; do f=/proc/sys/kernel/$f; v=$(cat $f) && echo \"$v\" > $f && \
                 echo got-out; done";
    let nested = format!("unshare -Urmpf --mount-proc sh -c '{write}'");
    for bench in Bench::all(SandboxMode::Workspace) {
        let output = bench.run_all(&[write, &nested]).await;
        assert!(!output.lines().any(|line| line == "got-out"), "{:?}: {output}", bench.wall);
    }
}

#[tokio::test]
async fn a_process_that_left_its_group_is_confined_too() {
    for bench in Bench::all(SandboxMode::Workspace) {
        bench
            .run("setsid sh -c 'echo x > OUT/new; echo x >> OUT/file' & wait; (setsid sh -c 'sleep 0.01; > OUT/new' &)")
            .await;
        bench.assert_untouched("setsid");
    }
}

#[tokio::test]
async fn a_file_that_this_process_left_open_is_not_inherited() {
    for bench in Bench::all(SandboxMode::Workspace) {
        let file = fs::OpenOptions::new().append(true).open(bench.outside.join("file")).unwrap();
        // A copy that exec does not close.
        let copy = rustix::io::dup(&file).unwrap();
        let (code, _) = bench.run(&format!("echo x >&{}", copy.as_raw_fd())).await;
        assert_ne!(code, 0);
        bench.assert_untouched("inherited");
    }
}

#[tokio::test]
async fn work_inside_succeeds() {
    let table = [
        ("echo x > new && cat new && mkdir -p a/b && mv new a/b/c && rm -r a", 0),
        ("cp inside copy && ln copy hard && ln -s copy soft && cat soft && rm copy hard soft", 0),
        ("mkdir one two && echo x > one/f && mv one/f two/f && mv two/f one/g && rm -r one two", 0),
        ("cat <(echo a) /dev/null; head -c 1 /dev/urandom > /dev/null; cat <<< here | cat", 0),
        ("echo 'exit 3' > s.sh; chmod +x s.sh; bash ./s.sh; code=$?; rm s.sh; exit $code", 3),
        ("cat OUT/file HOME/notes /etc/passwd > /dev/null", 0),
        ("kill -9 $$", 137),
        ("exit 7", 7),
        ("test $TMPDIR = $TMP && echo x > $(mktemp)", 0),
        ("sleep 30 & kill $!; wait $!; test $? = 143", 0),
    ];
    for bench in Bench::all(SandboxMode::Workspace) {
        for (script, wanted) in table {
            let (code, output) = bench.run(script).await;
            assert_eq!(code, wanted, "{:?}: {script}\n{output}", bench.wall);
        }
    }
}

#[tokio::test]
async fn read_only_means_that_only_the_temporary_folder_is_written() {
    for bench in Bench::all(SandboxMode::ReadOnly) {
        let (code, output) = bench.run("cat inside && echo x > $TMPDIR/x && cat $TMPDIR/x && cat <<< here").await;
        assert_eq!(code, 0, "{output}");
        for script in ["echo x > WORK/new", "rm WORK/inside", "echo x >> inside", "mv inside $TMPDIR/"] {
            let (code, output) = bench.run(script).await;
            assert_ne!(code, 0, "{script}");
            assert!(output.contains("sandbox (mode read-only)"), "the note: {output}");
            assert!(bench.work.join("inside").exists() && !bench.work.join("new").exists());
        }
    }
}

#[tokio::test]
async fn secrets_cannot_be_read() {
    let attempts = [
        "cat HOME/.ssh/id",
        "cat HOME/.netrc",
        "ln -s HOME/.ssh $TMPDIR/l; cat $TMPDIR/l/id",
        "cd HOME/.ssh && cat id",
        "cat /proc/self/root/HOME/.ssh/id /proc/1/root/HOME/.ssh/id /proc/SELF/root/HOME/.ssh/id",
        "cat /proc/SELF/cwd/../../../..HOME/.ssh/id",
        "cp -r HOME $TMPDIR/h; cat $TMPDIR/h/.ssh/id",
        "mv HOME/.ssh $TMPDIR/s; cat $TMPDIR/s/id",
        "umount HOME/.ssh; umount -l HOME/.ssh; cat HOME/.ssh/id",
        "unshare -Urm sh -c 'umount -l HOME/.ssh; umount HOME/.netrc; cat HOME/.ssh/id HOME/.netrc'",
        "grep -r the- HOME",
        "tar c HOME",
    ];
    for mode in BOTH {
        for bench in Bench::all(mode) {
            let (code, output) = bench.run("cat HOME/notes").await;
            assert_eq!(code, 0, "what is beside them can be read: {output}");
            let output = bench.run_all(&attempts).await;
            assert!(output.matches("== ").count() >= attempts.len(), "all were tried: {output}");
            assert!(!output.contains(SECRET), "{:?} {mode}: {output}", bench.wall);
        }
    }
}

#[tokio::test]
async fn what_runs_later_outside_is_protected_in_the_workspace() {
    let attempts = [
        "echo x > .git/hooks/post-checkout",
        "echo x >> .git/config",
        "echo x > t; mv -f t .git/config; cp t .git/config",
        "rm -rf .git/hooks; mkdir -p .git/hooks && echo x > .git/hooks/post-checkout",
        "mv .git/hooks .git/old; mkdir .git/hooks; echo x > .git/hooks/post-checkout",
        "mv .git old; mkdir -p .git/hooks; echo x > .git/hooks/post-checkout; echo x > .git/config",
        "echo x > .troupe/settings.json",
        "rmdir .troupe; mv .troupe gone; mkdir .troupe; echo x > .troupe/settings.json",
        "ln -s $TMPDIR .pi && echo x > $TMPDIR/settings.json",
        "mkdir .pi && echo x > .pi/settings.json",
        "echo ../evil > .git/commondir",
    ];
    for bench in Bench::all(SandboxMode::Workspace) {
        if bench.wall != Bubblewrap {
            let told = bench.sandbox.gaps().iter().any(|gap| gap.contains("hooks"));
            assert!(told, "a wall that cannot do it says so");
            continue;
        }
        assert_eq!(bench.sandbox.gaps(), [""; 0]);
        for attempt in attempts {
            let (_, output) = bench.run(attempt).await;
            let context = format!("{attempt}\n{output}");
            let told = output.contains("was moved to") || output.contains("[The command ran in a sandbox");
            assert!(told, "{context}");
            assert_eq!(fs::read_to_string(bench.work.join(".git/config")).unwrap(), ORIGINAL, "{context}");
            for missing in [".git/hooks/post-checkout", ".troupe/settings.json", ".pi", ".git/commondir"] {
                let path = bench.work.join(missing);
                assert!(fs::symlink_metadata(&path).is_err(), "{}: {context}", path.display());
            }
        }
        let (code, output) = bench.run("echo x > .git/index.lock && mv .git/index.lock .git/index").await;
        assert_eq!(code, 0, "the rest of the repository can be written: {output}");
    }
}

#[tokio::test]
async fn other_processes_are_out_of_reach() {
    for bench in Bench::all(SandboxMode::Workspace) {
        let mut other = Command::new("sleep").arg("600").env("OTHER", SECRET).stdin(Stdio::null()).spawn().unwrap();
        let id = other.id();
        let script = format!(
            "kill -9 {id}; kill -0 {id} && echo alive; cat /proc/{id}/environ; cat /proc/{id}/mem; ls -l /proc/{id}/fd; \
             strace -p {id} -e trace=none & sleep 0.05; kill $!"
        );
        let (_, output) = bench.run(&script).await;
        let alive = other.try_wait().unwrap().is_none();
        other.kill().unwrap();
        other.wait().unwrap();
        if bench.sandbox.gaps().iter().any(|gap| gap.contains("signals")) {
            eprintln!("skipped for {:?}: this kernel cannot keep signals in", bench.wall);
        } else {
            assert!(alive, "{:?}: {output}", bench.wall);
            assert!(!output.contains("alive"), "{output}");
        }
        assert!(!output.contains(SECRET), "{:?}: {output}", bench.wall);
    }
}

#[tokio::test]
async fn killing_a_command_kills_all_that_it_started_fc_042() {
    for bench in Bench::all(SandboxMode::Workspace) {
        let mut process = bench.start("sleep 600 & setsid sleep 600 & (setsid sleep 600 &) ; echo ready; wait").await;
        let mut output = Vec::new();
        while !output.starts_with(b"ready") {
            assert_eq!(process.next(&mut output).await.unwrap(), ProcessEvent::Output);
        }
        process.kill();
        let mut ends = 0;
        // The pipe is closed when the last of them is dead.
        while ends < 2 {
            match process.next(&mut output).await.unwrap() {
                ProcessEvent::Output => {}
                ProcessEvent::Exited { code } => {
                    assert_eq!(code, 137);
                    ends += 1;
                }
                ProcessEvent::Closed => ends += 1,
            }
        }
    }
}
