//! One writing process for a session.
//!
//! The lock is an advisory one of the operating system on the session file itself: it ends with the process that
//! holds it, so that no stale lock can be left behind. Programs that do not know of it are noticed by
//! [`super::jsonl::SessionFile`].

mod holder;

use std::{
    fs::{File, TryLockError},
    io::{self, ErrorKind},
    path::Path,
    thread,
    time::{Duration, Instant},
};

pub use holder::Holder;
use rustix::io::Errno;

use super::StoreError;

/// How long a lock that no living process holds any more is waited for: a process that was forked and has not begun its
/// program yet has the files of the one that forked it open, and its locks with them, also when that one is dead. It
/// takes milliseconds, on a busy machine tens of them.
const LEFT_BEHIND: Duration = Duration::from_secs(1);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// What became of an attempt to lock a file.
#[derive(Debug)]
pub enum Lock {
    /// It is ours until the file is closed.
    Held,
    /// The file system has no locks: nobody can hold one there.
    Unsupported(io::Error),
}

impl Lock {
    /// What people should know of it; none for a lock that is held.
    #[must_use]
    pub fn notice(&self, path: &Path) -> Option<String> {
        match self {
            Self::Held => None,
            Self::Unsupported(cause) => Some(format!(
                "{} lies on a file system without locks ({cause}): take care that no other process writes it",
                path.display()
            )),
        }
    }
}

/// Takes the lock on `file`; it is held until the file is closed.
///
/// # Errors
/// When another process, or another session of this one, holds it, and when a system that has locks does not give one
/// (a server of network files that does not answer, say). A file system without locks is no error: the check before
/// each append is what is left there.
pub fn lock(file: &File, path: &Path) -> Result<Lock, StoreError> {
    let until = Instant::now() + LEFT_BEHIND;
    loop {
        match try_lock(file, path) {
            Err(StoreError::Locked { holder: Some(holder), .. }) if !holder.is_alive() && Instant::now() < until => {
                thread::sleep(LOOK);
            }
            result => return result,
        }
    }
}

fn try_lock(file: &File, path: &Path) -> Result<Lock, StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(Lock::Held),
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::Locked { path: path.to_owned(), holder: Holder::of(file).map(Box::new) })
        }
        Err(TryLockError::Error(error)) if is_unsupported(&error) => Ok(Lock::Unsupported(error)),
        Err(TryLockError::Error(source)) => Err(StoreError::NoLock { path: path.to_owned(), source }),
    }
}

/// True for what file systems without locks answer.
fn is_unsupported(error: &io::Error) -> bool {
    let answers = [Errno::NOTSUP, Errno::NOSYS, Errno::INVAL].map(|errno| Some(errno.raw_os_error()));
    error.kind() == ErrorKind::Unsupported || answers.contains(&error.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fc_007_a_second_lock_is_refused_with_the_holder_until_the_first_file_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let first = File::create(&path).unwrap();
        lock(&first, &path).unwrap();
        let second = File::open(&path).unwrap();
        let refused = lock(&second, &path).unwrap_err().to_string();
        for words in ["is open in another Troupe process", "--fork", "--read-only", "s.jsonl"] {
            assert!(refused.contains(words), "{words}: {refused}");
        }
        if cfg!(target_os = "linux") {
            let holder = format!("(pid {}, running since 20", std::process::id());
            assert!(refused.contains(&holder), "{refused}");
        }
        drop(first);
        assert!(matches!(lock(&second, &path).unwrap(), Lock::Held));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_lock_that_outlasts_its_dead_holder_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        File::create(&path).unwrap();
        // Locks the file, hands the open file on to a process that lives a little longer, and ends.
        let script = "exec 9<>\"$0\" 3<&0; flock 9; (read -r line <&3) & exit 0";
        let mut shell = std::process::Command::new("bash");
        let mut shell = shell.args(["-c", script]).arg(&path).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let keep = shell.stdin.take().unwrap();
        assert!(shell.wait().unwrap().success());
        let file = File::open(&path).unwrap();
        let refused = try_lock(&file, &path).unwrap_err();
        assert!(matches!(&refused, StoreError::Locked { holder: Some(holder), .. } if !holder.is_alive()), "{refused}");
        let end = thread::spawn(move || drop(keep));
        assert!(matches!(lock(&file, &path).unwrap(), Lock::Held));
        end.join().unwrap();
    }

    #[test]
    fn a_file_system_without_locks_is_told_and_one_that_fails_is_not_taken_for_one() {
        for (errno, unsupported) in [
            (Errno::NOTSUP, true),
            (Errno::NOSYS, true),
            (Errno::INVAL, true),
            (Errno::NOLCK, false),
            (Errno::IO, false),
            (Errno::STALE, false),
        ] {
            assert_eq!(is_unsupported(&errno.into()), unsupported, "{errno:?}");
        }
        let notice = Lock::Unsupported(Errno::NOTSUP.into()).notice(Path::new("/s.jsonl")).unwrap();
        assert!(notice.contains("/s.jsonl") && notice.contains("no other process"), "{notice}");
        assert_eq!(Lock::Held.notice(Path::new("/s.jsonl")), None);
    }
}
