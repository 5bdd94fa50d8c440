//! Spans of agents, model calls and tools for a collector of OpenTelemetry, by OTLP over HTTP. With the feature `otlp` alone.
//!
//! | file | what |
//! |---|---|
//! | [`record`] | a span as OTLP writes it down; pure |
//! | [`layer`] | spans of the program, as they begin, are told more of, and end |
//! | [`sender`] | the thread that posts them |
//!
//! Where to is said by the variables that all of OpenTelemetry uses. Spans name things (agents, models, tools) and count
//! tokens; they never hold what was said.

pub mod layer;
pub mod record;
pub mod sender;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use reqwest::Url;

use self::{layer::SpanLayer, sender::Sender};
use super::env::Environment;

/// The path of traces below an endpoint for all signals.
const TRACES: &str = "v1/traces";

/// Who posts, when anybody does.
static SENDER: OnceLock<Sender> = OnceLock::new();

/// Where spans go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The address.
    pub url: Url,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// The name of the service.
    pub service: String,
}

impl Target {
    /// Where the variables say; none when they say nothing.
    ///
    /// # Errors
    /// An address that is none.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let own = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let all = || {
            let base = variable("OTEL_EXPORTER_OTLP_ENDPOINT")?;
            Some(format!("{}/{TRACES}", base.trim_end_matches('/')))
        };
        let Some(address) = own.or_else(all) else { return Ok(None) };
        let url = Url::parse(&address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let refused =
            || format!("OTEL_EXPORTER_OTLP_ENDPOINT: {address} is no address that begins with http:// or https://");
        let url = url.ok_or_else(refused)?;
        let headers = variable("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
        let header = |pair: &str| pair.split_once('=').map(|(name, value)| (name.trim().into(), value.trim().into()));
        let headers = headers.split(',').filter_map(header).collect();
        let service = variable("OTEL_SERVICE_NAME").unwrap_or_else(|| "troupe".to_owned());
        Ok(Some(Self { url, headers, service }))
    }
}

/// The layer that exports spans, when the environment says where to.
///
/// # Errors
/// The environment makes no sense, or the thread does not start.
pub fn start(environment: &Environment) -> Result<Option<SpanLayer>, String> {
    let Some(target) = Target::of(|name| environment.variable(name).map(str::to_owned))? else { return Ok(None) };
    let sender = Sender::start(target)?;
    let layer = SpanLayer::new(sender.clone());
    // A second start in one process has a log that was started already.
    let _ = SENDER.set(sender);
    Ok(Some(layer))
}

/// Waits until all that has ended so far is posted, for a moment at most.
pub fn finish() {
    if let Some(sender) = SENDER.get() {
        sender.flush();
    }
}
