//! Signals: the first one ends the run in order, the second one at once.

use std::{sync::Arc, task::Poll};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::exit::Exit;
use crate::{actors::runtime::RuntimeHandle, tools::operations::local::kill_all_commands, tui::terminal};

/// Signals that are caught from now on.
pub struct Watch {
    ends: Vec<(Signal, Exit)>,
    /// Caught for nothing but that a file that may not grow gives an error, which is told, and not the end.
    _file_size: Option<Signal>,
}

impl Watch {
    /// Begins to catch SIGTERM, SIGHUP, SIGINT and SIGQUIT. To be called before anything starts that a signal should end in
    /// order.
    #[must_use]
    pub fn begin() -> Self {
        let kinds = [
            (SignalKind::terminate(), Exit::Terminated),
            (SignalKind::hangup(), Exit::HungUp),
            (SignalKind::interrupt(), Exit::Interrupted),
            (SignalKind::quit(), Exit::Quit),
        ];
        let caught = kinds.into_iter().filter_map(|(kind, exit)| match signal(kind) {
            Ok(signals) => Some((signals, exit)),
            Err(error) => {
                tracing::warn!(%error, ?kind, "a signal cannot be watched");
                None
            }
        });
        let file_size = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        Self { ends: caught.collect(), _file_size: signal(file_size).ok() }
    }

    /// The next signal. For those who decide themselves what it means; never when none can be watched.
    pub async fn next(&mut self) -> Exit {
        std::future::poll_fn(|context| {
            let mut came = self.ends.iter_mut().filter_map(|(signals, exit)| match signals.poll_recv(context) {
                Poll::Ready(Some(())) => Some(*exit),
                _ => None,
            });
            came.next().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Ends `runtime` when a signal comes.
    pub fn serve(self, runtime: &Arc<RuntimeHandle>) {
        for (mut signals, exit) in self.ends {
            let runtime = runtime.clone();
            // Nothing here can panic, and it ends with the process.
            tokio::spawn(async move {
                if signals.recv().await.is_some() {
                    runtime.end(i32::from(exit.code()));
                }
                if signals.recv().await.is_some() {
                    kill_all_commands();
                    terminal::restore();
                    std::process::exit(i32::from(exit.code()));
                }
            });
        }
    }
}
