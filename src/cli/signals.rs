//! Signals: the first one ends the run in order, the second one at once.

use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

use super::exit::Exit;
use crate::actors::runtime::RuntimeHandle;

/// Watches for SIGTERM, SIGHUP and SIGINT until the process ends.
pub fn watch(runtime: Arc<RuntimeHandle>) {
    let kinds = [
        (SignalKind::terminate(), Exit::Terminated),
        (SignalKind::hangup(), Exit::HungUp),
        (SignalKind::interrupt(), Exit::Interrupted),
    ];
    for (kind, exit) in kinds {
        let runtime = runtime.clone();
        match signal(kind) {
            Ok(mut signals) => {
                // Nothing here can panic, and it ends with the process.
                tokio::spawn(async move {
                    if signals.recv().await.is_some() {
                        runtime.end(i32::from(exit.code()));
                    }
                    if signals.recv().await.is_some() {
                        std::process::exit(i32::from(exit.code()));
                    }
                });
            }
            Err(error) => tracing::warn!(%error, ?kind, "a signal cannot be watched"),
        }
    }
}
