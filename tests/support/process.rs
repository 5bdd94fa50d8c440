//! Processes that a test started and does not wait for at once.

use std::time::Duration;

use rustix::process::Pid;
use tokio::process::Child;

use super::{Finished, within};

/// The process that a child is.
pub fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap()
}

/// The end of a child whose outputs are pipes.
pub async fn end(child: Child) -> Finished {
    let output = within("end of the process", child.wait_with_output()).await.unwrap();
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Waits until `look` gives something.
pub async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    within(what, async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
}
