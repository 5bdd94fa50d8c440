//! Taking a command's output: into memory, within bounds, and into a file where it is long.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Map, Value, json};

use super::{
    output::{OutputText, Retention},
    spill::{Spill, Spilled},
};
use crate::{
    protocol::{Block, ToolOutput},
    tools::{
        OutputSource,
        truncate::{MAX_BYTES, Truncation},
    },
};

/// The output so far, for whoever runs the command and whoever looks on.
#[derive(Debug)]
pub struct SharedOutput {
    state: Mutex<(OutputText, Option<PathBuf>)>,
    /// Seconds since the last output, when it is worth to be told; else 0.
    silent_seconds: AtomicU64,
}

impl SharedOutput {
    fn lock(&self) -> MutexGuard<'_, (OutputText, Option<PathBuf>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an output brought since a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// The text; its last line may be unfinished, and comes again when it is finished.
    pub text: String,
    /// Bytes before it that are not in memory any more.
    pub lost: usize,
    /// The place to go on from.
    pub end: usize,
    /// The file with all of it, when there is one.
    pub path: Option<PathBuf>,
}

impl SharedOutput {
    /// What came since a place; from 0 on, all of it.
    pub fn since(&self, place: usize) -> Since {
        let state = self.lock();
        let (text, lost) = state.0.since(place);
        Since { text, lost, end: state.0.end(), path: state.1.clone() }
    }

    /// Notes that nothing came for so long, which those who look on are told, or that something came.
    pub fn is_silent_for(&self, time: Option<Duration>) {
        self.silent_seconds.store(time.map_or(0, |time| time.as_secs()), Ordering::Relaxed);
    }

    /// Whether the output ends within a line, as questions do.
    pub fn has_open_line(&self) -> bool {
        self.lock().0.has_open_line()
    }
}

impl OutputSource for SharedOutput {
    /// The end of the output, as the final result would show it without its notices.
    fn snapshot(&self) -> ToolOutput {
        let silence = match self.silent_seconds.load(Ordering::Relaxed) {
            0 => None,
            seconds => Some(json!(seconds)),
        };
        let state = self.lock();
        let (text, path) = &*state;
        if text.is_empty() {
            let details = silence.map(|seconds| json!({"silentSeconds": seconds}));
            return ToolOutput { details, ..ToolOutput::default() };
        }
        let truncation = text.truncated_tail();
        let path = path.clone();
        drop(state);
        let content = vec![Block::text(truncation.content.clone())];
        let mut details = details(&truncation, path.as_deref()).unwrap_or_else(|| Value::Object(Map::new()));
        if let Some(seconds) = silence {
            details["silentSeconds"] = seconds;
        }
        ToolOutput { content, details: Some(details), ..ToolOutput::default() }
    }
}

/// `details` of a result: what was cut and where all of it is; none when nothing was cut.
pub fn details(truncation: &Truncation, path: Option<&std::path::Path>) -> Option<Value> {
    truncation.truncated.then(|| match path {
        Some(path) => json!({"truncation": truncation, "fullOutputPath": path}),
        None => json!({"truncation": truncation}),
    })
}

/// Takes the output of one command.
#[derive(Debug)]
pub struct Capture {
    shared: Arc<SharedOutput>,
    spill: Spill,
    raw_bytes: usize,
}

/// A finished output.
#[derive(Debug)]
pub struct Captured {
    /// The end, within limits.
    pub truncation: Truncation,
    /// Bytes of the last line.
    pub last_line_bytes: usize,
    /// The file with all of it, when the end is not all.
    pub spilled: Spilled,
    /// All of it, or its beginning and end.
    pub both_ends: String,
}

impl Capture {
    pub fn new(retention: Retention) -> Self {
        let state = Mutex::new((OutputText::new(retention), None));
        let shared = SharedOutput { state, silent_seconds: AtomicU64::new(0) };
        Self { shared: Arc::new(shared), spill: Spill::new(), raw_bytes: 0 }
    }

    /// The output so far, to look on.
    pub fn shared(&self) -> Arc<SharedOutput> {
        Arc::clone(&self.shared)
    }

    /// Takes what the command wrote.
    pub async fn push(&mut self, bytes: &[u8]) {
        self.raw_bytes += bytes.len();
        self.spill.push(bytes).await;
        let (long, has_path) = {
            let mut state = self.shared.lock();
            state.0.push(bytes);
            (self.raw_bytes > MAX_BYTES || state.0.is_over_limits(), state.1.is_some())
        };
        // What is held back for the file must be bounded, too: also where little of it is text.
        if long && !has_path {
            let path = self.spill.open().await;
            self.shared.lock().1 = path;
        }
    }

    /// Ends the output. Without this, as when the command's worker is killed, what came so far stays to be looked at.
    pub async fn finish(mut self) -> Captured {
        let (truncation, last_line_bytes, both_ends) = {
            let mut state = self.shared.lock();
            state.0.finish();
            (state.0.truncated_tail(), state.0.last_line_bytes(), state.0.both_ends())
        };
        let spilled = self.spill.finish(truncation.truncated).await;
        Captured { truncation, last_line_bytes, spilled, both_ends }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if !self.shared.lock().0.is_over_limits() {
            self.spill.discard();
        }
    }
}
