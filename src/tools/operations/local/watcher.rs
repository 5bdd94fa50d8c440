//! A small process that ends our commands when this process dies without doing it: by `kill -9`, or for want of memory.
//!
//! It reads the marks and groups of the commands that run from a pipe whose other end only we hold. The end of that input
//! is our end, and then it kills those that were running. It is a shell, because every system with commands to run has one; it is started
//! with the first command and costs a millisecond then, and a line for each command later. Without it everything works
//! but this.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
};

use rustix::process::Pid;

use super::mark::Mark;

/// What it does. It cares for no signal of a terminal. After the groups, on Linux, come the processes that carry a
/// mark; twice, for those that began meanwhile.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
calls=
while read -r change call; do
    case $change in
        +) calls="$calls $call" ;;
        -) rest=
           for known in $calls; do
               case $known in "$call":*) ;; *) rest="$rest $known" ;; esac
           done
           calls=$rest ;;
    esac
done
marks=
for call in $calls; do
    group=${call#*:}
    [ -z "$group" ] || kill -9 -- "-$group"
    marks="$marks|${call%%:*}"
done
[ -n "$marks" ] && [ -e /proc/self/limits ] || exit 0
for round in 1 2; do
    for file in $(grep -lE "^Max file locks +(${marks#?}) " /proc/[0-9]*/limits); do
        file=${file#/proc/}
        kill -9 "${file%/limits}"
    done
done
"#;

/// Started with the first command; none when it could not be, and none again after it was lost.
static WATCHER: Mutex<Option<Child>> = Mutex::new(None);

/// Says that a command with this mark is about to be started: there must be no moment in which nobody knows of it.
pub fn expect(mark: Mark) {
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if watcher.is_none() {
        *watcher = start().inspect_err(|error| tracing::warn!(%error, "nobody watches over the commands")).ok();
    }
    tell(&mut watcher, &format!("+ {}:\n", mark.limit()));
}

/// Says which group the command has.
pub fn begun(group: Pid, mark: Mark) {
    let line = format!("+ {}:{}\n", mark.limit(), group.as_raw_nonzero());
    tell(&mut WATCHER.lock().unwrap_or_else(PoisonError::into_inner), &line);
}

/// Says that a command is over, or lives on by itself.
pub fn ended(mark: Mark) {
    tell(&mut WATCHER.lock().unwrap_or_else(PoisonError::into_inner), &format!("- {}\n", mark.limit()));
}

fn tell(watcher: &mut Option<Child>, line: &str) {
    let told = watcher.as_mut().and_then(|child| child.stdin.as_mut()).map(|pipe| pipe.write_all(line.as_bytes()));
    if let Some(Err(error)) = told {
        tracing::warn!(%error, "the watcher of the commands is lost");
        if let Some(mut lost) = watcher.take() {
            // It may hang: then it is of no use either.
            let _ = lost.kill();
            let _ = lost.wait();
        }
    }
}

fn start() -> std::io::Result<Child> {
    // None of our variables, since some are keys, and no folder that somebody wants to unmount.
    let child = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "troupe-watcher"])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(pipe) = &child.stdin {
        // A watcher that was stopped must not stop us.
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    Ok(child)
}
