//! Logs and the trace of actor events: off unless asked for.
//!
//! `TROUPE_LOG` holds a filter as `tracing` knows it (`debug`, `troupe=trace`, …). Logs go to `--log-file`, else to
//! standard error. They never hold keys: those are of a type that does not show itself.

use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt, path::Path, sync::Mutex};

use tracing_subscriber::EnvFilter;

use super::{env::Environment, start::StartError};
use crate::actors::trace;

/// The variable with the filter.
const FILTER: &str = "TROUPE_LOG";

/// Starts what was asked for.
///
/// # Errors
/// A file cannot be made, or the filter cannot be understood.
pub fn start(environment: &Environment, log_file: Option<&Path>, trace_file: Option<&Path>) -> Result<(), StartError> {
    if let Some(path) = trace_file {
        trace::open(path)
            .map_err(|error| StartError::Failed(format!("cannot write the trace file {}: {error}", path.display())))?;
    }
    let wanted = environment.variable(FILTER);
    if wanted.is_none() && log_file.is_none() {
        return Ok(());
    }
    let filter = EnvFilter::builder()
        .parse(wanted.unwrap_or("info"))
        .map_err(|error| StartError::Failed(format!("{FILTER} cannot be understood: {error}")))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter);
    let started = match log_file {
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(|error| {
                StartError::Failed(format!("cannot write the log file {}: {error}", path.display()))
            })?;
            builder.with_ansi(false).with_writer(Mutex::new(file)).try_init()
        }
        None => builder.with_writer(std::io::stderr).try_init(),
    };
    started.map_err(|error| StartError::Failed(format!("logging did not start: {error}")))
}
