//! Commands behind the wall of bubblewrap that still run when the agent ends.
//!
//! What a command left in the background would go on writing into the workspace when nobody looks for protected things
//! any more, and the next run would obey them. Such commands have processes of their own, which all end with the first
//! of them, and that one is known by its arguments: the name of the private temporary folder is in them.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt as _, path::Path, thread, time::Duration};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How long it is waited for the end of what was ended, at most: looks, and the time between two.
const LOOKS: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(5);

/// Ends all that runs behind a wall with this temporary folder, and waits for it.
pub fn end(temp: &Path) {
    let ended: Vec<Pid> = processes().filter(|pid| end_one(*pid, temp)).collect();
    for _ in 0..LOOKS {
        if !ended.iter().any(|pid| is_behind(*pid, temp)) {
            return;
        }
        thread::sleep(BETWEEN);
    }
    tracing::warn!("commands in the background of the sandbox did not end");
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
}

/// Whether it was one of them.
fn end_one(pid: Pid, temp: &Path) -> bool {
    // The handle comes first: the number may be another process's by the time the signal is sent.
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    is_behind(pid, temp) && pidfd_send_signal(handle, Signal::KILL).is_ok()
}

/// Processes that ended have no arguments any more, also when nobody has asked for how they ended.
fn is_behind(pid: Pid, temp: &Path) -> bool {
    let Ok(line) = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())) else { return false };
    let mut arguments = line.split(|byte| *byte == 0);
    let program = arguments.next().map(|program| Path::new(OsStr::from_bytes(program)));
    program.and_then(Path::file_name) == Some(OsStr::new("bwrap"))
        && arguments.any(|argument| argument == temp.as_os_str().as_bytes())
}
