//! Programs that extensions run: without a shell, with closed input, in a process group of their own.
//!
//! They are not confined and not asked about: an extension is part of the program.

use std::{
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, Command},
    sync::Notify,
    time::{sleep, timeout},
};

/// Bytes of both outputs together that are kept unless the caller says otherwise: pi's limit.
const MAX_BUFFER: usize = 256 << 20;
/// How long a program gets after SIGTERM before it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// How long output may take that something else still writes when the program has ended.
const TAIL: Duration = Duration::from_millis(500);

/// How a program is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecOptions {
    /// Where; none: in the agent's folder.
    pub cwd: Option<PathBuf>,
    /// How long at most.
    pub timeout: Option<Duration>,
    /// Bytes of output that are kept; none: 256 MiB. A program that writes more is ended.
    pub max_buffer: Option<usize>,
}

/// What came of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecOutput {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error; the reason when it did not start.
    pub stderr: String,
    /// Its exit code; 128 and the signal when one ended it; 1 when it did not start. Never 0 when output is missing.
    pub code: i32,
    /// It was ended before it ended by itself.
    pub killed: bool,
    /// Output is missing.
    pub truncated: bool,
}

/// Kills the group when nobody waits for the program any more.
struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.0 {
            // A group that is gone needs no signal.
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// What both outputs share: how much may still come, and whether more came.
struct Room {
    left: AtomicUsize,
    over: AtomicBool,
    full: Notify,
}

/// Runs a program to its end.
pub async fn run(program: &str, arguments: &[&str], cwd: &Path, options: ExecOptions) -> ExecOutput {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(options.cwd.as_deref().unwrap_or(cwd));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let stderr = format!("{program} could not be started: {error}");
            return ExecOutput { stderr, code: 1, ..ExecOutput::default() };
        }
    };
    let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let mut group = Group(pid);
    let room = Room {
        left: AtomicUsize::new(options.max_buffer.unwrap_or(MAX_BUFFER)),
        over: AtomicBool::new(false),
        full: Notify::new(),
    };
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut reading = Box::pin(async {
        tokio::join!(read(out, &mut stdout, &room), read(err, &mut stderr, &room));
    });
    let mut read_all = false;
    let mut killed = false;
    let limit = async {
        match options.timeout {
            Some(limit) => sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let status = {
        let mut limit = std::pin::pin!(limit);
        loop {
            tokio::select! {
                biased;
                status = child.wait() => break status,
                () = &mut reading, if !read_all => read_all = true,
                () = room.full.notified() => killed = true,
                () = &mut limit => killed = true,
            }
            if killed {
                break end(&mut child, &group).await;
            }
        }
    };
    if !read_all {
        // What the program started may hold its output open: that is not waited for.
        let _ = timeout(TAIL, &mut reading).await;
    }
    drop(reading);
    if !killed {
        // It ended by itself: what it left running is its own affair.
        group.0 = None;
    }
    let truncated = room.over.load(Ordering::Relaxed);
    let code = status.map_or(1, code_of);
    ExecOutput {
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        code: if truncated && code == 0 { 1 } else { code },
        killed,
        truncated,
    }
}

async fn end(child: &mut Child, group: &Group) -> std::io::Result<ExitStatus> {
    group.signal(Signal::TERM);
    match timeout(GRACE, child.wait()).await {
        Ok(status) => status,
        Err(_) => {
            group.signal(Signal::KILL);
            child.wait().await
        }
    }
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// Reads while there is room.
async fn read(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>, room: &Room) {
    let Some(mut from) = from else { return };
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut chunk).await {
        let left = room.left.load(Ordering::Relaxed);
        let kept = count.min(left);
        into.extend_from_slice(&chunk[..kept]);
        room.left.store(left - kept, Ordering::Relaxed);
        if kept < count {
            room.over.store(true, Ordering::Relaxed);
            room.full.notify_one();
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sh(script: &str, options: ExecOptions) -> ExecOutput {
        run("sh", &["-c", script], Path::new("/"), options).await
    }

    #[tokio::test]
    async fn output_codes_and_folders_are_those_of_the_program() {
        let done = |stdout: &str, stderr: &str, code| ExecOutput {
            stdout: stdout.into(),
            stderr: stderr.into(),
            code,
            ..ExecOutput::default()
        };
        let table = [
            ("echo a; echo b >&2; exit 3", done("a\n", "b\n", 3)),
            ("pwd; cat", done("/\n", "", 0)),
            ("kill -9 $$", done("", "", 137)),
            ("sleep 60 & echo left", done("left\n", "", 0)),
        ];
        for (script, wanted) in table {
            assert_eq!(sh(script, ExecOptions::default()).await, wanted, "{script}");
        }
        let missing = run("/no/such/program", &[], Path::new("/"), ExecOptions::default()).await;
        assert_eq!(missing.code, 1);
        assert!(missing.stderr.starts_with("/no/such/program could not be started: "), "{}", missing.stderr);
    }

    #[tokio::test]
    async fn a_program_is_ended_when_its_time_is_over_or_its_output_is_too_long() {
        let timeout = Some(Duration::from_millis(50));
        let late = sh("echo begun; sleep 60", ExecOptions { timeout, ..ExecOptions::default() }).await;
        assert_eq!((late.stdout.as_str(), late.code, late.killed, late.truncated), ("begun\n", 143, true, false));
        let long = sh("yes", ExecOptions { max_buffer: Some(10), ..ExecOptions::default() }).await;
        assert_eq!((long.stdout.as_str(), long.killed, long.truncated), ("y\ny\ny\ny\ny\n", true, true));
        assert_ne!(long.code, 0);
        let exact = sh("printf 12345", ExecOptions { max_buffer: Some(5), ..ExecOptions::default() }).await;
        assert_eq!((exact.stdout.as_str(), exact.code, exact.truncated), ("12345", 0, false));
    }
}
