//! A limit that stands still while a person is asked: nobody decides faster because a guard has five seconds.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

/// How many dialogs a piece of work has open. Clones count together.
#[derive(Clone, Debug)]
pub struct Pause(Arc<watch::Sender<usize>>);

impl Default for Pause {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Pause {
    /// Time stands still until the guard is dropped.
    #[must_use]
    pub fn hold(&self) -> Held {
        self.0.send_modify(|open| *open += 1);
        Held(self.clone())
    }

    /// What `work` gives within `limit` of time that does not stand still; none when it takes longer.
    pub async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let mut dialogs = self.0.subscribe();
        let mut left = limit;
        loop {
            let stands = *dialogs.borrow_and_update() > 0;
            let begun = Instant::now();
            tokio::select! {
                biased;
                value = &mut work => return Some(value),
                // The sender is here: this never fails.
                _ = dialogs.changed() => {
                    if !stands {
                        left = left.saturating_sub(begun.elapsed());
                    }
                }
                () = sleep(left), if !stands => return None,
            }
        }
    }
}

/// Time stands still while this is alive.
#[derive(Debug)]
pub struct Held(Pause);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.send_modify(|open| *open = open.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_time_of_an_open_dialog_does_not_count() {
        let (pause, second) = (Pause::default(), Duration::from_secs(1));
        let table = [(0, 4, true), (0, 6, false), (3600, 4, true), (3600, 6, false)];
        for (dialog, work, in_time) in table {
            let begun = Instant::now();
            let task = async {
                sleep(second).await;
                let held = pause.hold();
                sleep(second * dialog).await;
                drop(held);
                sleep(second * (work - 1)).await;
            };
            assert_eq!(pause.within(second * 5, task).await.is_some(), in_time, "{dialog} s asked, {work} s worked");
            assert_eq!(begun.elapsed().as_secs(), u64::from(dialog + work.min(5)));
        }
    }
}
