//! The end of a run: its result is written, printed and told.

use super::{
    args::OutputForm,
    folder::{FolderError, RunFolder},
    history::History,
    notify::notify,
    output::print_result,
    result::RunResult,
    spec::RunSpec,
    state::{RunState, Status},
};
use crate::{
    actors::front::{
        complain,
        unattended::{outcome::Outcome, progress::last_text, words::Report},
    },
    cli::exit::Exit,
};

/// The report with what the sessions tell, for a run whose last worker could not report.
fn completed(report: Report, spec: &RunSpec, state: &RunState) -> Report {
    if report.is_complete() {
        return report;
    }
    match History::of(&state.sessions, spec) {
        Ok(History { look, last, .. }) => Report {
            answer: last.as_ref().and_then(last_text),
            spent: look.spent,
            denied: look.denied,
            changed_files: look.files.into_iter().collect(),
            ..report
        },
        Err(error) => {
            complain(&format!("Warning: what the run did cannot be told: {error}"));
            report
        }
    }
}

/// Writes, prints and tells the result; without a form it is not printed. That a run goes on elsewhere is told to nobody.
/// How the command ends.
///
/// # Errors
/// The folder cannot be written.
pub fn conclude(
    folder: &RunFolder,
    spec: &RunSpec,
    mut state: RunState,
    report: Report,
    signal: Option<Exit>,
    form: Option<OutputForm>,
) -> Result<Exit, FolderError> {
    let result = RunResult::new(spec, &state, completed(report, spec, &state), signal);
    // First the result, then the state: whoever sees the end finds the result.
    folder.write_result(&result)?;
    state.status = if result.outcome.can_go_on() { Status::Stopped } else { Status::Finished };
    state.supervisor = None;
    state.worker = None;
    folder.write_state(&state)?;
    let exit = form.map_or_else(|| result.exit(), |form| print_result(&result, form));
    if let Some(command) = spec.notify.as_ref().filter(|_| result.outcome != Outcome::TakenOver) {
        notify(command, folder, &result);
    }
    Ok(exit)
}
