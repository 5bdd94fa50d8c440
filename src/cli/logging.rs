//! Logs and the trace of actor events: off unless asked for.
//!
//! `TROUPE_LOG` holds a filter as `tracing` knows it (`debug`, `troupe=trace`, …). Logs go to `--log-file`, else to
//! standard error. They never hold keys: those are of a type that does not show itself.

use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt, path::Path, sync::Mutex};

#[cfg(not(feature = "otlp"))]
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::{EnvFilter, Layer, Registry, layer::SubscriberExt as _, util::SubscriberInitExt as _};

use super::{env::Environment, start::StartError};
use crate::actors::trace;

/// The variable with the filter.
const FILTER: &str = "TROUPE_LOG";

/// The log, as a layer.
type LogLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Starts what was asked for.
///
/// # Errors
/// A file cannot be made, or the filter cannot be understood.
pub fn start(environment: &Environment, log_file: Option<&Path>, trace_file: Option<&Path>) -> Result<(), StartError> {
    if let Some(path) = trace_file {
        trace::open(path)
            .map_err(|error| StartError::Failed(format!("cannot write the trace file {}: {error}", path.display())))?;
    }
    let log = log_layer(environment, log_file)?;
    #[cfg(feature = "otlp")]
    let spans = super::otlp::start(environment)
        .map_err(StartError::Failed)?
        .map(|layer| layer.with_filter(super::otlp::layer::OwnSpans));
    #[cfg(not(feature = "otlp"))]
    let spans: Option<LevelFilter> = None;
    if log.is_none() && spans.is_none() {
        return Ok(());
    }
    let started = tracing_subscriber::registry().with(log).with(spans).try_init();
    started.map_err(|error| StartError::Failed(format!("logging did not start: {error}")))
}

/// The log, when it was asked for.
fn log_layer(environment: &Environment, log_file: Option<&Path>) -> Result<Option<LogLayer>, StartError> {
    let wanted = environment.variable(FILTER);
    if wanted.is_none() && log_file.is_none() {
        return Ok(None);
    }
    let filter = EnvFilter::builder()
        .parse(wanted.unwrap_or("info"))
        .map_err(|error| StartError::Failed(format!("{FILTER} cannot be understood: {error}")))?;
    let layer = tracing_subscriber::fmt::layer();
    Ok(Some(match log_file {
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(|error| {
                StartError::Failed(format!("cannot write the log file {}: {error}", path.display()))
            })?;
            layer.with_ansi(false).with_writer(Mutex::new(file)).with_filter(filter).boxed()
        }
        None => layer.with_writer(std::io::stderr).with_filter(filter).boxed(),
    }))
}
