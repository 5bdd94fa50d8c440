//! The end of a run: its result is written, printed and told.

use super::{
    args::OutputForm,
    folder::{FolderError, RunFolder},
    notify::notify,
    output::print_result,
    result::RunResult,
    spec::RunSpec,
    state::{RunState, Status},
};
use crate::{actors::front::unattended::words::Report, cli::exit::Exit};

/// Writes, prints and tells the result.
///
/// # Errors
/// The folder cannot be written.
pub fn conclude(
    folder: &RunFolder,
    spec: &RunSpec,
    mut state: RunState,
    report: Report,
    signal: Option<Exit>,
    form: OutputForm,
) -> Result<RunResult, FolderError> {
    let result = RunResult::new(spec, &state, report, signal);
    // First the result, then the state: whoever sees the end finds the result.
    folder.write_result(&result)?;
    state.status = if result.outcome.can_go_on() { Status::Stopped } else { Status::Finished };
    state.supervisor = None;
    state.worker = None;
    folder.write_state(&state)?;
    print_result(&result, form);
    if let Some(command) = &spec.notify {
        notify(command, folder, &result);
    }
    Ok(result)
}
