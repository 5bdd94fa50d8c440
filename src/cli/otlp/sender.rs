//! The thread that posts spans. What it cannot post is lost: nobody waits for a collector.

use std::{
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

use reqwest::Client;

use super::{
    Target,
    record::{SpanRecord, body},
};
use crate::providers::http::fresh_client;

/// Spans that may wait for the thread; more are lost.
const WAITING: usize = 4_096;
/// Spans in one request at most.
const BATCH: usize = 512;
/// How long a span waits for others.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a request may take.
const LIMIT: Duration = Duration::from_secs(5);

/// What the thread is told.
enum Told {
    Ended(Box<SpanRecord>),
    /// Post what there is, then drop this.
    Flush(mpsc::Sender<()>),
}

/// The way to the thread. Cheap to clone.
#[derive(Clone)]
pub struct Sender(SyncSender<Told>);

impl Sender {
    /// Starts the thread.
    ///
    /// # Errors
    /// It does not start, or the HTTP client cannot be set up.
    pub fn start(target: Target) -> Result<Self, String> {
        let (sender, told) = mpsc::sync_channel(WAITING);
        let client = fresh_client(&target.url, Some(LIMIT)).map_err(|failure| failure.message)?;
        // A runtime of its own: that of the program ends before the last spans do.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("spans cannot be exported: {error}"))?;
        let run = move || {
            while let Some((spans, flushed)) = gather(&told) {
                if !spans.is_empty() {
                    runtime.block_on(post(&client, &target, &spans));
                }
                drop(flushed);
            }
        };
        let spawned = thread::Builder::new().name("otlp".into()).spawn(run);
        spawned.map_err(|error| format!("spans cannot be exported: {error}"))?;
        Ok(Self(sender))
    }

    /// Gives a span away. Never waits.
    pub fn send(&self, span: SpanRecord) {
        // A collector that is too slow loses spans, and holds up nobody.
        let _ = self.0.try_send(Told::Ended(Box::new(span)));
    }

    /// Waits until all spans so far are posted, for the time of a request at most.
    pub fn flush(&self) {
        let (flushed, done) = mpsc::channel();
        if self.0.send(Told::Flush(flushed)).is_ok() {
            // The end of the channel is the answer.
            let _ = done.recv_timeout(LIMIT);
        }
    }
}

/// The next spans to be posted, and who waits for that; none at the end.
fn gather(told: &Receiver<Told>) -> Option<(Vec<SpanRecord>, Option<mpsc::Sender<()>>)> {
    let mut spans = match told.recv().ok()? {
        Told::Ended(span) => vec![*span],
        Told::Flush(flushed) => return Some((Vec::new(), Some(flushed))),
    };
    let end = Instant::now() + PATIENCE;
    while spans.len() < BATCH {
        match told.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(Told::Ended(span)) => spans.push(*span),
            Ok(Told::Flush(flushed)) => return Some((spans, Some(flushed))),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Some((spans, None))
}

async fn post(client: &Client, target: &Target, spans: &[SpanRecord]) {
    let mut request = client.post(target.url.clone()).timeout(LIMIT).header("content-type", "application/json");
    for (name, value) in &target.headers {
        request = request.header(name, value);
    }
    let sent = request.body(body(&target.service, spans).to_string()).send().await;
    match sent.and_then(reqwest::Response::error_for_status) {
        Ok(_) => {}
        Err(error) => tracing::warn!(error = %error.without_url(), count = spans.len(), "spans could not be exported"),
    }
}
