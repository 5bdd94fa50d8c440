//! Work that may never end, such as reading from a file system that hangs: it runs on a thread that is left behind when
//! it takes too long.

use std::{
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

/// How long files are waited for: a file system over a network may hang, and what lies above a project is not always
/// the user's choice.
pub const FOR_FILES: Duration = Duration::from_secs(5);

/// Work that is under way.
pub struct Work<T>(Receiver<T>);

/// Begins work on a thread of its own.
pub fn begin<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Work<T> {
    let (done, result) = channel();
    // When the system has no thread left, the sender is gone at once, and that is the answer. When nobody waits any
    // more, the result is of no use.
    let _ = thread::Builder::new().name("resources".into()).spawn(move || drop(done.send(work())));
    Work(result)
}

impl<T> Work<T> {
    /// The result; none when it did not come in time, or the work failed.
    #[must_use]
    pub fn within(self, patience: Duration) -> Option<T> {
        self.0.recv_timeout(patience).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_hangs_or_fails_has_no_result_and_holds_up_nobody() {
        assert_eq!(begin(|| 7).within(Duration::from_secs(60)), Some(7));
        let (release, hang) = channel::<()>();
        let work = begin(move || hang.recv().is_ok());
        assert_eq!(work.within(Duration::ZERO), None);
        drop(release);
        let fails = begin(|| -> u8 { std::panic::resume_unwind(Box::new("boom")) });
        assert_eq!(fails.within(Duration::from_secs(60)), None);
    }
}
