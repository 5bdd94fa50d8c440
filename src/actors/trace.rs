//! The trace file: one JSON line an actor event (start, end, restart, slow handler), for tests and curiosity.
//!
//! Off unless asked for. It holds kinds, labels and causes, never message contents.

use std::{
    fs::File,
    io::Write,
    path::Path,
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

use ractor::ActorId;
use serde_json::{Value, json};

use super::{address::Gauge, restart::Exit};
use crate::protocol::time::{iso, now_ms};

static FILE: OnceLock<Mutex<File>> = OnceLock::new();

/// Begins to write the trace to `path`.
///
/// # Errors
/// When the file cannot be created.
pub fn open(path: &Path) -> std::io::Result<()> {
    let file = File::create(path)?;
    let _ = FILE.set(Mutex::new(file));
    Ok(())
}

/// Whether anybody reads it.
#[must_use]
pub fn is_on() -> bool {
    FILE.get().is_some()
}

pub(super) fn started(kind: &str, label: &str, id: ActorId) {
    write(|| json!({"event": "start", "actor": kind, "label": label, "id": id.to_string()}));
}

pub(super) fn ended(kind: &str, label: &str, id: ActorId, exit: &Exit) {
    let event = match exit {
        Exit::Normal => "stop",
        Exit::Killed => "killed",
        Exit::Failed(_) => "panic",
    };
    write(|| json!({"event": event, "actor": kind, "label": label, "id": id.to_string(), "cause": exit.cause()}));
}

pub(super) fn restarted(kind: &str, label: &str, cause: &str, wait: Duration) {
    Gauge::count_restart(kind, label);
    write(
        || json!({"event": "restart", "actor": kind, "label": label, "cause": cause, "waitMs": wait.as_millis() as u64}),
    );
}

pub(super) fn slow(kind: &str, label: &str, id: ActorId, took: Duration) {
    write(
        || json!({"event": "slow", "actor": kind, "label": label, "id": id.to_string(), "ms": took.as_millis() as u64}),
    );
}

fn write(line: impl FnOnce() -> Value) {
    let Some(file) = FILE.get() else { return };
    let mut line = line();
    line["time"] = Value::String(iso(now_ms()));
    let mut bytes = line.to_string().into_bytes();
    bytes.push(b'\n');
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = file.write_all(&bytes) {
        tracing::warn!(%error, "the trace file cannot be written");
    }
}
